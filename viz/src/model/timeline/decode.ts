// Decodes the timeline for queries: each track's pieces in columns, by nesting depth, and the shares of time where
// pieces are missing.
import type { Timeline, Track as TrackDocument } from '../../generated/timeline';
import { bytes_of, IntegerReader } from './columns';

/** Pieces at one depth of a track: they follow each other without overlap, so both columns are sorted. */
export interface Lane {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  /** Time that the pieces before each one cover, in ns; one entry more than pieces. */
  readonly covered: Float64Array;
  /** Index in the track's pieces. */
  readonly piece: Uint32Array;
  /** One entry per piece. */
  readonly state: Uint8Array;
}

/** Shares of a track that lacks pieces: bytes by bin and state, added up. */
export interface ShareSums {
  readonly bins: number;
  readonly states: readonly number[];
  /** sums[state][bin]: the sum before the bin; one entry more than bins; 255 is a whole bin. */
  readonly sums: readonly Uint32Array[];
}

export interface Track {
  readonly kind: string;
  readonly name: string;
  /** Shorter pieces exist only within the rank's `detail`; 0: all pieces exist. */
  readonly shortest: number;
  readonly count: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly state: Uint8Array;
  /** Texts by number; absent columns are undefined. */
  readonly name_of: Uint32Array | undefined;
  readonly site: Uint32Array | undefined;
  readonly bytes: Float64Array | undefined;
  /** Rank + 2; 0 any, 1 none. */
  readonly peer: Uint32Array | undefined;
  readonly exposed: Float64Array | undefined;
  readonly depth: Uint8Array;
  readonly lanes: readonly Lane[];
  readonly shares: ShareSums | undefined;
}

export interface RankTracks {
  readonly rank: number;
  readonly why: string | null;
  readonly begin: number;
  readonly end: number;
  /** Where all pieces exist; unused if no track lacks any. */
  readonly detail: readonly Range[];
  readonly tracks_left_out: number;
  readonly tracks: readonly Track[];
}

/** ns since the job's begin; from, up to. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface OtherRow {
  readonly ranks: readonly number[];
  readonly bins: number;
  readonly kernels: Uint8Array;
  readonly waits: Uint8Array;
  readonly states: Uint8Array;
}

export interface Messages {
  readonly count: number;
  readonly left_out: number;
  readonly post: Float64Array;
  readonly complete: Float64Array;
  readonly sender: Uint32Array;
  readonly receiver: Uint32Array;
  /** Index in the receiver's tracks. */
  readonly track: Uint32Array;
  readonly bytes: Float64Array;
}

export interface TimelineModel {
  readonly run: Range;
  /** The initial view: a typical step; else the steps, if start-up and shutdown are long beside them. */
  readonly first_view: Range;
  readonly states: readonly string[];
  readonly texts: readonly string[];
  readonly windows: readonly { readonly when: Range; readonly why: string }[];
  readonly ranks: readonly RankTracks[];
  readonly others: readonly OtherRow[];
  readonly messages: Messages;
}

/** The number of lanes; deeper pieces are hidden. */
const most_lanes = 8;

function lanes_of(begin: Float64Array, end: Float64Array, state: Uint8Array): { lanes: Lane[]; depth: Uint8Array } {
  const count = begin.length;
  const depth = new Uint8Array(count);
  const open: number[] = [];
  const sizes: number[] = [];
  // Deeper pieces than there are lanes would overlap in one lane; they are left to their outer piece.
  const hidden = most_lanes;
  for (let i = 0; i < count; ++i) {
    while (open.length > 0 && (open[open.length - 1] as number) <= (begin[i] as number)) open.pop();
    depth[i] = Math.min(hidden, open.length);
    if (open.length < most_lanes) sizes[open.length] = (sizes[open.length] ?? 0) + 1;
    open.push(end[i] as number);
  }
  const lanes = sizes.map((size) => ({
    begin: new Float64Array(size),
    end: new Float64Array(size),
    covered: new Float64Array(size + 1),
    piece: new Uint32Array(size),
    state: new Uint8Array(size),
  }));
  const filled = sizes.map(() => 0);
  for (let i = 0; i < count; ++i) {
    const lane = lanes[depth[i] as number];
    if (lane === undefined) continue;
    const at = filled[depth[i] as number] as number;
    filled[depth[i] as number] = at + 1;
    lane.begin[at] = begin[i] as number;
    lane.end[at] = end[i] as number;
    lane.piece[at] = i;
    lane.state[at] = state[i] as number;
    lane.covered[at + 1] = (lane.covered[at] as number) + (end[i] as number) - (begin[i] as number);
  }
  return { lanes, depth };
}

function shares_of(track: TrackDocument): ShareSums | undefined {
  if (track.bins === 0) return undefined;
  const bytes = bytes_of(track.shares);
  if (bytes.length !== track.bins * track.states.length) throw new Error(`the shares of "${track.name}" are incomplete`);
  const sums = track.states.map((_, state) => {
    const column = new Uint32Array(track.bins + 1);
    for (let bin = 0; bin < track.bins; ++bin) column[bin + 1] = (column[bin] as number) + (bytes[state * track.bins + bin] as number);
    return column;
  });
  return { bins: track.bins, states: track.states, sums };
}

