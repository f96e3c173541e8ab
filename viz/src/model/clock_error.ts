// What lies within the error of the hosts' clocks, and so may have another cause or be nothing.
import type { Cause, SecondsByCause } from './causes';

/** Half of it or more, as analysis/report/report.hpp has it. */
export const is_within_clock_error = (time_s: number, within_s: number) => time_s > 0 && 2 * within_s >= time_s;

/** The same of one cause's share; `within` is null where nothing is in doubt, and missing in older reports. */
export const is_cause_within_clock_error = (times: SecondsByCause, within: SecondsByCause | null | undefined, cause: Cause) =>
  within != null && is_within_clock_error(times[cause], within[cause]);

export const clock_error_meaning = "half of it or more is within the error of the hosts' clocks: it may have another cause";
