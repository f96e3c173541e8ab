import { describe, expect, it } from 'vitest';
import { load } from '../../src/load';
import { report_with, rank_with } from './report_builder';

const problem_of = (text: string) => {
  const loaded = load(text);
  return 'problem' in loaded ? `${loaded.problem} ${loaded.details}` : 'none';
};

describe('a report', () => {
  it('that is whole is taken', () => {
    const report = report_with({ ranks: [rank_with(0)] });
    expect(load(JSON.stringify(report))).toEqual({ report });
  });
  it('with keys that are not known yet is taken', () => {
    expect(problem_of(JSON.stringify({ ...report_with(), something_new: 1 }))).toBe('none');
  });
  it('that was cut short is damaged', () => {
    const text = JSON.stringify(report_with());
    for (const length of [0, 1, 100, text.length - 1]) expect(problem_of(text.slice(0, length))).toMatch(/damaged/);
  });
  it('without a part is damaged, and the part is named', () => {
    const { ranks: _, ...rest } = report_with();
    expect(problem_of(JSON.stringify(rest))).toMatch(/damaged.*'ranks'/);
  });
  it('with a wrong part is damaged, and the place is named', () => {
    const report = report_with({ ranks: [rank_with(0, { run_s: 'long' as unknown as number })] });
    expect(problem_of(JSON.stringify(report))).toMatch(/damaged.*\/ranks\/0\/run_s/);
  });
  it('of a later schema is newer, and both are named', () => {
    expect(problem_of('{"schema": "penstock-report-3"}')).toMatch(/newer.*penstock-report-3.*penstock-report-2/);
  });
  it('of another kind is no report', () => {
    for (const text of ['null', '[]', '7', '{}', '{"schema": 5}', '{"schema": "penstock-diff-1"}', '{"schema": "penstock-report-1"}']) {
      expect(problem_of(text)).toMatch(/no report that this page can show/);
    }
  });
});
