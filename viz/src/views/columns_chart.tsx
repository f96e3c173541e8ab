// Stacked columns over ranks or steps, with an optional line over them; a part can be enlarged. Text below describes
// the column under the pointer, or under the cursor that the arrow keys move.
import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line, stack } from 'd3-shape';
import { useMemo, useState } from 'preact/hooks';
import { time_text, time_unit } from '../format';
import { joined, panned, visible, zoomed, type Column, type Window } from '../model/columns';
import { part_name, type Part } from '../model/parts';
import { on_keys } from './on_keys';
import { Legend } from './parts';
import { TimeGrid } from './time_grid';
import { use_width } from './use_width';

interface Properties {
  readonly columns: readonly Column[];
  /** What the columns' parts are. */
  readonly layers: readonly Part[];
  /** The name of a column, as in "rank 3". */
  readonly noun: string;
  /** Added to a column's number if people count from 1. */
  readonly first_number: number;
  /** Describes the parts: "exposed". */
  readonly adjective: string;
  /** The name of the line, if there is one. */
  readonly line_name?: string;
  readonly label: string;
}

const height = 220;
const margin = { top: 8, right: 8, bottom: 34, left: 58 };
/** Narrower columns cannot be distinguished. */
const least_column_px = 2;

export function ColumnsChart({ columns, layers, noun, first_number, adjective, line_name, label }: Properties) {
  const { ref, width } = use_width();
  const all = useMemo<Window>(() => {
    const last = columns[columns.length - 1];
    return { from: columns[0]?.first ?? 0, to: last === undefined ? 1 : last.first + last.count };
  }, [columns]);
  const [window, set_window] = useState(all);
  const [cursor, set_cursor] = useState<number>();
  const [drag_from, set_drag_from] = useState<number>();
  const plot_px = width - margin.left - margin.right;
  const shown = useMemo(() => joined(visible(columns, window), plot_px / least_column_px), [columns, window, plot_px]);

  const x = scaleLinear([window.from, window.to], [margin.left, width - margin.right]);
  const sum = (column: Column) => column.parts.reduce((total, part) => total + part, 0);
  const highest_s = Math.max(1e-9, ...shown.map((column) => Math.max(sum(column), line_name === undefined ? 0 : (column.line ?? 0))));
  const y = scaleLinear([0, highest_s], [height - margin.bottom, margin.top]).nice(5);
  const unit = time_unit(highest_s);

  // An area by layer in steps: as many paths for any number of columns. The last point closes the last column.
  const last = shown[shown.length - 1];
  const points = last === undefined ? [] : [...shown, { ...last, first: last.first + last.count }];
  const stacked = stack<Column, number>()
    .keys(layers.map((_, index) => index))
    .value((column, index) => column.parts[index] ?? 0)([...points]);
  const shape = area<(typeof stacked)[number][number]>()
    .x((point) => x(point.data.first))
    .y0((point) => y(point[0]))
    .y1((point) => y(point[1]))
    .curve(curveStepAfter);
  const overline = line<Column>()
    .defined((column) => column.line !== null)
    .x((column) => x(column.first))
    .y((column) => y(column.line ?? 0))
    .curve(curveStepAfter);

  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    return x.invert(((event.clientX - box.left) / box.width) * width);
  };
  const index_at = (position: number) => shown.findIndex((column) => position >= column.first && position < column.first + column.count);
  const move = (event: MouseEvent) => {
    const index = index_at(at(event));
    set_cursor(index < 0 ? undefined : index);
  };
  const release = (event: MouseEvent) => {
    if (drag_from === undefined) return;
    const [from, to] = [drag_from, at(event)].sort((left, right) => left - right) as [number, number];
    set_drag_from(undefined);
    if (x(to) - x(from) > 4) set_window(zoomed({ from, to }, all, 1));
  };
  const keys: Record<string, () => void> = {
    w: () => set_window(zoomed(window, all, 0.5, place_of_cursor())),
    s: () => set_window(zoomed(window, all, 2, place_of_cursor())),
    a: () => set_window(panned(window, all, -0.25)),
    d: () => set_window(panned(window, all, 0.25)),
    f: () => set_window(all),
    ArrowLeft: () => set_cursor(Math.max(0, (cursor ?? shown.length) - 1)),
    ArrowRight: () => set_cursor(Math.min(shown.length - 1, (cursor ?? -1) + 1)),
    Escape: () => set_cursor(undefined),
  };
  const place_of_cursor = () => {
    const column = cursor === undefined ? undefined : shown[cursor];
    return column === undefined ? undefined : column.first + column.count / 2;
  };
  const press = on_keys(keys);

  const chosen = cursor === undefined ? undefined : shown[cursor];
  const present = layers.filter((_, index) => columns.some((column) => (column.parts[index] ?? 0) > 0));
  const is_all = window.from === all.from && window.to === all.to;
  const numbers = x.ticks(Math.max(2, Math.floor(plot_px / 90))).filter((tick) => Number.isInteger(tick) && tick < window.to);
  return (
    <figure class="chart" ref={ref}>
      <Legend shown={present} line={line_name} />
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${label}. Arrow keys go from column to column, w and s zoom, a and d move, f shows all.`}
        tabindex={0}
        onKeyDown={press}
        onMouseMove={move}
        onMouseLeave={() => set_cursor(undefined)}
        onMouseDown={(event) => {
          event.preventDefault();
          event.currentTarget.focus();
          set_drag_from(at(event));
        }}
        onMouseUp={release}
      >
        <TimeGrid y={y} from={margin.left} to={width - margin.right} unit={unit} />
        <text class="tick" x={4} y={margin.top + 4} dy="0.32em">
          {unit.name}
        </text>
        {numbers.map((tick) => (
          <text key={tick} class="tick" x={x(tick + 0.5)} y={height - margin.bottom + 15} text-anchor="middle">
            {tick + first_number}
          </text>
        ))}
        <text class="tick" x={(margin.left + width - margin.right) / 2} y={height - 4} text-anchor="middle">
          {noun}
        </text>
        {stacked.map((layer) => {
          const part = layers[layer.key];
          return part !== undefined && present.includes(part) ? <path key={part} class={`fill-${part} layer`} d={shape(layer) ?? ''} /> : null;
        })}
        {line_name === undefined ? null : <path class="overline" d={overline(points) ?? ''} />}
        {chosen === undefined ? null : (
          <rect class="cursor" x={x(Math.max(chosen.first, window.from))} width={Math.max(1, x(chosen.first + chosen.count) - x(chosen.first))} y={margin.top} height={height - margin.top - margin.bottom} />
        )}
      </svg>
      <p class="told" aria-live="polite">
        {chosen === undefined
          ? 'Point at a column, or drag over some to see them closer.'
          : words_of_column(chosen, layers, noun, first_number, adjective, line_name)}
      </p>
      <p class="zoom">
        <button type="button" onClick={() => set_window(zoomed(window, all, 0.5))}>
          Closer
        </button>
        <button type="button" disabled={is_all} onClick={() => set_window(panned(window, all, -0.5))}>
          ←
        </button>
        <button type="button" disabled={is_all} onClick={() => set_window(panned(window, all, 0.5))}>
          →
        </button>
        <button type="button" disabled={is_all} onClick={() => set_window(all)}>
          All
        </button>{' '}
        <span class="window">
          {noun} {window.from + first_number} to {window.to - 1 + first_number}
        </span>
      </p>
    </figure>
  );
}

function words_of_column(column: Column, layers: readonly Part[], noun: string, first_number: number, adjective: string, line_name: string | undefined): string {
  const parts = layers
    .map((part, index) => ({ part, time_s: column.parts[index] ?? 0 }))
    .filter((part) => part.time_s > 0)
    .sort((left, right) => right.time_s - left.time_s);
  const sum_s = parts.reduce((sum, part) => sum + part.time_s, 0);
  const first = column.first + first_number;
  const who = column.count === 1 ? `${noun} ${first}` : `${noun}s ${first} to ${first + column.count - 1}, on average`;
  const why = parts.length === 0 ? '' : `: ${parts.map((part) => `${part_name(part.part)} ${time_text(part.time_s)}`).join(', ')}`;
  const over = column.line === null || line_name === undefined ? '' : `; ${line_name} ${time_text(column.line)}`;
  return `${who}: ${time_text(sum_s)} ${adjective}${why}${over}.`;
}
