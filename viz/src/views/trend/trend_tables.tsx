// The tables of a history, the newest run first: times, parts, efficiencies, regions, and what was run.
import type { Trend } from '../../generated/trend';
import { date_text, fixed } from '../../format';
import { change_share, signed, verdict_text } from '../../model/diff';
import { part_meaning, part_name, type Part } from '../../model/parts';
import { commit_text, efficiency_series, jitter_share, part_mark, region_mark, runs_of, time_mark, unit_of_history, type Mark, type Run } from '../../model/trend';
import { short_version } from '../head';
import { Digits, StackedBar } from '../parts';
import { MarkSign } from './run_mark';
import { Table, type Column } from '../table';

const number_of_run: Column<Run> = { key: 'run', title: 'Run', decimals: 0, is_name: true, value: (run) => run.number };

const commit_of_run: Column<Run> = {
  key: 'commit',
  title: 'commit',
  value: (run) => run.commit,
  show: (run) => (run.commit === null ? '–' : <code title={run.commit}>{commit_text(run)}</code>),
};

const newest_first = (trend: Trend) => runs_of(trend).reverse();

/** Shows a number with its mark. */
function Marked({ value, decimals, mark }: { value: number; decimals: number; mark: Mark | undefined }) {
  return (
    <>
      <Digits text={fixed(value, decimals)} />
      <MarkSign mark={mark} />
    </>
  );
}

const percent_or_null = (share: number | null) => (share === null ? null : share * 100);

export function RunsTable({ trend }: { trend: Trend }) {
  const unit = unit_of_history(trend);
  const longest_s = Math.max(...trend.runs.map((run) => run.time_s));
  const time = (key: string, title: string, meaning: string, seconds: (run: Run) => number | undefined): Column<Run> => ({
    key,
    title,
    unit: unit.name,
    decimals: 3,
    meaning,
    value: (run) => {
      const value = seconds(run);
      return value === undefined ? null : value * unit.per_second;
    },
  });
  const by_step = trend.time_of === 'step';
  const columns: Column<Run>[] = [
    number_of_run,
    { key: 'began', title: 'began', value: (run) => date_text(run.began_unix_s) },
    commit_of_run,
    time('time', trend.time_of, `Mean ${trend.time_of} of the average rank`, (run) => run.time_s),
    ...(by_step
      ? [
          time('median', 'median', 'Half of the steps take no longer', (run) => run.step_quartiles_s?.median),
          time('low', 'quartiles', 'A quarter of the steps take no longer', (run) => run.step_quartiles_s?.low),
          time('high', '…', 'Three quarters of the steps take no longer', (run) => run.step_quartiles_s?.high),
        ]
      : []),
    {
      key: 'change',
      title: 'change',
      unit: '%',
      decimals: 1,
      meaning: 'Against the run before',
      value: (run) => (run.change === null ? null : percent_or_null(change_share(run.change.time))),
      show: (run) => {
        const share = run.change === null ? null : change_share(run.change.time);
        return share === null ? (
          '–'
        ) : (
          <>
            {signed(fixed(share * 100, 1))}
            <MarkSign mark={time_mark(run, unit)} />
          </>
        );
      },
    },
    {
      key: 'jitter',
      title: 'jitter',
      unit: '± %',
      decimals: 1,
      meaning: 'What the change has to exceed: the larger of how the steps of both runs vary, and of how other runs of the program differ',
      value: (run) => (run.change === null ? null : percent_or_null(jitter_share(run.change.time))),
    },
    { key: 'verdict', title: 'verdict', value: (run) => (run.change === null ? null : verdict_text(run.change.time)), show: (run) => (run.change === null ? '' : verdict_text(run.change.time)) },
    {
      key: 'counted',
      title: trend.measure === 'exposed_communication' ? 'exposed' : 'in MPI',
      unit: '%',
      decimals: 1,
      value: (run) => percent_or_null(run.counted_share),
    },
    {
      key: 'bar',
      title: trend.time_of,
      value: (run) => run.time_s,
      show: (run) => <StackedBar pieces={[{ kind: 'efficiency', name: `run ${run.number}`, time_s: run.time_s }]} full={longest_s} />,
    },
  ];
  return <Table caption={`Time a ${trend.time_of} of the average rank, the newest run first`} rows={newest_first(trend)} columns={columns} search="Find commits or days" />;
}

