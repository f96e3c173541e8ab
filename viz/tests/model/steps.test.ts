import { describe, expect, it } from 'vitest';
import { parts } from '../../src/model/parts';
import { slow_steps, step_columns, step_layers } from '../../src/model/steps';
import { by_cause, by_part, report_with, step_with, steps_with } from './report_builder';

const steps = steps_with([
  step_with(0, { by_cause_s: by_cause({ wire: 0.02 }) }),
  step_with(1, { by_cause_s: by_cause({ wire: 0.02, late_sender: 0.2 }), longest_s: 0.25, longest_rank: 1 }),
  step_with(2, { by_cause_s: by_cause({ wire: 0.02 }) }),
  step_with(3, { by_cause_s: by_cause(), longest_s: 0.3 }),
]);
const report = report_with({ steps });

describe('slow steps', () => {
  it('come longest first, counted from 1', () => {
    expect(slow_steps(report).map(({ number }) => number)).toEqual([4, 2]); // the others are as long as most
  });
  it('are explained by the cause that grew most over the mean', () => {
    const second = slow_steps(report)[1];
    expect(second).toMatchObject({ longest_rank: 1, times_median: 2.5, growths: [{ part: 'late_sender' }] });
    expect(second?.growths[0]?.by_s).toBeCloseTo(0.1 - 0.025);
    expect(second?.waited_s).toBeCloseTo(0.11);
  });
  it('are explained by any part of the time where parts are known, by two at most', () => {
    const of_step = (first: number, host_code: number, wire: number, kernels = 0.1) =>
      step_with(first, { parts_s: by_part({ host_code, wire, kernels }), by_cause_s: by_cause({ wire }), longest_s: first === 2 ? 0.3 : 0.1 });
    const each = [of_step(0, 0.1, 0), of_step(1, 0.1, 0), of_step(2, 0.5, 0.15, 0.3)];
    expect(slow_steps(report_with({ steps: steps_with(each) })).map(({ growths }) => growths.map(({ part }) => part))).toEqual([['host_code', 'kernels']]);
  });
  it('are explained though there are so many steps that the report joins them', () => {
    const joined = step_with(0, { steps: 4, by_cause_s: by_cause({ late_sender: 0.2 }), longest_s: 0.2 });
    const slowest = [step_with(2, { by_cause_s: by_cause({ late_sender: 0.2 }), longest_s: 0.2 })];
    const found = slow_steps(report_with({ steps: steps_with([joined], { slowest }) }));
    expect(found).toMatchObject([{ number: 3, growths: [{ part: 'late_sender' }] }]);
    expect(found[0]?.growths[0]?.by_s).toBeCloseTo(0.1 - 0.025);
  });
  it('are not explained by what grew by next to nothing', () => {
    const each = [step_with(0), step_with(1), step_with(2, { longest_s: 0.3, by_cause_s: by_cause({ wire: 0.002 }) })];
    expect(slow_steps(report_with({ steps: steps_with(each) }))).toMatchObject([{ number: 3, growths: [] }]);
  });
  it('are slow for no waiting where none grew', () => expect(slow_steps(report)[0]?.growths).toEqual([]));
  it('are none where there are no steps', () => expect(slow_steps(report_with())).toEqual([]));
});

describe('columns of steps', () => {
  it('that are joined are of one step on the average rank', () => {
    const joined = step_with(0, { steps: 4, by_cause_s: by_cause({ wire: 0.8 }) });
    const layers = step_layers(steps);
    const [column] = step_columns({ ...steps, each: [joined] }, layers, 2);
    expect(column).toMatchObject({ first: 0, count: 4, line: 0.1 });
    expect(column?.parts[layers.indexOf('wire')]).toBeCloseTo(0.1);
  });
  it('show the whole step where its parts are known', () => {
    const whole = steps_with([step_with(0, { parts_s: by_part({ kernels: 0.1, host_code: 0.06, wire: 0.04 }) })]);
    expect(step_layers(whole)).toBe(parts);
    const [column] = step_columns(whole, parts, 2);
    expect(column?.parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(0.1);
  });
});
