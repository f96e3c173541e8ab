// What less waiting would be worth, at best. Arithmetic on the report's sums: a bound, since a rank that waits less
// here may wait longer elsewhere. What really would come of it, the report's replay says for a few cases.
import { causes, sum_of, type Cause, type SecondsByCause } from './causes';

/** By cause, the share of its waiting that is thought away, 0 to 1; causes that are missing stay. */
export type Removed = Partial<Record<Cause, number>>;

export interface Bound {
  readonly saved_s: number;
  /** What of the counted seconds is left. */
  readonly counted_s: number;
  readonly total_s: number;
}

export function bound(total_s: number, times: SecondsByCause, removed: Removed): Bound {
  const saved_s = causes.reduce((sum, cause) => sum + times[cause] * Math.min(1, Math.max(0, removed[cause] ?? 0)), 0);
  return { saved_s, counted_s: Math.max(0, sum_of(times) - saved_s), total_s: Math.max(0, total_s - saved_s) };
}
