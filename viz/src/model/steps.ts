// The program's steps: which are slow, and why.
import type { Report, StepEntry, Steps } from '../generated/report';
import { causes, sum_of } from './causes';
import type { Column } from './columns';
import { parts, type Part } from './parts';

/** Returns what steps are divided into: all parts of the time, or the causes alone where kernels were not recorded. */
export const step_layers = (steps: Steps): readonly Part[] => (steps.each.some(({ parts_s }) => parts_s != null) ? parts : causes);

const time_in = ({ parts_s, by_cause_s }: StepEntry, part: Part): number => (parts_s != null ? parts_s[part] : part in by_cause_s ? by_cause_s[part as keyof typeof by_cause_s] : 0);

/** Returns the average rank's time by layer; the line is the longest rank's time. */
export const step_columns = (steps: Steps, layers: readonly Part[], ranks: number): Column[] =>
  steps.each.map((entry) => ({
    first: entry.first,
    count: entry.steps,
    parts: layers.map((part) => time_in(entry, part) / ranks / entry.steps),
    line: entry.longest_s,
  }));

export interface Growth {
  readonly part: Part;
  /** Seconds of the average rank, over the mean step. */
  readonly by_s: number;
}

export interface SlowStep {
  /** Counted from 1, for people. */
  readonly number: number;
  readonly longest_s: number;
  readonly longest_rank: number;
  /** Relative to the median. */
  readonly times_median: number;
  /** Waiting in a step of the average rank. */
  readonly waited_s: number;
  /** What takes longer than in the mean step, most first. */
  readonly growths: readonly Growth[];
}

/** A step hardly longer than the others is not slow; analysis/job_timeline has the same limit. */
const least_times_median = 1.05;
/** A part explains a step if its growth is at least this share of the extra time. */
const least_explained = 0.1;
/** Others are in the chart. */
const most_growths = 2;

/** Returns steps that take longer than most, on their slowest rank; longest first. */
export function slow_steps(report: Report): SlowStep[] {
  const { steps } = report;
  if (steps === null || steps.count === 0) return [];
  const ranks = Math.max(report.counted.ranks, 1);
  const layers = step_layers(steps);
  const mean_of = layers.map((part) => steps.each.reduce((sum, entry) => sum + time_in(entry, part), 0) / ranks / steps.count);
  return steps.slowest
    .filter((entry) => entry.longest_s >= least_times_median * steps.median_s)
    .map((entry) => ({
      number: entry.first + 1,
      longest_s: entry.longest_s,
      longest_rank: entry.longest_rank,
      times_median: steps.median_s === 0 ? 0 : entry.longest_s / steps.median_s,
      waited_s: sum_of(entry.by_cause_s) / ranks,
      growths: layers
        .map((part, index) => ({ part, by_s: time_in(entry, part) / ranks - (mean_of[index] ?? 0) }))
        .filter(({ by_s }) => by_s > least_explained * (entry.longest_s - steps.median_s))
        .sort((left, right) => right.by_s - left.by_s)
        .slice(0, most_growths),
    }));
}
