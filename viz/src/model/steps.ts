// The program's steps: which are slow, and why.
import type { Report, Steps } from '../generated/report';
import { causes, sum_of, type Cause } from './causes';
import type { Column } from './columns';

/** Returns the average rank's exposed time by cause; the line is the longest rank's time. */
export const step_columns = (steps: Steps, ranks: number): Column[] =>
  steps.each.map((entry) => ({
    first: entry.first,
    count: entry.steps,
    parts: causes.map((cause) => entry.by_cause_s[cause] / ranks / entry.steps),
    line: entry.longest_s,
  }));

export interface SlowStep {
  /** Counted from 1, for people. */
  readonly number: number;
  /** Above 1 if the report joined steps. */
  readonly steps: number;
  readonly longest_s: number;
  readonly longest_rank: number;
  /** Relative to the median. */
  readonly times_median: number;
  /** Waiting in a step of the average rank. */
  readonly waited_s: number;
  /** The cause that grew most over the mean step; undefined if waiting did not grow because the step computed longer.
   * */
  readonly cause: Cause | undefined;
  readonly cause_growth_s: number;
}

/** A step hardly longer than the others is not slow; analysis/job_timeline has the same limit. */
const least_times_median = 1.05;
/** A cause explains a step if its growth is at least this share of the extra time. */
const least_explained = 0.1;

/** Returns steps that take longer than most, on their slowest rank; longest first. */
export function slow_steps(report: Report, most = 10): SlowStep[] {
  const steps = report.steps;
  if (steps === null || steps.count === 0) return [];
  const ranks = Math.max(report.counted.ranks, 1);
  const mean = (cause: Cause) => steps.each.reduce((sum, entry) => sum + entry.by_cause_s[cause], 0) / ranks / steps.count;
  const mean_of = new Map(causes.map((cause) => [cause, mean(cause)]));
  return steps.each
    .filter((entry) => entry.longest_s >= least_times_median * steps.median_s)
    .sort((left, right) => right.longest_s - left.longest_s)
    .slice(0, most)
    .map((entry) => {
      const growths = causes
        .map((cause) => ({ cause, growth_s: entry.by_cause_s[cause] / ranks / entry.steps - (mean_of.get(cause) ?? 0) }))
        .sort((left, right) => right.growth_s - left.growth_s);
      const most_grown = growths[0];
      const has_grown = most_grown !== undefined && most_grown.growth_s > least_explained * (entry.longest_s - steps.median_s);
      return {
        number: entry.first + 1,
        steps: entry.steps,
        longest_s: entry.longest_s,
        longest_rank: entry.longest_rank,
        times_median: steps.median_s === 0 ? 0 : entry.longest_s / steps.median_s,
        waited_s: sum_of(entry.by_cause_s) / ranks / entry.steps,
        cause: has_grown ? most_grown.cause : undefined,
        cause_growth_s: has_grown ? most_grown.growth_s : 0,
      };
    });
}

