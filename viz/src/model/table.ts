// Sorts and searches the rows of a table. Must not know how they are shown.

/** A cell's sort key. null is unknown, and is last in either order. */
export type Value = number | string | null;

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

export interface Sortable<Row> {
  readonly key: string;
  value(row: Row): Value;
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(left: Value, right: Value, descending: boolean): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  const order = typeof left === 'number' && typeof right === 'number' ? left - right : collator.compare(String(left), String(right));
  return descending ? -order : order;
}

/** Sorts rows; equal ones keep their order. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Sortable<Row>[], order: Order | undefined): readonly Row[] {
  const column = columns.find((each) => each.key === order?.column);
  if (column === undefined || order === undefined) return rows;
  return [...rows].sort((left, right) => compare(column.value(left), column.value(right), order.descending));
}

/** The words of a search, in lower case. */
export const words_in = (search: string): string[] => search.toLowerCase().split(/\s+/).filter((word) => word !== '');

/** Returns the rows in which every word of `search` occurs in a text, in any case, or equals a number. */
export function matching<Row>(rows: readonly Row[], columns: readonly Sortable<Row>[], search: string): readonly Row[] {
  const words = words_in(search);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const values = columns.map((column) => column.value(row));
    const text = values.filter((value) => typeof value === 'string').join('\n').toLowerCase();
    return words.every((word) => text.includes(word) || values.some((value) => typeof value === 'number' && String(value) === word));
  });
}

/** Returns the order after a click on a column's head: numbers begin with the largest, texts with the first. */
export function next_order(before: Order | undefined, column: string, is_number: boolean): Order {
  return before?.column === column ? { column, descending: !before.descending } : { column, descending: is_number };
}
