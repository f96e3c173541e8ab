// Figures within the error of the hosts' clocks, which may have another cause or none.
import type { Cause, SecondsByCause } from './causes';

/** Returns true if half of it or more is within the error, as in analysis/report/report.hpp. */
export const is_within_clock_error = (time_s: number, within_s: number) => time_s > 0 && 2 * within_s >= time_s;

/** Does the same for one cause; `within` is null if nothing is in doubt, and missing in older reports. */
export const is_cause_within_clock_error = (times: SecondsByCause, within: SecondsByCause | null | undefined, cause: Cause) =>
  within != null && is_within_clock_error(times[cause], within[cause]);

export const clock_error_meaning = "half of it or more is within the error of the hosts' clocks: it may have another cause";
