// Two fingers on the timeline: spreading them zooms, and the time between them stays between them. Must not know the
// document.
import type { Range } from './decode';
import { panned, zoomed } from './navigation';

export interface Point {
  readonly x: number;
  readonly y: number;
}
export type Fingers = readonly [Point, Point];

/** Smaller distances of fingers cannot be measured. */
const least_distance_px = 12;

/** The two-dimensional distance, because one finger may be above the other. */
const distance = ([left, right]: Fingers) => Math.max(least_distance_px, Math.hypot(left.x - right.x, left.y - right.y));
const middle_x = ([left, right]: Fingers) => (left.x + right.x) / 2;

/** Returns the view after fingers moved from `from` to `to`. The picture begins at `left_px`. */
export function pinched(view: Range, bounds: Range, from: Fingers, to: Fingers, left_px: number, width_px: number): Range {
  const at = view.from + ((middle_x(from) - left_px) / width_px) * (view.to - view.from);
  return panned(zoomed(view, bounds, distance(from) / distance(to), at), bounds, (middle_x(from) - middle_x(to)) / width_px);
}
