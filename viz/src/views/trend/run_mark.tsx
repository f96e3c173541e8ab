// The marks of changes in a history: as a sign in a table, and as a triangle in a chart.
import type { Mark } from '../../model/trend';

const signs = { more: '▲', less: '▼', unknown: '?' } as const;
const meanings = {
  more: 'more than in the run before, beyond jitter',
  less: 'less than in the run before, beyond jitter',
  unknown: 'whether this is more than jitter is not known',
} as const;

/** Follows a number in a table; takes its place where there is none, so that numbers stay below each other. */
export function MarkSign({ mark }: { mark: Mark | undefined }) {
  return <span class="mark">{mark === undefined ? null : <abbr title={meanings[mark]}>{signs[mark]}</abbr>}</span>;
}

/** Stands with its lower end at a place of a chart. */
export function MarkTriangle({ mark, x, y }: { mark: Mark | undefined; x: number; y: number }) {
  if (mark === undefined) return null;
  if (mark === 'unknown') {
    return (
      <text class="tick" x={x} y={y} text-anchor="middle">
        ?
      </text>
    );
  }
  const [tip, base] = mark === 'more' ? [y - 9, y] : [y, y - 9];
  return (
    <path class={`mark-${mark}`} d={`M${x - 5} ${base}H${x + 5}L${x} ${tip}Z`}>
      <title>{meanings[mark]}</title>
    </path>
  );
}
