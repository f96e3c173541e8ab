// Places in the source that call MPI.
import type { CallSite, Report } from '../generated/report';
import { share_of } from '../format';
import { main_cause, main_cause_name } from '../model/causes';
import { is_cause_within_clock_error } from '../model/clock_error';
import { words_of } from '../model/overview';
import { place_text } from '../model/places';
import { CauseBar, ClockErrorMark, ClockErrorNote, Section } from './parts';
import { Table, type Column } from './table';

export function CallSites({ report }: { report: Report }) {
  const { unit, ranks, whole, adjective } = words_of(report);
  const largest_s = Math.max(...report.call_sites.map((site) => site.counted_s));
  const mostly = (site: CallSite) => main_cause_name(site.by_cause_s);
  const is_doubtful = (site: CallSite) => {
    const cause = main_cause(site.by_cause_s);
    return cause !== undefined && is_cause_within_clock_error(site.by_cause_s, site.within_clock_error_s, cause);
  };
  const show_mostly = (site: CallSite) => (
    <>
      {mostly(site)}
      {is_doubtful(site) ? <ClockErrorMark /> : null}
    </>
  );
  const columns: Column<CallSite>[] = [
    { key: 'where', title: 'Where', value: place_text, show: (site) => <span title={`${site.file} in ${site.module}`}>{place_text(site)}</span> },
    { key: 'function', title: 'MPI function', value: (site) => site.mpi_function },
    { key: 'calls', title: 'calls', decimals: 0, value: (site) => site.calls },
    { key: 'time', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (site) => (site.counted_s / ranks) * unit.per_second },
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: (site) => share_of(site.counted_s, report.counted.total_s) * 100 },
    { key: 'bar', title: 'by cause', value: (site) => site.counted_s, show: (site) => <CauseBar times={site.by_cause_s} full={largest_s} /> },
    { key: 'cause', title: 'mostly', value: mostly, show: show_mostly },
    { key: 'rank', title: 'for rank', decimals: 0, is_name: true, meaning: 'The rank at the other end of most of its time', value: (site) => site.main_counterpart_rank },
    { key: 'gpu', title: 'waits for GPU', unit: unit.name, decimals: 3, meaning: 'Of a rank, hidden or not', value: (site) => (site.gpu_wait_s / ranks) * unit.per_second },
  ];
  const largest = report.call_sites[0];
  const is_blind = largest?.line === 0 && largest.module !== '' && !report.flaws.some((flaw) => flaw.file === largest.module);
  return (
    <Section id="call-sites" title="Call sites">
      <Table caption="Calls of MPI in the source" search="Find places, functions or causes" list="call_sites" rows={report.call_sites} columns={columns} left_out={report.left_out?.['call_sites']} />
      <ClockErrorNote is_needed={report.call_sites.some(is_doubtful)} />
      {is_blind ? <p class="note">No source lines are known: build the program with -g, unstripped (it costs no speed).</p> : null}
    </Section>
  );
}
