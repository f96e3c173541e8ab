// The headline, where the average rank's time went, and the largest findings.
import type { Report } from '../generated/report';
import { percent_text, share_of, time_number, time_text, time_unit, type TimeUnit } from '../format';
import { difference_of_runs, findings, saving_of, type Finding } from '../model/findings';
import { lost_records } from '../model/flaws';
import { pieces_of_average_rank, words_of } from '../model/overview';
import { cause_of_part, part_name, parts, steps_of } from '../model/parts';
import { ThrottledGpus } from './gpu_power';
import { Section, StackedBar, Swatch } from './parts';
import { MisplacedRanks } from './placement';

function verb_of(measure: Finding['measure'], adjective: string): string {
  return measure === 'saved' ? 'saves' : measure === 'saved_at_most' ? 'saves at most' : adjective;
}

function time_with_uncertainty({ time_s, uncertainty_s }: Pick<Finding, 'time_s' | 'uncertainty_s'>, unit: TimeUnit): string {
  const time = time_number(time_s, unit);
  const uncertainty = time_number(uncertainty_s, unit);
  return `${uncertainty === time_number(0, unit) ? time : `${time} ± ${uncertainty}`} ${unit.name}`;
}

function FindingCard({ finding, report }: { finding: Finding; report: Report }) {
  const { unit, whole, adjective } = words_of(report);
  return (
    <li class="finding">
      <h3>{finding.title}</h3>
      <p class="amount">
        {verb_of(finding.measure, adjective)} <strong>{time_with_uncertainty(finding, unit)}</strong> a rank, {percent_text(finding.share_of_whole)} of the {whole}
      </p>
      <p>{finding.evidence}</p>
      <p>
        <a href={`#${finding.target}`}>Shown in {finding.section_name}</a>
      </p>
    </li>
  );
}

/** The headline's part of the whole, in large letters. */
function Amount({ report }: { report: Report }) {
  const { whole, adjective } = words_of(report);
  const { part, time_s } = report.headline;
  const known = parts.find((each) => each === part);
  return (
    <p class="large">
      <strong>{percent_text(share_of(time_s, report.counted.total_s))}</strong>
      <br />
      of the {whole} {known === undefined ? adjective : part_name(known)}
    </p>
  );
}

/** Where the time of the average rank went, as one bar. */
function WholeBar({ report }: { report: Report }) {
  const { adjective, ranks, whole, who } = words_of(report);
  const total_s = report.counted.total_s / ranks / steps_of(report);
  const unit = time_unit(total_s);
  const pieces = pieces_of_average_rank(report);
  const what = report.steps === null ? `${who} went: ${time_number(total_s, unit)} ${unit.name} of ${whole}` : `a step of ${who} went: ${time_number(total_s, unit)} ${unit.name}`;
  return (
    <figure>
      <figcaption>Where the time of {what}</figcaption>
      <StackedBar pieces={pieces} full={total_s} label={`Where the time of ${who} went; the list below has the numbers`} />
      <ul class="pieces">
        {pieces.map(({ kind, name, time_s }) => (
          <li key={kind}>
            <Swatch kind={kind} />
            {kind !== 'other' && cause_of_part(kind) !== undefined ? `${adjective}: ${name}` : name}{' '}
            <span class="figure">
              {time_number(time_s, unit)} {unit.name}, {percent_text(share_of(time_s, total_s))}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

export function Summary({ report }: { report: Report }) {
  const { unit, ranks, adjective } = words_of(report);
  const found = report.counted.total_s > 0 ? findings(report) : [];
  const differ_s = difference_of_runs(report, found);
  const rest = report.advice.slice(found.filter(({ measure }) => measure !== 'waited').length);
  return (
    <Section id="summary" title="Summary">
      <div class="headline">
        {report.counted.total_s === 0 ? null : <Amount report={report} />}
        <div>
          {lost_records(report.flaws).map((flaw) => (
            <p class="verdict" role="note" key={flaw}>
              <strong>! {flaw}.</strong>
            </p>
          ))}
          {report.recorded_part ? (
            <p class="verdict" role="note">
              <strong>! {report.recorded_part.words}.</strong>
            </p>
          ) : null}
          <p class="verdict">{report.headline.words}</p>
        </div>
      </div>
      <ThrottledGpus report={report} />
      <MisplacedRanks report={report} />
      {report.counted.total_s > 0 ? <WholeBar report={report} /> : null}
      {report.counted.total_s > 0 ? <h3>{found.some(({ measure }) => measure !== 'waited') ? 'What would help most' : 'Where most waiting is'}</h3> : null}
      {report.counted.total_s > 0 && found.length === 0 ? <p>Nothing stands out: there is no communication worth naming.</p> : null}
      <ol class="findings">
        {found.map((finding) => (
          <FindingCard key={finding.title + finding.evidence} finding={finding} report={report} />
        ))}
      </ol>
      {rest.length > 0 ? (
        <details>
          <summary>{rest.length} more</summary>
          <ul>
            {rest.map((advice) => {
              const { time_s, uncertainty_s, measure } = saving_of(advice);
              const saving = time_with_uncertainty({ time_s: time_s / ranks, uncertainty_s: uncertainty_s / ranks }, unit);
              return (
                <li key={advice.text}>
                  {verb_of(measure, adjective)} {saving} a rank: {advice.text}
                </li>
              );
            })}
          </ul>
        </details>
      ) : null}
      {found.some(({ measure }) => measure !== 'waited') ? (
        <p class="note">
          What is saved is of each change alone, as if nothing else were changed: it does not add up.
          {differ_s > 0 ? ` ±: by which the replay may be off. Two runs of the same program may differ by ${time_text(differ_s)} besides, as steps vary (95 %).` : ''}
        </p>
      ) : null}
    </Section>
  );
}
