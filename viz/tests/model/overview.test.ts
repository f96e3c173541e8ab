import { describe, expect, it } from 'vitest';
import { pieces_of_average_rank, verdict, words_of } from '../../src/model/overview';
import { by_cause, rank_with, report_with, site_with, step_with } from './report_builder';

const waits = by_cause({ late_sender: 0.15, wire: 0.05 });
const counted = { ranks: 2, total_s: 2, counted_s: 0.2, by_cause_s: waits, unmatched_message_halves: 0 };

describe('the verdict', () => {
  it('says how much is exposed, where, why and who', () => {
    const site = site_with({ counted_s: 0.15, by_cause_s: by_cause({ late_sender: 0.12, wire: 0.03 }), main_counterpart_rank: 3 });
    expect(verdict(report_with({ counted, call_sites: [site] }))).toBe(
      '10.0 % of the run (0.100 s of 1.000 s on the average rank) is exposed communication: the rank is in MPI and its GPU computes nothing. ' +
        '75.0 % of it is MPI_Waitall at exchange (halo.cpp:77), above all late sender (80.0 % of that; rank 3).',
    );
  });
  it('says communication time, and why, where kernels are not known', () => {
    const text = verdict(report_with({ counted, measure: 'communication_time', why_not_exposed: 'no CUPTI' }));
    expect(text).toBe('10.0 % of the run (0.100 s of 1.000 s on the average rank) is communication time. How much of it is exposed is unknown: no CUPTI.');
  });
  it('of no ranks says so', () => expect(verdict(report_with({ counted: { ...counted, ranks: 0 } }))).toBe('No figures: no rank has a usable recording.'));
  it('is of the steps where there are some', () => {
    const outside = { total_s: 0, counted_s: 0 };
    const steps = { mark: 'step', mark_is_nvtx_range: true, count: 1, median_s: 1, start_up: outside, shutdown: outside, each: [step_with(0)] };
    expect(verdict(report_with({ counted, steps }))).toMatch(/of the steps/);
    expect(words_of(report_with({ counted, steps })).whole).toBe('steps');
  });
});

describe("the average rank's time", () => {
  const sum = (pieces: { time_s: number }[]) => pieces.reduce((total, piece) => total + piece.time_s, 0);
  it('is told completely: its pieces add up', () => {
    const pieces = pieces_of_average_rank(report_with({ counted, ranks: [rank_with(0), rank_with(1)] }));
    expect(sum(pieces)).toBeCloseTo(1);
    expect(pieces.map(({ kind }) => kind)).toEqual(['computing', 'hidden', 'late_sender', 'wire', 'other']);
    expect(pieces[0]?.time_s).toBeCloseTo(0.3); // kernels without what they hide
  });
  it('has no kernels where they were not recorded', () => {
    const ranks = [rank_with(0, { kernels_s: null, hidden_s: null })];
    const pieces = pieces_of_average_rank(report_with({ counted, ranks, measure: 'communication_time' }));
    expect(pieces.map(({ kind }) => kind)).toEqual(['late_sender', 'wire', 'other']);
    expect(sum(pieces)).toBeCloseTo(1);
  });
  it('has no means of ranks that this file does not hold', () => {
    expect(pieces_of_average_rank(report_with({ counted, ranks: [rank_with(0)] })).map(({ kind }) => kind)).toEqual(['late_sender', 'wire', 'other']);
  });
});
