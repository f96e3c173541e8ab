import { describe, expect, it } from 'vitest';
import { causes, type SecondsByCause } from '../../src/model/causes';
import { is_cause_within_clock_error, is_within_clock_error } from '../../src/model/clock_error';

const seconds = (times: Partial<SecondsByCause>) =>
  Object.fromEntries(causes.map((cause) => [cause, times[cause] ?? 0])) as unknown as SecondsByCause;

describe('what lies within the error of the clocks', () => {
  it('is in doubt from half of it on', () => {
    expect(is_within_clock_error(2, 0.99)).toBe(false);
    expect(is_within_clock_error(2, 1)).toBe(true);
    expect(is_within_clock_error(0, 0)).toBe(false);
  });
  it('is told cause by cause', () => {
    const times = seconds({ late_sender: 4, wire: 1 });
    const within = seconds({ late_sender: 3 });
    expect(is_cause_within_clock_error(times, within, 'late_sender')).toBe(true);
    expect(is_cause_within_clock_error(times, within, 'wire')).toBe(false);
    expect(is_cause_within_clock_error(times, null, 'late_sender')).toBe(false);
  });
});
