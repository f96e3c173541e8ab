// Ranks that others waited for, in words as in `penstock report`.
import type { Latecomer } from '../generated/report';
import { count_text, percent_text, share_of, time_number, time_text, type TimeUnit } from '../format';

/** Returns what the rank did for most of the time that others waited for it, with the share. */
export function meanwhile_text(late: Latecomer): string {
  const parts = [
    { time_s: late.in_kernels_s, what: `kernels, ${late.main_kernel ?? ''}` },
    { time_s: late.in_mpi_s, what: 'other MPI calls' },
    { time_s: late.in_copies_s, what: 'copies' },
    { time_s: late.in_kernel_launch_s, what: 'kernel launch' },
    { time_s: late.in_host_code_s, what: `host code ${late.host_code ?? ''}` },
  ];
  const most = parts.reduce((largest, part) => (part.time_s > largest.time_s ? part : largest));
  return `${percent_text(share_of(most.time_s, late.late_s))} ${most.what}`.trimEnd();
}

/** Returns "8 × 40.000": the times that were long, and how long on average; with a unit of its own where that rounds to nothing. */
export function above_all_text({ long_times, long_s }: Latecomer, unit: TimeUnit): string {
  const each_s = share_of(long_s, long_times);
  const number = time_number(each_s, unit);
  return `${count_text(long_times)} × ${number === time_number(0, unit) && each_s > 0 ? time_text(each_s) : number}`;
}

/** Returns the numbers of the steps of the long times, counted from 1; the report lists the first few. */
export function steps_text({ long_steps, long_times }: Latecomer): string {
  const numbers = long_steps.map((step) => count_text(step + 1)).join(', ');
  return long_steps.length > 0 && long_times > long_steps.length ? `${numbers}, …` : numbers;
}
