// Two fingers on the timeline: spreading them zooms, and what lay between them at first stays between them. Knows no document.
import type { Range } from './decode';
import { panned, zoomed } from './navigation';

export interface Point {
  readonly x: number;
  readonly y: number;
}
export type Fingers = readonly [Point, Point];

/** Fingers this near to each other cannot be told to be nearer still. */
const least_distance_px = 12;

/** By the distance of the fingers, since they may lie above each other. */
const distance = ([left, right]: Fingers) => Math.max(least_distance_px, Math.hypot(left.x - right.x, left.y - right.y));
const middle_x = ([left, right]: Fingers) => (left.x + right.x) / 2;

/** The view that `view` becomes while fingers that lay at `from` lie at `to`. The picture begins at `left_px`. */
export function pinched(view: Range, bounds: Range, from: Fingers, to: Fingers, left_px: number, width_px: number): Range {
  const at = view.from + ((middle_x(from) - left_px) / width_px) * (view.to - view.from);
  return panned(zoomed(view, bounds, distance(from) / distance(to), at), bounds, (middle_x(from) - middle_x(to)) / width_px);
}
