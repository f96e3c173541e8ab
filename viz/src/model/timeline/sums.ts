// What happens in a part of the run, added up: waits by cause, kernels and copies, and these by name. Must not know the
// document.
import { causes } from '../causes';
import type { Range, RankTracks, TimelineModel, Track } from './decode';
import { waits_of } from './layout';
import { first_above } from './search';

/** Times in ns. */
export interface StateSum {
  readonly state: string;
  /** Of all ranks that have tracks. */
  readonly time: number;
  readonly most: number;
  readonly most_rank: number;
}

export interface NamedSum {
  readonly name: string;
  readonly state: string;
  readonly times: number;
  readonly time: number;
  readonly bytes: number;
}

export interface Sums {
  readonly ranks: number;
  readonly states: readonly StateSum[];
  /** Kernels and copies, longest first. */
  readonly named: readonly NamedSum[];
  /** Short pieces are missing: those by name are too few. */
  readonly is_partial: boolean;
}

const gpu_states: readonly string[] = ['kernel', 'copy', 'others_kernel'];

const clipped = (begin: number, end: number, { from, to }: Range) => Math.max(0, Math.min(end, to) - Math.max(begin, from));

/** Calls `act` with each piece of the track that touches the range. */
function for_pieces(track: Track, range: Range, act: (piece: number) => void) {
  for (const lane of track.lanes) {
    for (let i = first_above(lane.end, range.from); i < lane.begin.length && (lane.begin[i] as number) < range.to; ++i) act(lane.piece[i] as number);
  }
}

const is_complete = (rank: RankTracks, track: Track, { from, to }: Range) => track.shares === undefined || rank.detail.some((each) => each.from <= from && to <= each.to);

/** Returns the time of a state by the track's shares. */
function shared_time({ shares }: Track, state: number, run: Range, range: Range): number {
  const sums = shares?.sums[shares.states.indexOf(state)];
  if (shares === undefined || sums === undefined) return 0;
  const bins_per_ns = shares.bins / (run.to - run.from);
  const before = (time: number) => {
    const bin = Math.min(shares.bins, Math.max(0, (time - run.from) * bins_per_ns));
    const whole = Math.floor(bin);
    return (sums[whole] as number) + (whole < shares.bins ? (bin - whole) * ((sums[whole + 1] as number) - (sums[whole] as number)) : 0);
  };
  return (before(range.to) - before(range.from)) / 255 / bins_per_ns;
}

/** Returns the time that is covered by any of the intervals. */
function union_of(intervals: [number, number][]): number {
  intervals.sort((left, right) => left[0] - right[0]);
  let [covered, end] = [0, -Infinity];
  for (const [from, to] of intervals) {
    covered += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return covered;
}

/** Returns a rank's exposed time by cause, and what of its waits kernels hid. */
function waits_in(model: TimelineModel, rank: RankTracks, range: Range): Map<string, number> {
  const times = new Map<string, number>();
  const add = (state: string, time: number) => times.set(state, (times.get(state) ?? 0) + time);
  const track = waits_of(rank);
  if (track === undefined) return times;
  if (!is_complete(rank, track, range)) {
    for (const state of [...causes, 'hidden']) add(state, shared_time(track, model.states.indexOf(state), model.run, range));
    return times;
  }
  for_pieces(track, range, (piece) => {
    const [begin, end] = [track.begin[piece] as number, track.end[piece] as number];
    const time = clipped(begin, end, range);
    const exposed = end > begin ? Math.min(1, (track.exposed?.[piece] ?? end - begin) / (end - begin)) : 0;
    add(model.states[track.state[piece] as number] ?? '', time * exposed);
    add('hidden', time * (1 - exposed));
  });
  return times;
}

/** Returns how long anything of a state ran on a rank's GPUs; streams beside each other count once where that is known. */
function gpu_time(model: TimelineModel, rank: RankTracks, state: string, range: Range): number {
  const number = model.states.indexOf(state);
  const intervals: [number, number][] = [];
  let shared = 0;
  for (const track of rank.tracks.filter(({ kind }) => kind === 'stream')) {
    if (!is_complete(rank, track, range)) shared += shared_time(track, number, model.run, range);
    else for_pieces(track, range, (piece) => track.state[piece] === number && intervals.push([Math.max(range.from, track.begin[piece] as number), Math.min(range.to, track.end[piece] as number)]));
  }
  return Math.min(range.to - range.from, union_of(intervals) + shared);
}

export function sums_in(model: TimelineModel, range: Range): Sums {
  const by_state = new Map<string, { time: number; most: number; most_rank: number }>();
  const add = (state: string, rank: number, time: number) => {
    const before = by_state.get(state) ?? { time: 0, most: -1, most_rank: -1 };
    by_state.set(state, { time: before.time + time, ...(time > before.most ? { most: time, most_rank: rank } : { most: before.most, most_rank: before.most_rank }) });
  };
  for (const rank of model.ranks) {
    for (const [state, time] of waits_in(model, rank, range)) add(state, rank.rank, time);
    for (const state of gpu_states) add(state, rank.rank, gpu_time(model, rank, state, range));
  }
  const order = [...gpu_states, ...causes, 'hidden'];
  return {
    ranks: model.ranks.length,
    states: order.flatMap((state) => {
      const sum = by_state.get(state);
      return sum === undefined || sum.time <= 0 ? [] : [{ state, ...sum }];
    }),
    named: named_in(model, range),
    is_partial: model.ranks.some((rank) => rank.tracks.some((track) => track.kind === 'stream' && !is_complete(rank, track, range))),
  };
}

function named_in(model: TimelineModel, range: Range): NamedSum[] {
  const named = new Map<string, NamedSum>();
  for (const rank of model.ranks) {
    for (const track of rank.tracks.filter(({ kind }) => kind === 'stream')) {
      for_pieces(track, range, (piece) => {
        const state = model.states[track.state[piece] as number] ?? '';
        const name = model.texts[track.name_of?.[piece] ?? 0] ?? '';
        const before = named.get(`${state} ${name}`) ?? { name, state, times: 0, time: 0, bytes: 0 };
        const time = clipped(track.begin[piece] as number, track.end[piece] as number, range);
        named.set(`${state} ${name}`, { ...before, times: before.times + 1, time: before.time + time, bytes: before.bytes + (track.bytes?.[piece] ?? 0) });
      });
    }
  }
  return [...named.values()].sort((left, right) => right.time - left.time);
}
