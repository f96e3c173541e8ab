// Two versions of a program side by side.
import type { Diff, DiffRow } from '../generated/diff';
import { date_text, time_text } from '../format';
import { bar_of, change_s, change_share, change_words, explaining_rows, many_times, part_of_row, signed, states, unit_of, verdict, verdict_text, whole_s } from '../model/diff';
import type { LoadedTimeline } from '../load';
import type { Pair } from '../model/timeline/pair';
import { HeadOfRuns } from './head';
import { Legend, PartName, Section, StackedBar, Swatch } from './parts';
import { Table, type Column } from './table';
import { TwoTimelines } from './timeline/two';

/** Both versions of a row as bars below each other. */
function TwoBars({ row, full }: { row: DiffRow; full: number }) {
  return (
    <>
      <StackedBar pieces={[{ kind: 'hidden', name: 'before', time_s: row.before_s }]} full={full} />
      <StackedBar pieces={[{ kind: 'efficiency', name: 'after', time_s: row.after_s }]} full={full} />
    </>
  );
}

function Rows({ diff, rows, caption, name, search, left_out = 0 }: { diff: Diff; rows: readonly DiffRow[]; caption: string; name: string; search?: string; left_out?: number | undefined }) {
  const unit = unit_of(diff);
  const full = Math.max(...rows.flatMap((row) => [row.before_s, row.after_s]));
  const number = (value: number, decimals: number) => signed(value.toFixed(decimals));
  const columns: Column<DiffRow>[] = [
    {
      key: 'name',
      title: name,
      value: (row) => row.name,
      show: (row) => {
        const part = part_of_row(row);
        return part === undefined ? row.name : <PartName part={part} />;
      },
    },
    { key: 'before', title: 'before', unit: unit.name, decimals: 3, value: (row) => row.before_s * unit.per_second },
    { key: 'after', title: 'after', unit: unit.name, decimals: 3, value: (row) => row.after_s * unit.per_second },
    { key: 'change', title: 'change', unit: unit.name, decimals: 3, value: (row) => change_s(row) * unit.per_second, show: (row) => number(change_s(row) * unit.per_second, 3) },
    {
      key: 'share',
      title: 'change',
      unit: '%',
      decimals: 1,
      value: (row) => change_share(row),
      show: (row) => {
        const share = change_share(row);
        return share === null ? '–' : share + 1 >= many_times ? change_words(row) : number(share * 100, 1);
      },
    },
    { key: 'margin', title: '±', unit: unit.name, decimals: 3, meaning: 'Half of the 95 % confidence interval of the change', value: (row) => (row.margin_s === null ? null : row.margin_s * unit.per_second) },
    { key: 'verdict', title: 'verdict', meaning: 'Jitter: within the variation of the runs', value: verdict_text },
    { key: 'bars', title: 'before, after', value: (row) => row.after_s, show: (row) => <TwoBars row={row} full={full} /> },
  ];
  return <Table caption={caption} rows={rows} columns={columns} left_out={left_out} {...(search === undefined ? {} : { search })} />;
}

export function DiffApp({ diff, timelines }: { diff: Diff; timelines: Pair<LoadedTimeline> }) {
  const explaining = explaining_rows(diff);
  const has_parts = explaining !== diff.causes;
  const full = whole_s(diff);
  const unit = unit_of(diff);
  const noun = diff.measure === 'exposed_communication' ? 'Exposed communication' : 'Communication time';
  const sections = [
    { id: 'summary', name: 'Summary' },
    { id: 'timelines', name: 'Timelines' },
    { id: 'by-cause', name: has_parts ? 'Time' : 'Causes' },
    { id: 'by-place', name: 'Call sites' },
    { id: 'states', name: 'What was run' },
  ];
  return (
    <>
      <HeadOfRuns command="diff" program={diff.after.program} sections={sections} simulated_gpu={diff.before.simulated_gpu || diff.after.simulated_gpu} />
      <main>
        <Section id="summary" title="Summary">
          <p class="verdict">{verdict(diff)}</p>
          {diff.remarks.length === 0 ? null : (
            <ul class="notices">
              {diff.remarks.map((remark) => (
                <li key={remark}>{remark}</li>
              ))}
            </ul>
          )}
          <figure>
            <figcaption>
              The average rank’s {diff.time_of}, before and after; the tables below have the numbers
            </figcaption>
            <Legend shown={explaining.flatMap((row) => part_of_row(row) ?? [])} />
            <table class="bars">
              <tbody>
                {([['before', (row: DiffRow) => row.before_s], ['after', (row: DiffRow) => row.after_s]] as const).map(([name, figure]) => {
                  const pieces = bar_of(diff, figure);
                  return (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td class="wide">
                        <StackedBar pieces={pieces} full={full} label={pieces.map((piece) => `${piece.name} ${time_text(piece.time_s)}`).join(', ')} />
                      </td>
                      <td class="number">
                        {((diff.totals[0] === undefined ? 0 : figure(diff.totals[0])) * unit.per_second).toFixed(3)} {unit.name}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </figure>
          <Rows diff={diff} rows={diff.totals} caption={`Time of the average rank’s ${diff.time_of}`} name="Time" />
          <ul class="legend" aria-label="Colours of before and after">
            <li>
              <Swatch kind="hidden" />
              before
            </li>
            <li>
              <Swatch kind="efficiency" />
              after
            </li>
          </ul>
          <p class="note">
            {diff.margins_from === 'steps'
              ? '± is from the variation of the steps within a run; runs may differ by more: repeat them.'
              : diff.totals[0]?.margin_s === null
                ? 'Repeat the runs to tell change from jitter.'
                : '± is from the variation of the runs; smaller changes are called jitter.'}
          </p>
        </Section>
        <TwoTimelines loaded={timelines} />
        <Section id="by-cause" title={has_parts ? 'Where the time goes' : 'By cause'}>
          {explaining.length === 0 ? <p>There is no waiting, or the two cannot be compared.</p> : <Rows diff={diff} rows={explaining} caption={has_parts ? `Where the time of the average rank’s ${diff.time_of} goes` : `${noun} by cause`} name={has_parts ? 'Part' : 'Cause'} />}
        </Section>
        <Section id="by-place" title="By call site">
          {diff.call_sites.length === 0 ? <p>There is no waiting, or the two cannot be compared.</p> : <Rows diff={diff} rows={diff.call_sites} caption={`${noun} by call site, the largest change first`} name="Call" search="Find calls" left_out={diff.call_sites_left_out} />}
        </Section>
        <Section id="states" title="What was run">
          <div class="scrolls" tabIndex={0} role="region" aria-label="What was run, before and after">
            <table>
              <thead>
                <tr>
                  <th scope="col">
                    <span class="unit">of repeated runs the first</span>
                  </th>
                  <th scope="col">before</th>
                  <th scope="col">after</th>
                </tr>
              </thead>
              <tbody>
                {states(diff, date_text).map((row) => (
                  <tr key={row.name} class={row.before === row.after || row.name === 'Began' ? '' : 'target'}>
                    <th scope="row">{row.name}</th>
                    <td>{row.before}</td>
                    <td>{row.after}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      </main>
    </>
  );
}
