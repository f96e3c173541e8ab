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

/** Tracks of a rank that are shown and folded together: the streams of a GPU, or what would overlap in one track. */
export interface Group {
  readonly name: string;
  /** Numbers of the rank's tracks. */
  readonly tracks: readonly number[];
  /** How many streams these are; 1 for other groups. */
  readonly streams: number;
}

/** More streams of one GPU than this are one row at first. */
const most_streams = 3;

/** Returns true if nothing happens on the track. */
const is_empty = (track: Track) => track.lanes.length === 0;

/** Returns "transfers" for "transfers (2)", which holds what overlaps with the first. */
const base_name = (name: string) => name.replace(/ \(\d+\)$/, '');
/** Returns "GPU 0 streams" for "GPU 0 stream 13". */
const streams_name = (stream: string) => stream.replace(/ ?stream \d+$/, ' streams').trim();

const groups_by_rank = new WeakMap<RankTracks, readonly Group[]>();

/** Returns the rank's groups in the order of its tracks, without empty tracks. Cached, because every frame needs them. */
export function groups_of(rank: RankTracks): readonly Group[] {
  const known = groups_by_rank.get(rank);
  if (known !== undefined) return known;
  const streams = new Map<string, Set<string>>();
  const groups = new Map<string, { tracks: number[]; members: Set<string> }>();
  const used = rank.tracks.flatMap((track, number) => (is_empty(track) ? [] : [{ number, name: base_name(track.name), is_stream: track.kind === 'stream' }]));
  for (const { name, is_stream } of used) if (is_stream) streams.set(streams_name(name), new Set([...(streams.get(streams_name(name)) ?? []), name]));
  for (const { number, name, is_stream } of used) {
    const is_one_of_many = is_stream && (streams.get(streams_name(name))?.size ?? 0) > 1;
    const key = is_one_of_many ? streams_name(name) : name;
    const group = groups.get(key) ?? { tracks: [], members: new Set<string>() };
    group.tracks.push(number);
    group.members.add(name);
    groups.set(key, group);
  }
  const found = [...groups].map(([name, { tracks, members }]) => ({ name, tracks, streams: members.size }));
  groups_by_rank.set(rank, found);
  return found;
}

export const shown_at_first = (group: Group): Shown => (group.streams > most_streams ? 'row' : 'lanes');

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
      const is_larger = before === undefined || group.streams > before.first.streams;
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
