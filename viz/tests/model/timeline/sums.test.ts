import { describe, expect, it } from 'vitest';
import { sums_in } from '../../../src/model/timeline/sums';
import { base64, integers, model_with, states, track_with } from './timeline_builder';

const waits = track_with('waits', [{ begin: 100, end: 200, state: 'late_sender' }, { begin: 300, end: 400, state: 'wire' }]);
const stream = track_with('stream', [{ begin: 0, end: 150, state: 'kernel', name: 2 }, { begin: 160, end: 180, state: 'copy', bytes: 64 }]);
const beside = track_with('stream', [{ begin: 100, end: 170, state: 'kernel', name: 2 }], { name: 'stream 1' });
const model = model_with([[waits, stream, beside], [stream]]);
const of_state = (from: number, to: number, state: string, of = model) => sums_in(of, { from, to }).states.find((each) => each.state === state);

describe('sums of a part of the run', () => {
  it('have waits by cause, as far as they lie in it', () => {
    expect(of_state(150, 320, 'late_sender')).toMatchObject({ time: 50, most: 50, most_rank: 0 });
    expect(of_state(150, 320, 'wire')).toMatchObject({ time: 20 });
    expect(of_state(500, 600, 'wire')).toBeUndefined();
  });
  it('count kernels once that run beside each other, and say which rank has most', () => {
    expect(of_state(50, 200, 'kernel')).toMatchObject({ time: 120 + 100, most: 120, most_rank: 0 });
    expect(of_state(50, 200, 'copy')).toMatchObject({ time: 40 });
  });
  it('tell of waits what kernels hide', () => {
    // 40 of 100 ns are exposed, evenly
    const behind = { ...waits, pieces: 1, data: integers([100, 100, states.indexOf('wire'), 1, 40]) };
    expect(of_state(150, 1000, 'wire', model_with([[behind]]))?.time).toBeCloseTo(20);
    expect(of_state(150, 1000, 'hidden', model_with([[behind]]))?.time).toBeCloseTo(30);
  });
  it('have kernels and copies by name', () => {
    expect(sums_in(model, { from: 0, to: 1000 }).named).toEqual([
      { name: 'bulk', state: 'kernel', times: 3, time: 370, bytes: 0 },
      { name: '', state: 'copy', times: 2, time: 40, bytes: 128 },
    ]);
  });
  it('go by shares where short pieces are missing, and say so', () => {
    const summed = { ...stream, shortest_ns: 5, bins: 10, states: [states.indexOf('kernel')], shares: base64([255, 128, 0, 0, 0, 0, 0, 0, 0, 0]) };
    const partial = model_with([[summed]]);
    expect(of_state(50, 200, 'kernel', partial)?.time).toBeCloseTo(50 + 100 * (128 / 255));
    expect(sums_in(partial, { from: 50, to: 200 }).is_partial).toBe(true);
    expect(sums_in(model, { from: 50, to: 200 }).is_partial).toBe(false);
  });
});
