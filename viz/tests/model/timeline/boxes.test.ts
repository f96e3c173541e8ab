import { describe, expect, it } from 'vitest';
import { add_lane, add_pieces, add_shares, Boxes, parts_of } from '../../../src/model/timeline/boxes';
import type { Range, Track } from '../../../src/model/timeline/decode';
import { base64, model_with, states, track_with, type PieceWords } from './timeline_builder';

const run: Range = { from: 0, to: 1000 };
const track_of = (pieces: readonly PieceWords[], parts = {}): Track => model_with([[track_with('stream', pieces, parts)]]).ranks[0]!.tracks[0]!;
const kernel = (begin: number, end: number): PieceWords => ({ begin, end, state: 'kernel' });
const list = (boxes: Boxes) =>
  Array.from({ length: boxes.count }, (_, i) => ({
    x: boxes.x[i]!,
    width: boxes.width[i]!,
    height: boxes.height[i]!,
    base: boxes.base[i]!,
    state: states[boxes.state[i]!],
    piece: boxes.piece[i]!,
  }));
const drawn = (track: Track, view: Range, width: number, part = view, which: 'wide' | 'narrow' | 'all' = 'all') => {
  const boxes = new Boxes();
  add_pieces(boxes, track.lanes[0]!, view, width, part, which);
  return list(boxes);
};

describe('pieces', () => {
  it('that are wide enough have a box each, and those outside the view none', () => {
    const track = track_of([kernel(0, 50), kernel(100, 200), kernel(300, 400), kernel(900, 950)]);
    expect(drawn(track, { from: 150, to: 350 }, 200).map(({ x, width, piece }) => [x, width, piece])).toEqual([
      [-2, 52, 1],
      [150, 52, 2],
    ]);
  });
  it('that are narrower than a pixel share it, as high as what they cover of it', () => {
    const track = track_of(Array.from({ length: 100 }, (_, i) => kernel(i * 10, i * 10 + 5)));
    const boxes = drawn(track, run, 10);
    expect(boxes).toHaveLength(1);
    expect(boxes[0]).toMatchObject({ x: 0, width: 10, piece: -1, state: 'kernel' });
    expect(boxes[0]!.height).toBeCloseTo(0.5, 1);
  });
  it('are never more boxes than a few a pixel, whatever their number', () => {
    const track = track_of(Array.from({ length: 50_000 }, (_, i) => ({ begin: i * 3, end: i * 3 + 1 + (i % 2), state: i % 7 === 0 ? 'copy' : 'kernel' })));
    expect(drawn(track, { from: 0, to: 150_000 }, 300).length).toBeLessThanOrEqual(600);
  });
  it('a long one is not lost among short ones', () => {
    const shorts = Array.from({ length: 1000 }, (_, i) => kernel(i, i));
    const track = track_of([...shorts, { begin: 1000, end: 2000, state: 'copy' }, ...Array.from({ length: 1000 }, (_, i) => kernel(2000 + i, 2001 + i))]);
    const boxes = drawn(track, { from: 0, to: 30_000 }, 100);
    expect(boxes.filter(({ state }) => state === 'copy')).toEqual([expect.objectContaining({ piece: 1000 })]);
  });
  it('without length show, too', () => {
    expect(drawn(track_of([kernel(500, 500)]), run, 100)).toEqual([expect.objectContaining({ x: 50, width: 1, piece: 0 })]);
  });
});

describe('shares', () => {
  // the first half is all kernels, the second half quarter copies
  const track = track_of([], { bins: 4, states: [states.indexOf('kernel'), states.indexOf('copy')], shares: base64([255, 255, 0, 0, 0, 0, 64, 64]) });
  const shares_drawn = (view: Range, width: number, part = view) => {
    const boxes = new Boxes();
    add_shares(boxes, track.shares!, run, view, width, part, []);
    return list(boxes);
  };
  it('fill what they are the share of, a bin or a pixel wide', () => {
    const boxes = shares_drawn(run, 1000);
    expect(boxes.map(({ x, width, state }) => [x, width, state])).toEqual([
      [0, 250, 'kernel'],
      [250, 250, 'kernel'],
      [500, 250, 'copy'],
      [750, 250, 'copy'],
    ]);
    expect(boxes[3]!.height).toBeCloseTo(0.25);
  });
  it('of many bins to a pixel are their mean', () => {
    const [low, high] = shares_drawn(run, 1);
    expect(low).toMatchObject({ width: 1, state: 'kernel', height: 0.5, base: 0 });
    expect(high).toMatchObject({ state: 'copy', height: 0.125, base: 0.5 });
  });
  it('stand where pieces are not all there, and where bins are as fine as pixels', () => {
    const detail = [{ from: 200, to: 400 }];
    expect(parts_of(track, detail, run, run, 4)).toEqual({ detail: [], shares: [run] });
    expect(parts_of(track, detail, run, run, 1000)).toEqual({ detail, shares: [{ from: 0, to: 200 }, { from: 400, to: 1000 }] });
    expect(parts_of(track, detail, run, { from: 250, to: 300 }, 1000)).toEqual({ detail: [{ from: 250, to: 300 }], shares: [] });
    expect(parts_of(track_of([kernel(1, 2)]), [], run, run, 1000)).toEqual({ detail: [run], shares: [] });
  });
});

it('a lane has shares, narrow pieces where all are there, and wide ones everywhere once', () => {
  const track = track_of([kernel(100, 350), kernel(360, 361), kernel(700, 701)], { bins: 2, states: [states.indexOf('kernel')], shares: base64([200, 10]) });
  const boxes = new Boxes();
  add_lane(boxes, track, track.lanes[0]!, true, [{ from: 300, to: 400 }], run, run, 500, []);
  const pieces = list(boxes).filter(({ piece }) => piece >= 0).map(({ piece }) => piece);
  expect(pieces.sort()).toEqual([0, 1]); // not 2: it is narrow, and others like it are missing there
  expect(list(boxes).filter(({ piece }) => piece < 0)).toHaveLength(3);
});
