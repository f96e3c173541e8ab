// The program's steps: which are slow, and why.
import type { Report, Steps } from '../generated/report';
import { causes, sum_of, type Cause } from './causes';
import type { Column } from './columns';

/** Exposed time of the average rank by cause; the line is the longest rank's time. */
export const step_columns = (steps: Steps, ranks: number): Column[] =>
  steps.each.map((entry) => ({
    first: entry.first,
    count: entry.steps,
    parts: causes.map((cause) => entry.by_cause_s[cause] / ranks / entry.steps),
    line: entry.longest_s,
  }));

export interface SlowStep {
  /** Counted from 1, as people do. */
  readonly number: number;
  /** More than one where the report joined steps. */
  readonly steps: number;
  readonly longest_s: number;
  readonly longest_rank: number;
  /** Of the median. */
  readonly times_median: number;
  /** Of a step on the average rank. */
  readonly waited_s: number;
  /** The cause that grew most over the mean step; none where waiting did not grow: it computed for longer. */
  readonly cause: Cause | undefined;
  readonly cause_growth_s: number;
}

/** What is hardly longer than the others is no slow step; analysis/job_timeline has the same limit. */
const least_times_median = 1.05;
/** A cause that grew by less of what the step takes longer does not explain it. */
const least_explained = 0.1;

/** Steps that take longer than most, on their slowest rank; longest first. */
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

