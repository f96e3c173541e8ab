import { describe, expect, it } from 'vitest';
import { difference_of_runs, findings } from '../../src/model/findings';
import { by_cause, report_with, site_with, step_with, steps_with } from './report_builder';

const counted = { ranks: 4, total_s: 4, counted_s: 0.4, by_cause_s: by_cause({ wire: 0.4 }), unmatched_message_halves: 0 };
const advice = (kind: 'overlap' | 'balance_ranks', saves_at_most_s: number) => ({ kind, saves_at_most_s, text: `${kind} helps`, shown_in: { list: 'peers' as const, row: 0 }, title: `do ${kind}` });

describe('findings', () => {
  it('are the first of the advice, for the average rank, with their evidence and place', () => {
    const peers = [{ rank: 1, counted_s: 0.2, by_cause_s: by_cause({ wire: 0.2 }) }];
    const found = findings(report_with({ counted, peers, advice: [advice('balance_ranks', 0.2), advice('overlap', 0.1), advice('overlap', 0.08), advice('overlap', 0.04)] }));
    expect(found).toHaveLength(3);
    expect(found[0]).toMatchObject({ title: 'do balance_ranks', time_s: 0.05, share_of_whole: 0.05, uncertainty_s: 0, measure: 'saved_at_most', evidence: 'balance_ranks helps', target: 'peers-0', section_name: 'Who is waited for' });
  });
  it('say what a replay of the job says, with its uncertainty', () => {
    const replayed = { ...advice('overlap', 0.22), saves_s: 0.2, uncertainty_s: 0.02 };
    expect(findings(report_with({ counted, advice: [replayed] }))[0]).toMatchObject({ time_s: 0.05, uncertainty_s: 0.005, measure: 'saved', share_of_whole: 0.05 });
  });
  it('are advice alone where there is any: of a call site nobody says what it would save', () => {
    const site = site_with({ counted_s: 0.3, by_cause_s: by_cause({ wire: 0.3 }) });
    const found = findings(report_with({ counted, advice: [advice('overlap', 0.1)], call_sites: [site] }));
    expect(found.map(({ measure }) => measure)).toEqual(['saved_at_most']);
  });
  it('are the places of most waiting where there is no advice', () => {
    const site = site_with({ counted_s: 0.3, by_cause_s: by_cause({ wire: 0.3 }) });
    const found = findings(report_with({ counted, call_sites: [site] }));
    expect(found.map(({ measure }) => measure)).toEqual(['waited']);
    expect(found[0]).toMatchObject({ title: 'MPI_Waitall at exchange (halo.cpp:77)', target: 'call_sites-0', section_name: 'Call sites' });
    expect(found[0]?.time_s).toBeCloseTo(0.075);
    expect(found[0]?.evidence).toMatch(/^75.0 % of all that is exposed; 100.0 % of it is wire/);
  });
  it('of rows that this page does not have lead to where the time goes', () => {
    expect(findings(report_with({ counted, advice: [advice('overlap', 0.1)] }))[0]?.target).toBe('time');
  });
  it('come with how much two runs may differ, where that is more than a saving may be off by', () => {
    const report = (uncertainty_s: number, run_to_run_s: number | null) =>
      report_with({ counted, advice: [{ ...advice('overlap', 0.22), saves_s: 0.2, uncertainty_s }], steps: steps_with([step_with(0)], { run_to_run_s }) });
    const told = (given: ReturnType<typeof report>) => difference_of_runs(given, findings(given));
    expect(told(report(0.02, 0.01))).toBe(0.01);
    expect(told(report(0.08, 0.01))).toBe(0);
    expect(told(report(0.02, null))).toBe(0);
    expect(told(report_with({ counted, advice: [advice('overlap', 0.1)], steps: steps_with([step_with(0)], { run_to_run_s: 0.01 }) }))).toBe(0);
  });
  it('are none where nothing is waited for', () => {
    expect(findings(report_with({ call_sites: [site_with()] }))).toEqual([]);
  });
});
