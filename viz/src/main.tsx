// Reads the report that this file carries and shows it.
import { render } from 'preact';
import { load } from './load';
import './style.css';
import { App } from './views/app';
import { Problem } from './views/problem';

const place = document.getElementById('page');
const loaded = load(document.getElementById('report')?.textContent ?? '');
if (place !== null) {
  place.replaceChildren();
  render('report' in loaded ? <App report={loaded.report} /> : <Problem {...loaded} />, place);
}
