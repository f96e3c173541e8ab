// How far the figures can be trusted.
import type { Report } from '../generated/report';
import { count_text, percent_text, plural, share_of, time_text } from '../format';

/** Told as 0.1 µs; less says nothing. */
const least_clock_error_s = 50e-9;

/** Returns sentences without full stops. */
export function confidence(report: Report): string[] {
  const { ranks, job } = report;
  const sum = (figure: (rank: Report['ranks'][number]) => number) => ranks.reduce((total, rank) => total + figure(rank), 0);
  const facts = [`${plural(sum((rank) => rank.records), 'record')}, ${count_text(sum((rank) => rank.dropped_records))} dropped`];
  const lost = sum((rank) => rank.dropped_gpu_records);
  if (lost > 0) facts.push(`${plural(lost, 'GPU record')} lost: exposed time is too high`);
  const cost_of_s = sum((rank) => (rank.tool_cost_s === null ? 0 : rank.run_s));
  facts.push(
    cost_of_s === 0
      ? 'recording cost unknown'
      : `recording cost ${percent_text(share_of(sum((rank) => rank.tool_cost_s ?? 0), cost_of_s))} of the run`,
  );
  if (report.measure === 'exposed_communication') {
    const is_known = ranks.every((rank) => !rank.kernels_recorded || rank.gpu_clock_error_s !== null);
    const error_s = Math.max(0, ...ranks.map((rank) => rank.gpu_clock_error_s ?? 0));
    if (!is_known) facts.push('GPU clock error unknown');
    else if (error_s >= least_clock_error_s) facts.push(`GPU clock error ≤ ${(error_s * 1e6).toFixed(1)} µs`);
  }
  if (!job.one_clock) {
    facts.push(
      `clocks of ${job.aligned_hosts ?? 0} of ${job.hosts.length} hosts were synchronised by the messages between them, error ≤ ${time_text(job.host_clock_error_s ?? 0)}`,
    );
  }
  const { gpu_power } = report;
  if (gpu_power?.words != null && gpu_power.gpus.length === 0) facts.push(gpu_power.words.replace(/^P/, 'p').replace(/\.$/, ''));
  const halves = report.counted.unmatched_message_halves;
  if (halves > 0) facts.push(`${count_text(halves)} message halves whose other side was not recorded`);
  return facts;
}
