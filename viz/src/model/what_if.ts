// Bounds the time that less waiting would save, from the report's sums: a rank that waits less here may wait longer
// elsewhere. The report's replay computes the real effect for a few cases.
import { causes, sum_of, type Cause, type SecondsByCause } from './causes';

/** The removed share of each cause's waiting, 0 to 1; missing causes stay. */
export type Removed = Partial<Record<Cause, number>>;

export interface Bound {
  readonly saved_s: number;
  /** The remaining counted seconds. */
  readonly counted_s: number;
  readonly total_s: number;
}

export function bound(total_s: number, times: SecondsByCause, removed: Removed): Bound {
  const saved_s = causes.reduce((sum, cause) => sum + times[cause] * Math.min(1, Math.max(0, removed[cause] ?? 0)), 0);
  return { saved_s, counted_s: Math.max(0, sum_of(times) - saved_s), total_s: Math.max(0, total_s - saved_s) };
}

/** Returns the pieces of the whole that are left, so that their bar shows what the sliders remove. */
export function left_pieces<P extends { readonly kind: string; readonly time_s: number }>(pieces: readonly P[], removed: Removed): P[] {
  return pieces.map((piece) => {
    const cause = causes.find((each) => each === piece.kind);
    return cause === undefined ? piece : { ...piece, time_s: piece.time_s * (1 - Math.min(1, Math.max(0, removed[cause] ?? 0))) };
  });
}
