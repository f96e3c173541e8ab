// A job that did not end: what the report knows of it, in words.
import type { Rank, Report } from '../generated/report';
import { plural, time_text } from '../format';

export interface Broken {
  readonly title: string;
  /** The ranks that stopped first come first. */
  readonly ranks: readonly string[];
  /** Ranks that are not listed one by one. */
  readonly more: number;
  readonly consequence: string;
}

/** More would hide the summary. */
const most_listed = 8;

/** Returns what the rank is last known to have done, as far as the report has it. */
const fate_of = ({ rank, run_s, recorded_s }: Rank): string =>
  `rank ${rank}: the last record is ${time_text(run_s)} after it returned from MPI_Init${recorded_s < run_s ? `, complete up to ${time_text(recorded_s)}` : ''}`;

/** Returns undefined if all ranks reached MPI_Finalize. */
export function broken_job(report: Report): Broken | undefined {
  const unfinished = report.ranks.filter((rank) => !rank.finished).sort((left, right) => left.run_s - right.run_s);
  const listed = report.ranks.length + (report.left_out?.['ranks'] ?? 0);
  const absent = Math.max(0, report.job.ranks - listed);
  if (unfinished.length === 0 && absent === 0) return undefined;
  const is_shortened = report.left_out?.['ranks'] !== undefined;
  const facts = [
    unfinished.length === 0 ? '' : `${is_shortened ? 'at least ' : ''}${plural(unfinished.length, 'rank')} of ${report.job.ranks} did not reach MPI_Finalize`,
    absent === 0 ? '' : `${plural(absent, 'rank')} left no recording`,
  ].filter((fact) => fact !== '');
  return {
    title: `The job did not end as it should: ${facts.join(', and ')}.`,
    ranks: unfinished.slice(0, most_listed).map(fate_of),
    more: Math.max(0, unfinished.length - most_listed),
    consequence: 'All figures go up to the last record of each rank; what a rank waited for at the end is among them.',
  };
}
