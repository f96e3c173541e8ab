// A history of runs: what its charts and tables show.
import type { DiffRow, Trend, TrendRun } from '../generated/trend';
import { date_text, percent_text, time_number, time_unit, type TimeUnit } from '../format';
import type { Column } from './columns';
import { change_share, part_of_row } from './diff';
import { parts, type Part } from './parts';

/** A run with its number in the whole history, from 1. */
export type Run = TrendRun & { readonly number: number };

export type Change = NonNullable<TrendRun['change']>;

export const runs_of = (trend: Trend): Run[] => trend.runs.map((run, index) => ({ ...run, number: trend.runs_left_out + index + 1 }));

export const unit_of_history = (trend: Trend): TimeUnit => time_unit(Math.max(...trend.runs.map((run) => run.time_s)));

/** Returns so much of a commit as people write. */
export const commit_text = (run: TrendRun): string => (run.commit ?? '').slice(0, 9);

export type Mark = 'more' | 'less' | 'unknown';

/** Returns the mark of a figure's change; undefined: it is within jitter, or rounds to nothing at three decimals. */
export function mark_of(row: DiffRow | undefined, unit: TimeUnit): Mark | undefined {
  if (row === undefined || row.verdict === 'jitter') return undefined;
  if (row.verdict === 'unknown') return 'unknown';
  return Math.abs(row.after_s - row.before_s) * unit.per_second >= 0.0005 ? row.verdict : undefined;
}

export const time_mark = (run: TrendRun, unit: TimeUnit): Mark | undefined => mark_of(run.change?.time, unit);

/** Returns the mark of a part; that none is known is told once, of the time. */
export function part_mark(run: TrendRun, part: Part, unit: TimeUnit): Mark | undefined {
  const mark = mark_of(run.change?.parts.find((row) => part_of_row(row) === part), unit);
  return mark === 'unknown' ? undefined : mark;
}

export function region_mark(run: TrendRun, name: string, unit: TimeUnit): Mark | undefined {
  const mark = mark_of(run.change?.regions.find((row) => row.name === name), unit);
  return mark === 'unknown' ? undefined : mark;
}

/** Returns what a change has to exceed, as a share of the run before; null: not known. */
export const jitter_share = (row: DiffRow): number | null => (row.margin_s === null || row.before_s === 0 ? null : row.margin_s / row.before_s);

const signed_percent = (share: number) => `${share < 0 ? '−' : '+'}${percent_text(Math.abs(share))}`;

/** Describes how a run's time differs from that of the run before, in half a sentence; empty: it is the first. */
export function change_words(run: TrendRun): string {
  const time = run.change?.time;
  if (time === undefined) return '';
  const share = change_share(time);
  const jitter = jitter_share(time);
  const by = `${share === null ? 'not comparable with' : `${signed_percent(share)} against`} the run before`;
  if (time.verdict === 'unknown') return `${by}; whether that is jitter is not known`;
  const margin = jitter === null ? '' : ` (± ${percent_text(jitter)})`;
  return time.verdict === 'jitter' ? `${by}, within jitter${margin}` : `${by}, beyond jitter${margin}`;
}

/** Describes a run for its chart. */
export function words_of_run(run: Run, trend: Trend, unit: TimeUnit): string {
  const time = (value: number) => `${time_number(value, unit)} ${unit.name}`;
  const commit = commit_text(run);
  const quartiles = run.step_quartiles_s === null ? '' : ` on average, half of the steps ${time(run.step_quartiles_s.low)} to ${time(run.step_quartiles_s.high)}`;
  const change = change_words(run);
  return `Run ${run.number}, ${date_text(run.began_unix_s)}${commit === '' ? '' : `, commit ${commit}`}: ${time(run.time_s)} a ${trend.time_of}${quartiles}${change === '' ? '' : `; ${change}`}.`;
}

