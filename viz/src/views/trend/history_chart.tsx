// The time of each run with the quartiles of its steps, what jitter would allow it, and marks where it changed. Text below describes
// the run under the pointer, or under the cursor that the arrow keys move.
import { scaleLinear } from 'd3-scale';
import { useState } from 'preact/hooks';
import type { Trend } from '../../generated/trend';
import { commit_changes, runs_of, time_mark, time_range, unit_of_history, words_of_run, type Run } from '../../model/trend';
import { MarkTriangle } from './run_mark';
import { on_keys } from '../on_keys';
import { TimeGrid } from '../time_grid';
import { use_width } from '../use_width';

const height = 260;
const margin = { top: 22, right: 8, bottom: 34, left: 58 };
const widest_box_px = 26;
/** Runs that are closer have neither dots nor outlines. */
const least_run_px = 6;
/** Closer lines of commits would hide all else. */
const least_commit_px = 10;

function HistoryLegend({ has_quartiles, has_jitter, has_commits }: { has_quartiles: boolean; has_jitter: boolean; has_commits: boolean }) {
  return (
    <ul class="legend" aria-label="What the chart shows">
      <li>
        <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
          <circle class="mean" cx="5" cy="5" r="3.4" />
        </svg>
        mean
      </li>
      {has_quartiles ? (
        <li>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <path class="quartiles" d="M1 1H9V9H1Z" />
            <path class="median" d="M1 5H9" />
          </svg>
          the middle half of the steps, with their median
        </li>
      ) : null}
      {has_jitter ? (
        <li>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <path class="jitter" d="M0 0H10V10H0Z" />
          </svg>
          the run before, with jitter
        </li>
      ) : null}
      {has_commits ? (
        <li>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <path class="another-commit" d="M5 0V10" />
          </svg>
          another commit
        </li>
      ) : null}
    </ul>
  );
}

export function HistoryChart({ trend }: { trend: Trend }) {
  const { ref, width } = use_width();
  const [cursor, set_cursor] = useState<number>();
  const [from_zero, set_from_zero] = useState(false);
  const runs = runs_of(trend);
  const unit = unit_of_history(trend);
  const [low, high] = time_range(runs, from_zero);
  const x = scaleLinear([0, runs.length], [margin.left, width - margin.right]);
  const y = scaleLinear([low, high], [height - margin.bottom, margin.top]);
  const y_inside = (time_s: number) => y(Math.min(high, Math.max(low, time_s)));
  const middle = (index: number) => x(index + 0.5);
  const run_px = x(1) - x(0);
  const half_px = Math.max(1, Math.min(widest_box_px, run_px * 0.5)) / 2;
  const each = (path: (run: Run, index: number) => string) => runs.map(path).join('');

  const means = each((run, index) => `${index === 0 ? 'M' : 'L'}${middle(index)} ${y(run.time_s)}`);
  const quartiles = each(({ step_quartiles_s: of_steps }, index) =>
    of_steps === null ? '' : `M${middle(index) - half_px} ${y(of_steps.low)}H${middle(index) + half_px}V${y(of_steps.high)}H${middle(index) - half_px}Z`,
  );
  const medians = each(({ step_quartiles_s: of_steps }, index) => (of_steps === null ? '' : `M${middle(index) - half_px} ${y(of_steps.median)}H${middle(index) + half_px}`));
  const jitter = each(({ change }, index) => {
    const margin_s = change?.time.margin_s ?? null;
    if (change === null || margin_s === null) return '';
    const { before_s } = change.time;
    return `M${x(index + 0.06)} ${y_inside(before_s - margin_s)}H${x(index + 0.94)}V${y_inside(before_s + margin_s)}H${x(index + 0.06)}Z`;
  });
  const commit_indices = commit_changes(runs);
  const commits = (commit_indices.length * least_commit_px > width ? [] : commit_indices)
    .map((index) => `M${x(index)} ${margin.top}V${height - margin.bottom}`)
    .join('');

  const move = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const index = Math.floor(x.invert(((event.clientX - box.left) / box.width) * width));
    set_cursor(index >= 0 && index < runs.length ? index : undefined);
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => set_cursor(Math.max(0, (cursor ?? runs.length) - 1)),
    ArrowRight: () => set_cursor(Math.min(runs.length - 1, (cursor ?? -1) + 1)),
    Home: () => set_cursor(0),
    End: () => set_cursor(runs.length - 1),
    Escape: () => set_cursor(undefined),
  };
  const press = on_keys(keys);
  const chosen = cursor === undefined ? undefined : runs[cursor];
  const first_number = trend.runs_left_out + 1;
  const numbers = scaleLinear([first_number, first_number + runs.length - 1], [0, 1])
    .ticks(Math.max(2, Math.min(runs.length, Math.floor((width - margin.left) / 60))))
    .filter((tick) => Number.isInteger(tick));
  return (
    <figure class="chart" ref={ref}>
      <HistoryLegend has_quartiles={quartiles !== ''} has_jitter={jitter !== ''} has_commits={commits !== ''} />
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Time a ${trend.time_of} of each run. Arrow keys go from run to run; the table of runs has the numbers.`}
        tabindex={0}
        onKeyDown={press}
        onMouseMove={move}
        onMouseLeave={() => set_cursor(undefined)}
      >
        <TimeGrid y={y} from={margin.left} to={width - margin.right} unit={unit} />
        <text class="tick" x={4} y={8} dy="0.32em">
          {unit.name} a {trend.time_of}
          {low === 0 ? '' : ', not from 0'}
        </text>
        {numbers.map((tick) => (
          <text key={tick} class="tick" x={Math.min(middle(tick - first_number), width - 14)} y={height - margin.bottom + 15} text-anchor="middle">
            {tick}
          </text>
        ))}
        <text class="tick" x={(margin.left + width - margin.right) / 2} y={height - 4} text-anchor="middle">
          run
        </text>
        <path class="jitter" d={jitter} />
        <path class="another-commit" d={commits} />
        <path class={run_px < least_run_px ? 'quartiles close' : 'quartiles'} d={quartiles} />
        {run_px < least_run_px ? null : <path class="median" d={medians} />}
        <path class="overline" d={means} />
        {run_px < least_run_px ? null : runs.map((run, index) => <circle key={run.number} class="mean" cx={middle(index)} cy={y(run.time_s)} r={3} />)}
        {runs.map((run, index) => (
          <MarkTriangle key={run.number} mark={time_mark(run, unit)} x={middle(index)} y={y(Math.max(run.time_s, run.step_quartiles_s?.high ?? 0)) - 5} />
        ))}
        {cursor === undefined ? null : <rect class="cursor" x={x(cursor)} width={run_px} y={margin.top} height={height - margin.top - margin.bottom} />}
      </svg>
      <p class="told" aria-live="polite">
        {chosen === undefined ? 'Point at a run for its figures.' : words_of_run(chosen, trend, unit)}
      </p>
      {time_range(runs, false)[0] > 0 ? (
        <p class="choices">
          <label>
            <input type="checkbox" checked={from_zero} onChange={(event) => set_from_zero(event.currentTarget.checked)} /> Times from 0
          </label>
        </p>
      ) : null}
    </figure>
  );
}
