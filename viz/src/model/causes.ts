// The causes of waiting: order and names as in `penstock report`, and what each means.
import type { ByCause as SecondsByCause } from '../generated/report';

export type { SecondsByCause };
export type Cause = keyof SecondsByCause;

export const causes: readonly Cause[] = [
  'late_sender',
  'late_receiver',
  'wait_at_collective',
  'wire',
  'packing_or_staging',
  'gpu_not_ready',
  'missing_progress',
  'unattributed',
];

const names: Record<Cause, string> = {
  late_sender: 'late sender',
  late_receiver: 'late receiver',
  wait_at_collective: 'wait at collective',
  wire: 'wire',
  packing_or_staging: 'packing, staging',
  gpu_not_ready: 'GPU not ready',
  missing_progress: 'missing progress',
  unattributed: 'unattributed',
};

const meanings: Record<Cause, string> = {
  late_sender: 'the sending rank had not posted its message yet',
  late_receiver: 'the receiving rank had not posted its receive yet',
  wait_at_collective: 'the last rank of a collective call, or its root, had not arrived yet',
  wire: 'data was in flight',
  packing_or_staging: 'data was packed, or copied through host memory',
  gpu_not_ready: 'a kernel had to end before the data could be sent',
  missing_progress: 'the partner had posted its side, but was in no MPI call that could progress the transfer',
  unattributed: 'the recording does not show the cause',
};

export const cause_name = (cause: Cause) => names[cause];
export const cause_meaning = (cause: Cause) => meanings[cause];

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
