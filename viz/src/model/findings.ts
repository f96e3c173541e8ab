// The largest findings: the report's advice; if there is none, the places of most waiting.
import type { Advice, Report } from '../generated/report';
import { percent_text, share_of } from '../format';
import { cause_meaning, cause_name, main_cause } from './causes';
import { words_of } from './overview';
import { place_in_sentence } from './places';

export interface Finding {
  readonly title: string;
  /** Time of the average rank. */
  readonly time_s: number;
  /** By which time_s may be off; 0: not known. */
  readonly uncertainty_s: number;
  /** What time_s is: what the change saves, by a replay of the job; a bound of that; or the waiting there. */
  readonly measure: 'saved' | 'saved_at_most' | 'waited';
  readonly share_of_whole: number;
  readonly evidence: string;
  /** Id of the section, or of a row in it, that shows the finding; and the section's name. */
  readonly target: string;
  readonly section_name: string;
}

type List = NonNullable<Advice['shown_in']>['list'];

const section_of: Record<List, string> = {
  transports: 'Messages',
  call_sites: 'Call sites',
  staging_by_hand: 'Staging by hand',
  late_ranks: 'Who is waited for',
  peers: 'Who is waited for',
};

/** Returns the id of a list's row in the page. */
export const row_id = (list: string, row: number) => `${list}-${row}`;

/** Returns where advice is shown: its row, if this page has it; else where the time goes. */
function place_of({ shown_in }: Advice, report: Report) {
  return shown_in === null || shown_in.row >= report[shown_in.list].length
    ? { target: 'time', section_name: 'Time' }
    : { target: row_id(shown_in.list, shown_in.row), section_name: section_of[shown_in.list] };
}

/** Returns what the advice saves, of all ranks. */
export function saving_of({ saves_s, uncertainty_s, saves_at_most_s }: Advice): Pick<Finding, 'time_s' | 'uncertainty_s' | 'measure'> {
  return saves_s == null
    ? { time_s: saves_at_most_s, uncertainty_s: 0, measure: 'saved_at_most' }
    : { time_s: saves_s, uncertainty_s: uncertainty_s ?? 0, measure: 'saved' };
}

/** Returns by how much two runs may differ, as steps vary, where that is more than some saving may be off by; else 0. Seconds. */
export function difference_of_runs({ steps }: Pick<Report, 'steps'>, found: readonly Finding[]): number {
  const differ_s = steps?.run_to_run_s ?? 0;
  return found.some(({ measure, uncertainty_s }) => measure === 'saved' && uncertainty_s < differ_s) ? differ_s : 0;
}

export function findings(report: Report, most = 3): Finding[] {
  const { ranks, adjective } = words_of(report);
  const share = (time_s: number) => share_of(time_s, report.counted.total_s);
  const found: Finding[] = report.advice.slice(0, most).map((advice) => {
    const { time_s, uncertainty_s, measure } = saving_of(advice);
    return {
      title: advice.title,
      ...place_of(advice, report),
      time_s: time_s / ranks,
      uncertainty_s: uncertainty_s / ranks,
      measure,
      share_of_whole: share(time_s),
      evidence: advice.text,
    };
  });
  // beside what helps, a place of which nobody knows what it would save says nothing
  const sites = found.length > 0 ? [] : report.call_sites;
  for (const [row, site] of sites.entries()) {
    const cause = main_cause(site.by_cause_s);
    if (found.length >= most || cause === undefined) break;
    const of_site = percent_text(share_of(site.by_cause_s[cause], site.counted_s));
    found.push({
      title: `${site.mpi_function} at ${place_in_sentence(site)}`,
      time_s: site.counted_s / ranks,
      uncertainty_s: 0,
      measure: 'waited',
      share_of_whole: share(site.counted_s),
      evidence: `${percent_text(share_of(site.counted_s, report.counted.counted_s))} of all that is ${adjective}; ${of_site} of it is ${cause_name(cause)}: ${cause_meaning(cause)}.`,
      target: row_id('call_sites', row),
      section_name: section_of.call_sites,
    });
  }
  return found;
}
