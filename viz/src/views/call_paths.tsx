// The flame graph of exposed time by call path. Text below it describes the box under the pointer, or under the cursor
// that the arrow keys move.
import { useMemo, useState } from 'preact/hooks';
import type { CallPath, Report } from '../generated/report';
import { percent_text, share_of, time_text } from '../format';
import { by_size, causes, cause_name, main_cause_name, sum_of } from '../model/causes';
import { ancestors_of, boxes_below, depth_below, flame_of, found_s, is_found, is_without_paths, neighbour, type FlameBox } from '../model/flame';
import { row_id } from '../model/findings';
import { words_of, type Words } from '../model/overview';
import { words_in } from '../model/table';
import { Legend, Section } from './parts';
import { Table, type Column } from './table';
import { use_width } from './use_width';

const row_px = 19;
/** Boxes that are narrower are not drawn. */
const least_px = 0.4;
/** Of the style sheet's font for `.flame text`. */
const letter_px = 6.7;

const is_cause = (box: FlameBox) => (causes as readonly string[]).includes(box.kind);
const name_of = (box: FlameBox, whole: string) => (box.kind === 'all' ? whole : box.name);
/** On the box itself; a call of MPI has its place, so that two of them in a function are told apart. */
const label_of = (box: FlameBox, whole: string) => (box.kind === 'call' && box.at !== '' ? `${box.name} at ${box.at}` : name_of(box, whole));

function words_of_box(box: FlameBox, all: FlameBox, { ranks, adjective }: Words): string {
  const where = box.at === '' ? '' : box.kind === 'call' ? ` at ${box.at}` : `, called at ${box.at}`;
  const why = is_cause(box) ? '' : `: ${by_size(box.by_cause_s).map((each) => `${cause_name(each.cause)} ${time_text(each.time_s / ranks)}`).join(', ')}`;
  const inside = is_cause(box) && box.parent !== undefined ? ` in ${label_of(box.parent, '')}` : '';
  return `${name_of(box, 'all calls of MPI')}${where}${inside}: ${time_text(box.time_s / ranks)} a rank ${adjective}, ${percent_text(share_of(box.time_s, all.time_s))} of it${why}.`;
}

function clipped(text: string, width_px: number): string {
  const letters = Math.floor((width_px - 6) / letter_px);
  return text.length <= letters ? text : letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
}