export function PartsTable({ trend, shown }: { trend: Trend; shown: readonly Part[] }) {
  const unit = unit_of_history(trend);
  const columns = shown.map(
    (part): Column<Run> => ({
      key: part,
      title: part_name(part),
      unit: unit.name,
      decimals: 3,
      meaning: part_meaning(part),
      value: (run) => (run.parts_s === null ? null : (run.parts_s[part] ?? 0) * unit.per_second),
      show: (run) => (run.parts_s === null ? '–' : <Marked value={(run.parts_s[part] ?? 0) * unit.per_second} decimals={3} mark={part_mark(run, part, unit)} />),
    }),
  );
  return <Table caption={`Where the time of a ${trend.time_of} went, the newest run first`} rows={newest_first(trend)} columns={[number_of_run, ...columns]} />;
}

export function EfficiencyTable({ trend }: { trend: Trend }) {
  const first = trend.runs_left_out + 1;
  const columns = efficiency_series(trend).map(
    ({ name, values }): Column<Run> => ({ key: name, title: name, unit: '%', decimals: 1, value: (run) => percent_or_null(values[run.number - first] ?? null) }),
  );
  return <Table caption="Efficiencies, the newest run first" rows={newest_first(trend)} columns={[number_of_run, ...columns]} />;
}

export function RegionsTable({ trend }: { trend: Trend }) {
  const unit = unit_of_history(trend);
  const counted = trend.measure === 'exposed_communication' ? 'exposed' : 'in MPI';
  const columns = trend.runs[0].regions.flatMap(({ name }, index): Column<Run>[] => [
    {
      key: `time-${index}`,
      title: name,
      unit: unit.name,
      decimals: 3,
      value: (run) => {
        const total_s = run.regions[index]?.total_s ?? null;
        return total_s === null ? null : total_s * unit.per_second;
      },
      show: (run) => {
        const total_s = run.regions[index]?.total_s ?? null;
        return total_s === null ? '–' : <Marked value={total_s * unit.per_second} decimals={3} mark={region_mark(run, name, unit)} />;
      },
    },
    {
      key: `counted-${index}`,
      title: counted,
      unit: '%',
      decimals: 1,
      meaning: `Of the time in ${name}`,
      value: (run) => {
        const region = run.regions[index];
        return region === undefined || region.total_s === null || region.counted_s === null || region.total_s === 0 ? null : (region.counted_s / region.total_s) * 100;
      },
    },
  ]);
  return <Table caption={`Time in NVTX ranges a ${trend.time_of}, the newest run first`} rows={newest_first(trend)} columns={[number_of_run, ...columns]} />;
}

export function FactsTable({ trend }: { trend: Trend }) {
  const text = (key: string, title: string, value: (run: Run) => string | null): Column<Run> => ({ key, title, value, show: (run) => value(run) ?? '–' });
  const list = (texts: readonly string[]) => (texts.length === 0 ? 'none' : texts.join(', '));
  const columns: Column<Run>[] = [
    number_of_run,
    text('recording', 'recording', (run) => run.recording),
    commit_of_run,
    text('job', 'job', (run) => run.batch_job),
    { key: 'ranks', title: 'ranks', decimals: 0, value: (run) => run.ranks },
    text('nodes', 'nodes', (run) => list(run.hosts)),
    text('gpus', 'GPUs', (run) => (run.simulated_gpu ? 'simulated' : list(run.gpus))),
    text('driver', 'driver', (run) => run.driver),
    text('mpi', 'MPI', (run) => short_version(run.mpi)),
  ];
  return <Table caption="What was run, the newest run first" rows={newest_first(trend)} columns={columns} search="Find recordings, commits, jobs or nodes" />;
}
