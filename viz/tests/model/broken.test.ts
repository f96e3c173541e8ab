import { describe, expect, it } from 'vitest';
import type { Unfinished, UnfinishedRank } from '../../src/generated/report';
import { broken_job, rank_fates } from '../../src/model/broken';
import { rank_with, report_with } from './report_builder';

describe('a job whose ranks all reached MPI_Finalize', () => {
  it('is not broken', () => expect(broken_job(report_with({ ranks: [rank_with(0), rank_with(1)] }))).toBeUndefined());
  it('is not broken if this file lacks some of its ranks for want of room', () => {
    expect(broken_job(report_with({ ranks: [rank_with(0)], left_out: { ranks: 1 } }))).toBeUndefined();
  });
});

describe('a broken job of which only the figures are known', () => {
  it('names its ranks that did not end, those that stopped first before the others', () => {
    const ranks = [rank_with(0, { finished: false, run_s: 2, recorded_s: 2 }), rank_with(1, { finished: false, run_s: 0.5, recorded_s: 0.25 })];
    const broken = broken_job(report_with({ ranks }));
    expect(broken?.title).toBe('The job did not end as it should: 2 ranks of 2 did not reach MPI_Finalize.');
    expect(broken?.facts).toEqual(['rank 1: the last record is 500 ms after it returned from MPI_Init, complete up to 250 ms', 'rank 0: the last record is 2.00 s after it returned from MPI_Init']);
  });
  it('counts ranks that left nothing', () => {
    expect(broken_job(report_with({ ranks: [rank_with(0)] }))?.title).toBe('The job did not end as it should: 1 rank left no recording.');
  });
  it('lists a few ranks of many', () => {
    const ranks = Array.from({ length: 20 }, (_, rank) => rank_with(rank, { finished: false, run_s: rank + 1 }));
    const broken = broken_job(report_with({ ranks }));
    expect(broken?.facts).toHaveLength(9);
    expect(broken?.facts[8]).toBe('and 12 ranks more, which ran longer');
  });
});

describe('a broken job of which the report tells more', () => {
  const rank: Omit<UnfinishedRank, 'rank'> = { host: 'a', process_id: 1, state: 'killed', abort_code: null, last_alive_s: 1.5, calls: [], moves: false, last_call: null, last_call_end_s: null };
  const call = { call: 'MPI_Recv at halo.c:12', what: 'from rank 0, tag 3', since_s: 1.25, waits_for: [0], any_is_enough: false };
  const unfinished: Unfinished = {
    is_running: false,
    looked_at_unix_s: null,
    all_records_read: true,
    words: 'The job did not end: rank 0 was killed.',
    standstills: [{ kind: 'chain', ranks: [1, 0], waiting_ranks: 1, words: 'Rank 1 waits for rank 0, which is gone.' }],
    next: 'see why rank 0 was killed',
    ranks: [
      { ...rank, rank: 0, last_call: 'MPI_Barrier at main.c:3', last_call_end_s: 1 },
      { ...rank, rank: 1, state: 'exited', calls: [call, { ...call, what: null, waits_for: [1, 2, 3, 4, 5, 6], any_is_enough: true }] },
      { ...rank, rank: 2, state: 'missing', calls: null, last_alive_s: null },
      { ...rank, rank: 3, state: 'running', calls: [call], moves: true },
    ],
  };
  const report = report_with({ ranks: [rank_with(0), rank_with(1)], unfinished });
  it('is told in its words', () => {
    expect(broken_job(report)).toMatchObject({ title: unfinished.words, facts: ['Rank 1 waits for rank 0, which is gone.'], next: 'see why rank 0 was killed' });
  });
  it('has a row for each call that a rank was in, and for each rank that was in none', () => {
    expect(rank_fates(report).map(({ rank: of, state, in_call, waits_for }) => [of, state, in_call, waits_for])).toEqual([
      [0, 'killed', 'outside MPI, after MPI_Barrier at main.c:3', ''],
      [1, 'exited', 'MPI_Recv at halo.c:12: from rank 0, tag 3', '0'],
      [1, 'exited', 'MPI_Recv at halo.c:12', '1 or 2 or 3 or 4 and 2 more'],
      [2, 'no recording', '', ''],
      [3, 'runs', 'MPI_Recv at halo.c:12: from rank 0, tag 3', 'goes on'],
    ]);
  });
  it('has no rows where the report does not tell', () => expect(rank_fates(report_with())).toEqual([]));
});
