// The timeline: what every rank and GPU did when, and the messages between them. A canvas that is looked at and moved as in
// Perfetto, with words for what is chosen and a table of what can be seen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LoadedTimeline } from '../../load';
import { count_text, plural } from '../../format';
import type { Range, TimelineModel, Track } from '../../model/timeline/decode';
import { first_thread, layout_of, main_stream_of, row_at, waits_of, type Row } from '../../model/timeline/layout';
import { around, find, longest_in, most_found, neighbour, panned, piece_at, range_of, shortest_of, zoomed, type Found, type Selection } from '../../model/timeline/navigation';
import { moment_text, name_of, ns_text, sentence_of, state_name } from '../../model/timeline/words';
import { Section } from '../parts';
import { Table, type Column } from '../table';
import { use_width } from '../use_width';
import { Probe, use_colours } from './colours';
import { Details } from './details';
import { when_shown, type Moment } from './show';
import { most_arrows, paint, place_of, ruler_px, waits_part } from './painter';

const most_height = 620;
/** Ranks of smaller jobs are open at first. */
const most_open = 4;
/** A click this near to a piece means it. */
const tolerance_px = 4;
/** What is in view is told when it has not moved for so long. */
const rest_ms = 250;
const most_listed = 60;

/** A value as it is when it has not changed for a while. */
function use_rested<Value>(value: Value): Value {
  const [rested, set_rested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set_rested(() => value), rest_ms);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** Whether what is not there piece by piece has any of it. */
function has_share({ shares }: Track, state: number): boolean {
  const at = shares?.states.indexOf(state) ?? -1;
  return (shares?.sums[at]?.[shares.bins] ?? 0) > 0;
}

/** What is not there piece by piece, in words. */
function Completeness({ model }: { model: TimelineModel }) {
  const cut = model.ranks.filter((rank) => shortest_of(rank) > 0);
  const longest = Math.max(0, ...cut.map(shortest_of));
  const left_out = model.ranks.reduce((sum, rank) => sum + rank.tracks_left_out, 0);
  const others = model.others.reduce((sum, row) => sum + row.ranks.length, 0);
  return (
    <>
      {cut.length === 0 ? null : (
        <p class="note">
          There is more than a page can hold. Where a rank’s row is underlined every piece is there; elsewhere the longest (on every track those of {ns_text(longest)} and more), and the sum of all: how much of the
          time each state takes.
        </p>
      )}
      {others === 0 ? null : (
        <p class="note">
          {plural(model.ranks.length, 'rank')} of {count_text(others + model.ranks.length)} have tracks of their own. Of the others, below them, a row shows how much of the time kernels run and, above
          that, how much is waited and mostly for what.
        </p>
      )}
      {left_out === 0 ? null : <p class="note">{plural(left_out, 'track')} with few pieces are left out.</p>}
      {model.messages.left_out === 0 ? null : <p class="note">{plural(model.messages.left_out, 'message')} have no arrow: there are too many.</p>}
    </>
  );
}

function Search({ model, select, show_rank }: { model: TimelineModel; select: (selection: Selection) => void; show_rank: (rank: number) => void }) {
  const [words, set_words] = useState('');
  const [at, set_at] = useState(0);
  const found = useMemo<Found>(() => find(model, words), [model, words]);
  const go = (to: number) => {
    const [rank] = found.ranks;
    if (rank !== undefined) show_rank(rank.rank);
    const wrapped = (to + found.pieces.length) % Math.max(1, found.pieces.length);
    const piece = found.pieces[wrapped];
    set_at(wrapped);
    if (piece !== undefined) select(piece);
  };
  const is_none = found.pieces.length === 0 && found.ranks.length === 0;
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(at + 1);
      }}
    >
      <label>
        Find names or ranks{' '}
        <input
          type="search"
          value={words}
          onInput={(event) => {
            set_words(event.currentTarget.value);
            set_at(-1);
          }}
        />
      </label>{' '}
      <button type="button" disabled={found.pieces.length === 0} onClick={() => go(at < 0 ? found.pieces.length - 1 : at - 1)}>
        Previous
      </button>{' '}
      <button type="submit" disabled={is_none}>
        Next
      </button>{' '}
      <span role="status">
        {words === '' ? '' : is_none ? 'Nothing has these words.' : found.pieces.length === 0 ? '' : `${at < 0 ? '' : `${count_text(at + 1)} of `}${count_text(found.pieces.length)}${found.is_cut ? ` of more than ${count_text(most_found)}` : ''}`}
      </span>
    </form>
  );
}

