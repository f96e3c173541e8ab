// One small chart for each figure of a history, all with one scale of runs: told apart by their titles instead of by colours.
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { words_of_series, type Series } from '../../model/trend';
import { MarkTriangle } from './run_mark';
import { use_width } from '../use_width';

interface Scale {
  /** Formats a value with its unit. */
  readonly text: (value: number) => string;
  /** The upper end; undefined: the largest value. */
  readonly most?: number;
  readonly first_number: number;
}

const height = 104;
const margin = { top: 16, right: 8, bottom: 18, left: 66 };
/** Closer dots cannot be told apart. */
const least_dot_px = 5;

function SmallChart({ series, scale }: { series: Series; scale: Scale }) {
  const { ref, width } = use_width(160);
  const known = series.values.filter((value) => value !== null);
  const most = scale.most ?? Math.max(1e-9, ...known);
  const x = scaleLinear([0, series.values.length], [margin.left, width - margin.right]);
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top]);
  const middle = (index: number) => x(index + 0.5);
  const path = line<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => middle(index))
    .y((value) => y(value ?? 0));
  const newest = series.values[series.values.length - 1] ?? null;
  const last_number = scale.first_number + series.values.length - 1;
  return (
    <figure class="chart" ref={ref}>
      <figcaption>
        <strong>{series.name}</strong> {newest === null ? '–' : scale.text(newest)}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words_of_series(series, scale.first_number, scale.text)}>
        {[0, most].map((value) => (
          <g key={value}>
            <line class="grid" x1={margin.left} x2={width - margin.right} y1={y(value)} y2={y(value)} />
            <text class="tick" x={margin.left - 6} y={y(value)} dy="0.32em" text-anchor="end">
              {value === 0 ? '0' : scale.text(value)}
            </text>
          </g>
        ))}
        {[...new Set([scale.first_number, last_number])].map((number) => (
          <text key={number} class="tick" x={middle(number - scale.first_number)} y={height - 2} text-anchor="middle">
            {number}
          </text>
        ))}
        <path class="overline" d={path([...series.values]) ?? ''} />
        {series.values.map((value, index) => (value === null || x(1) - x(0) < least_dot_px ? null : <circle key={index} class="mean" cx={middle(index)} cy={y(value)} r={2.4} />))}
        {series.values.map((value, index) => (value === null ? null : <MarkTriangle key={index} mark={series.marks[index]} x={middle(index)} y={Math.max(10, y(value) - 4)} />))}
      </svg>
    </figure>
  );
}

export function SmallCharts({ list, scale }: { list: readonly Series[]; scale: Scale }) {
  return (
    <div class="small-charts">
      {list.map((series) => (
        <SmallChart key={series.name} series={series} scale={scale} />
      ))}
    </div>
  );
}
