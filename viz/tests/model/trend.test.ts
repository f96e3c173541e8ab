import { describe, expect, it } from 'vitest';
import type { DiffRow, Trend, TrendRun } from '../../src/generated/trend';
import { load_trend } from '../../src/load';
import {
  change_words,
  commit_changes,
  efficiency_series,
  jitter_share,
  mark_of,
  part_columns,
  part_mark,
  parts_of_history,
  region_series,
  runs_of,
  time_range,
  unit_of_history,
  words_of_run,
  words_of_series,
} from '../../src/model/trend';

const row = (before_s: number, after_s: number, parts: Partial<DiffRow> = {}): DiffRow => ({ name: 'step', before_s, after_s, margin_s: 0.001, verdict: 'jitter', runs_margin_s: 0.001, ...parts });
const change = (time: DiffRow, parts: Partial<NonNullable<TrendRun['change']>> = {}): TrendRun['change'] => ({ time, parts: [], regions: [], other_pairs: 2, words: null, remarks: [], ...parts });
const run = (parts: Partial<TrendRun> = {}): TrendRun => ({
  recording: 'runs/a',
  program: './solver',
  mpi: 'MPICH',
  ranks: 2,
  hosts: ['node01'],
  gpus: ['Test GPU'],
  simulated_gpu: false,
  began_unix_s: 0,
  commit: null,
  batch_job: null,
  driver: null,
  missing: null,
  steps: 10,
  time_s: 0.01,
  step_quartiles_s: { low: 0.009, median: 0.01, high: 0.011 },
  counted_share: 0.2,
  parts_s: { kernels: 0.008, wire: 0.002, late_sender: 0 },
  efficiency: { parallel: 0.8, load_balance: 1, communication: 0.8, serialisation: 1, transfer: 0.8 },
  gpu_efficiency: null,
  regions: [],
  change: null,
  ...parts,
});
const history = (runs: [TrendRun, ...TrendRun[]], parts: Partial<Trend> = {}): Trend => ({
  schema: 'penstock-trend-1',
  time_of: 'step',
  measure: 'exposed_communication',
  what_ran: '2 runs',
  headline: 'The newest run takes 10.000 ms a step.',
  explanation: '',
  runs_left_out: 0,
  runs,
  since_first: null,
  left_out: [],
  remarks: [],
  ...parts,
});
const ms = unit_of_history(history([run()]));

