// Computes the boxes of a track in pixels, at most as many as pixels, regardless of the number of pieces. Wide pieces
// are boxes of their own; of narrower ones each pixel gets one, as high as the share of its time that they cover. Must
// not know the canvas.
import type { Lane, Range, ShareSums, Track } from './decode';
import { first_above, next_above } from './search';

/** Columns, so that a frame allocates nothing. */
export class Boxes {
  count = 0;
  x = new Float32Array(1024);
  width = new Float32Array(1024);
  /** Share of the row's height, from below; above `base`. */
  height = new Float32Array(1024);
  base = new Float32Array(1024);
  state = new Uint8Array(1024);
  /** Index in the track's pieces; -1: the box stands for many. */
  piece = new Int32Array(1024);

  clear() {
    this.count = 0;
  }
  add(x: number, width: number, state: number, piece: number, height = 1, base = 0) {
    if (this.count === this.x.length) this.grow();
    const i = this.count++;
    this.x[i] = x;
    this.width[i] = width;
    this.height[i] = height;
    this.base[i] = base;
    this.state[i] = state;
    this.piece[i] = piece;
  }
  /** Extends the last box, if only its place differs. */
  extend(x: number, width: number, state: number, height: number, base: number): boolean {
    const i = this.count - 1;
    if (i < 0 || this.piece[i] !== -1 || this.state[i] !== state || this.height[i] !== Math.fround(height) || this.base[i] !== Math.fround(base)) return false;
    if (Math.abs((this.x[i] as number) + (this.width[i] as number) - x) > 1e-3) return false;
    this.width[i] = (this.width[i] as number) + width;
    return true;
  }
  private grow() {
    const larger = <Column extends Float32Array | Uint8Array | Int32Array>(column: Column, into: Column) => {
      into.set(column);
      return into;
    };
    const size = this.x.length * 2;
    this.x = larger(this.x, new Float32Array(size));
    this.width = larger(this.width, new Float32Array(size));
    this.height = larger(this.height, new Float32Array(size));
    this.base = larger(this.base, new Float32Array(size));
    this.state = larger(this.state, new Uint8Array(size));
    this.piece = larger(this.piece, new Int32Array(size));
  }
}

/** Steps in which heights of boxes for many pieces are rounded, so that similar neighbours become one box. */
const height_steps = 16;
const in_steps = (share: number) => Math.min(1, Math.max(1, Math.round(share * height_steps)) / height_steps);

/** Smaller shares are not drawn: they would look larger than they are. */
const least_share = 0.01;

/** Adds pieces in `part` of a view that shows `view` on `width_px` pixels; pieces of at least a pixel are wide. */
export function add_pieces(boxes: Boxes, lane: Lane, view: Range, width_px: number, part: Range, which: 'wide' | 'narrow' | 'all') {
  const px_per_ns = width_px / (view.to - view.from);
  const px = (time: number) => (time - view.from) * px_per_ns;
  const { begin, end, covered } = lane;
  const count = begin.length;
  let i = first_above(end, part.from);
  // A piece without length ends where it begins.
  while (i > 0 && (begin[i - 1] as number) >= part.from) --i;
  while (i < count && (begin[i] as number) < part.to) {
    const x = px(begin[i] as number);
    const x_end = px(end[i] as number);
    if (x_end - x >= 1) {
      const left = Math.max(x, -2);
      if (which !== 'narrow') boxes.add(left, Math.min(x_end, width_px + 2) - left, lane.state[i] as number, lane.piece[i] as number);
      ++i;
      continue;
    }
    const pixel = Math.floor(x);
    const pixel_end = view.from + (pixel + 1) / px_per_ns;
    const next = Math.max(i + 1, next_above(end, pixel_end, i));
    if (which !== 'wide') {
      const last_end = end[next - 1] as number;
      const is_alone = next === i + 1;
      const share = is_alone ? 1 : ((covered[next] as number) - (covered[i] as number)) / Math.max(1 / px_per_ns, last_end - (begin[i] as number));
      if (is_alone) boxes.add(x, 1, lane.state[i] as number, lane.piece[i] as number);
      else {
        const height = in_steps(share);
        const state = lane.state[(i + next) >>> 1] as number;
        if (!boxes.extend(pixel, 1, state, height, 0)) boxes.add(pixel, 1, state, -1, height);
      }
    }
    i = next;
  }
}

