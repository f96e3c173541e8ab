// The flame graph of exposed time: call paths that begin alike share their boxes. Below the functions are the calls of
// MPI, below these the causes of waiting.
import type { CallPath } from '../generated/report';
import { cause_name, causes, sum_of, type Cause, type SecondsByCause } from './causes';
import { words_in } from './table';

export interface FlameBox {
  readonly kind: 'all' | 'function' | 'call' | Cause;
  /** A function or a cause; where the function is not known, its place. */
  readonly name: string;
  /** Where its caller calls it; empty where that is not known. */
  readonly at: string;
  /** From the first box of its row on, as wide as all boxes below it together. */
  readonly begin_s: number;
  readonly time_s: number;
  readonly by_cause_s: SecondsByCause;
  readonly depth: number;
  readonly parent: FlameBox | undefined;
  /** The widest first; causes in their own order. */
  readonly children: readonly FlameBox[];
  /** Row of the report's call sites. */
  readonly call_site: number | undefined;
}

type Growing = { -readonly [Key in keyof Omit<FlameBox, 'children' | 'parent'>]: FlameBox[Key] } & { parent: Growing | undefined; children: Growing[]; inner: Map<string, Growing> };

const no_time = () => Object.fromEntries(causes.map((cause) => [cause, 0])) as unknown as SecondsByCause;

function box(kind: FlameBox['kind'], name: string, at: string, parent?: Growing): Growing {
  return { kind, name, at, begin_s: 0, time_s: 0, by_cause_s: no_time(), depth: parent === undefined ? 0 : parent.depth + 1, parent, children: [], call_site: undefined, inner: new Map() };
}

function inner(parent: Growing, kind: FlameBox['kind'], name: string, at: string): Growing {
  const key = `${kind}\n${name}\n${at}`;
  const known = parent.inner.get(key);
  if (known !== undefined) return known;
  const made = box(kind, name, at, parent);
  parent.inner.set(key, made);
  return made;
}

function add(to: Growing, times: SecondsByCause) {
  to.time_s += sum_of(times);
  for (const cause of causes) to.by_cause_s[cause] += times[cause];
}

/** A frame is "function (place)", where the place is that of the call in it, or a place alone. */
function parts_of(frame: string): { name: string; calls_at: string } {
  const [, name, place] = /^(.*\S) \(([^()]*)\)$/.exec(frame) ?? [];
  return name === undefined || place === undefined ? { name: frame, calls_at: '' } : { name, calls_at: place };
}

function finish(from: Growing, begin_s: number) {
  from.begin_s = begin_s;
  from.children = [...from.inner.values()].sort((left, right) => right.time_s - left.time_s);
  if (from.kind === 'call') {
    from.children = causes.filter((cause) => from.by_cause_s[cause] > 0).map((cause) => {
      const piece = box(cause, cause_name(cause), '', from);
      piece.time_s = from.by_cause_s[cause];
      piece.by_cause_s[cause] = piece.time_s;
      return piece;
    });
  }
  let next_s = begin_s;
  for (const child of from.children) {
    finish(child, next_s);
    next_s += child.time_s;
  }
}

/** Returns the box of all paths, with those below it. */
export function flame_of(paths: readonly CallPath[]): FlameBox {
  const all = box('all', 'all', '');
  for (const path of paths) {
    if (sum_of(path.by_cause_s) === 0) continue;
    add(all, path.by_cause_s);
    let place: Growing = all;
    let at = '';
    for (const frame of [...path.frames].reverse()) {
      const { name, calls_at } = parts_of(frame);
      place = inner(place, 'function', name, at);
      add(place, path.by_cause_s);
      at = calls_at;
    }
    place = inner(place, 'call', path.mpi_function, at);
    place.call_site = path.call_site;
    add(place, path.by_cause_s);
  }
  finish(all, 0);
  return all;
}

/** Whether calls were recorded with their call sites alone. */
export const is_without_paths = (paths: readonly CallPath[]) =>
  paths.every((path) => path.frames.length === 1) && paths.some((path) => parts_of(path.frames[0] ?? '').name !== 'main');

/** The box and all below it, from top to bottom, of those at least `least_s` wide. */
export function boxes_below(top: FlameBox, least_s: number): FlameBox[] {
  return [top, ...top.children.filter((child) => child.time_s >= least_s).flatMap((child) => boxes_below(child, least_s))];
}

export function ancestors_of(of: FlameBox): FlameBox[] {
  return of.parent === undefined ? [] : [...ancestors_of(of.parent), of.parent];
}

export const depth_below = (top: FlameBox): number => Math.max(top.depth, ...top.children.map(depth_below));

/** Whether all words of a search (`words_in`) are in what the box says. */
export function is_found(which: FlameBox, words: readonly string[]): boolean {
  const text = `${which.name} ${which.at}`.toLowerCase();
  return which.kind !== 'all' && words.length > 0 && words.every((word) => text.includes(word));
}

/** The time of the boxes that are found; what lies in one of them counts once. */
export function found_s(top: FlameBox, search: string): number {
  const words = words_in(search);
  const found_below = (box: FlameBox): number =>
    is_found(box, words) ? box.time_s : box.children.reduce((sum, child) => sum + found_below(child), 0);
  return found_below(top);
}

/** Where an arrow key leads: up to the caller, down to the widest called, to the sides within the row. */
export function neighbour(of: FlameBox, key: string, within: FlameBox): FlameBox {
  if (key === 'ArrowUp') return of.parent ?? of;
  if (key === 'ArrowDown') return of.children[0] ?? of;
  const row = boxes_below(within, 0).filter((each) => each.depth === of.depth);
  return row[row.indexOf(of) + (key === 'ArrowLeft' ? -1 : 1)] ?? of;
}
