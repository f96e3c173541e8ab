// The causes of waiting, each with its seconds.
import type { Report, Unattributed } from '../generated/report';
import { share_of } from '../format';
import { by_size, cause_meaning, type CauseShare } from '../model/causes';
import { is_cause_within_clock_error } from '../model/clock_error';
import { words_of } from '../model/overview';
import { CauseName, ClockErrorMark, ClockErrorNote, Section, StackedBar } from './parts';
import { Table, type Column } from './table';

const whys: Record<Unattributed['why'], string> = {
  no_partner: "the other side's half was not recorded",
  no_common_clock: 'the other side is on a host whose clock could not be synchronised',
  nothing_recorded: 'the awaited operation was not recorded',
};

export function Causes({ report }: { report: Report }) {
  const { is_exposed, unit, ranks, whole } = words_of(report);
  const shares = by_size(report.counted.by_cause_s);
  const largest_s = shares[0]?.time_s ?? 0;
  const is_doubtful = ({ cause }: CauseShare) =>
    is_cause_within_clock_error(report.counted.by_cause_s, report.counted.within_clock_error_s, cause);
  const show_cause = (row: CauseShare) => (
    <>
      <CauseName cause={row.cause} />
      {is_doubtful(row) ? <ClockErrorMark /> : null}
    </>
  );
  const columns: Column<CauseShare>[] = [
    { key: 'cause', title: 'Cause', value: (row) => row.cause, show: show_cause },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => (row.time_s / ranks) * unit.per_second },
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: (row) => share_of(row.time_s, report.counted.total_s) * 100 },
    {
      key: 'bar',
      title: 'compared',
      value: (row) => row.time_s,
      show: (row) => <StackedBar pieces={[{ kind: row.cause, name: row.cause, time_s: row.time_s }]} full={largest_s} />,
    },
    { key: 'meaning', title: 'what that is', value: (row) => cause_meaning(row.cause) },
  ];
  const gap_columns: Column<Unattributed>[] = [
    { key: 'call', title: 'MPI function', value: (row) => row.mpi_function },
    { key: 'why', title: 'why', value: (row) => whys[row.why] },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => (row.counted_s / ranks) * unit.per_second },
  ];
  return (
    <Section id="causes" title={is_exposed ? 'Why communication is exposed' : 'Communication time by cause'}>
      <Table caption="Time by cause, of the average rank" rows={shares} columns={columns} />
      <ClockErrorNote is_needed={shares.some(is_doubtful)} />
      {report.unattributed.length > 0 ? (
        <Table caption="What could not be attributed" rows={report.unattributed} columns={gap_columns} left_out={report.left_out?.['unattributed']} />
      ) : null}
    </Section>
  );
}
