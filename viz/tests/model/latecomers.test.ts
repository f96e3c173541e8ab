import { expect, it } from 'vitest';
import { time_unit } from '../../src/format';
import { above_all_text, meanwhile_text, steps_text } from '../../src/model/latecomers';

const late = {
  rank: 1, mpi_function: 'MPI_Allreduce', at: 'solver.c:12', times: 19, late_s: 0.4, in_kernels_s: 0.1, in_mpi_s: 0, in_copies_s: 0, in_kernel_launch_s: 0, in_host_code_s: 0.3,
  main_kernel: 'bulk', host_code: 'in the NVTX range assemble', longest_s: 0.05, long_times: 8, long_s: 0.32, long_steps: [2, 5],
};

it('a latecomer is said to have done what took it longest', () => {
  expect(meanwhile_text(late)).toBe('75.0 % host code in the NVTX range assemble');
  expect(meanwhile_text({ ...late, in_kernels_s: 0.3, in_host_code_s: 0.1 })).toBe('75.0 % kernels, bulk');
  expect(meanwhile_text({ ...late, in_kernel_launch_s: 0.3, in_host_code_s: 0 })).toBe('75.0 % kernel launch');
  expect(meanwhile_text({ ...late, in_mpi_s: 0.4 })).toBe('100.0 % other MPI calls');
});
it('its long times are counted apart from the short ones, with their steps counted from 1', () => {
  expect(above_all_text(late, time_unit(0.04))).toBe('8 × 40.000');
  expect(above_all_text({ ...late, long_s: 8 * 5e-6 }, time_unit(2))).toBe('8 × 5.00 µs');
  expect(steps_text(late)).toBe('3, 6, …');
  expect(steps_text({ ...late, long_times: 2 })).toBe('3, 6');
  expect(steps_text({ ...late, long_steps: [] })).toBe('');
});
