// The trees of efficiencies, and the critical path.
import type { Replay, Report, Steps } from '../generated/report';
import { count_text, percent_text, share_of, time_unit } from '../format';
import { efficiencies, rows_of, weakest, type Efficiency } from '../model/efficiency';
import { Section } from './parts';
import { Table } from './table';

function Node({ node }: { node: Efficiency }) {
  return (
    <li>
      <span class="efficiency" title={node.meaning}>
        <span class="name">{node.name}</span>
        <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class="track" width="100" height="10" />
          <rect class="fill-efficiency" width={Math.min(1, node.value) * 100} height="10" />
        </svg>
        <span class="figure">{percent_text(node.value)}</span>
        <span class="meaning">{node.meaning}</span>
      </span>
      {node.children.length > 0 ? (
        <ul>
          {node.children.map((child) => (
            <Node key={child.name} node={child} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}

function CriticalPath({ replay, has_steps }: { replay: Replay; has_steps: boolean }) {
  const path = replay.longest_path;
  const share = (time_s: number) => percent_text(share_of(time_s, replay.observed_s));
  const [rank] = path.ranks;
  const unit = time_unit(replay.observed_s);
  return (
    <>
      <h3>The critical path</h3>
      <p>
        {replay.gpu_efficiency !== null || path.kernels_s > 0 ? `${share(path.kernels_s)} kernels, ` : ''}
        {path.kernel_launch_s > 0 ? `${share(path.kernel_launch_s)} kernel launch, ` : ''}
        {share(path.host_code_s)} host code, {share(path.communication_s)} communication
        {path.before_steps_s > 0 && path.first_rank !== null ? `, ${share(path.before_steps_s)} before rank ${path.first_rank}${has_steps ? '’s first step' : ' began'}` : ''}
        {rank === undefined ? '' : `; it runs through rank ${rank.rank} for ${share(rank.time_s)}`}. Only shortening it shortens the run.
      </p>
      {path.calls.length > 0 ? (
        <Table
          caption="Communication on the critical path"
          rows={path.calls}
          columns={[
            { key: 'call', title: 'Call', value: (row) => row.call },
            { key: 'time', title: 'on the path', unit: unit.name, decimals: 3, value: (row) => row.time_s * unit.per_second },
            { key: 'share', title: 'of the time', unit: '%', decimals: 1, value: (row) => share_of(row.time_s, replay.observed_s) * 100 },
          ]}
        />
      ) : null}
    </>
  );
}

/** How efficient the ranks were in one part of the run after the other, by steps. */
function OverTime({ steps, ranks }: { steps: Steps | null; ranks: number }) {
  const rows = steps?.efficiency_over_time ?? [];
  if (steps === null || rows.length === 0) return null;
  const unit = time_unit(steps.median_s);
  return (
    <Table
      caption="Efficiency over time"
      rows={rows}
      columns={[
        { key: 'steps', title: 'Steps', is_name: true, value: (row) => (row.steps === 1 ? count_text(row.first + 1) : `${count_text(row.first + 1)}–${count_text(row.first + row.steps)}`) },
        { key: 'step', title: 'a step', unit: unit.name, decimals: 3, value: (row) => (row.total_s / ranks / row.steps) * unit.per_second },
        {
          key: 'parallel',
          title: 'parallel efficiency',
          unit: '%',
          decimals: 1,
          meaning: 'Load balance × communication, from the times in these steps alone',
          value: (row) => row.efficiency.parallel * 100,
        },
        { key: 'balance', title: 'load balance', unit: '%', decimals: 1, meaning: 'Mean computing time of the ranks ÷ the largest', value: (row) => row.efficiency.load_balance * 100 },
        {
          key: 'communication',
          title: 'communication',
          unit: '%',
          decimals: 1,
          meaning: 'The largest computing time ÷ the longest time in these steps',
          value: (row) => row.efficiency.communication * 100,
        },
      ]}
    />
  );
}

export function Efficiencies({ report }: { report: Report }) {
  const { replay } = report;
  if (replay === null) return null;
  const trees = efficiencies(replay);
  return (
    <Section id="efficiency" title="Efficiency" intro="Each is the product of those below it.">
      <div class="trees">
        {trees.map((tree) => (
          <div key={tree.name}>
            <ul class="tree">
              <Node node={tree} />
            </ul>
            {rows_of(tree).length > 1 ? (
              <p class="note">
                Most is lost by <strong>{weakest(tree).name}</strong> ({percent_text(weakest(tree).value)}).
              </p>
            ) : null}
          </div>
        ))}
      </div>
      <OverTime steps={report.steps} ranks={report.counted.ranks} />
      <CriticalPath replay={replay} has_steps={report.steps !== null} />
    </Section>
  );
}
