// How far to trust the report.
import type { Report } from '../generated/report';
import { plural } from '../format';
import { confidence } from '../model/confidence';
import { Section } from './parts';

export function Confidence({ report }: { report: Report }) {
  return (
    <Section id="confidence" title="How far to trust this">
      <p>{confidence(report).join('; ')}.</p>
      {report.notices.length > 0 ? (
        <ul class="notices">
          {report.notices.map((notice) => (
            <li key={notice.text}>
              {notice.ranks === 1 ? `rank ${notice.first_rank}` : plural(notice.ranks, 'rank')}: {notice.text}
            </li>
          ))}
        </ul>
      ) : null}
      {report.flaws.length > 0 ? (
        <>
          <h3>What could not be read or named</h3>
          <ul class="notices">
            {report.flaws.map((flaw, index) => (
              <li key={index}>
                <code>{flaw.file}</code>
                {flaw.offset_bytes === null ? '' : `, byte ${flaw.offset_bytes}`}: {flaw.what}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </Section>
  );
}
