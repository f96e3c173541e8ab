import { describe, expect, it } from 'vitest';
import { can_fold, choices_of, first_display, groups_of, shown_of, with_folded, with_shown, with_toggled } from '../../../src/model/timeline/display';
import { layout_of } from '../../../src/model/timeline/layout';
import { model_with, track_with } from './timeline_builder';

const thread = track_with('thread', [
  { begin: 50, end: 300, state: 'range', name: 3 },
  { begin: 100, end: 200, state: 'waiting_call', name: 1 },
]);
const stream = (gpu: number, number: number, is_busy = true) => track_with('stream', is_busy ? [{ begin: number, end: 90, state: 'kernel', name: 2 }] : [], { name: `GPU ${gpu} stream ${number}` });
const five = [0, 1, 2, 3, 4].map((number) => stream(0, number));
const model = model_with([[thread, ...five, stream(0, 5, false), stream(1, 0)], [thread, stream(0, 0), stream(0, 1)]]);
const [first, second] = model.ranks as [(typeof model.ranks)[number], (typeof model.ranks)[number]];
const all_open = { open: new Set([0, 1]), shown: new Map() };
const labels = (display: Parameters<typeof layout_of>[1]) => layout_of(model, display).rows.map((row) => (row.kind === 'lane' ? row.label : row.kind));

describe('groups of tracks', () => {
  it('are the tracks, but for the streams of one GPU, which are together; empty streams are in none', () => {
    expect(groups_of(first).map(({ name, tracks }) => [name, tracks.length])).toEqual([['thread 0', 1], ['GPU 0 streams', 5], ['GPU 1 stream 0', 1]]);
  });
  it('have what overlaps in a track together with it', () => {
    const beside = (name: string) => track_with('transfers', [{ begin: 0, end: 5, state: 'transfer' }], { name });
    const [rank] = model_with([[beside('transfers'), beside('transfers (2)'), stream(0, 0), track_with('stream', [{ begin: 0, end: 9, state: 'copy' }], { name: 'GPU 0 stream 0 (2)' })]]).ranks;
    expect(groups_of(rank!).map(({ name, tracks, streams }) => [name, tracks.length, streams])).toEqual([['transfers', 2, 1], ['GPU 0 stream 0', 2, 1]]);
  });
  it('fold where that makes one row of several', () => {
    expect(groups_of(first).map((group) => can_fold(first, group))).toEqual([true, true, false]);
  });
  it('are offered once for all ranks', () => {
    expect(choices_of(model).map(({ name }) => name)).toEqual(['thread 0', 'GPU 0 streams', 'GPU 1 stream 0']);
  });
});

describe('the display', () => {
  it('has many streams in one row at first, and a few each in its own', () => {
    expect(labels(all_open)).toEqual(['rank', 'thread 0', '', 'GPU 0 streams (5)', 'GPU 1 stream 0', 'rank', 'thread 0', '', 'GPU 0 stream 0', 'GPU 0 stream 1']);
  });
  it('has the busiest stream on top of a row', () => {
    const row = layout_of(model, all_open).rows.find((each) => each.kind === 'lane' && each.is_folded);
    // stream 0 begins first and ends with the others
    expect(row?.kind === 'lane' ? row.lanes.map(({ track }) => track.name.slice(-1)) : []).toEqual(['4', '3', '2', '1', '0']);
  });
  it('folds and unfolds a group in all ranks alike', () => {
    const streams = groups_of(first)[1]!;
    const unfolded = with_folded(all_open, streams);
    expect(labels(unfolded).slice(3, 9)).toEqual(['GPU 0 stream 0', 'GPU 0 stream 1', 'GPU 0 stream 2', 'GPU 0 stream 3', 'GPU 0 stream 4', 'GPU 1 stream 0']);
    expect(labels(with_folded(unfolded, streams)).slice(-1)).toEqual(['GPU 0 streams (2)']);
  });
  it('hides a group, and shows it again', () => {
    const hidden = with_shown(all_open, 'thread 0', 'hidden');
    expect(labels(hidden)).toEqual(['rank', 'GPU 0 streams (5)', 'GPU 1 stream 0', 'rank', 'GPU 0 stream 0', 'GPU 0 stream 1']);
    expect(shown_of(hidden, groups_of(second)[0]!)).toBe('hidden');
    expect(labels(with_shown(hidden, 'thread 0', 'row'))[1]).toBe('thread 0');
  });
  it('opens the ranks of small jobs at first, and one more or less on request', () => {
    expect([...first_display(model).open]).toEqual([0, 1]);
    expect([...first_display(model, true).open]).toEqual([]);
    expect([...with_toggled(all_open, 0).open]).toEqual([1]);
  });
});
