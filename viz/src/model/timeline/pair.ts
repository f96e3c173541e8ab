// Two timelines viewed together: both views have the same length, so that lengths can be compared, and move alike. Each
// has its own axis, because the runs began at different times. Must not know the document.
import type { Range, TimelineModel } from './decode';

export type Pair<Value> = readonly [Value, Value];
/** Before and after. */
export type Side = 0 | 1;

export const pair_of = <Value>(make: (side: Side) => Value): Pair<Value> => [make(0), make(1)];
const other_of = (side: Side): Side => (side === 0 ? 1 : 0);

const span = ({ from, to }: Range) => to - from;
const shifted = ({ from, to }: Range, by: number): Range => ({ from: from + by, to: to + by });

/** Gives both views the length of the longer one; they keep their begins. */
export function alike(views: Pair<Range>): Pair<Range> {
  const longer = Math.max(...views.map(span));
  return pair_of((side) => ({ from: views[side].from, to: views[side].from + longer }));
}

/** Moves one view to `next`; the other one follows. */
export function followed(views: Pair<Range>, side: Side, next: Range): Pair<Range> {
  const other = shifted(next, views[other_of(side)].from - views[side].from);
  return side === 0 ? [next, other] : [other, next];
}

/** Returns the limits while both move together: all of both runs, each on its own axis. */
export function bounds_of(runs: Pair<Range>, views: Pair<Range>): Pair<Range> {
  return pair_of((side) => {
    const other = shifted(runs[other_of(side)], views[side].from - views[other_of(side)].from);
    return { from: Math.min(runs[side].from, other.from), to: Math.max(runs[side].to, other.to) };
  });
}

/** A moment that both runs have. */
export interface CommonMoment {
  readonly why: string;
  readonly views: Pair<Range>;
}

/** Returns the text without step or rank: "the slowest step: step 18". */
const kind_of = (why: string) => /^[^:]*/.exec(why)?.[0] ?? why;
const least_ns = 20;

export function common_moments([before, after]: Pair<TimelineModel>): CommonMoment[] {
  const kinds = new Set(before.windows.map(({ why }) => kind_of(why)));
  return [...kinds].flatMap((why) => {
    const [left, right] = [before, after].map((model) => model.windows.find((window) => kind_of(window.why) === why)?.when);
    if (left === undefined || right === undefined) return [];
    const [from_left, from_right] = alike([left, right]);
    const seen = (view: Range): Range => ({ from: view.from, to: Math.max(view.to, view.from + least_ns) });
    return [{ why, views: [seen(from_left), seen(from_right)] as const }];
  });
}
