// Copies between GPU and host that the program makes for its messages.
import type { Report, StagingByHand as Staging } from '../generated/report';
import { words_of } from '../model/overview';
import { Section } from './parts';
import { Table, type Column } from './table';

export function StagingByHand({ report }: { report: Report }) {
  const { unit, ranks } = words_of(report);
  const columns: Column<Staging>[] = [
    { key: 'at', title: 'Where', value: (row) => row.at },
    { key: 'messages', title: 'messages', decimals: 0, value: (row) => row.messages },
    { key: 'bytes', title: 'payload', unit: 'MiB', decimals: 3, value: (row) => row.bytes / 1024 / 1024 },
    { key: 'copies', title: 'copies a rank', unit: unit.name, decimals: 3, value: (row) => (row.copies_s / ranks) * unit.per_second },
    { key: 'exposed', title: 'while no kernel ran', unit: unit.name, decimals: 3, value: (row) => (row.exposed_copies_s / ranks) * unit.per_second },
  ];
  return (
    <Section id="staging" title="Staging by hand" intro="Messages of host memory that the program copies from or to a GPU. MPI calls may be given the device pointer.">
      <Table caption="Places that stage by hand" list="staging_by_hand" rows={report.staging_by_hand} columns={columns} left_out={report.left_out?.['staging_by_hand']} />
    </Section>
  );
}