function TimelineOf({ model }: { model: TimelineModel }) {
  const { ref, width } = use_width(320);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { probe, colours } = use_colours();
  const [view, set_view] = useState<Range>(model.first_view);
  const [open, set_open] = useState<ReadonlySet<number>>(() => new Set(model.ranks.length <= most_open ? model.ranks.map((rank) => rank.rank) : []));
  const [selection, set_selection] = useState<Selection>();
  const [mark, set_mark] = useState<Range>();
  const [scroll, set_scroll] = useState(0);
  const [arrows, set_arrows] = useState(0);
  const [pointed, set_pointed] = useState<string>();
  const pointer = useRef<{ x: number; y: number }>();
  const drag = useRef<{ x: number; y: number; view: Range; scroll: number; moved: boolean }>();

  const layout = useMemo(() => layout_of(model, open), [model, open]);
  const gutter = Math.min(190, Math.round(width * 0.28));
  const height = Math.min(most_height, layout.height + ruler_px + 4);
  const plot_px = width - gutter;
  const ns_per_px = (view.to - view.from) / plot_px;
  const time_at = (x: number) => view.from + (x - gutter) * ns_per_px;

  // painted once a frame, however often anything changes
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
  });

  const select = (chosen: Selection | undefined) => {
    set_selection(chosen);
    if (chosen === undefined) return;
    const range = range_of(chosen);
    const is_seen = range.from < view.to && range.to > view.from;
    // a piece that cannot be told from its neighbours is no choice that anybody sees
    if (!is_seen || (range.to - range.from) / ns_per_px < 1) set_view(around(range, model.run));
    reveal(chosen);
  };
  const reveal = (chosen: Selection) => {
    const opened = open.has(chosen.rank.rank) || ['waits', 'stream'].includes(chosen.track.kind) ? open : new Set([...open, chosen.rank.rank]);
    set_open(opened);
    const rows = opened === open ? layout : layout_of(model, opened);
    const place = place_of(rows.rows, chosen);
    const element = scroller.current;
    if (place === undefined || element === null) return;
    const room = height - ruler_px;
    if (place.y < element.scrollTop || place.y + place.height > element.scrollTop + room) {
      // the new height is there when it has been rendered
      setTimeout(() => element.scrollTo({ top: Math.max(0, place.y - room / 3) }));
    }
  };
  const show_rank = (rank: number) => {
    const row = layout.rows.find((each) => each.kind === 'rank' && each.rank.rank === rank);
    if (row !== undefined) scroller.current?.scrollTo({ top: row.y });
    if (!open.has(rank)) set_open(new Set([...open, rank]));
  };
  const toggle = (rank: number) => {
    const changed = new Set(open);
    if (!changed.delete(rank)) changed.add(rank);
    set_open(changed);
  };

  /** The piece of a row at a time. */
  const piece_of = (row: Row | undefined, time: number, tolerance: number, y_in_row = 0): Selection | undefined => {
    if (row === undefined || row.kind === 'others') return undefined;
    const track = row.kind === 'lane' ? row.track : y_in_row < row.height * waits_part ? waits_of(row.rank) : main_stream_of(row.rank, model.run.to);
    if (track === undefined) return undefined;
    const lane = row.kind === 'lane' ? row.lane : track.kind === 'waits' ? 0 : track.lanes.length - 1;
    const piece = piece_at(track, lane, time, tolerance);
    return piece === undefined ? undefined : { rank: row.rank, track, track_number: row.rank.tracks.indexOf(track), piece };
  };
  const under = (x: number, y: number) => {
    const row = y < ruler_px ? undefined : row_at(layout, y - ruler_px + scroll);
    return { row, piece: x < gutter || row === undefined ? undefined : piece_of(row, time_at(x), tolerance_px * ns_per_px, y - ruler_px + scroll - row.y) };
  };
  const partner_of = (rank: number, time: number): Selection | undefined => {
    const tracks = model.ranks.find((each) => each.rank === rank);
    const track_number = tracks === undefined ? -1 : first_thread(tracks);
    const track = tracks?.tracks[track_number];
    if (tracks === undefined || track === undefined) return undefined;
    for (let lane = track.lanes.length - 1; lane >= 0; --lane) {
      const piece = piece_at(track, lane, time, 0);
      if (piece !== undefined) return { rank: tracks, track, track_number, piece };
    }
    return undefined;
  };

  /** To the row above or below that has a piece nearby. */
  const step_rows = (direction: 1 | -1): Selection | undefined => {
    if (selection === undefined) return undefined;
    const from = layout.rows.findIndex((row) => row === place_of(layout.rows, selection));
    const { from: begin, to: end } = range_of(selection);
    const time = (Math.max(begin, view.from) + Math.min(end, view.to)) / 2;
    for (let i = from + direction; i >= 0 && i < layout.rows.length; i += direction) {
      const row = layout.rows[i];
      const piece = row?.kind === 'rank' && row.is_open ? undefined : piece_of(row, time, (view.to - view.from) / 2);
      if (piece !== undefined) return piece;
    }
    return undefined;
  };
  const first_seen = () => {
    for (const row of layout.rows) {
      if (row.y + row.height < scroll || (row.kind === 'rank' && row.is_open)) continue;
      const piece = piece_of(row, view.from, view.to - view.from);
      if (piece !== undefined) return piece;
    }
    return undefined;
  };

  const zoom_point = () => (pointer.current === undefined || pointer.current.x < gutter ? undefined : time_at(pointer.current.x));
  const keys: Record<string, () => void> = {
    w: () => set_view(zoomed(view, model.run, 0.6, zoom_point())),
    s: () => set_view(zoomed(view, model.run, 1 / 0.6, zoom_point())),
    a: () => set_view(panned(view, model.run, -0.2)),
    d: () => set_view(panned(view, model.run, 0.2)),
    f: () => set_view(selection === undefined ? model.run : around(range_of(selection), model.run)),
    m: () => set_mark(selection === undefined ? undefined : range_of(selection)),
    ArrowRight: () => select(selection === undefined ? first_seen() : (neighbour(selection, 1) ?? selection)),
    ArrowLeft: () => select(selection === undefined ? first_seen() : (neighbour(selection, -1) ?? selection)),
    ArrowDown: () => select(selection === undefined ? first_seen() : (step_rows(1) ?? selection)),
    ArrowUp: () => select(selection === undefined ? first_seen() : (step_rows(-1) ?? selection)),
    Enter: () => {
      const rank = selection?.rank.rank ?? model.ranks[0]?.rank;
      if (rank !== undefined) toggle(rank);
    },
    Escape: () => (selection === undefined ? set_mark(undefined) : set_selection(undefined)),
  };
  const press = (event: KeyboardEvent) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  const place = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const move = (event: PointerEvent) => {
    const at = place(event);
    pointer.current = at;
    const from = drag.current;
    if (from === undefined) {
      const { piece } = under(at.x, at.y);
      return set_pointed(piece === undefined ? undefined : sentence_of(model, piece));
    }
    if (Math.abs(at.x - from.x) + Math.abs(at.y - from.y) > 3) from.moved = true;
    if (!from.moved) return;
    set_view(panned(from.view, model.run, (from.x - at.x) / plot_px));
    scroller.current?.scrollTo({ top: from.scroll + from.y - at.y });
  };
  const press_button = (event: PointerEvent) => {
    const at = place(event);
    if (event.button !== 0 || at.x > width) return;
    scroller.current?.focus({ preventScroll: true });
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = { ...at, view, scroll, moved: false };
  };
  const release = (event: PointerEvent) => {
    const from = drag.current;
    drag.current = undefined;
    if (from === undefined || from.moved) return;
    const { x, y } = place(event);
    const { row, piece } = under(x, y);
    if (x < gutter && row?.kind === 'rank') return toggle(row.rank.rank);
    if (x >= gutter) select(piece);
  };
  const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
  wheel.current = (event) => {
    const amount = event.deltaMode === 1 ? 30 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      set_view((before) => {
        const at = before.from + ((place(event).x - gutter) / plot_px) * (before.to - before.from);
        return zoomed(before, model.run, Math.exp(event.deltaY * amount * 0.004), at);
      });
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = (event.deltaX === 0 ? event.deltaY : event.deltaX) * amount;
      set_view((before) => panned(before, model.run, by / plot_px));
    }
  };
  useEffect(() => {
    const element = scroller.current;
    const turn = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, []);

  // a moment that another section points to
  const shown = useRef<(moment: Moment) => void>(() => undefined);
  shown.current = ({ rank, begin_s, length_s }) => {
    const range = { from: begin_s * 1e9, to: (begin_s + length_s) * 1e9 };
    const tracks = model.ranks.find((each) => each.rank === rank);
    const track_number = tracks?.tracks.findIndex((track) => track.kind === 'waits') ?? -1;
    const track = tracks?.tracks[track_number];
    const piece = track === undefined ? undefined : piece_at(track, 0, (range.from + range.to) / 2, 0);
    set_view(around(range, model.run));
    if (tracks !== undefined && track !== undefined && piece !== undefined) {
      set_selection({ rank: tracks, track, track_number, piece });
      reveal({ rank: tracks, track, track_number, piece });
    }
    scroller.current?.scrollIntoView({ block: 'center' });
    scroller.current?.focus({ preventScroll: true });
  };
  useEffect(() => when_shown((moment) => shown.current(moment)), []);

  const is_all = view.from === model.run.from && view.to === model.run.to;
  const seen_states = model.states.filter((_, state) => model.ranks.some((rank) => rank.tracks.some((track) => track.state.includes(state) || has_share(track, state))));
  return (
    <>
      <Completeness model={model} />
      <ul class="legend" aria-label="Colours of the timeline">
        {seen_states.map((state) => (
          <li key={state}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`fill-${/^\w+$/.test(state) ? state : 'other'}`} width="10" height="10" />
            </svg>
            {state_name(state)}
          </li>
        ))}
      </ul>
      <Search model={model} select={select} show_rank={show_rank} />
      {model.windows.length === 0 ? null : (
        <p class="zoom">
          Look at{' '}
          {model.windows.map(({ when, why }) => (
            <button key={`${when.from} ${why}`} type="button" onClick={() => set_view({ ...when, to: Math.max(when.to, when.from + 20) })}>
              {why}
            </button>
          ))}
        </p>
      )}
      <div class="timeline" ref={ref}>
        <Probe probe={probe} states={model.states} />
        <div
          class="timeline-scroller"
          ref={scroller}
          style={{ height: `${height}px` }}
          role="application"
          aria-label="Timeline"
          aria-describedby="timeline-keys"
          tabIndex={0}
          onKeyDown={press}
          onScroll={(event) => set_scroll(event.currentTarget.scrollTop)}
          onPointerMove={move}
          onPointerDown={press_button}
          onPointerUp={release}
          onPointerLeave={() => {
            pointer.current = undefined;
            set_pointed(undefined);
          }}
        >
          <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
          <div style={{ height: `${Math.max(0, layout.height + ruler_px + 4 - height)}px` }} />
        </div>
      </div>
      <p class="told pointed">{pointed ?? (arrows > most_arrows(plot_px) ? `${count_text(arrows)} messages lie here: their arrows show when fewer do. ` : 'Point at a piece, or click it.')}</p>
      <p class="zoom">
        <button type="button" onClick={() => set_view(zoomed(view, model.run, 0.5))}>
          Closer
        </button>
        <button type="button" disabled={is_all} onClick={() => set_view(zoomed(view, model.run, 2))}>
          Farther
        </button>
        <button type="button" disabled={is_all} aria-label="Earlier" onClick={() => set_view(panned(view, model.run, -0.5))}>
          ←
        </button>
        <button type="button" disabled={is_all} aria-label="Later" onClick={() => set_view(panned(view, model.run, 0.5))}>
          →
        </button>
        <button type="button" disabled={is_all} onClick={() => set_view(model.run)}>
          All
        </button>
        <button type="button" onClick={() => set_open(new Set(open.size === model.ranks.length ? [] : model.ranks.map((rank) => rank.rank)))}>
          {open.size === model.ranks.length ? 'Close all ranks' : 'Open all ranks'}
        </button>{' '}
        <span class="window">
          {moment_text(view.from, (view.to - view.from) / 1000)} to {moment_text(view.to, (view.to - view.from) / 1000)}
        </span>
      </p>
      <p class="note" id="timeline-keys">
        Keys: w and s zoom, a and d move, f shows the chosen piece or all, m marks its time, arrows go from piece to piece, Enter opens or closes its rank. Ctrl and the wheel zoom, Shift and the wheel move;
        dragging moves, too. The faint part of a wait’s height is the share of it that kernels hid.
      </p>
      <p class="told" aria-live="polite">
        {selection === undefined ? '' : `Chosen: ${sentence_of(model, selection)}.`}
      </p>
      {selection === undefined ? null : <Details model={model} selection={selection} select={select} partner_of={partner_of} show={() => set_view(around(range_of(selection), model.run))} />}
      <InView model={model} view={view} select={select} />
    </>
  );
}

