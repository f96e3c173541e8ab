// Finds the piece at a place of the picture, and the one that a key leads to. Must not know the document.
import type { Range, RankTracks, TimelineModel } from './decode';
import { first_thread, main_stream_of, place_of, waits_of, waits_part, type LanePlace, type Layout, type Row } from './layout';
import { piece_at, range_of, type Selection } from './navigation';

/** Its tracks are rows of their own. */
const is_open_rank = (row: Row) => row.kind === 'rank' && row.is_open;

/** Returns the piece of a row at a time, or at most `tolerance` away. `y_in_row` selects the half of a closed rank. */
export function piece_in_row(row: Row | undefined, run_ns: number, time: number, tolerance: number, y_in_row = 0): Selection | undefined {
  if (row === undefined || row.kind === 'others' || is_open_rank(row)) return undefined;
  const lanes = row.kind === 'lane' ? row.lanes : lanes_of_closed(row.rank, run_ns, y_in_row < row.height * waits_part);
  // the last lane lies over the others
  for (const near of [0, tolerance]) {
    for (const { track, track_number, lane } of [...lanes].reverse()) {
      const piece = piece_at(track, lane, time, near);
      if (piece !== undefined) return { rank: row.rank, track, track_number, piece };
    }
  }
  return undefined;
}

/** Returns what a closed rank's row shows in its upper part, or below. */
function lanes_of_closed(rank: RankTracks, run_ns: number, is_upper: boolean): readonly LanePlace[] {
  const track = is_upper ? waits_of(rank) : main_stream_of(rank, run_ns);
  return track === undefined ? [] : [{ track, track_number: rank.tracks.indexOf(track), lane: is_upper ? 0 : track.lanes.length - 1 }];
}

/** Returns the innermost piece of a rank's first thread at a time. */
export function partner_at(model: TimelineModel, rank: number, time: number): Selection | undefined {
  const tracks = model.ranks.find((each) => each.rank === rank);
  const track_number = tracks === undefined ? -1 : first_thread(tracks);
  const track = tracks?.tracks[track_number];
  if (tracks === undefined || track === undefined) return undefined;
  for (let lane = track.lanes.length - 1; lane >= 0; --lane) {
    const piece = piece_at(track, lane, time, 0);
    if (piece !== undefined) return { rank: tracks, track, track_number, piece };
  }
  return undefined;
}

/** Returns a piece in the next row above or below that has one nearby. */
export function next_row(layout: Layout, view: Range, run_ns: number, chosen: Selection, direction: 1 | -1): Selection | undefined {
  const from = layout.rows.findIndex((row) => row === place_of(layout.rows, chosen));
  const { from: begin, to: end } = range_of(chosen);
  const time = (Math.max(begin, view.from) + Math.min(end, view.to)) / 2;
  for (let i = from + direction; i >= 0 && i < layout.rows.length; i += direction) {
    const piece = piece_in_row(layout.rows[i], run_ns, time, (view.to - view.from) / 2);
    if (piece !== undefined) return piece;
  }
  return undefined;
}

/** Returns the first piece of the visible rows. */
export function first_seen(layout: Layout, view: Range, run_ns: number, scroll: number): Selection | undefined {
  for (const row of layout.rows) {
    if (row.y + row.height < scroll) continue;
    const piece = piece_in_row(row, run_ns, view.from, view.to - view.from);
    if (piece !== undefined) return piece;
  }
  return undefined;
}
