// A table that sorts by its heads and can be searched. Units are in the heads, so that cells are copied as numbers.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { matching, next_order, sorted, type Order, type Sortable } from '../model/table';
import { row_id } from '../model/findings';
import { count_text, fixed } from '../format';
import { Digits } from './parts';

export interface Column<Row> extends Sortable<Row> {
  readonly title: string;
  /** Follows the title. */
  readonly unit?: string;
  /** Number of decimals; undefined: the column is text. */
  readonly decimals?: number;
  /** A number that serves as a name, like a rank: it is searched, too. */
  readonly is_name?: boolean;
  /** It has buttons alone, which paper does not need. */
  readonly is_only_on_screen?: boolean;
  /** The tooltip of the head. */
  readonly meaning?: string;
  /** Formats the number where a fixed count of decimals does not suffice. */
  readonly number_text?: (value: number) => string;
  /** Replaces the value. */
  readonly show?: (row: Row) => ComponentChildren;
}

interface Properties<Row> {
  readonly caption: string;
  /** The list of the report that has these rows, if links lead to them. */
  readonly list?: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The label of the search field; undefined: no search. */
  readonly search?: string;
  /** Rows of the report that this page lacks. */
  readonly left_out?: number | undefined;
}

/** Further rows are shown on request. */
const rows_at_first = 15;
/** Texts up to this length stay on one line. */
const short_text = 24;

const is_number = <Row,>(column: Column<Row>) => column.decimals !== undefined;

function Cell<Row>({ row, column }: { row: Row; column: Column<Row> }) {
  if (column.is_only_on_screen === true) return <td class="only-on-screen">{column.show?.(row)}</td>;
  if (column.show !== undefined) {
    const shown = column.show(row);
    const words = typeof shown === 'string' ? shown : column.value(row);
    const kind = is_number(column) ? 'number' : typeof words !== 'string' ? '' : words.length <= short_text ? 'short' : 'long';
    return <td class={kind}>{shown}</td>;
  }
  const value = column.value(row);
  if (value === null) return <td class={is_number(column) ? 'number' : ''} aria-label="not known">–</td>;
  if (typeof value === 'string') return <td class={value.length <= short_text ? 'short' : 'long'}>{value}</td>;
  return (
    <td class="number">
      <Digits text={column.number_text?.(value) ?? fixed(value, column.decimals ?? 0)} />
    </td>
  );
}

/** Returns the row that the page's address names, if it is one of this list. */
function useTargetRow(list: string | undefined): number | undefined {
  const named = () => {
    const [, name, row] = /^#(.*)-(\d+)$/.exec(location.hash) ?? [];
    return list !== undefined && name === list ? Number(row) : undefined;
  };
  // An object, so that a repeated visit is noticed.
  const [target, set_target] = useState(() => ({ row: named() }));
  useEffect(() => {
    const look = () => set_target({ row: named() });
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, [list]);
  useLayoutEffect(() => {
    if (list === undefined || target.row === undefined) return;
    const element = document.getElementById(row_id(list, target.row));
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
  }, [list, target]);
  return target.row;
}

export function Table<Row>({ caption, list, rows, columns, search, left_out = 0 }: Properties<Row>) {
  const [order, set_order] = useState<Order>();
  const [words, set_words] = useState('');
  const [all, set_all] = useState(false);
  const searched = columns.filter((column) => !is_number(column) || column.is_name === true);
  const found = useMemo(() => sorted(matching(rows, searched, words), columns, order), [rows, columns, words, order]);
  const target = useTargetRow(list);
  const target_row = target === undefined ? undefined : rows[target];
  const numbers = useMemo(() => new Map(list === undefined ? [] : rows.map((row, index) => [row, index])), [list, rows]);
  const first = found.slice(0, rows_at_first);
  const shown = all || (target_row !== undefined && !first.includes(target_row)) ? found : first;
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
          <caption>
            <span>{caption}</span>
          </caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  class={is_number(column) ? 'number' : column.is_only_on_screen === true ? 'only-on-screen' : ''}
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
              <tr
                key={index}
                {...(list === undefined ? {} : { id: row_id(list, numbers.get(row) ?? index), tabIndex: -1 })}
                class={row === target_row ? 'target' : ''}
              >
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
