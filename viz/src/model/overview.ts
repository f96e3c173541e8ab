// The overview of a report: what was counted, how much, and where the average rank's time went.
import type { Report } from '../generated/report';
import { percent_text, share_of, time_number, time_unit, type TimeUnit } from '../format';
import { by_size, cause_name, main_cause, type Cause } from './causes';
import { place_in_sentence } from './places';

/** Terms shared by all views. */
export interface Words {
  readonly is_exposed: boolean;
  /** Terms for counted seconds, before and after a noun. */
  readonly adjective: string;
  readonly noun: string;
  /** The whole of which shares are shown. */
  readonly whole: 'steps' | 'run' | 'recorded steps' | 'recorded part';
  /** For times of the average rank. */
  readonly unit: TimeUnit;
  readonly ranks: number;
}

export function words_of(report: Report): Words {
  const is_exposed = report.measure === 'exposed_communication';
  const ranks = Math.max(report.counted.ranks, 1);
  return {
    is_exposed,
    adjective: is_exposed ? 'exposed' : 'in MPI',
    noun: is_exposed ? 'exposed communication' : 'communication time',
    whole: report.recorded_part ? (report.steps === null ? 'recorded part' : 'recorded steps') : report.steps === null ? 'run' : 'steps',
    unit: time_unit(report.counted.total_s / ranks),
    ranks,
  };
}

/** Returns the verdict in a sentence or two. */
export function verdict(report: Report): string {
  const { is_exposed, whole, unit, ranks } = words_of(report);
  const { counted } = report;
  if (counted.ranks === 0) return 'No figures: no rank has a usable recording.';
  if (counted.total_s === 0 && report.recorded_part) return `No figures: the ${whole} is empty.`;
  const time = (time_s: number) => `${time_number(time_s / ranks, unit)} ${unit.name}`;
  const amount = `${percent_text(share_of(counted.counted_s, counted.total_s))} of the ${whole} (${time(counted.counted_s)} of ${time(counted.total_s)} on the average rank)`;
  let text = is_exposed
    ? `${amount} is exposed communication: the rank is in MPI and its GPU computes nothing.`
    : `${amount} is communication time. How much of it is exposed is unknown: ${report.why_not_exposed ?? 'no reason is recorded'}.`;
  const worst = report.call_sites[0];
  const cause = worst === undefined ? undefined : main_cause(worst.by_cause_s);
  if (worst !== undefined && cause !== undefined && counted.counted_s > 0) {
    const who = worst.main_counterpart_rank === null ? '' : `; rank ${worst.main_counterpart_rank}`;
    text += ` ${percent_text(share_of(worst.counted_s, counted.counted_s))} of it is ${worst.mpi_function} at ${place_in_sentence(worst)}, above all ${cause_name(cause)} (${percent_text(share_of(worst.by_cause_s[cause], worst.counted_s))} of that${who}).`;
  }
  return text;
}

/** A piece of the average rank's time. The pieces add up to all of it. */
export interface Piece {
  readonly kind: 'computing' | 'hidden' | 'other' | Cause;
  readonly name: string;
  readonly time_s: number;
}

/** Returns where the time of the average counted rank went. */
export function pieces_of_average_rank(report: Report): Piece[] {
  const { is_exposed, ranks } = words_of(report);
  const counted = report.ranks.filter((rank) => rank.counted);
  const waits: Piece[] = by_size(report.counted.by_cause_s).map(({ cause, time_s }) => ({
    kind: cause,
    name: cause_name(cause),
    time_s: time_s / ranks,
  }));
  const pieces: Piece[] = [];
  let known_s = report.counted.counted_s / ranks;
  // A list that was cut for the page does not determine the mean.
  if (is_exposed && counted.length === report.counted.ranks) {
    const mean = (figure: (rank: Report['ranks'][number]) => number | null) =>
      counted.reduce((sum, rank) => sum + (figure(rank) ?? 0), 0) / ranks;
    const hidden_s = mean((rank) => rank.hidden_s);
    const kernels_s = Math.max(0, mean((rank) => rank.kernels_s) - hidden_s);
    pieces.push({ kind: 'computing', name: 'kernels alone', time_s: kernels_s });
    pieces.push({ kind: 'hidden', name: 'kernels that hide communication', time_s: hidden_s });
    known_s += kernels_s + hidden_s;
  }
  const rest_s = Math.max(0, report.counted.total_s / ranks - known_s);
  return [
    ...pieces,
    ...waits,
    { kind: 'other' as const, name: is_exposed ? 'no kernel and not in MPI' : 'not in MPI', time_s: rest_s },
  ].filter((piece) => piece.time_s > 0);
}
