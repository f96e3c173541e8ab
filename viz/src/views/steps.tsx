// The program's steps: which are slow, and why.
import type { Report } from '../generated/report';
import { count_text, time_text, time_unit } from '../format';
import { words_of } from '../model/overview';
import { slow_steps, step_columns, type SlowStep } from '../model/steps';
import { ColumnsChart } from './columns_chart';
import { CauseName, Section } from './parts';
import { Table, type Column } from './table';

export function StepsView({ report }: { report: Report }) {
  const { steps } = report;
  const { adjective, noun, ranks } = words_of(report);
  if (steps === null || steps.each.length === 0) return null;
  const unit = time_unit(steps.median_s);
  const columns: Column<SlowStep>[] = [
    {
      key: 'step',
      title: 'Step',
      decimals: 0,
      value: (row) => row.number,
      ...(steps.each.some((entry) => entry.steps > 1) ? { show: (row: SlowStep) => (row.steps === 1 ? row.number : `${row.number} to ${row.number + row.steps - 1}`) } : {}),
    },
    { key: 'longest', title: 'longest', unit: unit.name, decimals: 3, value: (row) => row.longest_s * unit.per_second },
    { key: 'median', title: 'of the median', unit: '×', decimals: 2, value: (row) => row.times_median },
    { key: 'rank', title: 'on rank', decimals: 0, value: (row) => (row.longest_rank < 0 ? null : row.longest_rank) },
    { key: 'waited', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (row) => row.waited_s * unit.per_second },
    {
      key: 'why',
      title: 'what grew most over the mean step',
      value: (row) => row.cause ?? '',
      show: (row) =>
        row.cause === undefined ? (
          'no waiting: it computed for longer'
        ) : (
          <>
            <CauseName cause={row.cause} /> by {time_text(row.cause_growth_s)}
          </>
        ),
    },
  ];
  const slow = slow_steps(report);
  const outside = (name: string, times: { total_s: number; counted_s: number }) => `${name} ${time_text(times.total_s / ranks)} (${time_text(times.counted_s / ranks)} ${adjective})`;
  return (
    <Section
      id="steps"
      title="Steps"
      intro={`${count_text(steps.count)} steps (${steps.mark_is_nvtx_range ? 'NVTX range' : 'from'} ${steps.mark}), median ${time_text(steps.median_s)} on the slowest rank. Not counted: ${outside('start-up', steps.start_up)}${steps.shutdown === null ? '' : `; ${outside('shutdown', steps.shutdown)}`}.`}
    >
      <ColumnsChart
        columns={step_columns(steps, ranks)}
        noun="step"
        first_number={1}
        adjective={`${adjective} on the average rank`}
        line_name="the slowest rank's time"
        label={`${noun} of the average rank in each step, by cause`}
      />
      {slow.length === 0 ? <p>No step takes 5 % longer than the median.</p> : <Table caption="The longest steps" rows={slow} columns={columns} />}
    </Section>
  );
}
