import { describe, expect, it } from 'vitest';
import { part_rows, places_of_time } from '../../src/model/parts';
import { by_cause, by_part, rank_with, report_with, step_with, steps_with } from './report_builder';

const parts_s = by_part({ kernels: 1, wire: 0.1, late_sender: 0.3, other_copies: 0.2, host_code: 0.4 });
const counted = { ranks: 2, total_s: 2, counted_s: 0.4, by_cause_s: by_cause({ wire: 0.1, late_sender: 0.3 }), parts_s, unmatched_message_halves: 0 };
const names = (report: Parameters<typeof part_rows>[0]) => part_rows(report).map(({ part }) => part ?? 'exposed');

describe('the rows of the parts of the time', () => {
  it('are kernels, then the largest first; exposed communication stands before its causes', () => {
    expect(names(report_with({ counted }))).toEqual(['kernels', 'exposed', 'late_sender', 'wire', 'host_code', 'other_copies']);
    const more_host = { ...counted, parts_s: { ...parts_s, host_code: 0.5 } };
    expect(names(report_with({ counted: more_host }))).toEqual(['kernels', 'host_code', 'exposed', 'late_sender', 'wire', 'other_copies']);
  });
  it('have no kernels where the program has no GPU', () => {
    const without = { ...counted, parts_s: { ...parts_s, kernels: 0 } };
    expect(names(report_with({ counted: without, measure: 'communication_time' }))).toEqual(['exposed', 'late_sender', 'wire', 'host_code', 'other_copies']);
    expect(names(report_with({ counted: without }))[0]).toBe('kernels');
  });
  it('are of one step of the average rank, and add up', () => {
    const rows = part_rows(report_with({ counted, steps: steps_with([step_with(0), step_with(1)]) }));
    expect(rows.filter(({ is_cause }) => !is_cause).reduce((sum, { time_s }) => sum + time_s, 0)).toBeCloseTo(0.5);
    expect(rows[0]?.share).toBeCloseTo(0.5);
  });
  it('name the rank that has most, unless this file lacks ranks', () => {
    const ranks = [rank_with(0, { parts_s: by_part({ kernels: 0.4 }) }), rank_with(1, { parts_s: by_part({ kernels: 0.6 }) })];
    expect(part_rows(report_with({ counted, ranks }))[0]?.most).toEqual({ time_s: 0.6, rank: 1 });
    expect(part_rows(report_with({ counted, ranks, left_out: { ranks: 1 } }))[0]?.most).toBeUndefined();
  });
  it('are none where parts are not known', () => expect(part_rows(report_with({ counted: { ...counted, parts_s: null } }))).toEqual([]));
});

describe('the places of the time', () => {
  const place = { range: null, after: 'MPI_Recv at a.c:1', before: null, where: 'after MPI_Recv at a.c:1', times: 3, most_s: 0.1, most_rank: 1 };
  const report = report_with({ counted, host_code: [{ ...place, host_code_s: 0.4 }], other_copies: [{ ...place, time_s: 0.2 }] });
  it('are of parts that have time, each with all of it', () => {
    expect(places_of_time(report).map(({ part, rows, all_s }) => [part, rows[0]?.time_s, all_s])).toEqual([
      ['host_code', 0.4, 0.4],
      ['other_copies', 0.2, 0.2],
    ]);
  });
  it('leave out copies that are next to nothing', () => {
    const few = { ...counted, parts_s: { ...parts_s, other_copies: 0.01 } };
    expect(places_of_time({ ...report, counted: few }).map(({ part }) => part)).toEqual(['host_code']);
  });
  it('are none where parts are not known', () => expect(places_of_time({ ...report, counted: { ...counted, parts_s: null } })).toEqual([]));
});
