// Ranks beside each other.
import type { Rank, Thread } from '../generated/report';
import { causes, cause_name, type Cause } from './causes';
import type { Column } from './columns';

/** Returns the counted ranks, by number. */
export const counted_ranks = (ranks: readonly Rank[]) =>
  ranks.filter((rank) => rank.counted).sort((left, right) => left.rank - right.rank);

/** Returns the waits of each rank by cause. */
export const rank_columns = (ranks: readonly Rank[]): Column[] =>
  counted_ranks(ranks).map((rank) => ({
    first: rank.rank,
    count: 1,
    parts: causes.map((cause) => rank.by_cause_s?.[cause] ?? 0),
    line: null,
  }));

export interface Comparison {
  readonly name: string;
  readonly cause: Cause | undefined;
  /** Seconds; null: unknown. */
  readonly left_s: number | null;
  readonly right_s: number | null;
  /** Right minus left. */
  readonly difference_s: number | null;
}

/** Compares two ranks, figure by figure; omits causes that neither waited for. */
export function compared(left: Rank, right: Rank): Comparison[] {
  const row = (name: string, figure: (rank: Rank) => number | null | undefined, cause?: Cause): Comparison => {
    const left_s = figure(left) ?? null;
    const right_s = figure(right) ?? null;
    return { name, cause, left_s, right_s, difference_s: left_s === null || right_s === null ? null : right_s - left_s };
  };
  return [
    row('all that is counted', (rank) => rank.total_s),
    row('kernels', (rank) => rank.kernels_s),
    row('communication', (rank) => rank.communication_s),
    row('… hidden', (rank) => rank.hidden_s),
    row('… exposed', (rank) => rank.exposed_s),
    ...causes
      .filter((cause) => (left.by_cause_s?.[cause] ?? 0) > 0 || (right.by_cause_s?.[cause] ?? 0) > 0)
      .map((cause) => row(cause_name(cause), (rank) => rank.by_cause_s?.[cause], cause)),
    row('CUDA synchronisation', (rank) => rank.cuda_synchronisation_s),
    row('GPU busy (kernels and copies)', (rank) => rank.gpu_busy_s),
  ];
}

/** Returns the counted ranks with least and most waiting, the first candidates for a comparison. */
export function extremes(ranks: readonly Rank[]): { least: Rank; most: Rank } | undefined {
  const counted = counted_ranks(ranks).sort((left, right) => (left.counted_s ?? 0) - (right.counted_s ?? 0));
  const least = counted[0];
  const most = counted[counted.length - 1];
  return least === undefined || most === undefined || least === most ? undefined : { least, most };
}

/** A row of the figures of ranks: a rank, or one of its threads. */
export interface RankRow {
  readonly rank: Rank;
  readonly thread: Thread | undefined;
  /** The rank's or the thread's own. */
  readonly figures: Rank | Thread;
}

/** Returns each rank, followed by its threads. */
export const rank_rows = (ranks: readonly Rank[]): RankRow[] =>
  ranks.flatMap((rank) => [{ rank, thread: undefined, figures: rank }, ...(rank.threads ?? []).map((thread) => ({ rank, thread, figures: thread }))]);

/** Returns a thread's name: its number, with it or instead of it what the program calls it. */
export function thread_name(thread: Thread, of_rank: readonly Thread[]): string {
  if (thread.name === null || thread.name === '') return `${thread.number}`;
  return of_rank.filter(({ name }) => name === thread.name).length > 1 ? `${thread.number} (${thread.name})` : thread.name;
}

export const row_name = ({ rank, thread }: RankRow): string => (thread === undefined ? `${rank.rank}` : `${rank.rank}, thread ${thread_name(thread, rank.threads ?? [])}`);

/** Returns true if the thread is not known to have launched kernels, so that those of all GPUs count as its own. */
export const counts_all_kernels = ({ rank, thread }: RankRow): boolean => thread !== undefined && rank.kernels_recorded && (thread.gpus === null || thread.gpus.length === 0);

export const all_kernels_meaning = "is not known to have launched any kernel: the kernels of all the rank's GPUs count";

/** An NVTX range of a thread. */
export interface ThreadPhase {
  readonly rank: number;
  readonly thread: string;
  readonly phase: Thread['phases'][number];
}

export const thread_phases = (ranks: readonly Rank[]): ThreadPhase[] =>
  ranks
    .flatMap((rank) => (rank.threads ?? []).flatMap((thread) => thread.phases.map((phase) => ({ rank: rank.rank, thread: thread_name(thread, rank.threads ?? []), phase }))))
    .sort((left, right) => right.phase.counted_s - left.phase.counted_s);