describe('a history', () => {
  it('numbers its runs from 1, with those that the page lacks', () => {
    expect(runs_of(history([run(), run()])).map(({ number }) => number)).toEqual([1, 2]);
    expect(runs_of(history([run()], { runs_left_out: 7 })).map(({ number }) => number)).toEqual([8]);
  });
  it('has the unit of its longest run', () => expect(unit_of_history(history([run({ time_s: 0.0001 }), run({ time_s: 2 })])).name).toBe('s'));
  it('marks what changed beyond jitter and does not round to nothing', () => {
    expect(mark_of(undefined, ms)).toBeUndefined();
    expect(mark_of(row(0.01, 0.02), ms)).toBeUndefined();
    expect(mark_of(row(0.01, 0.02, { verdict: 'more' }), ms)).toBe('more');
    expect(mark_of(row(0.01, 0.0099996, { verdict: 'less' }), ms)).toBeUndefined();
    expect(mark_of(row(0.01, 0.02, { verdict: 'unknown', margin_s: null }), ms)).toBe('unknown');
  });
  it('marks parts by their names, and does not say of each that nothing is known', () => {
    const parts = [row(0.002, 0.004, { name: 'wire', verdict: 'more' }), row(0.001, 0.002, { name: 'kernels', verdict: 'unknown' })];
    const changed = run({ change: change(row(0.01, 0.012), { parts }) });
    expect([part_mark(changed, 'wire', ms), part_mark(changed, 'kernels', ms), part_mark(changed, 'host_code', ms)]).toEqual(['more', undefined, undefined]);
  });
  it('tells a change with what it is held against', () => {
    expect(change_words(run())).toBe('');
    expect(change_words(run({ change: change(row(0.01, 0.0105)) }))).toBe('+5.0 % against the run before, within jitter (± 10.0 %)');
    expect(change_words(run({ change: change(row(0.01, 0.005, { verdict: 'less' })) }))).toBe('−50.0 % against the run before, beyond jitter (± 10.0 %)');
    expect(change_words(run({ change: change(row(0.01, 0.02, { verdict: 'unknown', margin_s: null })) }))).toBe('+100.0 % against the run before; whether that is jitter is not known');
    expect(jitter_share(row(0, 0.02))).toBeNull();
  });
  it('describes a run in words', () => {
    const trend = history([run({ commit: '1234567890abcdef', change: change(row(0.01, 0.01)) })]);
    const [first] = runs_of(trend);
    expect(first && words_of_run(first, trend, ms)).toBe(
      'Run 1, 1970-01-01 00:00 UTC, commit 123456789: 10.000 ms a step on average, half of the steps 9.000 ms to 11.000 ms; +0.0 % against the run before, within jitter (± 10.0 %).',
    );
    const by_run = history([run({ step_quartiles_s: null })], { time_of: 'run' });
    expect(words_of_run({ ...by_run.runs[0], number: 1 }, by_run, ms)).toBe('Run 1, 1970-01-01 00:00 UTC: 10.000 ms a run.');
  });
  it('knows where the commit is another one, and nothing of those that are not known', () => {
    const commits = ['a', 'a', 'b', null, 'c', 'd'].map((commit) => run({ commit }));
    expect(commit_changes(commits)).toEqual([2, 5]);
  });
  it('is drawn from 0 where its times lie far apart, or on request', () => {
    const near = [run(), run({ time_s: 0.0102 })];
    const [low, high] = time_range(near, false);
    expect(low).toBeGreaterThan(0.008);
    expect(low).toBeLessThan(0.009);
    expect(high).toBeGreaterThan(0.011);
    expect(time_range(near, true)[0]).toBe(0);
    expect(time_range([run(), run({ time_s: 0.1 })], false)[0]).toBe(0);
    expect(time_range([run({ time_s: 0, step_quartiles_s: null })], false)[1]).toBeGreaterThan(0);
  });
  it('has a column for each run, with the parts that any of them has', () => {
    const trend = history([run({ parts_s: null }), run()]);
    const layers = parts_of_history(trend);
    expect(layers).toEqual(['kernels', 'wire']);
    expect(part_columns(trend, layers)).toEqual([
      { first: 0, count: 1, parts: [0, 0], line: null },
      { first: 1, count: 1, parts: [0.008, 0.002], line: null },
    ]);
  });
  it('has the efficiencies that are known', () => {
    const series = efficiency_series(history([run({ efficiency: null }), run()]));
    expect(series.map(({ name, values }) => [name, ...values])).toEqual([
      ['parallel efficiency', null, 0.8],
      ['load balance', null, 1],
      ['serialisation', null, 1],
      ['transfer', null, 0.8],
    ]);
  });
  it('has the ranges that any run has', () => {
    const regions = (total_s: number | null) => [
      { name: 'solve', total_s, counted_s: null },
      { name: 'nowhere', total_s: null, counted_s: null },
    ];
    const solve = row(0.004, 0.005, { name: 'solve', verdict: 'more' });
    const trend = history([run({ regions: regions(null) }), run({ regions: regions(0.005), change: change(row(0.01, 0.01), { regions: [solve] }) })]);
    expect(region_series(trend, ms)).toEqual([{ name: 'solve', values: [null, 5], marks: [undefined, 'more'] }]);
  });
  it('describes small pictures by all their values, or by few of many', () => {
    const text = (value: number) => value.toFixed(0);
    const series = (values: (number | null)[]) => ({ name: 'transfer', values, marks: [] });
    expect(words_of_series(series([1, null, 3]), 5, text)).toBe('transfer: 1 in run 5, 3 in run 7');
    expect(words_of_series(series([null]), 1, text)).toBe('transfer is not known of any run');
    const many = Array.from({ length: 40 }, (_, index) => (index === 20 ? 90 : 10 + index));
    expect(words_of_series(series(many), 1, text)).toBe('transfer: from 10 in run 1 to 49 in run 40; least 10 in run 1, most 90 in run 21');
  });
  it.each([
    ['{', 'The history in this file is damaged: it cannot be read.'],
    [JSON.stringify({ ...history([run()]), schema: 'penstock-trend-2' }), 'The history in this file is newer than the page that should show it.'],
    [JSON.stringify({ ...history([run()]), runs: [] }), 'The history in this file is damaged: parts of it are missing or are not what they should be.'],
  ])('that is damaged or newer is not shown', (text, words) => expect(load_trend(text)).toMatchObject({ problem: words }));
  it('that is whole is', () => expect(load_trend(JSON.stringify(history([run()])))).toEqual({ trend: history([run()]) }));
});
