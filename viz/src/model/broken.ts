// A job that did not end: what the report knows of it, in words.
import type { Rank, Report, UnfinishedRank } from '../generated/report';
import { plural, time_text } from '../format';

export interface Broken {
  readonly title: string;
  /** Why ranks wait, the weightiest first; else the ranks that stopped first. */
  readonly facts: readonly string[];
  readonly next: string | undefined;
  readonly consequence: string;
}

/** More would hide the summary. */
const most_listed = 8;

/** Returns what the rank is last known to have done, as far as its figures tell. */
const fate_of = ({ rank, run_s, recorded_s }: Rank): string =>
  `rank ${rank}: the last record is ${time_text(run_s)} after it returned from MPI_Init${recorded_s < run_s ? `, complete up to ${time_text(recorded_s)}` : ''}`;

/** Returns undefined if all ranks reached MPI_Finalize. */
export function broken_job(report: Report): Broken | undefined {
  const { unfinished } = report;
  if (!unfinished) return broken_by_figures(report);
  return {
    title: unfinished.words,
    facts: unfinished.standstills.slice(0, most_listed).map(({ words }) => words),
    next: unfinished.next ?? undefined,
    consequence: `All figures are of what was recorded until ${unfinished.is_running ? 'now' : 'then'}.`,
  };
}

function broken_by_figures(report: Report): Broken | undefined {
  const ranks = report.ranks.filter((rank) => !rank.finished).sort((left, right) => left.run_s - right.run_s);
  const left_out = report.left_out?.['ranks'];
  const absent = Math.max(0, report.job.ranks - report.ranks.length - (left_out ?? 0));
  if (ranks.length === 0 && absent === 0) return undefined;
  const counts = [
    ranks.length === 0 ? '' : `${left_out === undefined ? '' : 'at least '}${plural(ranks.length, 'rank')} of ${report.job.ranks} did not reach MPI_Finalize`,
    absent === 0 ? '' : `${plural(absent, 'rank')} left no recording`,
  ].filter((count) => count !== '');
  const more = ranks.length - most_listed;
  return {
    title: `The job did not end as it should: ${counts.join(', and ')}.`,
    facts: [...ranks.slice(0, most_listed).map(fate_of), ...(more > 0 ? [`and ${plural(more, 'rank')} more, which ran longer`] : [])],
    next: undefined,
    consequence: 'All figures go up to the last record of each rank; what a rank waited for at the end is among them.',
  };
}

/** What a rank is or was in, as rows: one for each call. */
export interface RankFate {
  readonly rank: number;
  readonly state: string;
  readonly last_alive_s: number | null;
  readonly in_call: string;
  readonly since_s: number | null;
  readonly waits_for: string;
}

const states: Record<UnfinishedRank['state'], string> = { killed: 'killed', aborted: 'MPI_Abort', exited: 'exited', running: 'runs', finished: 'finalized', missing: 'no recording' };
const most_waited_for = 4;

function waited_for(ranks: readonly number[], any: boolean): string {
  const text = ranks.slice(0, most_waited_for).join(any ? ' or ' : ', ');
  return ranks.length > most_waited_for ? `${text} and ${ranks.length - most_waited_for} more` : text;
}

/** Returns the rows of all ranks; empty if the report does not tell. */
export function rank_fates(report: Report): RankFate[] {
  return (report.unfinished?.ranks ?? []).flatMap((rank) => {
    const common = { rank: rank.rank, state: states[rank.state], last_alive_s: rank.last_alive_s };
    if (rank.calls !== null && rank.calls.length > 0) {
      return rank.calls.map((call) => ({
        ...common,
        in_call: call.what === null ? call.call : `${call.call}: ${call.what}`,
        since_s: call.since_s,
        waits_for: rank.moves ? 'goes on' : waited_for(call.waits_for, call.any_is_enough),
      }));
    }
    const after = rank.last_call === null ? '' : `after ${rank.last_call}`;
    const is_known = rank.calls !== null && !['finished', 'missing'].includes(rank.state);
    return [{ ...common, in_call: [is_known ? 'outside MPI' : '', after].filter((words) => words !== '').join(', '), since_s: rank.last_call_end_s, waits_for: '' }];
  });
}

