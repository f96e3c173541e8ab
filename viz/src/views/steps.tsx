// The program's steps: which are slow, and why.
import type { Report } from '../generated/report';
import { count_text, time_text, time_unit } from '../format';
import { words_of } from '../model/overview';
import { part_name } from '../model/parts';
import { slow_steps, step_columns, step_layers, type SlowStep } from '../model/steps';
import { ColumnsChart } from './columns_chart';
import { PartName, Section } from './parts';
import { Table, type Column } from './table';

export function StepsView({ report }: { report: Report }) {
  const { steps } = report;
  const { adjective, noun, ranks, who } = words_of(report);
  if (steps === null || steps.each.length === 0) return null;
  const unit = time_unit(steps.median_s);
  const layers = step_layers(steps);
  const has_parts = layers.includes('kernels');
  const columns: Column<SlowStep>[] = [
    { key: 'step', title: 'Step', decimals: 0, is_name: true, value: (row) => row.number },
    { key: 'longest', title: 'longest', unit: unit.name, decimals: 3, value: (row) => row.longest_s * unit.per_second },
    { key: 'median', title: 'of the median', unit: '×', decimals: 2, value: (row) => row.times_median },
    { key: 'rank', title: 'on rank', decimals: 0, value: (row) => (row.longest_rank < 0 ? null : row.longest_rank) },
    { key: 'waited', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (row) => row.waited_s * unit.per_second },
    {
      key: 'why',
      title: 'what grew most over the mean step, a rank',
      value: ({ growths }) => growths.map(({ part }) => part_name(part)).join(', '),
      show: ({ growths }) =>
        growths.length === 0 ? (
          <>nothing of {has_parts ? 'its parts' : 'its waiting'} did: many grew a little{has_parts ? '' : ', or it computed for longer'}</>
        ) : (
          growths.map(({ part, by_s }, index) => (
            <>
              {index === 0 ? '' : ', '}
              <PartName part={part} /> by {time_text(by_s)}
            </>
          ))
        ),
    },
  ];
  const slow = slow_steps(report);
  const outside = (name: string, times: { total_s: number; counted_s: number }) => `${name} ${time_text(times.total_s / ranks)} (${time_text(times.counted_s / ranks)} ${adjective})`;
  const left_out = [
    ...(steps.start_up === null ? [] : [outside('start-up', steps.start_up)]),
    ...(steps.shutdown === null ? [] : [outside('shutdown', steps.shutdown)]),
  ];
  return (
    <Section
      id="steps"
      title="Steps"
      intro={`${count_text(steps.count)} steps (${steps.mark_is_nvtx_range ? 'NVTX range' : 'from'} ${steps.mark}), median ${time_text(steps.median_s)} on the slowest rank.${left_out.length === 0 ? '' : ` Not counted: ${left_out.join('; ')}.`}`}
    >
      <ColumnsChart
        columns={step_columns(steps, layers, ranks)}
        layers={layers}
        noun="step"
        first_number={1}
        adjective={has_parts ? `on ${who}` : `${adjective} on ${who}`}
        line_name="the slowest rank's time"
        label={has_parts ? `Where the time of each step went, on ${who}` : `${noun} of ${who} in each step, by cause`}
      />
      {slow.length === 0 ? <p>No step takes 5 % longer than the median.</p> : <Table caption="The longest steps" search="Find steps or parts" rows={slow} columns={columns} />}
    </Section>
  );
}
