// NCCL: its kernels by kind of call, and the ranks that came late to them.
import type { NcclKind, NcclLateRank, Report } from '../generated/report';
import { share_of, speed_number } from '../format';
import { words_of } from '../model/overview';
import { Section } from './parts';
import { Table, type Column } from './table';

const MiB = 1024 * 1024;
const about = 'Kernels of NCCL wait for each other while they run: until the last rank’s has begun they wait, and what is left is moving.';

export const has_nccl = (report: Report) => report.nccl != null;

export function Nccl({ report }: { report: Report }) {
  const { nccl } = report;
  if (nccl == null) return null;
  const { unit } = words_of(report);
  const ranks = Math.max(report.counted.ranks, 1);
  const time_a_rank = (time_s: number | null) => (time_s === null ? null : (time_s / ranks) * unit.per_second);
  const kind_columns: Column<NcclKind>[] = [
    { key: 'kind', title: 'Kind', value: (row) => row.kind },
    { key: 'calls', title: 'calls', decimals: 0, value: (row) => row.calls },
    { key: 'bytes', title: 'payload of all', unit: 'MiB', decimals: 3, meaning: 'As NCCL tells it: count times size of the type', value: (row) => (row.bytes === null ? null : row.bytes / MiB) },
    { key: 'kernels', title: 'kernels', decimals: 0, value: (row) => row.kernels },
    { key: 'time', title: 'kernels a rank', unit: unit.name, decimals: 3, value: (row) => time_a_rank(row.kernel_s) },
    { key: 'exposed', title: 'exposed', unit: unit.name, decimals: 3, meaning: 'While no kernel of the program ran', value: (row) => time_a_rank(row.exposed_s) },
    { key: 'hidden', title: 'hidden', unit: unit.name, decimals: 3, meaning: 'Behind kernels of the program', value: (row) => time_a_rank(row.hidden_s) },
    { key: 'waiting', title: 'waiting', unit: unit.name, decimals: 3, meaning: 'Until the last rank’s kernel, or the root’s, had begun; hidden or not', value: (row) => time_a_rank(row.waiting_s) },
    { key: 'exposed_waiting', title: 'exposed waiting', unit: unit.name, decimals: 3, value: (row) => time_a_rank(row.exposed_waiting_s) },
    { key: 'median', title: 'median', unit: 'GB/s', decimals: 2, number_text: speed_number, meaning: 'Bytes that must pass a GPU’s link in one direction, by the time from the last rank’s begin on', value: (row) => row.median_gb_per_s },
  ];
  const late_columns: Column<NcclLateRank>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (late) => late.rank },
    { key: 'kind', title: 'comes late to', value: (late) => late.kind },
    { key: 'times', title: 'times', decimals: 0, value: (late) => late.times },
    { key: 'late', title: 'late by', unit: unit.name, decimals: 3, meaning: 'From the first rank’s kernel to its own, in all', value: (late) => late.late_s * unit.per_second },
    { key: 'kernels', title: 'meanwhile in kernels', unit: '%', decimals: 1, value: (late) => share_of(late.in_kernels_s, late.late_s) * 100 },
    { key: 'mpi', title: 'in MPI', unit: '%', decimals: 1, value: (late) => share_of(late.in_mpi_s, late.late_s) * 100 },
    { key: 'kernel', title: 'mostly', value: (late) => late.main_kernel },
  ];
  return (
    <Section id="nccl" title="NCCL" intro={[about, ...nccl.unknown].join(' ')}>
      <Table caption="What NCCL’s calls took on the GPUs, by kind" search="Find kinds" rows={nccl.kinds} columns={kind_columns} />
      {nccl.late_ranks.length > 0 ? (
        <Table caption="Ranks whose kernels of NCCL began last, and what they did meanwhile" search="Find ranks, kinds or kernels" rows={nccl.late_ranks} columns={late_columns} left_out={report.left_out?.['nccl.late_ranks']} />
      ) : null}
    </Section>
  );
}
