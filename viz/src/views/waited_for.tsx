// The ranks that others waited for, and what they did meanwhile.
import type { Latecomer, LateRank, LongWait, Peer, Report } from '../generated/report';
import { fixed, share_of, time_unit } from '../format';
import { cause_name } from '../model/causes';
import { is_within_clock_error } from '../model/clock_error';
import { above_all_text, meanwhile_text, steps_text } from '../model/latecomers';
import { words_of } from '../model/overview';
import { CauseBar, CauseName, ClockErrorMark, ClockErrorNote, Digits, Section } from './parts';
import { show_moment } from './timeline/show';
import { Table, type Column } from './table';

const is_doubtful = ({ late_s, within_clock_error_s }: Latecomer) => is_within_clock_error(late_s, within_clock_error_s ?? 0);

function LateBy({ late, text }: { late: Latecomer; text: string }) {
  return (
    <>
      <Digits text={text} />
      {is_doubtful(late) ? <ClockErrorMark /> : null}
    </>
  );
}

export function WaitedFor({ report }: { report: Report }) {
  const { unit, adjective } = words_of(report);
  const largest_s = Math.max(...report.peers.map((peer) => peer.counted_s));
  const peer_columns: Column<Peer>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (peer) => peer.rank, show: (peer) => (peer.rank === null ? 'none' : peer.rank) },
    { key: 'time', title: `${adjective}, of all ranks`, unit: unit.name, decimals: 3, value: (peer) => peer.counted_s * unit.per_second },
    { key: 'share', title: `of all that is ${adjective}`, unit: '%', decimals: 1, value: (peer) => share_of(peer.counted_s, report.counted.counted_s) * 100 },
    { key: 'bar', title: 'by cause', value: (peer) => peer.counted_s, show: (peer) => <CauseBar times={peer.by_cause_s} full={largest_s} /> },
  ];
  const latecomer_columns: Column<Latecomer>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (late) => late.rank },
    { key: 'call', title: 'comes late to', value: (late) => `${late.mpi_function} at ${late.at}` },
    { key: 'times', title: 'times', decimals: 0, meaning: 'Times in which several ranks wait for it count once', value: (late) => late.times },
    { key: 'late', title: 'late by', unit: unit.name, decimals: 3, meaning: 'In all', value: (late) => late.late_s * unit.per_second, show: (late) => <LateBy late={late} text={fixed(late.late_s * unit.per_second, 3)} /> },
    { key: 'above', title: 'above all', unit: unit.name, meaning: 'Times that lasted half of the longest or more, and how long on average', value: (late) => above_all_text(late, unit) },
    ...(report.steps === null ? [] : [{ key: 'steps', title: 'in steps', meaning: 'The steps of these times', value: steps_text }]),
    { key: 'meanwhile', title: 'meanwhile in', value: meanwhile_text },
  ];
  const late_columns: Column<LateRank>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (late) => late.rank },
    { key: 'call', title: 'is last at', value: (late) => `${late.mpi_function} at ${late.at}` },
    { key: 'times', title: 'times', decimals: 0, value: (late) => late.times },
    { key: 'late', title: 'late by', unit: unit.name, decimals: 3, meaning: 'From the first rank’s arrival to its own, in all', value: (late) => late.late_s * unit.per_second },
    { key: 'kernels', title: 'meanwhile in kernels', unit: '%', decimals: 1, value: (late) => share_of(late.in_kernels_s, late.late_s) * 100 },
    { key: 'mpi', title: 'in other MPI calls', unit: '%', decimals: 1, value: (late) => share_of(late.in_mpi_s, late.late_s) * 100 },
    { key: 'kernel', title: 'mostly', value: (late) => late.main_kernel },
  ];
  const wait_unit = time_unit(Math.max(...report.longest_waits.map((wait) => wait.length_s)));
  const wait_columns: Column<LongWait>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (wait) => wait.rank },
    { key: 'begin', title: 'waits from', unit: 's', decimals: 6, meaning: 'Since the first rank returned from MPI_Init', value: (wait) => wait.begin_s },
    { key: 'length', title: 'for', unit: wait_unit.name, decimals: 3, value: (wait) => wait.length_s * wait_unit.per_second },
    { key: 'counted', title: adjective, unit: wait_unit.name, decimals: 3, value: (wait) => wait.counted_s * wait_unit.per_second },
    { key: 'cause', title: 'cause', value: (wait) => cause_name(wait.cause), show: (wait) => <CauseName cause={wait.cause} /> },
    { key: 'counterpart', title: 'for rank', decimals: 0, is_name: true, value: (wait) => wait.counterpart_rank },
    { key: 'at', title: 'in', value: (wait) => wait.at },
    { key: 'others', title: 'other ranks', decimals: 0, meaning: 'Ranks that waited at that moment, but not longer', value: (wait) => wait.other_ranks },
    {
      key: 'show',
      title: 'timeline',
      is_only_on_screen: true,
      value: (wait) => wait.begin_s,
      show: (wait) => (
        <button type="button" aria-label={`Show the wait of rank ${wait.rank} at ${fixed(wait.begin_s, 6)} s in the timeline`} onClick={() => show_moment(wait)}>
          Show
        </button>
      ),
    },
  ];
  return (
    <Section id="waited-for" title="Who is waited for">
      {report.peers.length > 0 ? (
        <Table caption="Ranks at the other end of waits" search="Find ranks" list="peers" rows={report.peers} columns={peer_columns} left_out={report.left_out?.['peers']} />
      ) : null}
      {report.latecomers.length > 0 ? (
        <Table caption="Ranks that others waited for, and what they did meanwhile" search="Find ranks, places or code" rows={report.latecomers} columns={latecomer_columns} left_out={report.left_out?.['latecomers']} />
      ) : null}
      <ClockErrorNote is_needed={report.latecomers.some(is_doubtful)} />
      {report.late_ranks.length > 0 && (report.latecomers.length === 0 || report.advice.some(({ shown_in }) => shown_in?.list === 'late_ranks')) ? (
        <Table caption="Ranks that arrive last at collective calls, and what they do meanwhile" search="Find ranks, places or kernels" list="late_ranks" rows={report.late_ranks} columns={late_columns} left_out={report.left_out?.['late_ranks']} />
      ) : null}
      {report.longest_waits.length > 0 ? (
        <Table caption="The longest waits one by one" search="Find ranks, causes or places" list="longest_waits" rows={report.longest_waits} columns={wait_columns} left_out={report.left_out?.['longest_waits']} />
      ) : null}
    </Section>
  );
}
