// Timelines in plain words, written as the analyser writes them, for tests of the models.
import type { Timeline, Track } from '../../../src/generated/timeline';
import { decode_timeline, type TimelineModel } from '../../../src/model/timeline/decode';

export const states = ['late_sender', 'late_receiver', 'wait_at_collective', 'wait_at_window', 'wire', 'packing_or_staging', 'gpu_not_ready', 'missing_progress', 'unattributed', 'hidden', 'waiting_call', 'other_call', 'range', 'kernel', 'copy', 'others_kernel', 'operation', 'transfer', 'synchronisation'];

export function integers(values: readonly number[]): string {
  const bytes: number[] = [];
  for (const value of values) {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
  return base64(bytes);
}
export const base64 = (bytes: readonly number[]) => btoa(bytes.map((byte) => String.fromCharCode(byte)).join(''));

export interface PieceWords {
  readonly begin: number;
  readonly end: number;
  readonly state: string;
  readonly name?: number;
  readonly bytes?: number;
  readonly peer?: number;
}

export function track_with(kind: string, pieces: readonly PieceWords[], parts: Partial<Track> = {}): Track {
  let before = 0;
  const values = pieces.flatMap((piece) => {
    const since = piece.begin - before;
    before = piece.begin;
    // waits have no name but their cause
    if (kind === 'waits') return [since, piece.end - piece.begin, states.indexOf(piece.state), piece.peer ?? 1, piece.end - piece.begin];
    return [since, piece.end - piece.begin, states.indexOf(piece.state), piece.name ?? 0, piece.bytes ?? 0, piece.peer ?? 1, 0];
  });
  const fields = kind === 'waits' ? ['begin', 'length', 'state', 'peer', 'exposed'] : ['begin', 'length', 'state', 'name', 'bytes', 'peer', 'site'];
  return { kind, name: `${kind} 0`, fields, shortest_ns: 0, pieces: pieces.length, data: integers(values), bins: 0, states: [], shares: '', ...parts };
}

export const timeline_with = (tracks: readonly Track[][], parts: Partial<Timeline> = {}): Timeline => ({
  schema: 'penstock-timeline-1',
  run_ns: 1000,
  steps_ns: null,
  states,
  texts: ['', 'MPI_Waitall', 'bulk', 'exchange'],
  windows: [],
  ranks: tracks.map((of_rank, rank) => ({ rank, why: null, run_ns: [0, 1000], detail_ns: [], tracks_left_out: 0, tracks: of_rank })),
  others: null,
  messages: { count: 0, left_out: 0, data: '' },
  ...parts,
});

export const model_with = (tracks: readonly Track[][], parts: Partial<Timeline> = {}): TimelineModel => decode_timeline(timeline_with(tracks, parts));
