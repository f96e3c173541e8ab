import { describe, expect, it } from 'vitest';
import { load_timeline } from '../../../src/load';
import { bytes_of, IntegerReader } from '../../../src/model/timeline/columns';
import { base64, integers, model_with, states, timeline_with, track_with } from './timeline_builder';

const nested = track_with('thread', [
  { begin: 10, end: 100, state: 'range', name: 3 },
  { begin: 20, end: 30, state: 'waiting_call', name: 1, bytes: 5_000_000_000, peer: 5 },
  { begin: 30, end: 40, state: 'other_call' },
  { begin: 200, end: 300, state: 'waiting_call', name: 1 },
]);

describe('columns', () => {
  it('hold numbers of any length up to what a number holds', () => {
    const values = [0, 1, 127, 128, 300, 2 ** 32, 2 ** 53 - 1];
    const reader = new IntegerReader(bytes_of(integers(values)));
    expect(values.map(() => reader.next())).toEqual(values);
    expect(reader.is_at_end).toBe(true);
  });
  it('that end too early or hold too much are an error', () => {
    expect(() => new IntegerReader(bytes_of(base64([0x80]))).next()).toThrow(/too early/);
    expect(() => new IntegerReader(bytes_of(base64([255, 255, 255, 255, 255, 255, 255, 255, 1]))).next()).toThrow(/too large/);
  });
});

describe('tracks', () => {
  it('have their pieces by depth, with all that is known of them', () => {
    const track = model_with([[nested]]).ranks[0]?.tracks[0];
    expect(track?.lanes.map((lane) => [...lane.begin])).toEqual([[10, 200], [20, 30]]);
    expect([...(track?.depth ?? [])]).toEqual([0, 1, 1, 0]);
    expect(track?.bytes?.[1]).toBe(5_000_000_000);
    expect(track?.peer?.[1]).toBe(5);
    expect([...(track?.lanes[1]?.covered ?? [])]).toEqual([0, 10, 20]);
  });
  it('that nest deeper than can be drawn lose what is deepest, and nothing overlaps', () => {
    const deep = track_with('thread', Array.from({ length: 20 }, (_, i) => ({ begin: i, end: 100 - i, state: 'range' })));
    const track = model_with([[deep]]).ranks[0]?.tracks[0];
    expect(track?.count).toBe(20);
    expect(track?.lanes.map((lane) => lane.begin.length)).toEqual(Array.from({ length: 8 }, () => 1));
  });
  it('have sums of the shares of what is not there piece by piece', () => {
    const track = track_with('stream', [], { bins: 2, states: [12, 13], shares: base64([255, 0, 0, 51]) });
    const sums = model_with([[track]]).ranks[0]?.tracks[0]?.shares?.sums;
    expect(sums?.map((column) => [...column])).toEqual([[0, 255, 255], [0, 0, 51]]);
  });
});

describe('rows of other ranks', () => {
  it('are cut from one column', () => {
    const others = { ranks: [3, 4, 5], ranks_per_row: 2, bins: 2, data: base64([1, 2, 3, 4, 0, 2, 5, 6, 7, 8, 3, 0]) };
    const rows = model_with([], { others }).others;
    expect(rows.map((row) => [row.ranks, [...row.kernels], [...row.waits], [...row.states]])).toEqual([
      [[3, 4], [1, 2], [3, 4], [0, 2]],
      [[5], [5, 6], [7, 8], [3, 0]],
    ]);
  });
});

describe('loading a timeline', () => {
  const good = timeline_with([[nested]], { messages: { count: 1, left_out: 0, data: integers([10, 20, 0, 0, 0, 8]) } });
  const problem_of = (document: unknown) => {
    const loaded = load_timeline(typeof document === 'string' ? document : JSON.stringify(document));
    return 'problem' in loaded ? loaded.problem : undefined;
  };
  const changed = (change: (track: Record<string, unknown>) => void) => {
    const copy = structuredClone(good);
    change(copy.ranks[0]?.tracks[0] as unknown as Record<string, unknown>);
    return copy;
  };
  it('gives it, where all is well', () => expect(problem_of(good)).toBeUndefined());
  it.each([
    ['nothing', '', 'The timeline in this file is damaged: it cannot be read.'],
    ['a cut one', JSON.stringify(good).slice(0, 200), 'The timeline in this file is damaged: it cannot be read.'],
    ['a newer one', { ...good, schema: 'penstock-timeline-2' }, 'The timeline in this file is newer than the page that should show it.'],
    ['another thing', { ...good, schema: 'penstock-report-2' }, 'What this file holds is no timeline that this page can show.'],
    ['one without ranks', { ...good, ranks: undefined }, 'The timeline in this file is damaged: parts of it are missing or are not what they should be.'],
    ['fewer pieces than it says', changed((track) => (track['pieces'] = 9)), 'The timeline in this file is damaged: its events cannot be read.'],
    ['more pieces than it says', changed((track) => (track['pieces'] = 1)), 'The timeline in this file is damaged: its events cannot be read.'],
    ['a text that is not there', { ...good, texts: [''] }, 'The timeline in this file is damaged: its events cannot be read.'],
    ['a state that is not there', { ...good, states: states.slice(0, 8) }, 'The timeline in this file is damaged: its events cannot be read.'],
    ['no base64', changed((track) => (track['data'] = '%%%')), 'The timeline in this file is damaged: its events cannot be read.'],
    ['shares that are too short', changed((track) => Object.assign(track, { bins: 7, states: [1], shares: '' })), 'The timeline in this file is damaged: its events cannot be read.'],
    ['no times', changed((track) => (track['fields'] = ['name', 'bytes', 'peer', 'site', 'state', 'x', 'y'])), 'The timeline in this file is damaged: its events cannot be read.'],
  ])('says so of %s', (_, document, words) => expect(problem_of(document)).toBe(words));
});

describe('the first view', () => {
  it('is a typical step, else the steps where start-up and shutdown are much beside them', () => {
    const windows = [{ when_ns: [500, 510] as [number, number], why: 'a typical step: step 3' }];
    expect(model_with([], { steps_ns: [400, 600], windows }).first_view).toEqual({ from: 500, to: 520 });
    expect(model_with([], { steps_ns: [400, 600] }).first_view).toEqual({ from: 392, to: 608 });
    expect(model_with([], { steps_ns: [50, 950] }).first_view).toEqual({ from: 0, to: 1000 });
    expect(model_with([], { steps_ns: [980, 1000] }).first_view.to).toBe(1000);
    expect(model_with([]).first_view).toEqual({ from: 0, to: 1000 });
  });
});
