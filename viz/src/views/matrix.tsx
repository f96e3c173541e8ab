// Messages by sender and receiver: a square of shades, a rank or a block of ranks per row and column, with its table.
import { useMemo, useState } from 'preact/hooks';
import type { Matrix, MatrixCell, Report } from '../generated/report';
import { plural, speed_number, time_unit } from '../format';
import { measures, picture_of, reached_share, scale_of, shades, transports_of, value_of, value_text, who, words_of_cell, type MatrixMeasure, type MatrixShown, type Picture, type Scale } from '../model/matrix';
import { Section, transport_fill, TransportLegend } from './parts';
import { Table, type Column } from './table';
import { use_width } from './use_width';

const margin = { top: 34, right: 6, bottom: 6, left: 58 };
const largest_cell_px = 44;
const MiB = 1024 * 1024;

/** Returns numbers for the sides: only as many as have room. */
function ticks(picture: Picture, cell_px: number): number[] {
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => step * cell_px >= 30) ?? 100;
  return Array.from({ length: Math.ceil(picture.size / every) }, (_, index) => index * every);
}

function HeatMap({ picture, fill }: { picture: Picture; fill: (cell: MatrixCell) => string }) {
  const { ref, width } = use_width();
  const [cursor, set_cursor] = useState<readonly [number, number]>();
  const cell_px = Math.min(largest_cell_px, (Math.min(width, 704) - margin.left - margin.right) / picture.size);
  const side_px = cell_px * picture.size;
  const by_place = useMemo(() => new Map(picture.cells.map((cell) => [cell.sender * picture.size + cell.receiver, cell])), [picture]);
  const gap_px = cell_px > 6 ? 1 : 0;
  const squares = useMemo(
    () =>
      picture.cells.map((cell) => (
        <rect
          key={`${cell.sender} ${cell.receiver}`}
          class={fill(cell)}
          x={margin.left + cell.receiver * cell_px}
          y={margin.top + cell.sender * cell_px}
          width={cell_px - gap_px}
          height={cell_px - gap_px}
        />
      )),
    [picture, fill, cell_px, gap_px],
  );
  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const receiver = Math.floor((event.clientX - box.left - margin.left) / cell_px);
    const sender = Math.floor((event.clientY - box.top - margin.top) / cell_px);
    const is_in = (place: number) => place >= 0 && place < picture.size;
    set_cursor(is_in(sender) && is_in(receiver) ? [sender, receiver] : undefined);
  };
  const steps: Record<string, readonly [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return set_cursor(undefined);
    const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const move = (from: number, by: number) => Math.min(picture.size - 1, Math.max(0, from + by));
    set_cursor(cursor === undefined ? [0, 0] : [move(cursor[0], step[0]), move(cursor[1], step[1])]);
  };
  return (
    <figure class="chart matrix" ref={ref}>
      <svg
        width={margin.left + side_px + margin.right}
        height={margin.top + side_px + margin.bottom}
        viewBox={`0 0 ${margin.left + side_px + margin.right} ${margin.top + side_px + margin.bottom}`}
        role="img"
        aria-label="Messages by sender (rows) and receiver (columns). The table below has the same figures; arrow keys go from cell to cell."
        tabindex={0}
        onKeyDown={press}
        onMouseMove={at}
        onMouseLeave={() => set_cursor(undefined)}
      >
        <defs>
          <pattern id="heat-unknown" width="4" height="4" patternUnits="userSpaceOnUse">
            <path class="hatch" d="M0 4L4 0" />
          </pattern>
        </defs>
        <rect class="frame" x={margin.left - 0.5} y={margin.top - 0.5} width={side_px + 1} height={side_px + 1} />
        {ticks(picture, cell_px).map((tick) => (
          <g key={tick}>
            <text class="tick" x={margin.left + (tick + 0.5) * cell_px} y={margin.top - 6} text-anchor="middle">
              {tick * picture.ranks_per_cell}
            </text>
            <text class="tick" x={margin.left - 6} y={margin.top + (tick + 0.5) * cell_px} dy="0.32em" text-anchor="end">
              {tick * picture.ranks_per_cell}
            </text>
          </g>
        ))}
        <text class="tick" x={margin.left} y={11}>
          to rank →
        </text>
        <text class="tick" x={margin.left - 6} y={margin.top - 6} text-anchor="end">
          from ↓
        </text>
        {squares}
        {cursor === undefined ? null : (
          <rect class="cell-cursor" x={margin.left + cursor[1] * cell_px - 1} y={margin.top + cursor[0] * cell_px - 1} width={cell_px + 1} height={cell_px + 1} />
        )}
      </svg>
      <p class="told" aria-live="polite">
        {cursor === undefined ? 'Point at a cell.' : words_of_cell(cursor[0], cursor[1], by_place.get(cursor[0] * picture.size + cursor[1]), picture)}
      </p>
    </figure>
  );
}

