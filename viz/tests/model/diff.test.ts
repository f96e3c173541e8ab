import { describe, expect, it } from 'vitest';
import type { Diff, DiffRow } from '../../src/generated/diff';
import { load_diff } from '../../src/load';
import { bar_of, change_words, change_share, explaining_rows, part_of_row, signed, states, verdict } from '../../src/model/diff';

const row = (name: string, before_s: number, after_s: number, parts: Partial<DiffRow> = {}): DiffRow => ({ name, before_s, after_s, margin_s: null, verdict: 'unknown', ...parts });
const state = { program: './solver', mpi: 'MPICH', ranks: 2, hosts: ['node01'], gpus: [], simulated_gpu: false, began_unix_s: 0 };
const diff_with = (parts: Partial<Diff> = {}): Diff => ({
  schema: 'penstock-diff-1',
  runs_before: 1,
  runs_after: 1,
  before: state,
  after: state,
  time_of: 'step',
  measure: 'exposed_communication',
  records_missing: false,
  margins_from: 'steps',
  totals: [row('step', 0.01, 0.008)],
  causes: [row('late sender', 0.002, 0.001), row('wire', 0.001, 0)],
  call_sites: [],
  remarks: [],
  ...parts,
});

describe('a comparison', () => {
  it('says by how much the time changed, and whether that means anything', () => {
    const time = (parts: Partial<DiffRow>) => verdict(diff_with({ totals: [row('step', 0.01, 0.008, parts)] }));
    expect(time({ margin_s: 0.001, verdict: 'less' })).toBe('The average rank’s step takes 8.000 ms instead of 10.000 ms: 20.0 % less ± 1.000 ms.');
    expect(time({ margin_s: 0.005, verdict: 'jitter' })).toMatch(/: no more than jitter \(20.0 % less ± 5.000 ms\)\.$/);
    expect(time({})).toMatch(/20.0 % less. Whether that is more than jitter is not known/);
    expect(time({ after_s: 0.01, margin_s: 0.001, verdict: 'jitter' })).toMatch(/no more than jitter \(as long ± 1.000 ms\)\.$/);
    const with_exposed = diff_with({ totals: [row('step', 0.01, 0.008, { verdict: 'less' }), row('exposed', 0.003, 0.001)] });
    expect(verdict(with_exposed)).toMatch(/20.0 % less\. Exposed: 1.000 ms instead of 3.000 ms\.$/);
    expect(verdict(diff_with({ totals: [row('run', 1, 1.5, { verdict: 'more' })], time_of: 'run' }))).toMatch(/run takes 1.500 s instead of 1.000 s: 50.0 % more/);
  });
  it('is told in percent as long as that can be read', () => {
    expect(change_words(row('step', 0.01, 0.008))).toBe('20.0 % less');
    expect(change_words(row('step', 0.01, 3.03))).toBe('303 times as long');
  });
  it('has a bar of each state, by cause and with the rest', () => {
    const pieces = bar_of(diff_with(), (each) => each.after_s);
    expect(pieces.map(({ kind }) => kind)).toEqual(['late_sender', 'other']);
    expect(pieces[1]?.time_s).toBeCloseTo(0.007);
  });
  it('is explained by all parts of the time where they are known, which leave no rest', () => {
    const parts = [row('kernels', 0.005, 0.005), row('late sender', 0.003, 0.001), row('host code', 0.002, 0.002)];
    const diff = diff_with({ parts });
    expect(explaining_rows(diff)).toBe(parts);
    expect(bar_of(diff, (each) => each.after_s).map(({ kind }) => kind)).toEqual(['kernels', 'late_sender', 'host_code']);
    const blind = diff_with({ parts: [] });
    expect(explaining_rows(blind)).toBe(blind.causes);
  });
  it('knows parts by their names, and no share of nothing', () => {
    expect(part_of_row(row('wait at collective', 1, 1))).toBe('wait_at_collective');
    expect(part_of_row(row('MPI_Wait in main', 1, 1))).toBeUndefined();
    expect(change_share(row('wire', 0, 1))).toBeNull();
    expect([signed('1.0'), signed('-1.0'), signed('0.0')]).toEqual(['+1.0', '-1.0', '0.0']);
  });
  it('tells what was run', () => {
    const rows = states(diff_with({ after: { ...state, ranks: 4 } }), () => 'some day');
    expect(rows.find(({ name }) => name === 'Ranks')).toEqual({ name: 'Ranks', before: '2', after: '4' });
  });
  it.each([
    ['{', 'The comparison in this file is damaged: it cannot be read.'],
    [JSON.stringify({ ...diff_with(), schema: 'penstock-diff-2' }), 'The comparison in this file is newer than the page that should show it.'],
    [JSON.stringify({ ...diff_with(), totals: [] }), 'The comparison in this file is damaged: parts of it are missing or are not what they should be.'],
  ])('that is damaged or newer is not shown', (text, words) => expect(load_diff(text)).toMatchObject({ problem: words }));
  it('that is whole is', () => expect(load_diff(JSON.stringify(diff_with()))).toEqual({ diff: diff_with() }));
});