/** Adds shares of time in `part`, states on top of each other; one column per pixel, or per bin if bins are wider. */
export function add_shares(boxes: Boxes, shares: ShareSums, run: Range, view: Range, width_px: number, part: Range, leave_out: readonly number[]) {
  const px_per_ns = width_px / (view.to - view.from);
  const bins_per_ns = shares.bins / (run.to - run.from);
  const bins_per_px = bins_per_ns / px_per_ns;
  const from = Math.max(part.from, run.from, view.from);
  const to = Math.min(part.to, run.to, view.to);
  if (from >= to) return;
  const before = (sums: Uint32Array, bin: number) => {
    const whole = Math.min(shares.bins, Math.floor(bin));
    const rest = bin - whole;
    const here = sums[whole] as number;
    return rest === 0 || whole === shares.bins ? here : here + rest * ((sums[whole + 1] as number) - here);
  };
  const first_bin = (from - run.from) * bins_per_ns;
  const last_bin = (to - run.from) * bins_per_ns;
  const step = Math.max(1, bins_per_px);
  // Columns keep their places when the view moves; otherwise they would flicker.
  for (let bin = Math.floor(first_bin / step) * step; bin < last_bin; bin += step) {
    const low = Math.max(bin, first_bin);
    const high = Math.min(bin + step, last_bin);
    if (high <= low) continue;
    const x = ((low / bins_per_ns + run.from) - view.from) * px_per_ns;
    const width = (high - low) / bins_per_px;
    let base = 0;
    for (let state = 0; state < shares.states.length; ++state) {
      const number = shares.states[state] as number;
      if (leave_out.includes(number)) continue;
      const sums = shares.sums[state] as Uint32Array;
      const share = (before(sums, high) - before(sums, low)) / (255 * (high - low));
      if (share < least_share || base >= 1) continue;
      const height = Math.min(in_steps(share), 1 - base);
      if (height <= 0) continue;
      boxes.add(x, width, number, -1, height, base);
      base += height;
    }
  }
}

/** Parts of a view where narrow pieces are drawn one by one, and where their shares are drawn. */
export interface Parts {
  readonly detail: readonly Range[];
  readonly shares: readonly Range[];
}

/** `detail`: where all pieces are kept, in order. While bins are as fine as pixels, shares are used there, too. */
export function parts_of(track: Track, detail: readonly Range[], run: Range, view: Range, width_px: number): Parts {
  if (track.shares === undefined) return { detail: [view], shares: [] };
  const bin_px = (width_px / (view.to - view.from)) * ((run.to - run.from) / track.shares.bins);
  if (bin_px <= 1) return { detail: [], shares: [view] };
  const found: { detail: Range[]; shares: Range[] } = { detail: [], shares: [] };
  let at = view.from;
  for (const window of detail) {
    const from = Math.max(at, window.from);
    const to = Math.min(view.to, window.to);
    if (from >= to) continue;
    if (at < from) found.shares.push({ from: at, to: from });
    found.detail.push({ from, to });
    at = to;
  }
  if (at < view.to) found.shares.push({ from: at, to: view.to });
  return found;
}

/** Adds all boxes of one lane. `has_shares`: the track's shares are drawn in this lane. */
export function add_lane(boxes: Boxes, track: Track, lane: Lane, has_shares: boolean, detail: readonly Range[], run: Range, view: Range, width_px: number, left_out_states: readonly number[]) {
  const parts = has_shares ? parts_of(track, detail, run, view, width_px) : { detail: [view], shares: [] };
  if (parts.shares.length === 0) return add_pieces(boxes, lane, view, width_px, view, 'all');
  if (track.shares !== undefined) for (const part of parts.shares) add_shares(boxes, track.shares, run, view, width_px, part, left_out_states);
  for (const part of parts.detail) add_pieces(boxes, lane, view, width_px, part, 'narrow');
  add_pieces(boxes, lane, view, width_px, view, 'wide');
}
