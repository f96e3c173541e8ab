// Where the ranks ran: their GPUs and cores, and what a launcher did wrong.
import type { PlacementOfRank, Report } from '../generated/report';
import { Section } from './parts';
import { Table, type Column } from './table';

export const has_placement = (report: Report) => (report.placement?.ranks.length ?? 0) > 0;

export function MisplacedRanks({ report }: { report: Report }) {
  const mistakes = report.placement?.mistakes ?? [];
  if (mistakes.length === 0) return null;
  return (
    <ul class="notices" aria-label="Misplaced ranks">
      {mistakes.map((words) => (
        <li key={words}>
          ! {words} See <a href="#placement">Placement</a>.
        </li>
      ))}
    </ul>
  );
}

const columns: readonly Column<PlacementOfRank>[] = [
  { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (row) => row.rank },
  { key: 'host', title: 'Host', value: (row) => row.host },
  { key: 'gpu', title: 'GPU', meaning: 'PCI address of each GPU that it has used', value: (row) => row.gpus.map((each) => each.split(' ')[0]).join(', ') },
  { key: 'visible', title: 'of', decimals: 0, meaning: 'GPUs that CUDA shows to it', value: (row) => row.visible_gpus },
  { key: 'cores', title: 'cores', meaning: 'That it might use when it called MPI_Init', value: (row) => row.cores ?? '' },
];

export function Placement({ report }: { report: Report }) {
  const { placement } = report;
  if (placement === undefined || !has_placement(report)) return null;
  return (
    <Section id="placement" title="Placement" intro="Where the launcher has put each rank.">
      <Table caption="Cores and GPUs of each rank" search="Find ranks, hosts or GPUs" rows={placement.ranks} columns={columns} left_out={report.left_out?.['placement.ranks']} />
    </Section>
  );
}
