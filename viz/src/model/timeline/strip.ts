// The whole run in few columns: how much of each column's time kernels run and ranks wait exposed, of the average rank.
// Must not know the document.
import { causes } from '../causes';
import type { Range, ShareSums, TimelineModel, Track } from './decode';
import { main_stream_of, waits_of } from './layout';

/** Shares of time, 0 to 1, by column. */
export interface StripLayer {
  /** Number of the state. */
  readonly state: number;
  readonly shares: Float64Array;
}

/** Adds times to equal columns of the run. */
class Columns {
  readonly sums = new Map<number, Float64Array>();
  constructor(
    private readonly run: Range,
    private readonly count: number,
  ) {}
  private of(state: number): Float64Array {
    const known = this.sums.get(state);
    if (known !== undefined) return known;
    const sums = new Float64Array(this.count);
    this.sums.set(state, sums);
    return sums;
  }
  /** Adds `share` of the time between two moments. */
  add(state: number, from: number, to: number, share: number) {
    const per_ns = this.count / (this.run.to - this.run.from);
    const [low, high] = [(from - this.run.from) * per_ns, Math.min(this.count, (to - this.run.from) * per_ns)];
    const sums = this.of(state);
    for (let column = Math.max(0, Math.floor(low)); column < high; ++column) {
      sums[column] = (sums[column] as number) + share * (Math.min(high, column + 1) - Math.max(low, column));
    }
  }
}

function add_shares(columns: Columns, shares: ShareSums, run: Range, states: ReadonlySet<number>) {
  const bin_ns = (run.to - run.from) / shares.bins;
  shares.states.forEach((state, index) => {
    const sums = shares.sums[index];
    if (sums === undefined || !states.has(state)) return;
    for (let bin = 0; bin < shares.bins; ++bin) {
      const share = ((sums[bin + 1] as number) - (sums[bin] as number)) / 255;
      if (share > 0) columns.add(state, run.from + bin * bin_ns, run.from + (bin + 1) * bin_ns, share);
    }
  });
}

function add_track(columns: Columns, track: Track | undefined, run: Range, states: ReadonlySet<number>) {
  if (track === undefined) return;
  if (track.shares !== undefined) return add_shares(columns, track.shares, run, states);
  for (let i = 0; i < track.count; ++i) {
    const state = track.state[i] as number;
    const [begin, end] = [track.begin[i] as number, track.end[i] as number];
    if (!states.has(state) || end <= begin) continue;
    columns.add(state, begin, end, track.exposed === undefined ? 1 : Math.min(1, (track.exposed[i] as number) / (end - begin)));
  }
}

/** Returns the layers from below: kernels, then waits by cause. */
export function strip_of(model: TimelineModel, count: number): StripLayer[] {
  const columns = new Columns(model.run, count);
  const kernel = model.states.indexOf('kernel');
  const waits = new Set(model.states.flatMap((state, number) => (causes.some((cause) => cause === state) ? [number] : [])));
  for (const rank of model.ranks) {
    add_track(columns, waits_of(rank), model.run, waits);
    add_track(columns, main_stream_of(rank, model.run.to), model.run, new Set([kernel]));
  }
  let ranks = model.ranks.length;
  for (const row of model.others) {
    ranks += row.ranks.length;
    const bin_ns = (model.run.to - model.run.from) / row.bins;
    for (let bin = 0; bin < row.bins; ++bin) {
      const [from, to] = [model.run.from + bin * bin_ns, model.run.from + (bin + 1) * bin_ns];
      const weight = row.ranks.length / 255;
      columns.add(kernel, from, to, (row.kernels[bin] as number) * weight);
      columns.add(row.states[bin] as number, from, to, (row.waits[bin] as number) * weight);
    }
  }
  return [kernel, ...waits].flatMap((state) => {
    const sums = columns.sums.get(state);
    return sums === undefined ? [] : [{ state, shares: sums.map((sum) => Math.min(1, sum / Math.max(1, ranks))) }];
  });
}

/** Returns the outline of a layer above those before it, for an SVG of `height` whose columns are one unit wide. */
export function outlines(layers: readonly StripLayer[], height: number): string[] {
  const base = new Float64Array(layers[0]?.shares.length ?? 0);
  return layers.map(({ shares }) => {
    let [above, below] = ['', ''];
    shares.forEach((share, column) => {
      const low = base[column] as number;
      const high = Math.min(1, low + share);
      base[column] = high;
      above += `${column === 0 ? 'M' : 'L'}${column} ${y_text(high, height)}H${column + 1}`;
      below = `L${column + 1} ${y_text(low, height)}H${column}${below}`;
    });
    return `${above}${below}Z`;
  });
}

const y_text = (share: number, height: number) => Number(((1 - share) * height).toFixed(2));
