// Reads and shows the content of this file: a report and its timeline, a comparison and two timelines, or a history.
import { render } from 'preact';
import { load, load_diff, load_timeline, load_trend } from './load';
import './style.css';
import { App } from './views/app';
import { DiffApp } from './views/diff';
import { Problem } from './views/problem';
import { TrendApp } from './views/trend/app';

const text_of = (id: string) => document.getElementById(id)?.textContent ?? '';

function Page() {
  const diff_text = text_of('diff-document');
  if (diff_text !== '') {
    const loaded = load_diff(diff_text);
    if (!('diff' in loaded)) return <Problem {...loaded} />;
    return <DiffApp diff={loaded.diff} timelines={[load_timeline(text_of('timeline-document')), load_timeline(text_of('second-timeline-document'))]} />;
  }
  const trend_text = text_of('trend-document');
  if (trend_text !== '') {
    const loaded = load_trend(trend_text);
    return 'trend' in loaded ? <TrendApp trend={loaded.trend} /> : <Problem {...loaded} />;
  }
  const loaded = load(text_of('report'));
  return 'report' in loaded ? <App report={loaded.report} timeline={load_timeline(text_of('timeline-document'))} /> : <Problem {...loaded} />;
}

const place = document.getElementById('page');
if (place !== null) {
  place.replaceChildren();
  render(<Page />, place);
}
