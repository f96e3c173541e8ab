import { describe, expect, it } from 'vitest';
import { joined, panned, visible, zoomed, type Column } from '../../src/model/columns';

const column = (first: number, parts: number[], line: number | null = null, count = 1): Column => ({ first, count, parts, line });

describe('joining columns', () => {
  const columns = Array.from({ length: 10 }, (_, index) => column(index, [index, 1], index));
  it('leaves as they are those that fit', () => expect(joined(columns, 10)).toBe(columns));
  it('makes means of the parts, the largest of the line, and covers all', () => {
    expect(joined(columns, 4)).toEqual([column(0, [1, 1], 2, 3), column(3, [4, 1], 5, 3), column(6, [7, 1], 8, 3), column(9, [9, 1], 9, 1)]);
  });
  it('weighs columns that stand for more', () => {
    expect(joined([column(0, [1], null, 3), column(3, [5], null, 1)], 1)).toEqual([column(0, [2], null, 4)]);
  });
  it('takes none', () => expect(joined([], 5)).toEqual([]));
});

describe('the window', () => {
  const all = { from: 0, to: 100 };
  it('zooms around a place that stays', () => expect(zoomed({ from: 0, to: 100 }, all, 0.5, 20)).toEqual({ from: 10, to: 60 }));
  it('does not leave the whole, nor vanish', () => {
    expect(zoomed({ from: 80, to: 100 }, all, 100)).toEqual(all);
    expect(zoomed({ from: 50, to: 51 }, all, 0.5)).toEqual({ from: 50, to: 51 });
    expect(panned({ from: 80, to: 100 }, all, 5)).toEqual({ from: 80, to: 100 });
    expect(panned({ from: 5, to: 25 }, all, -5)).toEqual({ from: 0, to: 20 });
  });
  it('moves by a share of what is seen', () => expect(panned({ from: 20, to: 40 }, all, 0.25)).toEqual({ from: 25, to: 45 }));
  it('shows columns of which any part lies in it', () => {
    const columns = [column(0, [], null, 10), column(10, [], null, 10), column(20, [], null, 10)];
    expect(visible(columns, { from: 5, to: 20 }).map(({ first }) => first)).toEqual([0, 10]);
  });
});
