import { describe, expect, it } from 'vitest';
import * as format from '../../src/format';

describe('times', () => {
  it('have the unit that suits them', () => {
    expect(format.time_text(0)).toBe('0.00 µs');
    expect(format.time_text(12.3456e-6)).toBe('12.3 µs');
    expect(format.time_text(0.1234)).toBe('123 ms');
    expect(format.time_text(1.5)).toBe('1.50 s');
  });
  it('of one table have one unit and three digits behind the point', () => {
    const unit = format.time_unit(0.43);
    expect(unit.name).toBe('ms');
    expect(format.time_number(0.012314, unit)).toBe('12.314');
    expect(format.time_number(1.5, unit)).toBe('1500.000');
  });
});

describe('shares', () => {
  it('are percent, and a little is not nothing', () => {
    expect(format.percent_text(0)).toBe('0.0 %');
    expect(format.percent_text(0.0001)).toBe('<0.1 %');
    expect(format.percent_text(0.1264)).toBe('12.6 %');
  });
  it('of nothing are nothing', () => expect(format.share_of(1, 0)).toBe(0));
});

describe('bytes and counts', () => {
  it('of bytes go by 1024', () => {
    expect(format.bytes_text(0)).toBe('0 B');
    expect(format.bytes_text(1536)).toBe('1.5 KiB');
    expect(format.bytes_text(201 * 1024 * 1024)).toBe('201 MiB');
    expect(format.bytes_text(5455872)).toBe('5.2 MiB');
  });
  it('of classes name their limit', () => {
    expect(format.size_class_text(65536)).toBe('≤ 64 KiB');
    expect(format.size_class_text(null)).toBe('> 256 MiB');
  });
  it('in sentences have separators', () => {
    expect(format.count_text(999)).toBe('999');
    expect(format.count_text(1234567)).toBe('1,234,567');
    expect(format.plural(1, 'rank')).toBe('1 rank');
    expect(format.plural(1606, 'rank')).toBe('1,606 ranks');
  });
});

describe('digit groups', () => {
  it('lose nothing when they are joined again, so that numbers copy as numbers', () => {
    for (const digits of ['0', '12', '123', '1234', '1234567.25', '-1234.5', '0.001', '-0.125']) {
      expect(format.digit_groups(digits).join('')).toBe(digits);
    }
    expect(format.digit_groups('1234567.250')).toEqual(['1', '234', '567.250']);
  });
});

it('what is rounded to nothing has no sign', () => expect([-0.0001, 0.0001, -0.5, -1].map((value) => format.fixed(value, 2))).toEqual(['0.00', '0.00', '-0.50', '-1.00']));
it('dates are the same for every reader', () => expect(format.date_text(1_700_001_000)).toBe('2023-11-14 22:30 UTC'));
it('speeds have three digits that count', () => expect([0.2, 13.84, 430.4, 0].map(format.speed_number)).toEqual(['0.20', '13.8', '430', '0.00']));
it('low speeds have two digits that count', () => expect([0.1, 0.0994, 0.0034, 0.000000012].map(format.speed_number)).toEqual(['0.10', '0.099', '0.0034', '0.00000001']));