/** Returns the runs whose commit is not that of the run before, by their index; a commit that is not known is none. */
export const commit_changes = (runs: readonly TrendRun[]): number[] =>
  runs.flatMap((run, index) => {
    const before = runs[index - 1];
    return before !== undefined && before.commit !== null && run.commit !== null && before.commit !== run.commit ? [index] : [];
  });

/** Returns the lower and the upper end of the chart's times: of all quartiles and means, from 0 where they lie far apart. */
export function time_range(runs: readonly TrendRun[], from_zero: boolean): readonly [number, number] {
  const low = Math.min(...runs.map((run) => Math.min(run.time_s, run.step_quartiles_s?.low ?? run.time_s)));
  const high = Math.max(1e-9, ...runs.map((run) => Math.max(run.time_s, run.step_quartiles_s?.high ?? run.time_s)));
  if (from_zero || low < high / 2) return [0, high * 1.04];
  const beside = Math.max(high - low, high * 0.02) * 0.15;
  return [Math.max(0, low - beside), high + beside];
}

/** Returns the parts that any run has, in their order. */
export const parts_of_history = (trend: Trend): Part[] => parts.filter((part) => trend.runs.some((run) => (run.parts_s?.[part] ?? 0) > 0));

/** Returns a column for each run; one without known parts is empty. */
export const part_columns = (trend: Trend, layers: readonly Part[]): Column[] =>
  trend.runs.map((run, index) => ({ first: index, count: 1, parts: layers.map((part) => run.parts_s?.[part] ?? 0), line: null }));

/** One figure of all runs. */
export interface Series {
  readonly name: string;
  /** One of each run; null: not known. */
  readonly values: readonly (number | null)[];
  readonly marks: readonly (Mark | undefined)[];
}

const is_known = (series: Series) => series.values.some((value) => value !== null);

/** Returns the efficiencies that are known of any run, as shares. */
export function efficiency_series(trend: Trend): Series[] {
  const series = (name: string, value: (run: TrendRun) => number | undefined): Series => ({
    name,
    values: trend.runs.map((run) => value(run) ?? null),
    marks: trend.runs.map(() => undefined),
  });
  return [
    series('parallel efficiency', (run) => run.efficiency?.parallel),
    series('load balance', (run) => run.efficiency?.load_balance),
    series('serialisation', (run) => run.efficiency?.serialisation),
    series('transfer', (run) => run.efficiency?.transfer),
    series('GPU efficiency', (run) => run.gpu_efficiency?.parallel),
  ].filter(is_known);
}

/** Returns the time in each NVTX range that was asked for and that any run has, in the chart's unit. */
export function region_series(trend: Trend, unit: TimeUnit): Series[] {
  return trend.runs[0].regions
    .map(({ name }, index): Series => {
      const seconds = trend.runs.map((run) => run.regions[index]?.total_s ?? null);
      return {
        name,
        values: seconds.map((value) => (value === null ? null : value * unit.per_second)),
        marks: trend.runs.map((run) => region_mark(run, name, unit)),
      };
    })
    .filter(is_known);
}

/** From so many runs on, a picture is described by its ends alone. */
const many_runs = 30;

/** Describes a figure's picture: all values, or of many the first, the last and the outermost. */
export function words_of_series(series: Series, first_number: number, text: (value: number) => string): string {
  const known = series.values.flatMap((value, index) => (value === null ? [] : [{ value, number: index + first_number }]));
  const words = ({ value, number }: { value: number; number: number }) => `${text(value)} in run ${number}`;
  const [first] = known;
  const last = known[known.length - 1];
  if (first === undefined || last === undefined) return `${series.name} is not known of any run`;
  if (known.length < many_runs) return `${series.name}: ${known.map(words).join(', ')}`;
  const least = known.reduce((one, other) => (other.value < one.value ? other : one));
  const most = known.reduce((one, other) => (other.value > one.value ? other : one));
  return `${series.name}: from ${words(first)} to ${words(last)}; least ${words(least)}, most ${words(most)}`;
}
