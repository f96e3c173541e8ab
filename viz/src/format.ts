// Formats numbers with their units, for the whole page. Follows analysis/report/text_figures.cpp, so that the page and
// `penstock report` show the same.

/** The unit of all times of a table or chart. */
export interface TimeUnit {
  readonly name: 's' | 'ms' | 'µs';
  readonly per_second: number;
}

/** Returns a number with `decimals` decimals; a number rounded to zero has no sign. */
export const fixed = (value: number, decimals: number) => value.toFixed(decimals).replace(/^-(0(\.0*)?)$/, '$1');

/** Returns the unit that suits a typical time. */
export function time_unit(typical_s: number): TimeUnit {
  if (typical_s < 1e-3) return { name: 'µs', per_second: 1e6 };
  if (typical_s < 1) return { name: 'ms', per_second: 1e3 };
  return { name: 's', per_second: 1 };
}

/** Returns a time without its unit, which stands beside it. */
export const time_number = (time_s: number, unit: TimeUnit) => (time_s * unit.per_second).toFixed(3);

/** Returns a time with three significant digits and its unit. */
export function time_text(time_s: number): string {
  const unit = time_unit(time_s);
  const value = time_s * unit.per_second;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit.name}`;
}

export function percent_text(share: number): string {
  const value = share * 100;
  return value > 0 && value < 0.05 ? '<0.1 %' : `${value.toFixed(1)} %`;
}

/** Returns part ÷ whole; 0 if the whole is 0. */
export const share_of = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

export function bytes_text(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${value.toFixed(Number.isInteger(value) || value >= 100 ? 0 : 1)} ${units[unit] ?? ''}`;
}

/** The largest size limit of analysis/joining/message_class.hpp. */
const largest_limit_bytes = 256 * 1024 * 1024;

/** Returns the sizes of a class of messages; null: larger than all limits. */
export const size_class_text = (limit_bytes: number | null) =>
  limit_bytes === null ? `> ${bytes_text(largest_limit_bytes)}` : `≤ ${bytes_text(limit_bytes)}`;

/** Returns a count for a sentence. */
export const count_text = (count: number) => count.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');

export const plural = (count: number, word: string) => `${count_text(count)} ${word}${count === 1 ? '' : 's'}`;

/** Returns GB/s without the unit, by two digits that count at least, as speed_text() of the analysis does. */
export function speed_number(gb_per_s: number) {
  const of_two_digits = gb_per_s > 0 ? 1 - Math.floor(Math.log10(gb_per_s)) : 0;
  return gb_per_s.toFixed(gb_per_s >= 100 ? 0 : gb_per_s >= 10 ? 1 : Math.min(8, Math.max(2, of_two_digits)));
}

/** Splits the digits of a whole number into groups of three; the space between them is not copied. */
export function digit_groups(digits: string): string[] {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(digits) ?? [];
  if (whole === '') return [digits];
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
  groups[0] = sign + (groups[0] ?? '');
  groups[groups.length - 1] += rest;
  return groups;
}

/** Returns seconds since 1970 as a date that is the same for every reader. */
export const date_text = (unix_s: number) => `${new Date(unix_s * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