/** What a screen reader reads instead of the picture. */
function InView({ model, view, select }: { model: TimelineModel; view: Range; select: (selection: Selection) => void }) {
  const rested = use_rested(view);
  const rows = useMemo(() => longest_in(model.ranks, rested, most_listed), [model, rested]);
  const step = (rested.to - rested.from) / 1000;
  const columns: Column<Selection>[] = [
    {
      key: 'name',
      title: 'Piece',
      value: (row) => name_of(model, row.track, row.piece),
      show: (row) => (
        <button type="button" class="plain" onClick={() => select(row)}>
          {name_of(model, row.track, row.piece)}
        </button>
      ),
    },
    { key: 'rank', title: 'rank', decimals: 0, is_name: true, value: (row) => row.rank.rank },
    { key: 'track', title: 'on', value: (row) => row.track.name },
    { key: 'begin', title: 'begins', value: (row) => row.track.begin[row.piece] ?? 0, show: (row) => moment_text(row.track.begin[row.piece] ?? 0, step) },
    { key: 'length', title: 'takes', value: (row) => (row.track.end[row.piece] ?? 0) - (row.track.begin[row.piece] ?? 0), show: (row) => ns_text((row.track.end[row.piece] ?? 0) - (row.track.begin[row.piece] ?? 0)) },
  ];
  return (
    <details class="in-view">
      <summary>What is in view, as a table</summary>
      <Table caption="The longest pieces in view" rows={rows} columns={columns} search="Find names or ranks in it" />
    </details>
  );
}

export function TimelineView({ loaded }: { loaded: LoadedTimeline }) {
  return (
    <Section id="timeline" title="Timeline" intro="What each rank and its GPU did when, from the moment the first rank came out of MPI_Init.">
      {'timeline' in loaded ? (
        <TimelineOf model={loaded.timeline} />
      ) : (
        <p class="warning" role="alert">
          {loaded.problem} {loaded.details}
        </p>
      )}
    </Section>
  );
}
