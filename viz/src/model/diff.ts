// A comparison of two versions of a program: changes and conclusions.
import type { Diff, DiffRow } from '../generated/diff';
import { percent_text, time_number, time_unit, type TimeUnit } from '../format';
import { part_name, parts, type Part } from './parts';

export const change_s = (row: DiffRow) => row.after_s - row.before_s;

/** Returns the change as a share of the earlier value; null if that is 0. */
export const change_share = (row: DiffRow) => (row.before_s === 0 ? null : change_s(row) / row.before_s);

/** From so many times on, percents are hard to read. */
export const many_times = 10;

/** Returns a change in words: "4.2 % more", "303 times as long". */
export const change_words = (row: DiffRow): string => {
  const share = change_share(row) ?? 0;
  return share + 1 >= many_times ? `${(share + 1).toFixed(0)} times as long` : `${percent_text(Math.abs(share))} ${share < 0 ? 'less' : 'more'}`;
};

export const verdict_text = ({ verdict }: DiffRow): string => ({ less: 'less', more: 'more', jitter: 'jitter', unknown: 'not known' })[verdict];

/** Adds the sign of a change, for tables. */
export const signed = (text: string) => (text.startsWith('-') || /^0(\.0*)?$/.test(text) ? text : `+${text}`);

export const unit_of = (diff: Diff): TimeUnit => time_unit(Math.max(...diff.totals.map((row) => Math.max(row.before_s, row.after_s))));

/** Describes the change of the time in a sentence. */
export function verdict(diff: Diff): string {
  const [time] = diff.totals;
  if (time === undefined) return '';
  const unit = unit_of(diff);
  const numbers = `${time_number(time.after_s, unit)} ${unit.name} instead of ${time_number(time.before_s, unit)} ${unit.name}`;
  const share = change_share(time);
  const margin = time.margin_s === null ? '' : ` ± ${time_number(time.margin_s, unit)} ${unit.name}`;
  const amount = Math.abs(share ?? 0) < 0.0005 ? `as long${margin}` : `${change_words(time)}${margin}`;
  const what = `The average rank’s ${diff.time_of} takes ${numbers}`;
  const waits = waited(diff, unit);
  if (time.verdict === 'jitter') return `${what}: no more than jitter (${amount}).${waits}`;
  if (diff.records_missing) return `${what}: ${amount}. Whether that is a change is unknown: records are missing.${waits}`;
  if (time.verdict === 'unknown') return `${what}: ${amount}. Whether that is more than jitter is not known: repeat the runs.${waits}`;
  return `${what}: ${amount}.${waits}`;
}

/** Does the same for the counted time. */
function waited(diff: Diff, unit: TimeUnit): string {
  const is_exposed = diff.measure === 'exposed_communication';
  const row = diff.totals.find(({ name }) => name === (is_exposed ? 'exposed' : 'in MPI'));
  if (row === undefined) return '';
  return ` ${is_exposed ? 'Exposed' : 'In MPI'}: ${time_number(row.after_s, unit)} ${unit.name} instead of ${time_number(row.before_s, unit)} ${unit.name}.`;
}

/** Returns the part of the time that a row is, if it is one. */
export const part_of_row = (row: DiffRow): Part | undefined => parts.find((part) => part_name(part) === row.name);

/** Returns the rows that explain the change: all parts of the time, or the causes alone where kernels are not known. */
export const explaining_rows = (diff: Diff): readonly DiffRow[] => (diff.parts !== undefined && diff.parts.length > 0 ? diff.parts : diff.causes);

/** Returns a version's bar: the parts of the time, and the rest of it. */
export function bar_of(diff: Diff, figure: (row: DiffRow) => number): { kind: string; name: string; time_s: number }[] {
  const pieces = explaining_rows(diff).map((row) => ({ kind: part_of_row(row) ?? 'other', name: row.name, time_s: figure(row) }));
  const [time] = diff.totals;
  const rest_s = (time === undefined ? 0 : figure(time)) - pieces.reduce((sum, piece) => sum + piece.time_s, 0);
  return [...pieces, { kind: 'other', name: diff.measure === 'exposed_communication' ? 'not exposed' : 'not in MPI', time_s: rest_s }].filter((piece) => piece.time_s > 1e-9);
}

/** Compares the versions row by row: what differs and what is alike. */
export function states(diff: Diff, date: (unix_s: number) => string): { name: string; before: string; after: string }[] {
  const list = (texts: readonly string[]) => (texts.length === 0 ? 'none' : texts.join(', '));
  const row = (name: string, text: (state: Diff['before']) => string) => ({ name, before: text(diff.before), after: text(diff.after) });
  return [
    row('Command', (state) => state.program),
    row('Ranks', (state) => String(state.ranks)),
    row('Hosts', (state) => list(state.hosts)),
    row('GPUs', (state) => (state.simulated_gpu ? 'simulated' : list(state.gpus))),
    row('MPI', (state) => (/^[^\n]*/.exec(state.mpi)?.[0] ?? '').replace(/\s+/g, ' ')),
    row('Began', (state) => date(state.began_unix_s)),
    { name: 'Runs', before: String(diff.runs_before), after: String(diff.runs_after) },
  ];
}

export const whole_s = (diff: Diff) => Math.max(...diff.totals.slice(0, 1).flatMap((row) => [row.before_s, row.after_s]), 1e-12);
