import { describe, expect, it } from 'vitest';
import { layout_of, main_stream_of, row_at, rows_between, waits_of } from '../../../src/model/timeline/layout';
import { around, find, longest_in, neighbour, panned, piece_at, range_of, shortest_of, zoomed, type Selection } from '../../../src/model/timeline/navigation';
import { facts_of, messages_during, moment_text, name_of, ns_text, range_text, sentence_of, shortened } from '../../../src/model/timeline/words';
import { base64, integers, model_with, track_with } from './timeline_builder';

const waits = track_with('waits', [{ begin: 100, end: 200, state: 'late_sender' }]);
const thread = track_with('thread', [
  { begin: 50, end: 300, state: 'range', name: 3 },
  { begin: 100, end: 200, state: 'waiting_call', name: 1, bytes: 2048, peer: 3 },
  { begin: 210, end: 220, state: 'other_call', name: 1 },
]);
const stream = track_with('stream', [{ begin: 0, end: 90, state: 'kernel', name: 2 }]);
const messages = { count: 2, left_out: 0, data: integers([90, 100, 1, 0, 1, 8, 20, 5, 0, 1, 1, 16]) };
const model = model_with([[waits, thread, stream], [waits, thread, stream]], { messages });
const selected = (track_number: number, piece: number, rank = 0): Selection => ({ rank: model.ranks[rank]!, track: model.ranks[rank]!.tracks[track_number]!, track_number, piece });

describe('the view', () => {
  const all = { from: 0, to: 1000 };
  it('zooms about a moment, which stays where it is, and never leaves the run', () => {
    expect(zoomed(all, all, 0.5, 250)).toEqual({ from: 125, to: 625 });
    expect(zoomed({ from: 125, to: 625 }, all, 2, 250)).toEqual(all);
    expect(zoomed(all, all, 1e-9).to - zoomed(all, all, 1e-9).from).toBe(20);
  });
  it('moves by shares of itself, as far as there is something', () => {
    expect(panned({ from: 100, to: 200 }, all, 0.5)).toEqual({ from: 150, to: 250 });
    expect(panned({ from: 100, to: 200 }, all, -7)).toEqual({ from: 0, to: 100 });
  });
  it('shows a piece with its surroundings', () => expect(around({ from: 400, to: 500 }, all)).toEqual({ from: 350, to: 550 }));
});

describe('pieces', () => {
  it('are found at a moment, or nearby', () => {
    const track = model.ranks[0]!.tracks[1]!;
    expect(piece_at(track, 1, 150, 0)).toBe(1);
    expect(piece_at(track, 1, 203, 0)).toBeUndefined();
    expect(piece_at(track, 1, 203, 5)).toBe(1);
    expect(piece_at(track, 1, 208, 5)).toBe(2);
    expect(piece_at(track, 7, 150, 5)).toBeUndefined();
  });
  it('have neighbours at their own depth', () => {
    expect(neighbour(selected(1, 1), 1)?.piece).toBe(2);
    expect(neighbour(selected(1, 2), 1)).toBeUndefined();
    expect(range_of(selected(1, 1))).toEqual({ from: 100, to: 200 });
  });
  it('are found by name, by cause and by rank, in any case', () => {
    expect(find(model, 'waitALL').pieces).toHaveLength(4);
    expect(find(model, 'late sender').pieces.map(({ rank, track }) => [rank.rank, track.kind])).toEqual([[0, 'waits'], [1, 'waits']]);
    expect(find(model, 'rank 1').ranks.map(({ rank }) => rank)).toEqual([1]);
    expect(find(model, '1').ranks).toHaveLength(1);
    expect(find(model, 'nobody')).toMatchObject({ ranks: [], pieces: [] });
    expect(find(model, ' ').pieces).toEqual([]);
  });
  it('in view are told by their length, longest first, and no more than asked for', () => {
    const found = longest_in(model.ranks, { from: 95, to: 150 }, 3);
    expect(found.map(({ track, piece }) => range_of({ ...selected(0, piece), track }).from)).toEqual([50, 50, 100]);
    expect(longest_in(model.ranks, { from: 95, to: 150 }, 100)).toHaveLength(6);
  });
  it('that are too short to be there outside the detail are known to be missing', () => {
    const cut = model_with([[waits, { ...thread, shortest_ns: 50 }, stream]]).ranks[0]!;
    expect(shortest_of(cut)).toBe(50);
    expect(shortest_of(model.ranks[0]!)).toBe(0);
  });
});