function track_of(track: TrackDocument, limits: { states: number; texts: number }): Track {
  const count = track.pieces;
  const reader = new IntegerReader(bytes_of(track.data));
  const columns = new Map(track.fields.map((field) => [field, new Float64Array(count)]));
  const in_order = [...columns.values()];
  for (let i = 0; i < count; ++i) for (const column of in_order) column[i] = reader.next();
  if (!reader.is_at_end) throw new Error(`"${track.name}" holds more than its pieces`);
  const begin = columns.get('begin');
  const length = columns.get('length');
  const state_column = columns.get('state');
  if (begin === undefined || length === undefined || state_column === undefined) throw new Error(`"${track.name}" has no times or states`);
  const end = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    if (i > 0) begin[i] = (begin[i] as number) + (begin[i - 1] as number);
    end[i] = (begin[i] as number) + (length[i] as number);
  }
  const below = (column: Float64Array | undefined, limit: number) => {
    if (column?.some((value) => value >= limit) === true) throw new Error(`"${track.name}" names what is not there`);
    return column === undefined ? undefined : Uint32Array.from(column);
  };
  const state = Uint8Array.from(below(state_column, limits.states) ?? []);
  return {
    kind: track.kind,
    name: track.name,
    shortest: track.shortest_ns,
    count,
    begin,
    end,
    state,
    name_of: below(columns.get('name'), limits.texts),
    site: below(columns.get('site'), limits.texts),
    bytes: columns.get('bytes'),
    peer: below(columns.get('peer'), 2 ** 32),
    exposed: columns.get('exposed'),
    ...lanes_of(begin, end, state),
    shares: shares_of(track),
  };
}

function messages_of({ count, left_out, data }: Timeline['messages']): Messages {
  const reader = new IntegerReader(bytes_of(data));
  const numbers = () => new Float64Array(count);
  const [post, complete, bytes] = [numbers(), numbers(), numbers()];
  const [sender, receiver, track] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0; i < count; ++i) {
    post[i] = reader.next() + (i > 0 ? (post[i - 1] as number) : 0);
    complete[i] = (post[i] as number) + reader.next();
    sender[i] = reader.next();
    receiver[i] = reader.next();
    track[i] = reader.next();
    bytes[i] = reader.next();
  }
  return { count, left_out, post, complete, sender, receiver, track, bytes };
}

function others_of(others: Timeline['others'], states: number): OtherRow[] {
  if (others === null) return [];
  const bytes = bytes_of(others.data);
  const { ranks, ranks_per_row, bins } = others;
  const rows: OtherRow[] = [];
  for (let first = 0; first < ranks.length; first += ranks_per_row) {
    const at = rows.length * bins * 3;
    const column = (number: number) => bytes.subarray(at + number * bins, at + (number + 1) * bins);
    const row = { ranks: ranks.slice(first, first + ranks_per_row), bins, kernels: column(0), waits: column(1), states: column(2) };
    if (row.states.length !== bins || row.states.some((state) => state >= states)) throw new Error('the rows of other ranks are incomplete');
    rows.push(row);
  }
  return rows;
}

/** Adds a small margin on either side. */
function around_steps(steps: Range, run: Range): Range {
  const margin = (steps.to - steps.from) * 0.04;
  const view = { from: Math.max(run.from, steps.from - margin), to: Math.min(run.to, steps.to + margin) };
  return view.to - view.from < 0.8 * (run.to - run.from) ? view : run;
}

const shortest_first_view_ns = 20;

/** Returns a typical step, if the analyser found one; else all steps, or the run. */
function first_view_of(timeline: Timeline, run: Range): Range {
  const typical = timeline.windows.find(({ why }) => why.startsWith('a typical step'));
  if (typical === undefined) return timeline.steps_ns === null ? run : around_steps(range_of(timeline.steps_ns), run);
  const { from, to } = range_of(typical.when_ns);
  return { from, to: Math.max(to, from + shortest_first_view_ns) };
}

const range_of = ([from = 0, to = 0]: readonly number[]): Range => ({ from, to: Math.max(from, to) });

/** Throws an Error with a message for people if columns are invalid. */
export function decode_timeline(timeline: Timeline): TimelineModel {
  const limits = { states: timeline.states.length, texts: timeline.texts.length };
  const run = { from: 0, to: timeline.run_ns };
  return {
    run,
    first_view: first_view_of(timeline, run),
    states: timeline.states,
    texts: timeline.texts,
    windows: timeline.windows.map(({ when_ns, why }) => ({ when: range_of(when_ns), why })),
    ranks: timeline.ranks.map((rank) => {
      const run = range_of(rank.run_ns);
      return {
        rank: rank.rank,
        why: rank.why,
        begin: run.from,
        end: run.to,
        detail: rank.detail_ns.map(range_of).sort((left, right) => left.from - right.from),
        tracks_left_out: rank.tracks_left_out,
        tracks: rank.tracks.map((track) => track_of(track, limits)),
      };
    }),
    others: others_of(timeline.others, limits.states),
    messages: messages_of(timeline.messages),
  };
}
