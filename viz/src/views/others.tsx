// Phases, MPI functions and communicators.
import type { Communicator, MpiFunction, Phase, Report } from '../generated/report';
import { share_of } from '../format';
import type { SecondsByCause } from '../model/causes';
import { words_of } from '../model/overview';
import { thread_phases, type ThreadPhase } from '../model/ranks';
import { CauseBar, Section } from './parts';
import { Table, type Column } from './table';

export function Others({ report }: { report: Report }) {
  const { unit, ranks, adjective } = words_of(report);
  const time = (time_s: number) => (time_s / ranks) * unit.per_second;
  const counted = <Row extends { counted_s: number; by_cause_s: SecondsByCause }>(rows: readonly Row[]): Column<Row>[] => {
    const largest_s = Math.max(...rows.map((row) => row.counted_s));
    return [
      { key: 'time', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (row) => time(row.counted_s) },
      { key: 'bar', title: 'by cause', value: (row) => row.counted_s, show: (row) => <CauseBar times={row.by_cause_s} full={largest_s} /> },
    ];
  };
  const phase_columns: Column<Phase>[] = [
    { key: 'name', title: 'NVTX phase', value: (row) => row.name },
    { key: 'total', title: 'in it a rank', unit: unit.name, decimals: 3, value: (row) => time(row.total_s) },
    { key: 'counted', title: `${adjective} in it`, unit: unit.name, decimals: 3, value: (row) => time(row.counted_s) },
    { key: 'share', title: 'of the phase', unit: '%', decimals: 1, value: (row) => share_of(row.counted_s, row.total_s) * 100 },
  ];
  const percent = (share: number | undefined) => (share === undefined ? null : share * 100);
  if (report.phases.some(({ efficiency }) => efficiency != null)) {
    phase_columns.push(
      { key: 'parallel', title: 'parallel efficiency', unit: '%', decimals: 1, meaning: 'Load balance × communication, from the times in it alone', value: (row) => percent(row.efficiency?.parallel) },
      { key: 'balance', title: 'load balance', unit: '%', decimals: 1, meaning: 'Mean computing time of the ranks ÷ the largest', value: (row) => percent(row.efficiency?.load_balance) },
      { key: 'communication', title: 'communication', unit: '%', decimals: 1, meaning: 'The largest computing time ÷ the longest time in it', value: (row) => percent(row.efficiency?.communication) },
    );
  }
  const of_thread = (time_s: number | null) => (time_s === null ? null : time_s * unit.per_second);
  const threads = thread_phases(report.ranks);
  const thread_columns: Column<ThreadPhase>[] = [
    { key: 'name', title: 'NVTX phase', value: ({ phase }) => phase.name },
    { key: 'rank', title: 'rank', decimals: 0, is_name: true, value: ({ rank }) => rank },
    { key: 'thread', title: 'thread', value: ({ thread }) => thread },
    { key: 'total', title: 'in it', unit: unit.name, decimals: 3, value: ({ phase }) => of_thread(phase.total_s) },
    { key: 'counted', title: `${adjective} in it`, unit: unit.name, decimals: 3, value: ({ phase }) => of_thread(phase.counted_s) },
    { key: 'bound', title: 'up to', unit: unit.name, decimals: 3, meaning: 'With messages under way while the thread was outside MPI', value: ({ phase }) => of_thread(phase.exposed_upper_bound_s) },
  ];
  const function_columns: Column<MpiFunction>[] = [
    { key: 'function', title: 'MPI function', value: (row) => row.mpi_function },
    { key: 'calls', title: 'calls', decimals: 0, value: (row) => row.calls },
    { key: 'bytes', title: 'payload', unit: 'MiB', decimals: 3, value: (row) => row.bytes / 1024 / 1024 },
    ...counted(report.mpi_functions),
  ];
  const communicator_columns: Column<Communicator>[] = [
    { key: 'name', title: 'Communicator', value: (row) => (row.name === '' ? `without a name (${row.id})` : row.name) },
    { key: 'size', title: 'ranks', decimals: 0, value: (row) => row.size },
    ...counted(report.communicators),
  ];
  return (
    <Section id="others" title="Phases, functions, communicators">
      {report.phases.length > 0 ? (
        <Table caption="NVTX phases; nested ones each count what lies in them" search="Find phases" rows={report.phases} columns={phase_columns} left_out={report.left_out?.['phases']} />
      ) : null}
      {threads.length > 0 ? <Table caption="NVTX phases of threads" search="Find phases or threads" rows={threads} columns={thread_columns} /> : null}
      <Table caption="MPI functions" search="Find functions" rows={report.mpi_functions} columns={function_columns} left_out={report.left_out?.['mpi_functions']} />
      <Table caption="Communicators" search="Find communicators" rows={report.communicators} columns={communicator_columns} left_out={report.left_out?.['communicators']} />
    </Section>
  );
}
