// A report with nothing in it, and parts to put into it, for tests of the models.
import type { CallSite, Parts, Rank, Report, StepEntry, Steps, Transport } from '../../src/generated/report';
import { causes, type SecondsByCause } from '../../src/model/causes';
import { parts } from '../../src/model/parts';

export const by_cause = (times: Partial<SecondsByCause> = {}): SecondsByCause => ({
  ...(Object.fromEntries(causes.map((cause) => [cause, 0])) as unknown as SecondsByCause),
  ...times,
});

export const by_part = (times: Partial<Parts> = {}): Parts => ({
  ...(Object.fromEntries(parts.map((part) => [part, 0])) as unknown as Parts),
  ...times,
});

export const report_with = (given: Partial<Report> = {}): Report => ({
  schema: 'penstock-report-2',
  job: {
    program: '/home/someone/solver --steps 10',
    mpi: 'MPICH Version:\t4.0.2\nMPICH Release date: some day',
    ranks: 2,
    hosts: ['node01'],
    gpus: ['Test GPU'],
    simulated_gpu: false,
    began_unix_s: 1_700_001_000,
    one_clock: true,
    aligned_hosts: null,
    host_clock_error_s: null,
  },
  measure: 'exposed_communication',
  why_not_exposed: null,
  headline: { part: null, time_s: 0, words: 'Nothing is exposed.' },
  recorded_part: null,
  counted: { ranks: 2, total_s: 2, counted_s: 0, by_cause_s: by_cause(), unmatched_message_halves: 0 },
  steps: null,
  advice: [],
  replay: null,
  why_no_replay: 'too large',
  ranks: [],
  call_sites: [],
  peers: [],
  communicators: [],
  mpi_functions: [],
  kernels: [],
  collectives: [],
  late_ranks: [],
  latecomers: [],
  longest_waits: [],
  staging_by_hand: [],
  host_code: [],
  other_copies: [],
  kernel_launch: [],
  cuda_synchronisation: [],
  unattributed: [],
  phases: [],
  transports: [],
  matrix: null,
  notices: [],
  flaws: [],
  ...given,
});

export const rank_with = (rank: number, parts: Partial<Rank> = {}): Rank => ({
  rank,
  host: 'node01',
  finished: true,
  used_gpu: true,
  kernels_recorded: true,
  run_s: 1,
  recorded_s: 1,
  total_s: 1,
  kernels_s: 0.5,
  host_in_mpi_s: 0.3,
  in_flight_s: 0.3,
  communication_s: 0.3,
  exposed_s: 0.1,
  exposed_upper_bound_s: 0.1,
  hidden_s: 0.2,
  overlap: 2 / 3,
  cuda_synchronisation_s: 0,
  computing_s: 0.5,
  gpu_busy_s: 0.5,
  counted: true,
  counted_s: 0.1,
  by_cause_s: by_cause({ wire: 0.1 }),
  records: 10,
  dropped_records: 0,
  dropped_gpu_records: 0,
  tool_cost_s: 0.001,
  tool_start_s: 0.005,
  tool_finish_s: 0.001,
  gpu_clock_error_s: 1e-6,
  ...parts,
});

export const site_with = (parts: Partial<CallSite> = {}): CallSite => ({
  function: 'exchange',
  file: '../src/halo.cpp',
  line: 77,
  module: '/usr/bin/solver',
  module_offset: 0x40,
  mpi_function: 'MPI_Waitall',
  calls: 1,
  counted_s: 0,
  by_cause_s: by_cause(),
  gpu_wait_s: 0,
  main_counterpart_rank: null,
  ...parts,
});

export const step_with = (first: number, parts: Partial<StepEntry> = {}): StepEntry => ({
  first,
  steps: 1,
  total_s: 0.2,
  longest_s: 0.1,
  longest_rank: 0,
  by_cause_s: by_cause(),
  ...parts,
});

export const steps_with = (each: StepEntry[], given: Partial<Steps> = {}): Steps => {
  const outside = { total_s: 0, counted_s: 0 };
  const count = each.reduce((sum, entry) => sum + entry.steps, 0);
  const slowest = [...each].sort((left, right) => right.longest_s - left.longest_s);
  return { mark: 'step', mark_is_nvtx_range: true, count, median_s: 0.1, start_up: outside, shutdown: outside, each, slowest, ...given };
};

export const transport_with = (parts: Partial<Transport> = {}): Transport => ({
  source: 'device',
  destination: 'device',
  size_limit_bytes: 65536,
  transport: 'peer',
  reason: 'peer access',
  messages: 1,
  bytes: 8,
  wire_bytes: parts.bytes ?? 8,
  parts: 0,
  part_bytes: 0,
  median_gb_per_s: null,
  best_gb_per_s: null,
  counted_s: 0,
  by_cause_s: by_cause(),
  ...parts,
});
