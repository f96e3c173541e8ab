import { describe, expect, it } from 'vitest';
import type { Thread } from '../../src/generated/report';
import { counts_all_kernels, rank_rows, row_name, thread_name, thread_phases } from '../../src/model/ranks';
import { rank_with } from './report_builder';

const thread_with = (number: number, parts: Partial<Thread> = {}): Thread => ({
  number, name: null, gpus: [0], kernels_s: 0, host_in_mpi_s: 0, in_flight_s: 0, communication_s: 0, exposed_s: 0, exposed_upper_bound_s: 0, hidden_s: 0, overlap: null, counted_s: 0, by_cause_s: null, phases: [], ...parts,
});

describe('the threads of a rank', () => {
  const threads = [thread_with(0), thread_with(1, { name: 'io' }), thread_with(2, { name: 'halo', gpus: null }), thread_with(3, { name: 'halo' })];
  it('follow their rank, each with its own figures', () => {
    const rows = rank_rows([rank_with(0), rank_with(1, { threads }), rank_with(2)]);
    expect(rows.map(row_name)).toEqual(['0', '1', '1, thread 0', '1, thread io', '1, thread 2 (halo)', '1, thread 3 (halo)', '2']);
    expect(rows[3]?.figures).toBe(threads[1]);
  });
  it('are named by the program, with their number where a name is not enough', () => {
    expect(threads.map((thread) => thread_name(thread, threads))).toEqual(['0', 'io', '2 (halo)', '3 (halo)']);
  });
  it('that are not known to launch kernels count those of all GPUs', () => {
    expect(rank_rows([rank_with(1, { threads })]).map(counts_all_kernels)).toEqual([false, false, false, true, false]);
    expect(rank_rows([rank_with(1, { threads, kernels_recorded: false })]).some(counts_all_kernels)).toBe(false);
  });
  it('have NVTX ranges of their own, those of most waiting first', () => {
    const phase = (name: string, counted_s: number) => ({ name, total_s: 1, counted_s, exposed_upper_bound_s: null });
    const found = thread_phases([rank_with(4, { threads: [thread_with(0, { phases: [phase('solve', 0.1)] }), thread_with(1, { name: 'io', phases: [phase('write', 0.2)] })] })]);
    expect(found.map(({ rank, thread, phase: { name } }) => [rank, thread, name])).toEqual([[4, 'io', 'write'], [4, '0', 'solve']]);
  });
});
