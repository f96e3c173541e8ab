// A history of runs of a program: what each took, where its time went, and which changes are more than jitter.
import type { Trend } from '../../generated/trend';
import { count_text, percent_text, plural } from '../../format';
import { commit_text, efficiency_series, part_columns, parts_of_history, region_series, runs_of, unit_of_history } from '../../model/trend';
import { ColumnsChart } from '../columns_chart';
import { HeadOfRuns } from '../head';
import { HistoryChart } from './history_chart';
import { Section } from '../parts';
import { SmallCharts } from './small_charts';
import { EfficiencyTable, FactsTable, PartsTable, RegionsTable, RunsTable } from './trend_tables';

/** A line for each run whose time changed. */
function Changes({ trend }: { trend: Trend }) {
  const changed = runs_of(trend).filter((run) => (run.change?.words ?? null) !== null);
  if (changed.length === 0) return null;
  return (
    <>
      <h3>What changed</h3>
      <ul class="changes">
        {changed.map((run) => (
          <li key={run.number}>
            Run {run.number}
            {run.commit === null ? null : (
              <>
                {' '}
                (<code>{commit_text(run)}</code>)
              </>
            )}
            : {run.change?.words}
          </li>
        ))}
      </ul>
    </>
  );
}

/** More of them would push the chart off the screen, and stand below it. */
const most_remarks_above = 4;

function Remarks({ remarks }: { remarks: readonly string[] }) {
  if (remarks.length === 0) return null;
  return (
    <ul class="notices">
      {remarks.map((remark) => (
        <li key={remark}>{remark}</li>
      ))}
    </ul>
  );
}

function Parts({ trend }: { trend: Trend }) {
  const layers = parts_of_history(trend);
  if (layers.length === 0) return null;
  return (
    <Section id="parts" title={trend.time_of === 'step' ? 'Where the time of a step goes' : 'Where the time goes'}>
      <ColumnsChart
        columns={part_columns(trend, layers)}
        layers={layers}
        noun="run"
        first_number={trend.runs_left_out + 1}
        adjective={`a ${trend.time_of} on the average rank`}
        label={`Where the time of a ${trend.time_of} went, on the average rank of each run`}
      />
      <PartsTable trend={trend} shown={layers} />
    </Section>
  );
}

export function TrendApp({ trend }: { trend: Trend }) {
  const newest = trend.runs[trend.runs.length - 1] ?? trend.runs[0];
  const unit = unit_of_history(trend);
  const first_number = trend.runs_left_out + 1;
  const are_above = trend.remarks.length <= most_remarks_above;
  const efficiencies = efficiency_series(trend);
  const regions = region_series(trend, unit);
  const sections = [
    { id: 'summary', name: 'Summary', is_there: true },
    { id: 'runs', name: 'Runs', is_there: true },
    { id: 'parts', name: 'Time', is_there: parts_of_history(trend).length > 0 },
    { id: 'efficiency', name: 'Efficiency', is_there: efficiencies.length > 0 },
    { id: 'regions', name: 'Regions', is_there: regions.length > 0 },
    { id: 'facts', name: 'What was run', is_there: true },
  ].filter(({ is_there }) => is_there);
  return (
    <>
      <HeadOfRuns command="trend" program={newest.program} sections={sections} facts={trend.what_ran} simulated_gpu={trend.runs.some((run) => run.simulated_gpu)} />
      <main>
        <Section id="summary" title="Summary">
          <p class="verdict">{trend.headline}</p>
          {are_above ? (
            <Remarks remarks={trend.remarks} />
          ) : (
            <p class="warning">
              <a href="#remarks">{count_text(trend.remarks.length)} remarks</a> on what to beware of stand below the chart.
            </p>
          )}
          <HistoryChart trend={trend} />
          {trend.runs_left_out === 0 ? null : <p class="note">The {plural(trend.runs_left_out, 'oldest run')} before these are in `penstock trend --json` only: they would make this file too large.</p>}
          <Changes trend={trend} />
          <p class="note">{trend.explanation}</p>
          {are_above ? null : (
            <>
              <h3 id="remarks">Remarks</h3>
              <Remarks remarks={trend.remarks} />
            </>
          )}
        </Section>
        <Section id="runs" title="Runs">
          <RunsTable trend={trend} />
        </Section>
        <Parts trend={trend} />
        {efficiencies.length === 0 ? null : (
          <Section id="efficiency" title="Efficiency">
            <SmallCharts list={efficiencies} scale={{ text: percent_text, most: 1, first_number }} />
            <EfficiencyTable trend={trend} />
          </Section>
        )}
        {regions.length === 0 ? null : (
          <Section id="regions" title="NVTX ranges">
            <SmallCharts list={regions} scale={{ text: (value) => `${value.toFixed(3)} ${unit.name}`, first_number }} />
            <RegionsTable trend={trend} />
          </Section>
        )}
        <Section id="facts" title="What was run">
          <FactsTable trend={trend} />
        </Section>
      </main>
    </>
  );
}
