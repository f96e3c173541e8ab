// Pieces, messages and times in words.
import { bytes_text, time_text } from '../../format';
import { cause_meaning, cause_name, causes, type Cause } from '../causes';
import type { Messages, Range, TimelineModel, Track } from './decode';
import type { Selection } from './navigation';

export const ns_text = (time_ns: number) => (time_ns < 1000 ? `${time_ns.toFixed(0)} ns` : time_text(time_ns * 1e-9));

/** Returns a moment, precise enough for steps of `step_ns`, in the unit that suits `largest_ns`. */
export function moment_text(time_ns: number, step_ns: number, largest_ns = time_ns): string {
  const [per, unit] = largest_ns >= 1e9 || step_ns >= 1e8 ? [1e9, 's'] : largest_ns >= 1e6 || step_ns >= 1e5 ? [1e6, 'ms'] : [1e3, 'µs'];
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(Math.max(step_ns, 1) / per) - 1e-9)));
  return `${(time_ns / per).toFixed(decimals)} ${unit}`;
}

/** Returns begin and end in one unit. */
export function range_text({ from, to }: Range): string {
  const step_ns = (to - from) / 1000;
  return `${moment_text(from, step_ns, to)} to ${moment_text(to, step_ns)}`;
}

const state_names: Record<string, string> = {
  hidden: 'wait behind kernels',
  waiting_call: 'MPI call that may wait',
  other_call: 'other MPI call',
  range: 'NVTX range',
  kernel: 'kernel',
  copy: 'copy or memset',
  others_kernel: "kernel of Penstock's",
  operation: 'operation in flight',
  transfer: 'transfer',
  synchronisation: 'CUDA synchronisation',
};

export const cause_of = (state: string): Cause | undefined => causes.find((cause) => cause === state);

export function state_name(state: string): string {
  const cause = cause_of(state);
  return cause === undefined ? (state_names[state] ?? state.replace(/_/g, ' ')) : cause_name(cause);
}

export function name_of(model: TimelineModel, track: Track, piece: number): string {
  const state = state_name(model.states[track.state[piece] ?? 0] ?? '');
  const name = track.name_of === undefined ? state : (model.texts[track.name_of[piece] ?? 0] ?? '');
  return name === '' ? state : name;
}

export interface Fact {
  readonly name: string;
  readonly text: string;
}

const peer_text = (peer: number | undefined) => (peer === undefined || peer === 1 ? undefined : peer === 0 ? 'any' : `rank ${peer - 2}`);

/** Returns all facts of a piece except its name. */
export function facts_of(model: TimelineModel, { rank, track, piece }: Selection): Fact[] {
  const begin = track.begin[piece] ?? 0;
  const length = (track.end[piece] ?? 0) - begin;
  const state = model.states[track.state[piece] ?? 0] ?? '';
  const cause = cause_of(state);
  const exposed = track.exposed?.[piece];
  const bytes = track.bytes?.[piece] ?? 0;
  const site = track.site === undefined ? '' : (model.texts[track.site[piece] ?? 0] ?? '');
  const peer = peer_text(track.peer?.[piece]);
  const facts: (Fact | undefined)[] = [
    { name: 'Where', text: `rank ${rank.rank}, ${track.name}` },
    { name: 'What', text: cause === undefined ? state_name(state) : `${cause_name(cause)}: ${cause_meaning(cause)}` },
    { name: 'Begins', text: moment_text(begin, 1) },
    { name: 'Takes', text: ns_text(length) },
    exposed === undefined ? undefined : { name: 'Exposed', text: ns_text(exposed) },
    peer === undefined ? undefined : { name: 'With', text: peer },
    bytes === 0 ? undefined : { name: 'Payload', text: bytes_text(bytes) },
    site === '' ? undefined : { name: 'Called at', text: site },
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** Describes a piece in a sentence. */
export const sentence_of = (model: TimelineModel, selection: Selection): string =>
  `${name_of(model, selection.track, selection.piece)}, ${facts_of(model, selection)
    .filter((fact) => !['What', 'Called at'].includes(fact.name))
    .map((fact) => (fact.name === 'Where' ? fact.text : `${fact.name.toLowerCase()} ${fact.text}`))
    .join(', ')}`;

/** Returns the numbers of messages to and from a rank in flight during a piece; those to it first. */
export function messages_during(messages: Messages, rank: number, begin: number, end: number, most: number): number[] {
  const arrived: number[] = [];
  const sent: number[] = [];
  for (let i = 0; i < messages.count; ++i) {
    if ((messages.post[i] as number) > end) break;
    if ((messages.complete[i] as number) < begin) continue;
    if (messages.receiver[i] === rank && arrived.length < most) arrived.push(i);
    else if (messages.sender[i] === rank && sent.length < most) sent.push(i);
  }
  return [...arrived, ...sent].slice(0, most);
}

/** Shortens a track's name. Its end stays, because it distinguishes tracks: "stream 3", "transfers (2)". */
export function shortened(name: string, characters: number): string {
  if (name.length <= characters) return name;
  const end = /\s\(?\d+\)?$/.exec(name)?.[0] ?? '';
  return `${name.slice(0, Math.max(1, characters - 1 - end.length))}…${end}`;
}
