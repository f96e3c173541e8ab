import { describe, expect, it } from 'vitest';
import { layout_of } from '../../../src/model/timeline/layout';
import { first_seen, next_row, partner_at, piece_in_row } from '../../../src/model/timeline/pick';
import { model_with, track_with } from './timeline_builder';

const waits = track_with('waits', [{ begin: 100, end: 200, state: 'late_sender' }]);
const thread = track_with('thread', [
  { begin: 50, end: 300, state: 'range', name: 3 },
  { begin: 100, end: 200, state: 'waiting_call', name: 1 },
]);
const stream = track_with('stream', [{ begin: 0, end: 90, state: 'kernel', name: 2 }]);
const model = model_with([[waits, thread, stream], [waits, thread, stream]]);
const closed = layout_of(model, { open: new Set(), shown: new Map() });
const opened = layout_of(model, { open: new Set([0]), shown: new Map() });
const all = { from: 0, to: 1000 };

describe('the piece at a place', () => {
  it('of a closed rank is a wait above and a kernel below', () => {
    const [row] = closed.rows;
    expect(piece_in_row(row, 1000, 150, 0, 3)).toMatchObject({ track_number: 0, piece: 0 });
    expect(piece_in_row(row, 1000, 50, 0, 20)).toMatchObject({ track_number: 2, piece: 0 });
    expect(piece_in_row(row, 1000, 500, 0, 3)).toBeUndefined();
  });
  it('of an open rank is that of its lane', () => {
    const lane = opened.rows.find((row) => row.kind === 'lane' && row.lanes[0]?.track_number === 1 && row.lanes[0].lane === 1);
    expect(piece_in_row(lane, 1000, 150, 0)).toMatchObject({ track_number: 1, piece: 1 });
  });
  it('of a folded track is the innermost there', () => {
    const folded = layout_of(model, { open: new Set([0]), shown: new Map([['thread 0', 'row']]) });
    const row = folded.rows.find((each) => each.kind === 'lane' && each.is_folded);
    expect(piece_in_row(row, 1000, 150, 0)).toMatchObject({ track_number: 1, piece: 1 });
    expect(piece_in_row(row, 1000, 250, 0)).toMatchObject({ track_number: 1, piece: 0 });
    expect(piece_in_row(row, 1000, 202, 5)).toMatchObject({ piece: 0 }); // what is there goes before what is near
  });
  it('is nothing where there is no row', () => expect(piece_in_row(undefined, 1000, 0, 0)).toBeUndefined());
});

describe('keys', () => {
  it('begin with the first piece that can be seen', () => {
    expect(first_seen(opened, all, 1000, 0)).toMatchObject({ rank: { rank: 0 }, track_number: 0 });
    expect(first_seen(closed, all, 1000, 40)).toMatchObject({ rank: { rank: 1 } });
  });
  it('go to the row below, past the head of an open rank, and back', () => {
    const wait = first_seen(opened, all, 1000, 0)!;
    const range = next_row(opened, all, 1000, wait, 1)!;
    expect(range).toMatchObject({ rank: { rank: 0 }, track_number: 1, piece: 0 });
    expect(next_row(opened, all, 1000, range, -1)).toMatchObject({ track_number: 0 });
    expect(next_row(opened, all, 1000, wait, -1)).toBeUndefined();
  });
});

describe('the partner of a message', () => {
  it('is the innermost piece of its first thread', () => {
    expect(partner_at(model, 1, 150)).toMatchObject({ rank: { rank: 1 }, track_number: 1, piece: 1 });
    expect(partner_at(model, 1, 250)).toMatchObject({ piece: 0 });
    expect(partner_at(model, 1, 900)).toBeUndefined();
    expect(partner_at(model, 7, 150)).toBeUndefined();
  });
});
