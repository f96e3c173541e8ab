import { describe, expect, it } from 'vitest';
import { outlines, strip_of } from '../../../src/model/timeline/strip';
import { base64, model_with, states, track_with } from './timeline_builder';

const waits = track_with('waits', [{ begin: 100, end: 250, state: 'late_sender' }]);
const stream = track_with('stream', [{ begin: 0, end: 100, state: 'kernel', name: 2 }, { begin: 500, end: 510, state: 'copy' }]);
const by_name = (model: Parameters<typeof strip_of>[0], count: number) => strip_of(model, count).map(({ state, shares }) => [states[state], [...shares].map((share) => Number(share.toFixed(3)))]);

describe('the strip of the whole run', () => {
  it('has the share of time in kernels, then that of exposed waits, of the average rank', () => {
    expect(by_name(model_with([[waits, stream], []]), 10)).toEqual([
      ['kernel', [0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
      ['late_sender', [0, 0.5, 0.25, 0, 0, 0, 0, 0, 0, 0]],
    ]);
  });
  it('goes by shares where pieces are missing', () => {
    const summed = { ...stream, shortest_ns: 5, bins: 2, states: [states.indexOf('kernel')], shares: base64([51, 0]) };
    expect(by_name(model_with([[summed]]), 4)).toEqual([['kernel', [0.2, 0.2, 0, 0]]]);
  });
  it('counts ranks without tracks, each as much as the others', () => {
    const others = { ranks: [1, 2, 3], ranks_per_row: 3, bins: 1, data: base64([255, 0, 0]) };
    expect(by_name(model_with([[stream]], { others }), 1)).toEqual([['kernel', [0.775]], ['late_sender', [0]]]);
  });
  it('is drawn layer upon layer', () => {
    expect(outlines([{ state: 0, shares: Float64Array.of(0.5, 0) }, { state: 1, shares: Float64Array.of(0.25, 1) }], 8)).toEqual([
      'M0 4H1L1 8H2L2 8H1L1 8H0Z',
      'M0 2H1L1 0H2L2 8H1L1 4H0Z',
    ]);
  });
});
