// The overview of a report: what was counted, and where the average rank's time went.
import type { Report } from '../generated/report';
import { time_unit, type TimeUnit } from '../format';
import { by_size, cause_name } from './causes';
import { part_name, present_parts, steps_of, type Part } from './parts';

/** Terms shared by all views. */
export interface Words {
  readonly is_exposed: boolean;
  /** Terms for counted seconds, before and after a noun. */
  readonly adjective: string;
  readonly noun: string;
  /** The whole of which shares are shown. */
  readonly whole: 'steps' | 'run' | 'recorded steps' | 'recorded part';
  /** Whose times they are that are divided by the counted ranks: "the average rank", or "rank 1" alone. */
  readonly who: string;
  /** For these times. */
  readonly unit: TimeUnit;
  readonly ranks: number;
}

export function words_of(report: Report): Words {
  const is_exposed = report.measure === 'exposed_communication';
  const ranks = Math.max(report.counted.ranks, 1);
  const [alone, ...others] = report.ranks.filter(({ counted }) => counted);
  return {
    is_exposed,
    adjective: is_exposed ? 'exposed' : 'in MPI',
    noun: is_exposed ? 'exposed communication' : 'communication time',
    whole: report.recorded_part ? (report.steps === null ? 'recorded part' : 'recorded steps') : report.steps === null ? 'run' : 'steps',
    who: alone !== undefined && others.length === 0 && report.counted.ranks === 1 ? `rank ${alone.rank}` : 'the average rank',
    unit: time_unit(report.counted.total_s / ranks),
    ranks,
  };
}

/** A piece of the average rank's time. The pieces add up to all of it. */
export interface Piece {
  readonly kind: Part | 'other';
  readonly name: string;
  readonly time_s: number;
}

/** Returns where the time of the average counted rank went, of one step where there are steps. */
export function pieces_of_average_rank(report: Report): Piece[] {
  const { ranks } = words_of(report);
  const per = ranks * steps_of(report);
  const { parts_s, by_cause_s, counted_s, total_s } = report.counted;
  if (parts_s != null) return present_parts(parts_s).map((part) => ({ kind: part, name: part_name(part), time_s: parts_s[part] / per }));
  const waits: Piece[] = by_size(by_cause_s).map(({ cause, time_s }) => ({ kind: cause, name: cause_name(cause), time_s: time_s / per }));
  return [...waits, { kind: 'other' as const, name: 'not in MPI', time_s: Math.max(0, total_s - counted_s) / per }].filter((piece) => piece.time_s > 0);
}
