import { describe, expect, it } from 'vitest';
import { slow_steps, step_columns } from '../../src/model/steps';
import { by_cause, report_with, step_with } from './report_builder';

const outside = { total_s: 0, counted_s: 0 };
const steps = {
  mark: 'step',
  mark_is_nvtx_range: true,
  count: 4,
  median_s: 0.1,
  start_up: outside,
  shutdown: outside,
  each: [
    step_with(0, { by_cause_s: by_cause({ wire: 0.02 }) }),
    step_with(1, { by_cause_s: by_cause({ wire: 0.02, late_sender: 0.2 }), longest_s: 0.25, longest_rank: 1 }),
    step_with(2, { by_cause_s: by_cause({ wire: 0.02 }) }),
    step_with(3, { by_cause_s: by_cause(), longest_s: 0.3 }),
  ],
};
const report = report_with({ steps });

describe('slow steps', () => {
  it('come longest first, counted from 1', () => {
    expect(slow_steps(report).map(({ number }) => number)).toEqual([4, 2]); // the others are as long as most
    expect(slow_steps(report, 1)).toHaveLength(1);
  });
  it('are explained by the cause that grew most over the mean', () => {
    const second = slow_steps(report)[1];
    expect(second).toMatchObject({ cause: 'late_sender', longest_rank: 1, times_median: 2.5 });
    expect(second?.cause_growth_s).toBeCloseTo(0.1 - 0.025);
    expect(second?.waited_s).toBeCloseTo(0.11);
  });
  it('are not explained by what grew by next to nothing', () => {
    const each = [step_with(0), step_with(1), step_with(2, { longest_s: 0.3, by_cause_s: by_cause({ wire: 0.002 }) })];
    expect(slow_steps(report_with({ steps: { ...steps, count: 3, each } }))).toMatchObject([{ number: 3, cause: undefined }]);
  });
  it('are slow for no waiting where none grew', () => expect(slow_steps(report)[0]?.cause).toBeUndefined());
  it('are none where there are no steps', () => expect(slow_steps(report_with())).toEqual([]));
});

it('columns of joined steps are of one step on the average rank', () => {
  const joined = step_with(0, { steps: 4, by_cause_s: by_cause({ wire: 0.8 }) });
  const [column] = step_columns({ ...steps, each: [joined] }, 2);
  expect(column).toMatchObject({ first: 0, count: 4, line: 0.1 });
  expect(column?.parts[3]).toBeCloseTo(0.1);
});
