// Reads the report and the timeline that this file carries and shows them.
import { render } from 'preact';
import { load, load_timeline } from './load';
import './style.css';
import { App } from './views/app';
import { Problem } from './views/problem';

const place = document.getElementById('page');
const text_of = (id: string) => document.getElementById(id)?.textContent ?? '';
const loaded = load(text_of('report'));
if (place !== null) {
  place.replaceChildren();
  render('report' in loaded ? <App report={loaded.report} timeline={load_timeline(text_of('timeline-document'))} /> : <Problem {...loaded} />, place);
}
