// The heights of the picture: ranks, open with their tracks or closed to one row each, and below them the rows of ranks
// without tracks.
import type { OtherRow, RankTracks, TimelineModel, Track } from './decode';
import type { Selection } from './navigation';

export interface LaneRow {
  readonly kind: 'lane';
  readonly y: number;
  readonly height: number;
  readonly rank: RankTracks;
  readonly track: Track;
  readonly track_number: number;
  readonly lane: number;
  /** The track's name in its first row. */
  readonly label: string;
}
export interface RankRow {
  readonly kind: 'rank';
  readonly y: number;
  readonly height: number;
  readonly rank: RankTracks;
  readonly is_open: boolean;
}
export interface OthersRow {
  readonly kind: 'others';
  readonly y: number;
  readonly height: number;
  readonly row: OtherRow;
}
export type Row = LaneRow | RankRow | OthersRow;

export interface Layout {
  readonly rows: readonly Row[];
  readonly height: number;
  /** The heights where messages to and from a rank begin and end: the middle of its calls, or of its row. */
  readonly calls_y: ReadonlyMap<number, number>;
}

/** The part of a closed rank's row for its waits; its busiest stream has the rest. */
export const waits_part = 0.55;

const rank_height = 24;
const open_rank_height = 18;
const lane_height = 17;
const track_gap = 3;
const rank_gap = 6;
const others_height = 10;

export function layout_of(model: TimelineModel, open: ReadonlySet<number>): Layout {
  const rows: Row[] = [];
  const calls_y = new Map<number, number>();
  let y = 0;
  for (const rank of model.ranks) {
    const is_open = open.has(rank.rank);
    const height = is_open ? open_rank_height : rank_height;
    rows.push({ kind: 'rank', y, height, rank, is_open });
    calls_y.set(rank.rank, y + height / 2);
    y += height;
    if (is_open) {
      rank.tracks.forEach((track, track_number) => {
        if (track.lanes.length === 0) return;
        y += track_gap;
        for (let lane = 0; lane < track.lanes.length; ++lane) {
          rows.push({ kind: 'lane', y, height: lane_height, rank, track, track_number, lane, label: lane === 0 ? track.name : '' });
          if (track.kind === 'thread' && track_number === first_thread(rank)) calls_y.set(rank.rank, y + lane_height / 2);
          y += lane_height;
        }
      });
    }
    y += rank_gap;
  }
  for (const row of model.others) {
    rows.push({ kind: 'others', y, height: others_height, row });
    y += others_height;
  }
  return { rows, height: y, calls_y };
}

export const first_thread = (rank: RankTracks) => rank.tracks.findIndex((track) => track.kind === 'thread');

/** Returns the rows that touch the range between two heights. */
export function rows_between(layout: Layout, from: number, to: number): readonly Row[] {
  let low = 0;
  let high = layout.rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = layout.rows[middle] as Row;
    if (row.y + row.height > from) high = middle;
    else low = middle + 1;
  }
  let end = low;
  while (end < layout.rows.length && (layout.rows[end] as Row).y < to) ++end;
  return layout.rows.slice(low, end);
}

export const row_at = (layout: Layout, y: number): Row | undefined => rows_between(layout, y, y + 0.001).find((row) => row.y <= y);

/** Returns the track of a rank's waits, which a closed rank shows. */
export const waits_of = (rank: RankTracks): Track | undefined => rank.tracks.find((track) => track.kind === 'waits');

/** Returns the covered time of a track in ns: from its shares if it has them, else from its outer pieces. */
function busy(track: Track, run_ns: number): number {
  const { shares } = track;
  if (shares === undefined) return track.lanes[0]?.covered[track.lanes[0].begin.length] ?? 0;
  return (shares.sums.reduce((sum, column) => sum + (column[shares.bins] as number), 0) / 255) * (run_ns / shares.bins);
}

const main_streams = new WeakMap<RankTracks, Track | undefined>();

/** Returns the rank's busiest GPU stream. Cached, because it is needed every frame. */
export function main_stream_of(rank: RankTracks, run_ns: number): Track | undefined {
  if (!main_streams.has(rank)) {
    const streams = rank.tracks.filter((track) => track.kind === 'stream').sort((left, right) => busy(right, run_ns) - busy(left, run_ns));
    main_streams.set(rank, streams[0]);
  }
  return main_streams.get(rank);
}

/** Returns a piece's place: its lane, or its rank's row if that is closed. */
export function place_of(rows: readonly Row[], { rank, track_number, track, piece }: Selection): { y: number; height: number } | undefined {
  const lane = track.depth[piece];
  return (
    rows.find((row) => row.kind === 'lane' && row.rank === rank && row.track_number === track_number && row.lane === lane) ??
    rows.find((row) => row.kind === 'rank' && row.rank === rank && !row.is_open)
  );
}
