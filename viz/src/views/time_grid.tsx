// The lines across a chart of times, each with its time in front.
import type { ScaleLinear } from 'd3-scale';
import type { TimeUnit } from '../format';

/** `y`: seconds to pixels; `from` and `to`: where the lines begin and end, in pixels. */
export function TimeGrid({ y, from, to, unit }: { y: ScaleLinear<number, number>; from: number; to: number; unit: TimeUnit }) {
  return (
    <>
      {y.ticks(5).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={from} x2={to} y1={y(tick)} y2={y(tick)} />
          <text class="tick" x={from - 6} y={y(tick)} dy="0.32em" text-anchor="end">
            {Number((tick * unit.per_second).toPrecision(6))}
          </text>
        </g>
      ))}
    </>
  );
}
