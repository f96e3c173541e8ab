// The verdict, where the average rank's time went, and the largest findings.
import type { Report } from '../generated/report';
import { percent_text, share_of, time_number, time_text } from '../format';
import { findings, type Finding } from '../model/findings';
import { pieces_of_average_rank, verdict, words_of } from '../model/overview';
import { Section, StackedBar } from './parts';

function FindingCard({ finding, report }: { finding: Finding; report: Report }) {
  const { unit, whole, adjective } = words_of(report);
  return (
    <li class="finding">
      <h3>{finding.title}</h3>
      <p class="amount">
        {finding.is_bound ? 'saves at most ' : `${adjective} `}
        <strong>
          {time_number(finding.time_s, unit)} {unit.name}
        </strong>{' '}
        a rank, {percent_text(finding.share_of_whole)} of the {whole}
      </p>
      <p>{finding.evidence}</p>
      <p>
        <a href={`#${finding.target}`}>Shown in {finding.section_name}</a>
      </p>
    </li>
  );
}

export function Summary({ report }: { report: Report }) {
  const { unit, ranks, whole, adjective } = words_of(report);
  const pieces = pieces_of_average_rank(report);
  const total_s = report.counted.total_s / ranks;
  const found = findings(report);
  const rest = report.advice.slice(found.filter((finding) => finding.is_bound).length);
  return (
    <Section id="summary" title="Summary">
      <div class="headline">
        {report.counted.ranks === 0 ? null : (
          <p class="large">
            <strong>{percent_text(share_of(report.counted.counted_s, report.counted.total_s))}</strong>
            <br />
            of the {whole} {adjective}
          </p>
        )}
        {report.recorded_part ? (
          <p class="verdict" role="note">
            <strong>! {report.recorded_part.words}.</strong>
          </p>
        ) : null}
        <p class="verdict">{verdict(report)}</p>
      </div>
      {total_s > 0 ? (
        <figure>
          <figcaption>
            Where the time of the average rank went: {time_number(total_s, unit)} {unit.name} of {whole}
          </figcaption>
          <StackedBar pieces={pieces} full={total_s} label="Where the time of the average rank went; the list below has the numbers" />
          <ul class="pieces">
            {pieces.map(({ kind, name, time_s }) => (
              <li key={kind}>
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                  <rect class={`fill-${kind}`} width="10" height="10" />
                </svg>
                {['computing', 'hidden', 'other'].includes(kind) ? name : `${adjective}: ${name}`}{' '}
                <span class="figure">
                  {time_text(time_s)}, {percent_text(share_of(time_s, total_s))}
                </span>
              </li>
            ))}
          </ul>
        </figure>
      ) : null}
      <h3>{found.some((finding) => finding.is_bound) ? 'What would help most' : 'Where most waiting is'}</h3>
      {found.length === 0 ? <p>Nothing stands out: there is no communication worth naming.</p> : null}
      <ol class="findings">
        {found.map((finding) => (
          <FindingCard key={finding.title + finding.evidence} finding={finding} report={report} />
        ))}
      </ol>
      {rest.length > 0 ? (
        <details>
          <summary>{rest.length} more</summary>
          <ul>
            {rest.map((advice) => (
              <li key={advice.text}>
                at most {time_number(advice.saves_at_most_s / ranks, unit)} {unit.name} a rank: {advice.text}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      {found.some((finding) => finding.is_bound) ? (
        <p class="note">What is saved is a bound, as if nothing else were changed; bounds do not add up.</p>
      ) : null}
    </Section>
  );
}
