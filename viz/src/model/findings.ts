// The largest findings: the report's advice, and where it has less than enough, the places of most waiting.
import type { Advice, Report } from '../generated/report';
import { percent_text, share_of } from '../format';
import { cause_meaning, cause_name, main_cause } from './causes';
import { words_of } from './overview';
import { place_in_sentence } from './places';

export interface Finding {
  readonly title: string;
  /** Of the average rank. With advice it is a bound, else what is waited there. */
  readonly time_s: number;
  readonly is_bound: boolean;
  readonly share_of_whole: number;
  readonly evidence: string;
  /** Id of the section that shows it, and that section's name. */
  readonly section: string;
  readonly section_name: string;
}

type Kind = Advice['kind'];

const of_kind: Record<Kind, { title: string; section: string; section_name: string }> = {
  better_transport: { title: 'A faster transport', section: 'messages', section_name: 'Messages' },
  post_receives_early: { title: 'Receives posted earlier', section: 'messages', section_name: 'Messages' },
  join_messages: { title: 'Fewer, larger messages', section: 'messages', section_name: 'Messages' },
  waits_for_kernel: { title: 'Less waiting for a kernel', section: 'call-sites', section_name: 'Call sites' },
  overlap: { title: 'Computing while data moves', section: 'kernels', section_name: 'Kernels' },
  pass_device_pointers: { title: 'Device pointers given to MPI', section: 'staging', section_name: 'Staging by hand' },
  balance_ranks: { title: 'Balanced ranks', section: 'waited-for', section_name: 'Who is waited for' },
  progress_thread: { title: 'A progress thread', section: 'causes', section_name: 'Causes' },
};

export function findings(report: Report, most = 3): Finding[] {
  const { ranks, adjective } = words_of(report);
  const share = (time_s: number) => share_of(time_s, report.counted.total_s);
  const found: Finding[] = report.advice.slice(0, most).map((advice) => ({
    ...of_kind[advice.kind],
    time_s: advice.saves_at_most_s / ranks,
    is_bound: true,
    share_of_whole: share(advice.saves_at_most_s),
    evidence: advice.text,
  }));
  for (const site of report.call_sites) {
    const cause = main_cause(site.by_cause_s);
    if (found.length >= most || cause === undefined) break;
    const of_site = percent_text(share_of(site.by_cause_s[cause], site.counted_s));
    found.push({
      title: `${site.mpi_function} at ${place_in_sentence(site)}`,
      time_s: site.counted_s / ranks,
      is_bound: false,
      share_of_whole: share(site.counted_s),
      evidence: `${percent_text(share_of(site.counted_s, report.counted.counted_s))} of all that is ${adjective}; ${of_site} of it is ${cause_name(cause)}: ${cause_meaning(cause)}.`,
      section: 'call-sites',
      section_name: 'Call sites',
    });
  }
  return found;
}
