// Shows what less waiting would save: bounds that follow the sliders, and the results of the job's replay.
import { useState } from 'preact/hooks';
import type { Report, WhatIf as Scenario } from '../generated/report';
import { percent_text, share_of, time_number, time_text, time_unit } from '../format';
import { by_size, cause_name, type Cause } from '../model/causes';
import { pieces_of_average_rank, words_of } from '../model/overview';
import { bound, left_pieces, type Removed } from '../model/what_if';
import { CauseName, Section, StackedBar } from './parts';
import { Table, type Column } from './table';

function Sliders({ report }: { report: Report }) {
  const [removed, set_removed] = useState<Removed>({});
  const { unit, ranks, adjective } = words_of(report);
  const left = bound(report.counted.total_s, report.counted.by_cause_s, removed);
  const time = (time_s: number) => `${time_number(time_s / ranks, unit)} ${unit.name}`;
  const set = (cause: Cause, share: number) => set_removed({ ...removed, [cause]: share });
  const shares = by_size(report.counted.by_cause_s);
  const pieces = pieces_of_average_rank(report);
  const full_s = pieces.reduce((sum, piece) => sum + piece.time_s, 0);
  return (
    <div class="sliders">
      {shares.map(({ cause }) => (
        <label key={cause}>
          <CauseName cause={cause} />
          <input
            type="range"
            min={0}
            max={100}
            step={5}
            value={(removed[cause] ?? 0) * 100}
            aria-label={`Reduction of ${cause_name(cause)}, in percent`}
            onInput={(event) => set(cause, Number(event.currentTarget.value) / 100)}
          />
          <output>{(removed[cause] ?? 0) === 0 ? 'as it was' : `−${((removed[cause] ?? 0) * 100).toFixed(0)} %`}</output>
        </label>
      ))}
      <p>
        <button type="button" onClick={() => set_removed(Object.fromEntries(shares.map(({ cause }) => [cause, 1])))}>
          No waiting
        </button>{' '}
        <button type="button" onClick={() => set_removed({})}>
          As it was
        </button>
      </p>
      <table class="bars">
        <caption>Where the time goes, as it was and as it would be at best</caption>
        <tbody>
          {[
            { name: 'as it was', pieces, total_s: report.counted.total_s },
            { name: 'at best', pieces: left_pieces(pieces, removed), total_s: left.total_s },
          ].map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              <td class="wide">
                <StackedBar pieces={row.pieces} full={full_s} />
              </td>
              <td class="number">{time(row.total_s)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="verdict" role="status" id="what-if-result">
        At best it is {time(left.total_s)} instead of {time(report.counted.total_s)} ({percent_text(share_of(left.saved_s, report.counted.total_s))}{' '}
        less), and {percent_text(share_of(left.counted_s, left.total_s))} of that is {adjective}.
      </p>
    </div>
  );
}

export function WhatIf({ report }: { report: Report }) {
  const { replay } = report;
  const unit = time_unit(replay?.observed_s ?? 0);
  const columns: Column<Scenario>[] = [
    { key: 'words', title: 'What if', value: (row) => row.words },
    { key: 'time', title: 'all takes', unit: unit.name, decimals: 3, value: (row) => row.total_s * unit.per_second },
    {
      key: 'change',
      title: 'change',
      unit: '%',
      decimals: 1,
      value: (row) => (share_of(row.total_s, replay?.observed_s ?? 0) - 1) * 100,
    },
    {
      key: 'bar',
      title: 'compared',
      value: (row) => row.total_s,
      show: (row) => <StackedBar pieces={[{ kind: 'efficiency', name: row.words, time_s: row.total_s }]} full={Math.max(...(replay?.what_if ?? []).map((each) => each.total_s), replay?.observed_s ?? 0)} />,
    },
  ];
  return (
    <Section
      id="what-if"
      title="What if there were less waiting"
      intro="The sliders remove a part of each cause. That is a bound: a rank that waits less here may wait longer elsewhere."
    >
      <Sliders report={report} />
      {replay === null ? (
        <p class="note">The job was not replayed: {report.why_no_replay ?? 'the report does not say why'}.</p>
      ) : (
        <>
          <p>
            The replay counts such waits: it runs the job&rsquo;s graph again, all ranks together ({time_text(replay.observed_s)} as it was
            {replay.edges_left_out > 0 ? `; ${replay.edges_left_out} waits could not be ordered and are left out` : ''}):
          </p>
          <Table caption={`The replay's predictions, instead of ${time_number(replay.observed_s, unit)} ${unit.name}`} rows={replay.what_if} columns={columns} />
        </>
      )}
    </Section>
  );
}
