// What is known of a job that did not end: above all else, and of each rank.
import type { Report } from '../generated/report';
import { broken_job, rank_fates, type RankFate } from '../model/broken';
import { Table, type Column } from './table';

export function BrokenJob({ report }: { report: Report }) {
  const broken = broken_job(report);
  if (broken === undefined) return null;
  return (
    <div class="broken" role="alert">
      <p>
        <strong>{broken.title}</strong>
      </p>
      {broken.facts.length === 0 ? null : (
        <ul>
          {broken.facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {broken.next === undefined ? null : <p>Next: {broken.next}</p>}
      <p>
        {broken.consequence} <a href="#ranks">Each rank</a>
      </p>
    </div>
  );
}

export function RankFates({ report }: { report: Report }) {
  const rows = rank_fates(report);
  const columns: Column<RankFate>[] = [
    { key: 'rank', title: 'Rank', decimals: 0, is_name: true, value: (row) => row.rank },
    { key: 'state', title: 'ended', value: (row) => row.state },
    { key: 'alive', title: 'last alive', unit: 's', decimals: 2, meaning: 'Its last sign of life, since the first rank returned from MPI_Init', value: (row) => row.last_alive_s },
    { key: 'in', title: 'in', value: (row) => row.in_call },
    { key: 'since', title: 'from', unit: 's', meaning: 'When it entered the call, or left MPI, since the first rank returned from MPI_Init', decimals: 2, value: (row) => row.since_s },
    { key: 'for', title: 'waits for rank', value: (row) => row.waits_for },
  ];
  return rows.length === 0 ? null : <Table caption="What each rank was in when it ended" search="Find ranks or calls" rows={rows} columns={columns} />;
}