function FlameGraph({ all, words }: { all: FlameBox; words: Words }) {
  const { ref, width } = use_width();
  const [top, set_top] = useState(all);
  const [chosen, set_chosen] = useState<FlameBox>();
  const [search, set_search] = useState('');
  const whole = `all ${words.adjective}`;
  const searched = useMemo(() => ({ words: words_in(search), time_s: found_s(all, search) }), [all, search]);
  const last_row = useMemo(() => depth_below(all), [all]);
  const px_per_s = share_of(width, top.time_s);
  const shown = useMemo(() => [...ancestors_of(top), ...boxes_below(top, share_of(least_px, px_per_s))], [top, px_per_s]);
  const zoom = (to: FlameBox) => {
    set_top(is_cause(to) ? (to.parent ?? to) : to);
    set_chosen(to);
  };
  const press = (event: KeyboardEvent) => {
    const from = chosen ?? top;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') zoom(from);
    else if (event.key === 'Escape' || event.key === 'f') zoom(all);
    else if (event.key.startsWith('Arrow')) {
      const to = chosen === undefined ? top : neighbour(from, event.key, top);
      // what lies above the view is a caller of all of it
      if (to.depth < top.depth) set_top(to);
      set_chosen(to);
    } else return;
    event.preventDefault();
  };
  const present = causes.filter((cause) => all.by_cause_s[cause] > 0);
  const told = chosen ?? (top === all ? undefined : top);
  return (
    <figure class="chart flame" ref={ref}>
      <Legend shown={present} />
      <p class="search">
        <label>
          Find functions, files or causes <input type="search" value={search} onInput={(event) => set_search(event.currentTarget.value)} />
        </label>{' '}
        <span role="status">{searched.words.length === 0 ? '' : `${time_text(searched.time_s / words.ranks)} a rank, ${percent_text(share_of(searched.time_s, all.time_s))} of it`}</span>
      </p>
      <svg
        viewBox={`0 0 ${width} ${(last_row + 1) * row_px}`}
        role="img"
        aria-label={`Flame graph of ${words.noun} by call path, callers above. Arrow keys go from box to box, Enter shows one at full width, f all. The same is in the table below.`}
        tabindex={0}
        onKeyDown={press}
        onMouseLeave={() => set_chosen(undefined)}
      >
        {shown.map((box) => {
          const is_above = box.depth < top.depth;
          const x = is_above ? 0 : (box.begin_s - top.begin_s) * px_per_s;
          const wide = is_above ? width : box.time_s * px_per_s;
          const kind = is_cause(box) ? `fill-${box.kind}` : `box-${box.kind}`;
          const state = `${is_above ? ' above' : ''}${is_found(box, searched.words) ? ' found' : ''}${box === chosen ? ' chosen' : ''}`;
          return (
            <g key={`${box.depth} ${box.begin_s} ${box.name} ${box.at}`} class={`box${state}`} onClick={() => zoom(box)} onMouseEnter={() => set_chosen(box)}>
              <title>{words_of_box(box, all, words)}</title>
              <rect class={kind} x={x} y={box.depth * row_px} width={wide} height={is_cause(box) ? row_px * 0.6 : row_px} />
              {is_cause(box) ? null : (
                <text x={x + 3} y={box.depth * row_px + 13.5}>
                  {clipped(label_of(box, whole), wide)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <p class="told" aria-live="polite">
        {told === undefined ? 'Point at a box, or click it to see it at full width.' : words_of_box(told, all, words)}{' '}
        {told?.call_site === undefined ? null : <a href={`#${row_id('call_sites', told.call_site)}`}>Its call site</a>}
      </p>
      <p class="zoom">
        <button type="button" disabled={top.parent === undefined} onClick={() => zoom(top.parent ?? all)}>
          Its caller
        </button>
        <button type="button" disabled={top === all} onClick={() => zoom(all)}>
          All
        </button>
      </p>
    </figure>
  );
}

function PathTable({ paths, report }: { paths: readonly CallPath[]; report: Report }) {
  const { unit, ranks, whole, adjective } = words_of(report);
  const columns: Column<CallPath>[] = [
    { key: 'path', title: 'From the call outwards', value: (path) => [path.mpi_function, ...path.frames].join(' ← ') },
    { key: 'calls', title: 'calls', decimals: 0, value: (path) => path.calls },
    { key: 'time', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (path) => (path.counted_s / ranks) * unit.per_second },
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: (path) => share_of(path.counted_s, report.counted.total_s) * 100 },
    { key: 'cause', title: 'mostly', value: (path) => main_cause_name(path.by_cause_s) },
  ];
  return (
    <details>
      <summary>The same as a table</summary>
      <Table caption="Call paths to MPI" search="Find functions, files or causes" rows={paths} columns={columns} left_out={report.left_out?.['call_paths']} />
    </details>
  );
}

export const has_call_paths = (report: Report) => (report.call_paths ?? []).some((path) => sum_of(path.by_cause_s) > 0);

export function CallPaths({ report }: { report: Report }) {
  const paths = (report.call_paths ?? []).filter((path) => sum_of(path.by_cause_s) > 0);
  const all = useMemo(() => flame_of(paths), [report]);
  const words = words_of(report);
  if (is_without_paths(paths)) {
    return (
      <Section id="call-paths" title="Call paths">
        <p>
          No flame graph: each call was recorded with its call site alone. Call paths are recorded where <code>PENSTOCK_CALL_PATHS</code> is not set, or set to the number of frames
          (at most 12).
        </p>
      </Section>
    );
  }
  return (
    <Section
      id="call-paths"
      title="Call paths"
      intro={`A box is a function, as wide as what is ${words.adjective} in the calls of MPI below it. Functions are below their callers; the colours at the lower end are the causes.`}
    >
      <FlameGraph all={all} words={words} />
      <PathTable paths={paths} report={report} />
      {(report.left_out?.['call_paths'] ?? 0) > 0 ? <p class="note">The graph lacks the smallest paths, which would make this file too large.</p> : null}
    </Section>
  );
}
