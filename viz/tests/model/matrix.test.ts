import { describe, expect, it } from 'vitest';
import type { Matrix, MatrixCell } from '../../src/generated/report';
import { picture_of, reached_share, scale_of, shades, transports_of, value_of, value_text, who, words_of_cell } from '../../src/model/matrix';

const cell = (sender: number, receiver: number, parts: Partial<MatrixCell> = {}): MatrixCell => ({
  sender,
  receiver,
  messages: 2,
  bytes: 2048,
  moving_s: 1e-3,
  gb_per_s: 20,
  possible_gb_per_s: 40,
  transport: 'peer',
  ...parts,
});
const matrix = (parts: Partial<Matrix>): Matrix => ({ ranks_per_block: 1, pairs_without_row: 0, pairs: [], blocks: [], ...parts });

describe('the matrix', () => {
  it('has a row for every rank, also for those that sent nothing', () => {
    expect(picture_of(matrix({ pairs: [cell(0, 1)] }), 8, true)).toMatchObject({ size: 8, ranks_per_cell: 1 });
  });
  it('is drawn by pairs where all are here and can be seen, else by blocks', () => {
    const blocks = matrix({ ranks_per_block: 3, pairs: [cell(9, 10)], blocks: [cell(3, 3)] });
    expect(picture_of(blocks, 130, true)).toMatchObject({ size: 130, cells: [{ sender: 9 }] });
    const coarse = picture_of(blocks, 130, false);
    expect(coarse).toMatchObject({ size: 44, cells: [{ sender: 3 }] });
    expect(who(3, coarse)).toBe('ranks 9 to 11');
    expect(who(43, coarse)).toBe('rank 129');
    expect(picture_of({ ...blocks, ranks_per_block: 64 }, 4096, true).size).toBe(64);
  });
  it('tells a cell in words, and what is not known', () => {
    const picture = picture_of(matrix({ pairs: [cell(0, 1)] }), 2, true);
    expect(words_of_cell(0, 1, cell(0, 1), picture)).toBe('rank 0 → rank 1: 2 KiB in 2 messages, 1.00 ms moving, 20.0 GB/s of 40.0 possible, mostly by peer.');
    expect(words_of_cell(1, 0, undefined, picture)).toBe('rank 1 → rank 0: no messages.');
    expect(words_of_cell(0, 1, cell(0, 1, { gb_per_s: null, possible_gb_per_s: null, moving_s: 0 }), picture)).toMatch(/at a speed that is not known/);
    expect(value_of(cell(0, 1, { gb_per_s: null, moving_s: 0 }), 'time')).toBeNull();
    expect(reached_share(cell(0, 1))).toBe(0.5);
    expect(value_text(value_of(cell(0, 1), 'share') ?? 0, 'share')).toBe('50.0 %');
    expect(value_of(cell(0, 1, { possible_gb_per_s: null }), 'share')).toBeNull();
    expect(reached_share(cell(0, 1, { possible_gb_per_s: null }))).toBeNull();
  });
});

it('transports have the order of their bytes', () => {
  const cells = [cell(0, 1, { transport: 'staged', bytes: 10 }), cell(1, 0), cell(1, 2, { transport: 'staged', bytes: 10 }), cell(2, 1, { transport: 'local', bytes: 20 })];
  expect(transports_of(cells)).toEqual(['peer', 'local', 'staged']);
});

describe('shades', () => {
  it('go from the least to the most', () => {
    const scale = scale_of([cell(0, 1, { bytes: 100 }), cell(1, 0, { bytes: 200 })], 'bytes');
    expect(scale).toMatchObject({ least: 100, most: 200, is_logarithmic: false });
    expect([100, 150, 200].map((bytes) => scale?.shade(bytes))).toEqual([0, shades / 2, shades - 1]);
  });
  it('go by ratio where values lie far from each other', () => {
    const scale = scale_of([cell(0, 1, { bytes: 1 }), cell(1, 0, { bytes: 1e8 })], 'bytes');
    expect(scale?.is_logarithmic).toBe(true);
    expect(scale?.shade(1e4)).toBe(shades / 2);
  });
  it('are one where all is equal, and none where nothing is known', () => {
    expect(scale_of([cell(0, 1)], 'speed')?.shade(20)).toBe(shades - 1);
    expect(scale_of([cell(0, 1, { gb_per_s: null })], 'speed')).toBeUndefined();
  });
});
