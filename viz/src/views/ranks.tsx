// Ranks: their waiting by cause, their figures, and two of them beside each other.
import { useState } from 'preact/hooks';
import type { Rank, Report } from '../generated/report';
import { share_of } from '../format';
import { words_of } from '../model/overview';
import { all_kernels_meaning, compared, counted_ranks, counts_all_kernels, extremes, rank_columns, rank_rows, row_name, type RankRow } from '../model/ranks';
import { RankFates } from './broken';
import { ColumnsChart } from './columns_chart';
import { CauseBar, CauseName, Legend, Section } from './parts';
import { by_size, causes, sum_of } from '../model/causes';
import { Table, type Column } from './table';

/** Up to this number of ranks, each has a bar with its name; more are columns. */
const few_ranks = 24;

function Bars({ ranks, report }: { ranks: readonly Rank[]; report: Report }) {
  const longest_s = Math.max(...ranks.map((rank) => rank.counted_s ?? 0));
  const { adjective, unit } = words_of(report);
  return (
    <figure class="rank-bars">
      <Legend shown={by_size(report.counted.by_cause_s).map(({ cause }) => cause)} />
      <table class="bars">
        <caption>Time {adjective} of each rank, by cause</caption>
        <tbody>
          {ranks.map((rank) => (
            <tr key={rank.rank}>
              <th scope="row">rank {rank.rank}</th>
              <td class="wide">{rank.by_cause_s === null ? null : <CauseBar times={rank.by_cause_s} full={longest_s} />}</td>
              <td class="number">
                {rank.by_cause_s === null ? '–' : (sum_of(rank.by_cause_s) * unit.per_second).toFixed(3)} {unit.name}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Comparison({ report }: { report: Report }) {
  const ends = extremes(report.ranks);
  const [left_number, set_left] = useState(ends?.least.rank);
  const [right_number, set_right] = useState(ends?.most.rank);
  const { unit } = words_of(report);
  const find = (number: number | undefined) => report.ranks.find((rank) => rank.rank === number);
  const left = find(left_number);
  const right = find(right_number);
  if (ends === undefined || left === undefined || right === undefined) return null;
  const last = Math.max(...report.ranks.map((rank) => rank.rank));
  const choice = (name: string, number: number, set: (number: number) => void) => (
    <label>
      {name}{' '}
      <input
        type="number"
        min={0}
        max={last}
        value={number}
        onInput={(event) => {
          const chosen = event.currentTarget.valueAsNumber;
          if (find(chosen) !== undefined) set(chosen);
        }}
      />
    </label>
  );
  const time = (figure: (row: ReturnType<typeof compared>[number]) => number | null) => (row: ReturnType<typeof compared>[number]) => {
    const time_s = figure(row);
    return time_s === null ? null : time_s * unit.per_second;
  };
  return (
    <>
      <h3>Two ranks beside each other</h3>
      <p class="choices">
        {choice('Rank', left.rank, set_left)} {choice('and rank', right.rank, set_right)}
        <span class="note"> At first: those with least and most waiting.</span>
      </p>
      <Table
        caption={`Rank ${left.rank} and rank ${right.rank}`}
        rows={compared(left, right)}
        columns={[
          { key: 'name', title: 'Time', value: (row) => row.name, show: (row) => (row.cause === undefined ? row.name : <CauseName cause={row.cause} />) },
          { key: 'left', title: `rank ${left.rank}`, unit: unit.name, decimals: 3, value: time((row) => row.left_s) },
          { key: 'right', title: `rank ${right.rank}`, unit: unit.name, decimals: 3, value: time((row) => row.right_s) },
          { key: 'difference', title: 'difference', unit: unit.name, decimals: 3, value: time((row) => row.difference_s) },
        ]}
      />
    </>
  );
}

export function Ranks({ report }: { report: Report }) {
  const { is_exposed, adjective, noun, unit, whole } = words_of(report);
  const counted = counted_ranks(report.ranks);
  const in_unit = (time_s: number | null) => (time_s === null ? null : time_s * unit.per_second);
  const time = (key: string, title: string, figure: (row: RankRow) => number | null, meaning: string): Column<RankRow> => ({
    key,
    title,
    unit: unit.name,
    decimals: 3,
    meaning,
    value: (row) => in_unit(figure(row)),
  });
  const notes = ({ rank, thread }: RankRow) =>
    thread !== undefined
      ? ''
      : [rank.finished ? '' : 'did not reach MPI_Finalize', rank.counted ? '' : 'not counted', rank.used_gpu ? '' : 'used no GPU'].filter((note) => note !== '').join(', ');
  const rows = rank_rows(report.ranks);
  const has_threads = rows.some(({ thread }) => thread !== undefined);
  const show_name = (row: RankRow) => (
    <span class={row.thread === undefined ? '' : 'indented'}>
      {row_name(row)}
      {counts_all_kernels(row) ? <abbr title={all_kernels_meaning}>{' §'}</abbr> : null}
    </span>
  );
  const columns: Column<RankRow>[] = [
    has_threads
      ? { key: 'rank', title: 'Rank, thread', value: row_name, show: show_name }
      : { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: ({ rank }) => rank.rank },
    { key: 'host', title: 'host', value: ({ rank }) => rank.host },
    time('total', whole, ({ rank }) => rank.total_s, 'What the figures are of'),
    time('kernels', 'kernels', ({ figures }) => figures.kernels_s, 'Kernels of the application ran'),
    time('communication', 'comm.', ({ figures }) => figures.communication_s, 'In MPI calls that wait or carry data, or non-blocking operations in flight'),
    time('hidden', 'hidden', ({ figures }) => figures.hidden_s, 'Communication while kernels ran'),
    { key: 'overlap', title: 'overlap', unit: '%', decimals: 1, meaning: 'Hidden, of communication', value: ({ figures }) => (figures.overlap === null ? null : figures.overlap * 100) },
    time('counted', adjective, ({ figures }) => (is_exposed ? figures.exposed_s : figures.host_in_mpi_s), 'In MPI, and no kernel ran'),
    time('bound', 'up to', ({ figures }) => figures.exposed_upper_bound_s, 'With messages under way while the rank was outside MPI'),
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: ({ rank, figures }) => (figures.counted_s === null ? null : share_of(figures.counted_s, rank.total_s) * 100) },
    { key: 'notes', title: 'notes', value: notes },
  ];
  const has_notes = rows.some((row) => notes(row) !== '');
  const is_one_host = report.job.hosts.length === 1;
  return (
    <Section id="ranks" title="Ranks">
      <RankFates report={report} />
      {counted.length === 0 ? null : counted.length <= few_ranks ? (
        <Bars ranks={counted} report={report} />
      ) : (
        <ColumnsChart columns={rank_columns(report.ranks)} layers={causes} noun="rank" first_number={0} adjective={adjective} label={`${noun} of each rank, by cause`} />
      )}
      <Table
        caption={has_threads ? 'Figures of each rank and thread' : 'Figures of each rank'}
        search="Find ranks or hosts"
        rows={rows}
        columns={columns.filter((column) => !(column.key === 'host' && is_one_host) && !(column.key === 'notes' && !has_notes))}
        left_out={report.left_out?.['ranks']}
      />
      {has_threads ? <p class="note">A thread has its own calls and messages, and the kernels on the GPUs on which it launches any. Threads wait at the same time: their times do not add up to the rank’s.</p> : null}
      {rows.some(counts_all_kernels) ? <p class="note">§ {all_kernels_meaning}.</p> : null}
      <Comparison report={report} />
    </Section>
  );
}
