// Messages by sender and receiver as a square of cells: by rank if that is visible, else by blocks of ranks.
import type { Matrix, MatrixCell } from '../generated/report';
import { bytes_text, percent_text, plural, share_of, speed_number, time_text } from '../format';

/** The measures with a scale of shades. */
export type MatrixMeasure = 'bytes' | 'time' | 'speed' | 'share';
/** The content of the cells. */
export type MatrixShown = MatrixMeasure | 'transport';

export const measures: readonly { measure: MatrixShown; name: string }[] = [
  { measure: 'bytes', name: 'Bytes' },
  { measure: 'time', name: 'Time moving' },
  { measure: 'speed', name: 'Bandwidth reached' },
  { measure: 'share', name: 'Share of what is possible' },
  { measure: 'transport', name: 'Transport' },
];

/** Returns the transports of the cells, most bytes first. */
export function transports_of(cells: readonly MatrixCell[]): string[] {
  const bytes = new Map<string, number>();
  for (const cell of cells) bytes.set(cell.transport, (bytes.get(cell.transport) ?? 0) + cell.bytes);
  return [...bytes].sort(([left, more], [right, less]) => less - more || (left < right ? -1 : 1)).map(([name]) => name);
}

/** Steps of the colour scale. */
export const shades = 8;
/** Limit of ranks per side; larger matrices are drawn as blocks. */
const most_ranks_drawn = 256;

export interface Picture {
  /** Number of rows and columns. */
  readonly size: number;
  readonly ranks_per_cell: number;
  readonly ranks: number;
  readonly cells: readonly MatrixCell[];
}

/** Returns a picture of all messages. `pairs_here`: all pairs have a row in this document. */
export function picture_of(matrix: Matrix, ranks: number, pairs_here: boolean): Picture {
  const size = Math.max(ranks, 1 + Math.max(0, ...matrix.pairs.flatMap((pair) => [pair.sender, pair.receiver])));
  if (matrix.blocks.length === 0 || (pairs_here && size <= most_ranks_drawn)) {
    return { size, ranks_per_cell: 1, ranks: size, cells: matrix.pairs };
  }
  return { size: Math.ceil(size / matrix.ranks_per_block), ranks_per_cell: matrix.ranks_per_block, ranks: size, cells: matrix.blocks };
}

/** Returns null if unknown. */
export function value_of(cell: MatrixCell, measure: MatrixMeasure): number | null {
  if (measure === 'bytes') return cell.bytes;
  // If no message's time is known, the sum is empty.
  if (measure === 'time') return cell.gb_per_s === null ? null : cell.moving_s;
  return measure === 'share' ? reached_share(cell) : cell.gb_per_s;
}

const value_texts: Record<MatrixMeasure, (value: number) => string> = {
  bytes: bytes_text,
  time: time_text,
  speed: (gb_per_s) => `${speed_number(gb_per_s)} GB/s`,
  share: percent_text,
};
export const value_text = (value: number, measure: MatrixMeasure) => value_texts[measure](value);

export interface Scale {
  readonly least: number;
  readonly most: number;
  /** Values differ so much that shades follow their ratio. */
  readonly is_logarithmic: boolean;
  /** Returns a shade from 0, the least, to shades - 1. */
  shade(value: number): number;
}

/** Returns undefined if nothing is known. */
export function scale_of(cells: readonly MatrixCell[], measure: MatrixMeasure): Scale | undefined {
  const values = cells.map((cell) => value_of(cell, measure)).filter((value) => value !== null);
  if (values.length === 0) return undefined;
  let [least, most] = [Infinity, 0];
  for (const value of values) {
    if (value > 0) least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least > most) least = most;
  const is_logarithmic = most > 30 * least;
  const place = (value: number) => {
    if (most <= least) return 1;
    if (is_logarithmic) return Math.log(Math.max(value, least) / least) / Math.log(most / least);
    return (value - least) / (most - least);
  };
  return { least, most, is_logarithmic, shade: (value) => Math.min(shades - 1, Math.max(0, Math.floor(place(value) * shades))) };
}

/** Returns "rank 3", or "ranks 6 to 8". */
export function who(cell: number, picture: Picture): string {
  const first = cell * picture.ranks_per_cell;
  const last = Math.min(picture.ranks, first + picture.ranks_per_cell) - 1;
  return first >= last ? `rank ${first}` : `ranks ${first} to ${last}`;
}

/** Returns 0 … 1; null if unknown. */
export const reached_share = (cell: MatrixCell) =>
  cell.gb_per_s === null || cell.possible_gb_per_s === null ? null : share_of(cell.gb_per_s, cell.possible_gb_per_s);

/** Describes a cell in a sentence; `cell` undefined: no messages. */
export function words_of_cell(sender: number, receiver: number, cell: MatrixCell | undefined, picture: Picture): string {
  const from_to = `${who(sender, picture)} → ${who(receiver, picture)}`;
  if (cell === undefined) return `${from_to}: no messages.`;
  const reached = reached_share(cell);
  const speed =
    cell.gb_per_s === null
      ? ', at a speed that is not known'
      : `, ${time_text(cell.moving_s)} moving, ${speed_number(cell.gb_per_s)} GB/s${reached === null ? '' : ` of ${speed_number(cell.possible_gb_per_s ?? 0)} possible`}`;
  return `${from_to}: ${bytes_text(cell.bytes)} in ${plural(cell.messages, 'message')}${speed}, mostly by ${cell.transport}.`;
}
