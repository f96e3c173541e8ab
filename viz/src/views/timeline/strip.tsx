// The whole run above a timeline, and in it the part that the timeline shows, which can be dragged. Keys of the timeline
// do the same, so that this is a picture for a screen reader.
import { useMemo, useRef } from 'preact/hooks';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { within } from '../../model/timeline/navigation';
import { outlines, strip_of } from '../../model/timeline/strip';
import { range_text } from '../../model/timeline/words';
import type { SetView } from './gestures';

interface Properties {
  readonly model: TimelineModel;
  readonly view: Range;
  readonly set_view: SetView;
  /** The limits of the view. */
  readonly bounds: Range;
  readonly gutter: number;
  readonly width: number;
}

const height_px = 34;
/** Enough for wide screens. */
const columns = 800;
/** So near to an edge of the window, the pointer takes that. */
const edge_px = 6;
const least_window_px = 4;

type Grip = 'from' | 'to' | 'all';

export function Strip({ model, view, set_view, bounds, gutter, width }: Properties) {
  const layers = useMemo(() => strip_of(model, columns), [model]);
  const paths = useMemo(() => outlines(layers, height_px), [layers]);
  const drag = useRef<{ grip: Grip; at: number; view: Range }>();
  const { run } = model;
  const plot_px = Math.max(1, width - gutter);
  const ns_per_px = (run.to - run.from) / plot_px;
  const px = (time: number) => Math.min(plot_px, Math.max(0, (time - run.from) / ns_per_px));
  const time_of = (event: PointerEvent) => run.from + (event.clientX - (event.currentTarget as Element).getBoundingClientRect().left - gutter) * ns_per_px;

  const grip_at = (time: number): Grip | undefined => {
    const is_wide = (view.to - view.from) / ns_per_px > 4 * edge_px;
    if (is_wide && Math.abs(time - view.from) < edge_px * ns_per_px) return 'from';
    if (is_wide && Math.abs(time - view.to) < edge_px * ns_per_px) return 'to';
    const near = edge_px * ns_per_px;
    return time > view.from - near && time < view.to + near ? 'all' : undefined;
  };
  const down = (event: PointerEvent) => {
    const time = time_of(event);
    if (event.button !== 0 || time < run.from) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const grip = grip_at(time);
    const half = (view.to - view.from) / 2;
    const from = grip === undefined ? within({ from: time - half, to: time + half }, bounds) : view;
    drag.current = { grip: grip ?? 'all', at: time, view: from };
    set_view(from);
  };
  const move = (event: PointerEvent) => {
    if (drag.current === undefined) return;
    const { grip, at, view: from } = drag.current;
    const by = time_of(event) - at;
    if (grip === 'all') return set_view(within({ from: from.from + by, to: from.to + by }, bounds));
    const edges = [grip === 'from' ? from.to : from.from, (grip === 'from' ? from.from : from.to) + by].map((edge) => Math.min(bounds.to, Math.max(bounds.from, edge)));
    const [low = 0, high = 0] = edges.sort((left, right) => left - right);
    if (high - low > ns_per_px) set_view({ from: low, to: high });
  };
  const [left, right] = [px(view.from), px(view.to)];
  const window_px = Math.max(least_window_px, right - left);
  const window_x = gutter + Math.min(plot_px - window_px, Math.max(0, (left + right - window_px) / 2));
  return (
    <svg
      class="strip"
      width={width}
      height={height_px}
      viewBox={`0 0 ${width} ${height_px}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The whole run, ${range_text(run)}: how much of the time kernels run and ranks wait. Shown below: ${range_text(view)}`}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={() => (drag.current = undefined)}
      onPointerCancel={() => (drag.current = undefined)}
    >
      <text class="tick" x={6} y={height_px / 2} dy="0.32em">
        the whole run
      </text>
      <svg x={gutter} y={0} width={plot_px} height={height_px} viewBox={`0 0 ${columns} ${height_px}`} preserveAspectRatio="none">
        {layers.map(({ state }, index) => (
          <path key={state} class={`fill-${model.states[state] ?? 'other'}`} d={paths[index] ?? ''} />
        ))}
      </svg>
      <rect class="beside" x={gutter} width={Math.max(0, window_x - gutter)} height={height_px} />
      <rect class="beside" x={window_x + window_px} width={Math.max(0, width - window_x - window_px)} height={height_px} />
      <rect class="shown" x={window_x + 0.5} y={0.5} width={Math.max(1, window_px - 1)} height={height_px - 1} />
    </svg>
  );
}
