import { describe, expect, it } from 'vitest';
import { broken_job } from '../../src/model/broken';
import { rank_with, report_with } from './report_builder';

describe('a job whose ranks all reached MPI_Finalize', () => {
  it('is not broken', () => expect(broken_job(report_with({ ranks: [rank_with(0), rank_with(1)] }))).toBeUndefined());
  it('is not broken if this file lacks some of its ranks for want of room', () => {
    expect(broken_job(report_with({ ranks: [rank_with(0)], left_out: { ranks: 1 } }))).toBeUndefined();
  });
});

describe('a broken job', () => {
  it('names its ranks that did not end, those that stopped first before the others', () => {
    const ranks = [rank_with(0, { finished: false, run_s: 2, recorded_s: 2 }), rank_with(1, { finished: false, run_s: 0.5, recorded_s: 0.25 })];
    const broken = broken_job(report_with({ ranks }));
    expect(broken?.title).toBe('The job did not end as it should: 2 ranks of 2 did not reach MPI_Finalize.');
    expect(broken?.ranks).toEqual(['rank 1: the last record is 500 ms after it returned from MPI_Init, complete up to 250 ms', 'rank 0: the last record is 2.00 s after it returned from MPI_Init']);
  });
  it('counts ranks that left nothing', () => {
    expect(broken_job(report_with({ ranks: [rank_with(0)] }))?.title).toBe('The job did not end as it should: 1 rank left no recording.');
  });
  it('lists a few ranks of many', () => {
    const ranks = Array.from({ length: 20 }, (_, rank) => rank_with(rank, { finished: false, run_s: rank + 1 }));
    const broken = broken_job(report_with({ ranks }));
    expect(broken?.ranks).toHaveLength(8);
    expect(broken?.more).toBe(12);
  });
});
