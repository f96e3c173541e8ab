import { describe, expect, it } from 'vitest';
import { pieces_of_average_rank, words_of } from '../../src/model/overview';
import { by_cause, by_part, rank_with, report_with, step_with, steps_with } from './report_builder';

const counted = { ranks: 2, total_s: 2, counted_s: 0.2, by_cause_s: by_cause({ late_sender: 0.15, wire: 0.05 }), unmatched_message_halves: 0 };
const parts_s = by_part({ kernels: 1, late_sender: 0.15, wire: 0.05, host_code: 0.8 });

it('shares are of the steps where there are some, else of the run', () => {
  expect(words_of(report_with({ counted })).whole).toBe('run');
  expect(words_of(report_with({ counted, steps: steps_with([step_with(0)]) })).whole).toBe('steps');
});

it('times are of the average rank, but of a rank that is counted alone its own', () => {
  const ranks = [rank_with(0, { counted: false }), rank_with(1)];
  expect(words_of(report_with({ counted, ranks: [rank_with(0), rank_with(1)] })).who).toBe('the average rank');
  expect(words_of(report_with({ counted: { ...counted, ranks: 1 }, ranks })).who).toBe('rank 1');
});

describe("the average rank's time", () => {
  const sum = (pieces: { time_s: number }[]) => pieces.reduce((total, piece) => total + piece.time_s, 0);
  it('is told completely: its parts add up', () => {
    const pieces = pieces_of_average_rank(report_with({ counted: { ...counted, parts_s } }));
    expect(sum(pieces)).toBeCloseTo(1);
    expect(pieces.map(({ kind }) => kind)).toEqual(['kernels', 'late_sender', 'wire', 'host_code']);
    expect(pieces[0]?.time_s).toBeCloseTo(0.5);
  });
  it('is that of one step where there are steps', () => {
    const steps = steps_with([step_with(0), step_with(1)]);
    expect(sum(pieces_of_average_rank(report_with({ counted: { ...counted, parts_s }, steps })))).toBeCloseTo(0.5);
  });
  it('has waiting alone where kernels were not recorded', () => {
    const pieces = pieces_of_average_rank(report_with({ counted: { ...counted, parts_s: null }, measure: 'communication_time' }));
    expect(pieces.map(({ kind }) => kind)).toEqual(['late_sender', 'wire', 'other']);
    expect(sum(pieces)).toBeCloseTo(1);
  });
});
