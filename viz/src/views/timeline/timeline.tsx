// One timeline: what every rank and GPU did when, and the messages between them. A canvas that is moved as in Perfetto,
// with words for what is chosen and a table of what is visible. The parent owns the view.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count_text } from '../../format';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { can_fold, with_folded, with_open, with_toggled, type Display } from '../../model/timeline/display';
import { layout_of, place_of, row_at } from '../../model/timeline/layout';
import { around, neighbour, panned, piece_at, range_of, zoomed, type Selection } from '../../model/timeline/navigation';
import { first_seen, next_row, partner_at, piece_in_row } from '../../model/timeline/pick';
import type { Point } from '../../model/timeline/pinch';
import { sentence_of } from '../../model/timeline/words';
import { on_keys } from '../on_keys';
import { use_width } from '../use_width';
import { Probe, use_colours } from './colours';
import { Controls } from './controls';
import { Details } from './details';
import { use_gestures, type SetView } from './gestures';
import { InView } from './in_view';
import { most_arrows, paint, ruler_px } from './painter';
import { Search } from './search';
import { when_shown, type Moment } from './show';
import { Strip } from './strip';
import { SumsOfMark } from './sums';
import { Tracks } from './tracks';

const most_height = 620;
/** For one of several, so that all are visible at once. */
const most_compact_height = 270;
/** A click this near to a piece selects it. */
const tolerance_px = 4;

interface Properties {
  readonly model: TimelineModel;
  readonly view: Range;
  readonly set_view: SetView;
  readonly display: Display;
  readonly set_display: (display: Display) => void;
  /** The limits of the view. */
  readonly bounds: Range;
  /** The name, if there are several. */
  readonly name: string;
  /** Id of the text that describes its keys. */
  readonly keys_id: string;
  /** One of several: low, ranks closed at first, and controls below. */
  readonly is_compact?: boolean;
}

