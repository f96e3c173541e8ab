// A view of the timeline as the fragment of an address, and back: time, open ranks, and how tracks are shown.
import type { Range, TimelineModel } from './decode';
import type { Display, Shown } from './display';

export interface LinkedView {
  readonly view: Range;
  readonly display: Display;
}

/** Begins the fragment; `#timeline` alone leads to the section. */
const prefix = '#timeline?';
const all_shown: readonly Shown[] = ['lanes', 'row', 'hidden'];

/** Returns "0-3,7". */
function ranges_text(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((left, right) => left - right);
  const ranges: [number, number][] = [];
  for (const number of sorted) {
    const last = ranges[ranges.length - 1];
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

function numbers_in(text: string, allowed: readonly number[]): number[] {
  const ranges = text.split(',').flatMap((each) => {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(each) ?? [];
    return from === undefined ? [] : [[Number(from), Number(to ?? from)] as const];
  });
  return allowed.filter((number) => ranges.some(([from, to]) => number >= from && number <= to));
}

export function fragment_of({ view, display }: LinkedView): string {
  const fields = [`ns=${Math.round(view.from)}-${Math.round(view.to)}`, `open=${ranges_text([...display.open])}`];
  for (const shown of all_shown) {
    const names = [...display.shown].filter(([, each]) => each === shown).map(([name]) => encodeURIComponent(name));
    if (names.length > 0) fields.push(`${shown}=${names.join(',')}`);
  }
  return prefix + fields.join('&');
}

/** Returns undefined if the fragment holds no view, or none of this run. */
export function view_in(fragment: string, model: TimelineModel): LinkedView | undefined {
  if (!fragment.startsWith(prefix)) return undefined;
  const fields = new Map(fragment.slice(prefix.length).split('&').map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)]));
  const [, from, to] = /^(\d+)-(\d+)$/.exec(fields.get('ns') ?? '') ?? [];
  const view = { from: Math.max(model.run.from, Number(from)), to: Math.min(model.run.to, Number(to)) };
  if (!(view.from < view.to)) return undefined;
  const shown = all_shown.flatMap((each) => (fields.get(each) ?? '').split(',').filter((name) => name !== '').map((name) => [decoded(name), each] as const));
  return { view, display: { open: new Set(numbers_in(fields.get('open') ?? '', model.ranks.map(({ rank }) => rank))), shown: new Map(shown) } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
