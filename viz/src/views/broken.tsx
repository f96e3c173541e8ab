// What is known of a job that did not end, above all else.
import type { Report } from '../generated/report';
import { plural } from '../format';
import { broken_job } from '../model/broken';

export function BrokenJob({ report }: { report: Report }) {
  const broken = broken_job(report);
  if (broken === undefined) return null;
  return (
    <div class="broken" role="alert">
      <p>
        <strong>{broken.title}</strong>
      </p>
      {broken.ranks.length === 0 ? null : (
        <ul>
          {broken.ranks.map((rank) => (
            <li key={rank}>{rank}</li>
          ))}
          {broken.more === 0 ? null : <li>and {plural(broken.more, 'rank')} more, which ran longer</li>}
        </ul>
      )}
      <p>
        {broken.consequence} <a href="#ranks">Figures of each rank</a>
      </p>
    </div>
  );
}