export function TimelineOf({ model, view, set_view, display, set_display, bounds, name, keys_id, is_compact = false }: Properties) {
  // without its scroll bar
  const { ref: scroller, width } = use_width(320);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { probe, colours } = use_colours();
  const [selection, set_selection] = useState<Selection>();
  const [mark, set_mark] = useState<Range>();
  const [scroll, set_scroll] = useState(0);
  const [arrows, set_arrows] = useState(0);
  const [pointed, set_pointed] = useState<string>();
  const pointer = useRef<Point>();

  const layout = useMemo(() => layout_of(model, display), [model, display]);
  const gutter = Math.min(190, Math.round(width * 0.28));
  const height = Math.min(is_compact ? most_compact_height : most_height, layout.height + ruler_px + 4);
  const plot_px = width - gutter;
  const ns_per_px = (view.to - view.from) / plot_px;
  const run_ns = model.run.to;
  const time_at = (x: number) => view.from + (x - gutter) * ns_per_px;

  // painted once a frame, however often its inputs change
  useLayoutEffect(() => {
    const request = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext('2d', { alpha: false });
      if (element === null || context === null || context === undefined || colours === undefined) return;
      const scale = devicePixelRatio;
      const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
      if (element.width !== wide || element.height !== high) Object.assign(element, { width: wide, height: high });
      context.setTransform(scale, 0, 0, scale, 0, 0);
      set_arrows(paint(context, { model, layout, view, width, height, gutter, scroll, selection, mark, colours }));
    });
    return () => cancelAnimationFrame(request);
  }, [model, layout, view, width, height, gutter, scroll, selection, mark, colours]);

  const select = (chosen: Selection | undefined) => {
    set_selection(chosen);
    if (chosen === undefined) return;
    const range = range_of(chosen);
    const is_seen = range.from < view.to && range.to > view.from;
    // a piece narrower than a pixel is no visible choice
    if (!is_seen || (range.to - range.from) / ns_per_px < 1) set_view(around(range, bounds));
    reveal(chosen);
  };
  const reveal = (chosen: Selection) => {
    const is_seen = display.open.has(chosen.rank.rank) || ['waits', 'stream'].includes(chosen.track.kind);
    const opened = is_seen ? display : with_open(display, [...display.open, chosen.rank.rank]);
    if (!is_seen) set_display(opened);
    const rows = is_seen ? layout : layout_of(model, opened);
    const place = place_of(rows.rows, chosen);
    const element = scroller.current;
    if (place === undefined || element === null) return;
    const room = height - ruler_px;
    if (place.y < element.scrollTop || place.y + place.height > element.scrollTop + room) {
      // the new height exists after rendering
      setTimeout(() => element.scrollTo({ top: Math.max(0, place.y - room / 3) }));
    }
  };
  const show_rank = (rank: number) => {
    const row = layout.rows.find((each) => each.kind === 'rank' && each.rank.rank === rank);
    if (row !== undefined) scroller.current?.scrollTo({ top: row.y });
    set_display(with_open(display, [...display.open, rank]));
  };
  const toggle = (rank: number) => set_display(with_toggled(display, rank));

  const under = ({ x, y }: Point) => {
    const row = y < ruler_px ? undefined : row_at(layout, y - ruler_px + scroll);
    return { row, piece: x < gutter || row === undefined ? undefined : piece_in_row(row, run_ns, time_at(x), tolerance_px * ns_per_px, y - ruler_px + scroll - row.y) };
  };
  const gestures = use_gestures({
    scroller,
    view,
    bounds,
    set_view,
    gutter,
    width,
    ruler: ruler_px,
    measure: set_mark,
    point: (at) => {
      pointer.current = at;
      const piece = at === undefined ? undefined : under(at).piece;
      set_pointed(piece === undefined ? undefined : sentence_of(model, piece));
    },
    click: (at) => {
      const { row, piece } = under(at);
      if (at.x < gutter && row?.kind === 'rank') return toggle(row.rank.rank);
      if (at.x < gutter && row?.kind === 'lane' && can_fold(row.rank, row.group)) return set_display(with_folded(display, row.group));
      if (at.x >= gutter) select(piece);
    },
  });

  const zoom_point = () => (pointer.current === undefined || pointer.current.x < gutter ? undefined : time_at(pointer.current.x));
  const go = (next: (from: Selection) => Selection | undefined) => () => select(selection === undefined ? first_seen(layout, view, run_ns, scroll) : (next(selection) ?? selection));
  const keys: Record<string, () => void> = {
    w: () => set_view(zoomed(view, bounds, 0.6, zoom_point())),
    s: () => set_view(zoomed(view, bounds, 1 / 0.6, zoom_point())),
    a: () => set_view(panned(view, bounds, -0.2)),
    d: () => set_view(panned(view, bounds, 0.2)),
    f: () => {
      const range = selection === undefined ? mark : range_of(selection);
      set_view(range === undefined ? bounds : around(range, bounds));
    },
    m: () => set_mark(selection === undefined ? undefined : range_of(selection)),
    ArrowRight: go((from) => neighbour(from, 1)),
    ArrowLeft: go((from) => neighbour(from, -1)),
    ArrowDown: go((from) => next_row(layout, view, run_ns, from, 1)),
    ArrowUp: go((from) => next_row(layout, view, run_ns, from, -1)),
    Enter: () => {
      const rank = selection?.rank.rank ?? model.ranks[0]?.rank;
      if (rank !== undefined) toggle(rank);
    },
    Escape: () => (selection === undefined ? set_mark(undefined) : set_selection(undefined)),
  };
  const press = on_keys(keys, (key) => (key.length === 1 ? key.toLowerCase() : key));

  // a moment that another section selects
  const shown = useRef<(moment: Moment) => void>(() => undefined);
  shown.current = ({ rank, begin_s, length_s }) => {
    const range = { from: begin_s * 1e9, to: (begin_s + length_s) * 1e9 };
    const tracks = model.ranks.find((each) => each.rank === rank);
    const track_number = tracks?.tracks.findIndex((track) => track.kind === 'waits') ?? -1;
    const track = tracks?.tracks[track_number];
    const piece = track === undefined ? undefined : piece_at(track, 0, (range.from + range.to) / 2, 0);
    set_view(around(range, bounds));
    if (tracks !== undefined && track !== undefined && piece !== undefined) {
      set_selection({ rank: tracks, track, track_number, piece });
      reveal({ rank: tracks, track, track_number, piece });
    }
    scroller.current?.scrollIntoView({ block: 'center' });
    scroller.current?.focus({ preventScroll: true });
  };
  useEffect(() => when_shown((moment) => shown.current(moment)), []);

  const search = <Search model={model} select={select} show_rank={show_rank} />;
  const are_all_open = display.open.size === model.ranks.length;
  const open_all = (open: boolean) => set_display(with_open(display, open ? model.ranks.map(({ rank }) => rank) : []));
  return (
    <div class="one-timeline">
      {is_compact ? null : search}
      {is_compact || model.windows.length === 0 ? null : (
        <p class="zoom">
          Look at{' '}
          {model.windows.map(({ when, why }) => (
            <button key={`${when.from} ${why}`} type="button" onClick={() => set_view({ ...when, to: Math.max(when.to, when.from + 20) })}>
              {why}
            </button>
          ))}
        </p>
      )}
      <div class="timeline">
        <Probe probe={probe} states={model.states} />
        <Strip model={model} view={view} set_view={set_view} bounds={bounds} gutter={gutter} width={width} />
        <div
          class="timeline-scroller"
          ref={scroller}
          style={{ height: `${height}px` }}
          role="application"
          aria-label={name}
          aria-describedby={keys_id}
          tabIndex={0}
          onKeyDown={press}
          onScroll={(event) => set_scroll(event.currentTarget.scrollTop)}
          {...gestures}
        >
          <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
          <div style={{ height: `${Math.max(0, layout.height + ruler_px + 4 - height)}px` }} />
        </div>
      </div>
      <p class="told pointed">{pointed ?? (arrows > most_arrows(plot_px) ? `${count_text(arrows)} messages lie here: their arrows show when fewer do. ` : 'Point at an event, or click it.')}</p>
      <Controls view={view} set_view={set_view} bounds={bounds} are_all_open={are_all_open} open_all={open_all} measure={set_mark} />
      {is_compact ? search : null}
      <p class="told" aria-live="polite">
        {selection === undefined ? '' : `Chosen: ${sentence_of(model, selection)}.`}
      </p>
      {selection === undefined ? null : <Details model={model} selection={selection} select={select} partner_of={(rank, time) => partner_at(model, rank, time)} show={() => set_view(around(range_of(selection), bounds))} />}
      {mark === undefined ? null : <SumsOfMark model={model} mark={mark} close={() => set_mark(undefined)} />}
      <Tracks model={model} display={display} set_display={set_display} />
      <InView model={model} view={view} select={select} />
    </div>
  );
}

/** The keys of all timelines of a page. */
export function TimelineKeys({ id }: { id: string }) {
  return (
    <p class="note keys" id={id}>
      Keys: w and s zoom, a and d move, f shows the chosen piece, what is marked, or all, m marks its time, Escape lets go, arrows go from piece to piece, Enter opens or closes its rank. Ctrl and the wheel zoom, or two fingers; Shift and the wheel move;
      dragging moves, too, and over the ruler it measures and adds up. A click on the name of a rank or track opens or folds it. The faint part of a wait’s height is the share of it that kernels hid.
    </p>
  );
}
