// The heights of the picture: ranks, open with their tracks or closed to one row each, and below them the rows of ranks
// without tracks.
import type { OtherRow, RankTracks, TimelineModel, Track } from './decode';
import { groups_of, shown_of, type Display, type Group, type Shown } from './display';
import type { Selection } from './navigation';

/** A lane of a track of a rank. */
export interface LanePlace {
  readonly track: Track;
  readonly track_number: number;
  readonly lane: number;
}
export interface LaneRow {
  readonly kind: 'lane';
  readonly y: number;
  readonly height: number;
  readonly rank: RankTracks;
  readonly group: Group;
  /** Of a folded group all lanes; later ones lie over earlier ones. */
  readonly lanes: readonly LanePlace[];
  readonly is_folded: boolean;
  /** The track's or the group's name, in its first row. */
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

/** Returns the rows of a group: of each track its lanes, or one for all of them, with the busiest track on top. */
function rows_of(rank: RankTracks, group: Group, shown: Shown, run_ns: number): { lanes: LanePlace[]; label: string }[] {
  if (shown === 'hidden') return [];
  const busy_of = (track_number: number) => busy(rank.tracks[track_number] as Track, run_ns);
  const tracks = shown === 'row' ? [...group.tracks].sort((left, right) => busy_of(left) - busy_of(right)) : group.tracks;
  const rows = tracks.flatMap((track_number) => {
    const track = rank.tracks[track_number] as Track;
    return track.lanes.map((_, lane) => ({ lanes: [{ track, track_number, lane }], label: lane === 0 ? track.name : '' }));
  });
  if (shown === 'lanes') return rows;
  const label = group.streams === 1 ? group.name : `${group.name} (${group.streams})`;
  return [{ lanes: rows.flatMap((row) => row.lanes), label }];
}

export function layout_of(model: TimelineModel, display: Display): Layout {
  const rows: Row[] = [];
  const calls_y = new Map<number, number>();
  let y = 0;
  for (const rank of model.ranks) {
    const is_open = display.open.has(rank.rank);
    const height = is_open ? open_rank_height : rank_height;
    rows.push({ kind: 'rank', y, height, rank, is_open });
    calls_y.set(rank.rank, y + height / 2);
    y += height;
    for (const group of is_open ? groups_of(rank) : []) {
      const shown = shown_of(display, group);
      for (const { lanes, label } of rows_of(rank, group, shown, model.run.to)) {
        if (label !== '') y += track_gap;
        rows.push({ kind: 'lane', y, height: lane_height, rank, group, lanes, is_folded: shown === 'row', label });
        if (lanes.some(({ track_number }) => track_number === first_thread(rank))) calls_y.set(rank.rank, y + lane_height / 2);
        y += lane_height;
      }
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
  const depth = track.depth[piece];
  return (
    rows.find((row) => row.kind === 'lane' && row.rank === rank && row.lanes.some((each) => each.track_number === track_number && each.lane === depth)) ??
    rows.find((row) => row.kind === 'rank' && row.rank === rank && !row.is_open)
  );
}
