// The parts of the time, which add up to all of it: order, names and meaning as in `penstock report`.
import type { Parts, Place, Rank, Report } from '../generated/report';
import { part_words } from '../generated/words';
import { cause_meaning, cause_name, causes, type Cause } from './causes';

export type SecondsByPart = Parts;
export type Part = keyof Parts;

/** A moment belongs to the first part that it can belong to. */
export const parts: readonly Part[] = ['kernels', ...causes, 'mpi_files', 'nccl', 'staging_by_hand', 'other_copies', 'kernel_launch', 'cuda_synchronisation', 'host_code'];

type Beside = Exclude<Part, Cause>;

const words: Record<Beside, { name: string; meaning: string }> = part_words;

export const cause_of_part = (part: Part): Cause | undefined => causes.find((cause) => cause === part);

export function part_name(part: Part): string {
  const cause = cause_of_part(part);
  return cause === undefined ? words[part as Beside].name : cause_name(cause);
}

export function part_meaning(part: Part): string {
  const cause = cause_of_part(part);
  return cause === undefined ? words[part as Beside].meaning : cause_meaning(cause);
}

/** Returns the parts with time, in their order, so that bars below each other can be compared. */
export const present_parts = (times: SecondsByPart): Part[] => parts.filter((part) => times[part] > 0);

export interface PartRow {
  /** Undefined: exposed communication, whose causes follow. */
  readonly part: Part | undefined;
  readonly is_cause: boolean;
  /** Seconds of one step of one rank, of the run where there are no steps. */
  readonly time_s: number;
  readonly share: number;
  /** The rank that has most of it; undefined: there is one rank only, or this file lacks some. */
  readonly most: { readonly time_s: number; readonly rank: number } | undefined;
}

const exposed_in = (times: SecondsByPart) => causes.reduce((sum, cause) => sum + times[cause], 0);

/** Returns how many steps the report's sums are of; 1 without steps. */
export const steps_of = (report: Report): number => Math.max(report.steps?.count ?? 1, 1);

/** Returns kernels first, if the program has a GPU, then the largest; exposed communication is followed by its causes. Empty: parts are not known. */
export function part_rows(report: Report): PartRow[] {
  const all = report.counted.parts_s ?? null;
  if (all === null) return [];
  const steps = steps_of(report);
  const ranks = Math.max(report.counted.ranks, 1);
  const has_all_ranks = report.left_out?.['ranks'] === undefined;
  const row = (part: Part | undefined, time_in: (times: SecondsByPart) => number): PartRow => {
    const most = largest_rank(has_all_ranks && report.counted.ranks > 1 ? report.ranks : [], time_in);
    return {
      part,
      is_cause: part !== undefined && cause_of_part(part) !== undefined,
      time_s: time_in(all) / ranks / steps,
      share: report.counted.total_s === 0 ? 0 : time_in(all) / report.counted.total_s,
      most: most === undefined ? undefined : { ...most, time_s: most.time_s / steps },
    };
  };
  const of_part = (part: Part) => row(part, (times) => times[part]);
  const by_size = (rows: PartRow[]) => rows.filter((each) => each.time_s > 0).sort((left, right) => right.time_s - left.time_s);
  const exposed = row(undefined, exposed_in);
  const beside = parts.filter((part) => part !== 'kernels' && cause_of_part(part) === undefined).map(of_part);
  return [
    ...(report.measure === 'exposed_communication' ? [of_part('kernels')] : []),
    ...by_size([exposed, ...beside]).flatMap((each) => (each === exposed ? [exposed, ...by_size(causes.map(of_part))] : [each])),
  ];
}

/** A part's places, and all of its time. */
export interface PartPlaces {
  readonly part: Part;
  readonly caption: string;
  readonly rows: readonly Place[];
  readonly all_s: number;
}

/** Below this share of the counted time, places of copies and of synchronisation are of no interest. */
const least_share = 0.01;

/** Returns where the time outside of kernels and MPI is spent, for each part that has such places. */
export function places_of_time(report: Report): PartPlaces[] {
  const times = report.counted.parts_s ?? null;
  if (times === null) return [];
  const host_code = report.host_code.map(({ host_code_s, ...place }) => ({ ...place, time_s: host_code_s }));
  const is_worth_it = (part: Part) => times[part] >= least_share * report.counted.total_s;
  return [
    { part: 'host_code' as const, caption: 'Where hosts compute while no kernel runs', rows: host_code },
    { part: 'other_copies' as const, caption: 'Where the program copies while no kernel runs', rows: is_worth_it('other_copies') ? report.other_copies : [] },
    { part: 'kernel_launch' as const, caption: 'Where kernels have been launched and have not begun', rows: is_worth_it('kernel_launch') ? report.kernel_launch : [] },
    { part: 'cuda_synchronisation' as const, caption: 'Where hosts wait for an idle GPU', rows: is_worth_it('cuda_synchronisation') ? report.cuda_synchronisation : [] },
  ]
    .map((each) => ({ ...each, all_s: times[each.part] }))
    .filter(({ rows, all_s }) => rows.length > 0 && all_s > 0);
}

function largest_rank(ranks: readonly Rank[], time_in: (times: SecondsByPart) => number): { time_s: number; rank: number } | undefined {
  let most: { time_s: number; rank: number } | undefined;
  for (const rank of ranks) {
    const time_s = rank.parts_s == null ? 0 : time_in(rank.parts_s);
    if (time_s > (most?.time_s ?? 0)) most = { time_s, rank: rank.rank };
  }
  return most;
}