function ScaleLegend({ scale, measure, has_unknown }: { scale: Scale | undefined; measure: MatrixMeasure; has_unknown: boolean }) {
  return (
    <p class="scale">
      {scale === undefined ? (
        'Not known.'
      ) : (
        <>
          {value_text(scale.least, measure)}
          <svg viewBox="0 0 80 10" preserveAspectRatio="none" aria-hidden="true">
            {Array.from({ length: shades }, (_, shade) => (
              <rect key={shade} class={`heat-${shade}`} x={shade * 10} width={10} height={10} />
            ))}
          </svg>
          {value_text(scale.most, measure)}
          {scale.is_logarithmic ? ', each shade so many times the one before' : ''}
          {has_unknown ? '; hatched: not known' : ''}
        </>
      )}
    </p>
  );
}

function MatrixOf({ matrix, report }: { matrix: Matrix; report: Report }) {
  const [shown, set_shown] = useState<MatrixShown>('bytes');
  const left_out = matrix.pairs_without_row + (report.left_out?.['matrix.pairs'] ?? 0);
  const picture = useMemo(() => picture_of(matrix, report.job.ranks, left_out === 0), [matrix, report.job.ranks, left_out]);
  const transports = useMemo(() => transports_of(picture.cells), [picture]);
  const scale = useMemo(() => (shown === 'transport' ? undefined : scale_of(picture.cells, shown)), [picture, shown]);
  const fill = useMemo(() => {
    if (shown === 'transport') return (cell: MatrixCell) => transport_fill(cell.transport);
    return (cell: MatrixCell) => {
      const value = value_of(cell, shown);
      return `heat-${value === null || scale === undefined ? 'unknown' : scale.shade(value)}`;
    };
  }, [shown, scale]);
  const unit = time_unit(Math.max(...matrix.pairs.map((pair) => pair.moving_s)));
  const percent = (cell: MatrixCell) => {
    const share = reached_share(cell);
    return share === null ? null : share * 100;
  };
  const columns: Column<MatrixCell>[] = [
    { key: 'sender', title: 'From rank', decimals: 0, is_name: true, value: (row) => row.sender },
    { key: 'receiver', title: 'to rank', decimals: 0, is_name: true, value: (row) => row.receiver },
    { key: 'messages', title: 'messages', decimals: 0, value: (row) => row.messages },
    { key: 'bytes', title: 'payload', unit: 'MiB', decimals: 3, value: (row) => row.bytes / MiB },
    { key: 'time', title: 'moving', unit: unit.name, decimals: 3, meaning: 'Sum over messages, from when both sides were ready', value: (row) => (row.gb_per_s === null ? null : row.moving_s * unit.per_second) },
    { key: 'speed', title: 'reached', unit: 'GB/s', decimals: 2, number_text: speed_number, meaning: 'While they moved', value: (row) => row.gb_per_s },
    { key: 'possible', title: 'possible', unit: 'GB/s', decimals: 2, number_text: speed_number, meaning: 'If each message had been as fast as the fastest 5 % of this size between such buffers in this run', value: (row) => row.possible_gb_per_s },
    { key: 'share', title: 'reached', unit: '%', decimals: 0, meaning: 'Of what was possible', value: percent },
    { key: 'transport', title: 'transport', meaning: 'The one that carried most of the bytes', value: (row) => row.transport },
  ];
  return (
    <>
      <fieldset class="choices">
        <legend>Cells show</legend>
        {measures.map(({ measure: each, name }) => (
          <label key={each}>
            <input type="radio" name="matrix-measure" checked={shown === each} onChange={() => set_shown(each)} /> {name}
          </label>
        ))}
      </fieldset>
      {picture.ranks_per_cell > 1 ? <p class="note">Each cell holds the messages of {plural(picture.ranks_per_cell, 'rank')} to as many: {who(0, picture)} are the first row.</p> : null}
      {shown === 'transport' ? (
        <TransportLegend transports={transports} />
      ) : (
        <ScaleLegend scale={scale} measure={shown} has_unknown={picture.cells.some((cell) => value_of(cell, shown) === null)} />
      )}
      <HeatMap picture={picture} fill={fill} />
      <Table caption="Messages by sender and receiver" search="Find ranks or transports" rows={matrix.pairs} columns={columns} left_out={report.left_out?.['matrix.pairs']} />
      {matrix.pairs_without_row > 0 ? <p class="note">{plural(matrix.pairs_without_row, 'pair')} with fewer bytes have no row of their own; the picture has them, too.</p> : null}
    </>
  );
}

export function MatrixView({ report }: { report: Report }) {
  if (report.matrix === null) return null;
  return (
    <Section id="matrix" title="Who sends to whom" intro="Messages between two ranks; what collective calls move stands among the collectives.">
      <MatrixOf matrix={report.matrix} report={report} />
    </Section>
  );
}
