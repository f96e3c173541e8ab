// Moves through time, and from piece to piece. Must not know the document.
import type { Range, RankTracks, TimelineModel, Track } from './decode';
import { first_above } from './search';

/** The shortest useful view. */
const shortest_view_ns = 20;

/** Zooms: a larger `factor` shows more. `at` keeps its place; the view stays within `all`. */
export function zoomed(view: Range, all: Range, factor: number, at = (view.from + view.to) / 2): Range {
  const span = Math.min(all.to - all.from, Math.max(Math.min(shortest_view_ns, all.to - all.from), (view.to - view.from) * factor));
  const before = (at - view.from) / (view.to - view.from);
  return within({ from: at - span * before, to: at + span * (1 - before) }, all);
}

/** Pans. `by`: a share of the view; positive is to the right. */
export const panned = (view: Range, all: Range, by: number): Range => {
  const shift = (view.to - view.from) * by;
  return within({ from: view.from + shift, to: view.to + shift }, all);
};

/** Returns a view twice as long as the part, with the part in its middle. */
export const around = (part: Range, all: Range): Range => {
  const span = Math.max(part.to - part.from, shortest_view_ns / 2);
  const middle = (part.from + part.to) / 2;
  return within({ from: middle - span, to: middle + span }, all);
};

export function within(view: Range, all: Range): Range {
  const span = Math.min(view.to - view.from, all.to - all.from);
  const from = Math.min(Math.max(all.from, view.from), all.to - span);
  return { from, to: from + span };
}

/** One piece of a track of a rank. */
export interface Selection {
  readonly rank: RankTracks;
  readonly track: Track;
  readonly track_number: number;
  readonly piece: number;
}

export const range_of = ({ track, piece }: Selection): Range => ({ from: track.begin[piece] ?? 0, to: track.end[piece] ?? 0 });

/** Returns a lane's piece at a time; else one at most `tolerance` away. */
export function piece_at(track: Track, lane_number: number, time: number, tolerance: number): number | undefined {
  const lane = track.lanes[lane_number];
  if (lane === undefined || lane.begin.length === 0) return undefined;
  const next = first_above(lane.end, time);
  const distance = (at: number) => {
    const begin = lane.begin[at];
    return begin === undefined ? Infinity : Math.max(0, begin - time, time - (lane.end[at] as number));
  };
  const best = distance(next) <= distance(next - 1) ? next : next - 1;
  return distance(best) <= tolerance ? lane.piece[best] : undefined;
}

/** Returns the next or previous piece of the same lane. */
export function neighbour(selection: Selection, direction: 1 | -1): Selection | undefined {
  const lane = selection.track.lanes[selection.track.depth[selection.piece] ?? 0];
  if (lane === undefined) return undefined;
  const at = lane.piece.indexOf(selection.piece) + direction;
  const piece = lane.piece[at];
  return piece === undefined ? undefined : { ...selection, piece };
}

/** Search results: pieces by name, and ranks ("rank 3" or "3"). */
export interface Found {
  readonly ranks: readonly RankTracks[];
  /** Sorted by time; at most `most_found`. */
  readonly pieces: readonly Selection[];
  readonly is_cut: boolean;
}

export const most_found = 20_000;

export function find(model: TimelineModel, words: string): Found {
  const text = words.trim().toLowerCase();
  if (text === '') return { ranks: [], pieces: [], is_cut: false };
  const number = /^(?:rank\s+)?(\d+)$/.exec(text)?.[1];
  const ranks = number === undefined ? [] : model.ranks.filter((rank) => rank.rank === Number(number));
  const texts = model.texts.map((each) => each.toLowerCase().includes(text));
  const states = model.states.map((each) => each.replace(/_/g, ' ').includes(text));
  const pieces: Selection[] = [];
  let is_cut = false;
  const is_any = texts.includes(true) || states.includes(true);
  for (const rank of is_any ? model.ranks : []) {
    rank.tracks.forEach((track, track_number) => {
      for (let piece = 0; piece < track.count; ++piece) {
        const name = track.name_of?.[piece];
        // Waits have no name but their cause.
        if (name === undefined ? states[track.state[piece] as number] !== true : texts[name] !== true) continue;
        if (pieces.length === most_found) {
          is_cut = true;
          return;
        }
        pieces.push({ rank, track, track_number, piece });
      }
    });
  }
  pieces.sort((left, right) => (left.track.begin[left.piece] as number) - (right.track.begin[right.piece] as number));
  return { ranks, pieces, is_cut };
}

/** Returns the longest visible pieces, longest first. */
export function longest_in(ranks: readonly RankTracks[], view: Range, most: number): Selection[] {
  const found: { selection: Selection; length: number }[] = [];
  let least = -1;
  for (const rank of ranks) {
    rank.tracks.forEach((track, track_number) => {
      for (const lane of track.lanes) {
        for (let i = first_above(lane.end, view.from); i < lane.begin.length && (lane.begin[i] as number) < view.to; ++i) {
          const length = Math.min(view.to, lane.end[i] as number) - Math.max(view.from, lane.begin[i] as number);
          if (length <= least && found.length >= most) continue;
          found.push({ selection: { rank, track, track_number, piece: lane.piece[i] as number }, length });
          if (found.length >= most * 2) {
            found.sort((left, right) => right.length - left.length);
            found.length = most;
            least = found[most - 1]?.length ?? -1;
          }
        }
      }
    });
  }
  return found
    .sort((left, right) => right.length - left.length)
    .slice(0, most)
    .map(({ selection }) => selection);
}

/** Returns the shortest length of kept pieces if the rank lacks some; 0: all exist. */
export const shortest_of = (rank: RankTracks): number => rank.tracks.reduce((longest, track) => Math.max(longest, track.shortest), 0);
