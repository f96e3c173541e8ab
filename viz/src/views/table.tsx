// A table that sorts by its heads and can be searched. Units stand in the heads, so that its cells are copied as
// numbers.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { matching, next_order, sorted, type Order, type Sortable } from '../model/table';
import { count_text } from '../format';
import { Digits } from './parts';

export interface Column<Row> extends Sortable<Row> {
  readonly title: string;
  /** Stands behind the title. */
  readonly unit?: string;
  /** Digits behind the point; a column without is text. */
  readonly decimals?: number;
  /** A number that things are called by, as ranks are: it is searched, too. */
  readonly is_name?: boolean;
  /** What the head says when it is pointed at. */
  readonly meaning?: string;
  /** In place of the value. */
  readonly show?: (row: Row) => ComponentChildren;
}

interface Properties<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** With what is searched, where it is worth it. */
  readonly search?: string;
  /** Rows that the report had and this page has not. */
  readonly left_out?: number | undefined;
}

/** More are shown when asked for. */
const rows_at_first = 25;

const is_number = <Row,>(column: Column<Row>) => column.decimals !== undefined;

function Cell<Row>({ row, column }: { row: Row; column: Column<Row> }) {
  if (column.show !== undefined) return <td class={is_number(column) ? 'number' : ''}>{column.show(row)}</td>;
  const value = column.value(row);
  if (value === null) return <td class={is_number(column) ? 'number' : ''} aria-label="not known">–</td>;
  if (typeof value === 'string') return <td>{value}</td>;
  return (
    <td class="number">
      <Digits text={value.toFixed(column.decimals ?? 0)} />
    </td>
  );
}

export function Table<Row>({ caption, rows, columns, search, left_out = 0 }: Properties<Row>) {
  const [order, set_order] = useState<Order>();
  const [words, set_words] = useState('');
  const [all, set_all] = useState(false);
  const searched = columns.filter((column) => !is_number(column) || column.is_name === true);
  const found = useMemo(() => sorted(matching(rows, searched, words), columns, order), [rows, columns, words, order]);
  const shown = all ? found : found.slice(0, rows_at_first);
  return (
    <div class="table">
      {search !== undefined && rows.length > 3 ? (
        <p class="search">
          <label>
            {search} <input type="search" value={words} onInput={(event) => set_words(event.currentTarget.value)} />
          </label>{' '}
          <span role="status">{words === '' ? '' : `${count_text(found.length)} of ${count_text(rows.length)}`}</span>
        </p>
      ) : null}
      <div class="scrolls" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  class={is_number(column) ? 'number' : ''}
                  title={column.meaning}
                  aria-sort={order?.column === column.key ? (order.descending ? 'descending' : 'ascending') : 'none'}
                >
                  <button type="button" onClick={() => set_order(next_order(order, column.key, is_number(column)))}>
                    {column.title}
                    {column.unit === undefined ? null : <span class="unit"> {column.unit}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <Cell key={column.key} row={row} column={column} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > shown.length ? (
        <p>
          <button type="button" onClick={() => set_all(true)}>
            Show all {count_text(found.length)} rows
          </button>
        </p>
      ) : null}
      {found.length === 0 && words !== '' ? <p>Nothing has these words.</p> : null}
      {left_out > 0 ? <p class="note">{count_text(left_out)} more rows are in `penstock report --json` only: they would make this file too large.</p> : null}
    </div>
  );
}