describe('words', () => {
  it('name a piece and tell all that is known of it', () => {
    expect(name_of(model, model.ranks[0]!.tracks[0]!, 0)).toBe('late sender');
    expect(facts_of(model, selected(1, 1)).map(({ name, text }) => `${name}: ${text}`)).toEqual([
      'Where: rank 0, thread 0',
      'What: MPI call that may wait',
      'Begins: 0.100 µs',
      'Takes: 100 ns',
      'With: rank 1',
      'Payload: 2 KiB',
    ]);
    expect(sentence_of(model, selected(2, 0, 1))).toBe('bulk, rank 1, stream 0, begins 0.000 µs, takes 90 ns');
  });
  it('tell moments as finely as they are told apart', () => {
    expect(moment_text(1_234_567_890, 1e6)).toBe('1.235 s');
    expect(moment_text(1_234_567_890, 1)).toBe('1.234567890 s');
    expect(moment_text(12_345_678, 1e3)).toBe('12.346 ms');
    expect(moment_text(0, 50e6)).toBe('0 ms');
    expect(ns_text(999)).toBe('999 ns');
    expect(ns_text(1500)).toBe('1.50 µs');
  });
  it('list the messages that are on their way meanwhile, those that come first', () => {
    // from rank 1 from 90 to 190, to rank 1 from 110 to 115
    expect(messages_during(model.messages, 0, 100, 200, 9)).toEqual([0, 1]);
    expect(messages_during(model.messages, 0, 120, 150, 9)).toEqual([0]);
    expect(messages_during(model.messages, 0, 0, 80, 9)).toEqual([]);
    expect(messages_during(model.messages, 0, 100, 200, 1)).toEqual([0]);
  });
});

describe('the layout', () => {
  it('gives a closed rank a row, and an open one its tracks with a lane for each depth', () => {
    const closed = layout_of(model, { open: new Set(), shown: new Map() });
    expect(closed.rows.map((row) => row.kind)).toEqual(['rank', 'rank']);
    const open = layout_of(model, { open: new Set([0]), shown: new Map() });
    expect(open.rows.map((row) => (row.kind === 'lane' ? row.lanes.map(({ track, lane }) => `${track.kind} ${lane}`).join() : row.kind))).toEqual(['rank', 'waits 0', 'thread 0', 'thread 1', 'stream 0', 'rank']);
    expect(open.calls_y.get(0)).toBeGreaterThan(24);
  });
  it('knows what is at a height', () => {
    const layout = layout_of(model, { open: new Set([0]), shown: new Map() });
    const second = layout.rows[5]!;
    expect(row_at(layout, second.y + 1)).toBe(second);
    expect(row_at(layout, layout.height + 10)).toBeUndefined();
    expect(rows_between(layout, 0, 30)).toHaveLength(2);
  });
  it('shows of a closed rank its waits and its busiest stream', () => {
    expect(waits_of(model.ranks[0]!)?.kind).toBe('waits');
    const many_short = track_with('stream', Array.from({ length: 9 }, (_, i) => ({ begin: i, end: i + 1, state: 'copy' })));
    const [rank] = model_with([[many_short, stream]]).ranks;
    expect(main_stream_of(rank!, 1000)?.count).toBe(1);
    const summed = { ...many_short, shortest_ns: 9, bins: 1, states: [13], shares: base64([200]) };
    expect(main_stream_of(model_with([[summed, stream]]).ranks[0]!, 1000)?.count).toBe(9);
    expect(main_stream_of(model_with([[waits]]).ranks[0]!, 1000)).toBeUndefined();
  });
});

describe('words', () => {
  it('of a part of the run have one unit', () => {
    expect(range_text({ from: 500e6, to: 1100e6 })).toBe('0.5000 s to 1.1000 s');
    expect(range_text({ from: 0, to: 300e6 })).toBe('0.0 ms to 300.0 ms');
  });
  it('of a track keep their end where there is no room', () => {
    expect(shortened('GPU 0 stream 13', 20)).toBe('GPU 0 stream 13');
    expect(shortened('GPU 0 stream 13', 11)).toBe('GPU 0 s… 13');
    expect(shortened('non-blocking operations (2)', 20)).toBe('non-blocking op… (2)');
    expect(shortened('CUDA synchronisation', 12)).toBe('CUDA synchr…');
  });
});
