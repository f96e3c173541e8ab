// Kernels, and the communication during them.
import type { Kernel, Report } from '../generated/report';
import { share_of } from '../format';
import { words_of } from '../model/overview';
import { Section } from './parts';
import { Table, type Column } from './table';

export function Kernels({ report }: { report: Report }) {
  const { unit, ranks } = words_of(report);
  const time = (time_s: number) => (time_s / ranks) * unit.per_second;
  const columns: Column<Kernel>[] = [
    { key: 'name', title: 'Kernel', value: (row) => row.name, show: (row) => <span class="name">{row.name}</span> },
    { key: 'launches', title: 'launches', decimals: 0, value: (row) => row.launches },
    { key: 'running', title: 'runs a rank', unit: unit.name, decimals: 3, meaning: 'Time covered by several kernels counts for the first', value: (row) => time(row.running_s) },
    { key: 'hides', title: 'hides', unit: unit.name, decimals: 3, meaning: 'The part during which communication was in progress', value: (row) => time(row.hides_s) },
    { key: 'share', title: 'of its time', unit: '%', decimals: 1, value: (row) => share_of(row.hides_s, row.running_s) * 100 },
    { key: 'after', title: 'exposed after', unit: unit.name, decimals: 3, meaning: 'Exposed communication between its end and the next kernel’s begin', value: (row) => time(row.exposed_after_s) },
    { key: 'at', title: 'mostly at', value: (row) => row.exposed_at },
  ];
  return (
    <Section id="kernels" title="Kernels" intro="What they hide, and what is exposed after them: a kernel that hides little, with much exposed after it, could run while data moves.">
      <Table caption="Kernels of the application" search="Find kernels or places" rows={report.kernels} columns={columns} left_out={report.left_out?.['kernels']} />
    </Section>
  );
}
