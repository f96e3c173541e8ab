// The causes of waiting: order, names and what each means, as in `penstock report`.
import type { ByCause as SecondsByCause } from '../generated/report';
import { cause_words } from '../generated/words';

export type { SecondsByCause };
export type Cause = keyof SecondsByCause;

export const causes: readonly Cause[] = [
  'late_sender',
  'late_receiver',
  'wait_at_collective',
  'wait_at_window',
  'wire',
  'packing_or_staging',
  'gpu_not_ready',
  'missing_progress',
  'unattributed',
];

const words: Record<Cause, { name: string; meaning: string }> = cause_words;

export const cause_name = (cause: Cause) => words[cause].name;
export const cause_meaning = (cause: Cause) => words[cause].meaning;

export interface CauseShare {
  readonly cause: Cause;
  readonly time_s: number;
}

/** Returns the causes with time, largest first. */
export const by_size = (times: SecondsByCause): CauseShare[] =>
  causes
    .map((cause) => ({ cause, time_s: times[cause] }))
    .filter((each) => each.time_s > 0)
    .sort((left, right) => right.time_s - left.time_s);

/** Returns the largest cause; undefined if there is no waiting. */
export const main_cause = (times: SecondsByCause): Cause | undefined => by_size(times)[0]?.cause;

/** Returns its name; empty if there is no waiting. */
export function main_cause_name(times: SecondsByCause): string {
  const cause = main_cause(times);
  return cause === undefined ? '' : cause_name(cause);
}

export const sum_of = (times: SecondsByCause) => causes.reduce((sum, cause) => sum + times[cause], 0);
