import { describe, expect, it } from 'vitest';
import { matching, next_order, sorted } from '../../src/model/table';

interface Row { name: string; size: number | null }
const columns = [
  { key: 'name', value: (row: Row) => row.name },
  { key: 'size', value: (row: Row) => row.size },
];
const rows: Row[] = [
  { name: 'rank 10', size: 5 },
  { name: 'Rank 9', size: null },
  { name: 'peer', size: 7 },
  { name: 'rank 2', size: 5 },
];
const names = (of: readonly Row[]) => of.map((row) => row.name);

describe('sorting', () => {
  it('puts what is not known last in either order, and keeps equal rows in theirs', () => {
    expect(names(sorted(rows, columns, { column: 'size', descending: true }))).toEqual(['peer', 'rank 10', 'rank 2', 'Rank 9']);
    expect(names(sorted(rows, columns, { column: 'size', descending: false }))).toEqual(['rank 10', 'rank 2', 'peer', 'Rank 9']);
  });
  it('goes by numbers within texts', () => {
    expect(names(sorted(rows, columns, { column: 'name', descending: false }))).toEqual(['peer', 'rank 2', 'Rank 9', 'rank 10']);
  });
  it('changes nothing without an order, and never the rows given', () => {
    expect(sorted(rows, columns, undefined)).toBe(rows);
    expect(names(rows)[0]).toBe('rank 10');
  });
  it('begins with the largest number or the first text, and turns round', () => {
    expect(next_order(undefined, 'size', true)).toEqual({ column: 'size', descending: true });
    expect(next_order({ column: 'size', descending: true }, 'size', true)).toEqual({ column: 'size', descending: false });
    expect(next_order({ column: 'size', descending: true }, 'name', false)).toEqual({ column: 'name', descending: false });
  });
});

describe('searching', () => {
  it('wants every word, in any case, in any column', () => {
    expect(names(matching(rows, columns, 'RANK'))).toEqual(['rank 10', 'Rank 9', 'rank 2']);
    expect(names(matching(rows, columns, ' 5  rank '))).toEqual(['rank 10', 'rank 2']);
    expect(names(matching(rows, columns, 'rank 7'))).toEqual([]);
    expect(names(matching(rows, columns, '7'))).toEqual(['peer']);
    expect(matching(rows, columns, 'nothing')).toEqual([]);
    expect(matching(rows, columns, '  ')).toBe(rows);
  });
  it('takes what is searched for as it is, not as a pattern', () => expect(matching(rows, columns, '.*')).toEqual([]));
});
