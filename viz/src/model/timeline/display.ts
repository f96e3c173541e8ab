// Which ranks are open, and how their tracks are shown: each lane of its own, folded into one row, or not at all. A GPU's
// streams are one group, which folds into one row. Ranks show tracks of the same name alike. Must not know the document.
import type { RankTracks, TimelineModel, Track } from './decode';

/** How a group of tracks is shown. */
export type Shown = 'lanes' | 'row' | 'hidden';

export interface Display {
  readonly open: ReadonlySet<number>;
  /** By the groups' names; those that are missing are shown as `shown_at_first` says. */
  readonly shown: ReadonlyMap<string, Shown>;
}

/** Tracks of a rank that are shown and folded together. */
export interface Group {
  readonly name: string;
  /** Numbers of the rank's tracks. */
  readonly tracks: readonly number[];
}

/** More streams of one GPU than this are one row at first. */
const most_streams = 3;

/** Returns true if nothing happens on the track. */
const is_empty = (track: Track) => track.lanes.length === 0;

/** Returns "GPU 0 streams" for "GPU 0 stream 13". */
const streams_name = (stream: string) => stream.replace(/ ?stream \d+$/, ' streams').trim();

const groups_by_rank = new WeakMap<RankTracks, readonly Group[]>();

/** Returns the rank's groups in the order of its tracks, without empty tracks. Cached, because every frame needs them. */
export function groups_of(rank: RankTracks): readonly Group[] {
  const known = groups_by_rank.get(rank);
  if (known !== undefined) return known;
  const groups = new Map<string, number[]>();
  const streams = new Map<string, number>();
  for (const track of rank.tracks) {
    if (track.kind === 'stream' && !is_empty(track)) streams.set(streams_name(track.name), (streams.get(streams_name(track.name)) ?? 0) + 1);
  }
  rank.tracks.forEach((track, number) => {
    if (is_empty(track)) return;
    const is_one_of_many = track.kind === 'stream' && (streams.get(streams_name(track.name)) ?? 0) > 1;
    const name = is_one_of_many ? streams_name(track.name) : track.name;
    groups.set(name, [...(groups.get(name) ?? []), number]);
  });
  const found = [...groups].map(([name, tracks]) => ({ name, tracks }));
  groups_by_rank.set(rank, found);
  return found;
}

export const shown_at_first = (group: Group): Shown => (group.tracks.length > most_streams ? 'row' : 'lanes');

export const shown_of = (display: Display, group: Group): Shown => display.shown.get(group.name) ?? shown_at_first(group);

/** Returns true if one row differs from lanes. */
export const can_fold = (rank: RankTracks, { tracks }: Group): boolean => tracks.length > 1 || tracks.some((number) => (rank.tracks[number]?.lanes.length ?? 0) > 1);

/** A group as readers choose for all ranks. */
export interface Choice {
  readonly name: string;
  readonly first: Group;
  readonly can_fold: boolean;
}

/** Returns the groups of all ranks, those of the same name once, in their order. */
export function choices_of(model: TimelineModel): Choice[] {
  const choices = new Map<string, Choice>();
  for (const rank of model.ranks) {
    for (const group of groups_of(rank)) {
      const before = choices.get(group.name);
      const is_larger = before === undefined || group.tracks.length > before.first.tracks.length;
      choices.set(group.name, { name: group.name, first: is_larger ? group : before.first, can_fold: before?.can_fold === true || can_fold(rank, group) });
    }
  }
  return [...choices.values()];
}

export const with_shown = (display: Display, name: string, shown: Shown): Display => ({ ...display, shown: new Map([...display.shown, [name, shown]]) });

/** Folds a group, or unfolds it. */
export const with_folded = (display: Display, group: Group): Display => with_shown(display, group.name, shown_of(display, group) === 'row' ? 'lanes' : 'row');

export const with_open = (display: Display, ranks: Iterable<number>): Display => ({ ...display, open: new Set(ranks) });

export function with_toggled(display: Display, rank: number): Display {
  const open = new Set(display.open);
  if (!open.delete(rank)) open.add(rank);
  return { ...display, open };
}

/** Ranks of jobs up to this size are open at first. */
const most_open = 4;

export const first_display = (model: TimelineModel, is_compact = false): Display => ({
  open: new Set(model.ranks.length <= most_open && !is_compact ? model.ranks.map((rank) => rank.rank) : []),
  shown: new Map(),
});
