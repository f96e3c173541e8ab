// Stacked columns along an axis of numbers (ranks, steps): joins neighbours if there are too many to see, and moves the
// visible part.

export interface Column {
  /** The numbers of the column: `count` of them, from `first`. */
  readonly first: number;
  readonly count: number;
  /** Seconds by layer, in the order of the chart's layers. */
  readonly parts: readonly number[];
  /** A second figure, drawn as a line; of joined columns the largest. */
  readonly line: number | null;
}

/** A half-open range: `from`, up to but without `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns at most `most` columns: joins equal numbers of neighbours, whose parts become means. */
export function joined(columns: readonly Column[], most: number): readonly Column[] {
  const each = Math.ceil(columns.length / Math.max(1, most));
  if (each <= 1) return columns;
  const result: Column[] = [];
  for (let begin = 0; begin < columns.length; begin += each) {
    const group = columns.slice(begin, begin + each);
    const count = group.reduce((sum, column) => sum + column.count, 0);
    const parts = (group[0]?.parts ?? []).map(
      (_, part) => group.reduce((sum, column) => sum + (column.parts[part] ?? 0) * column.count, 0) / count,
    );
    const lines = group.flatMap((column) => (column.line === null ? [] : [column.line]));
    result.push({ first: group[0]?.first ?? 0, count, parts, line: lines.length === 0 ? null : Math.max(...lines) });
  }
  return result;
}

/** Returns the columns that touch the window. */
export const visible = (columns: readonly Column[], window: Window) =>
  columns.filter((column) => column.first < window.to && column.first + column.count > window.from);

/** Zooms: a larger `factor` shows more. `at` keeps its place; the window stays within `all`. */
export function zoomed(window: Window, all: Window, factor: number, at = (window.from + window.to) / 2): Window {
  const span = Math.min(all.to - all.from, Math.max(1, (window.to - window.from) * factor));
  const before = (at - window.from) / (window.to - window.from);
  return within({ from: at - span * before, to: at + span * (1 - before) }, all);
}

/** Pans. `by`: a share of the window; positive is to the right. */
export function panned(window: Window, all: Window, by: number): Window {
  const shift = (window.to - window.from) * by;
  return within({ from: window.from + shift, to: window.to + shift }, all);
}

/** Returns the window in whole numbers, moved or cut to lie in `all`. */
function within(window: Window, all: Window): Window {
  const span = Math.min(Math.max(1, Math.round(window.to - window.from)), all.to - all.from);
  const from = Math.min(Math.max(all.from, Math.round(window.from)), all.to - span);
  return { from, to: from + span };
}
