// Messages by size, and how much of the possible speed they reach.
import type { Transport } from '../generated/report';

export interface SizeClass {
  readonly limit_bytes: number | null;
  readonly messages: number;
  readonly bytes: number;
  /** Messages by transport, in the order of `transports`. */
  readonly by_transport: readonly number[];
}

export interface Histogram {
  readonly transports: readonly string[];
  readonly sizes: readonly SizeClass[];
}

/** Returns the program's messages, without parts of other calls: sizes, smallest first, and transports by their messages, most first. */
export function histogram(classes: readonly Transport[]): Histogram {
  const of_transport = new Map<string, number>();
  const of_size = new Map<number | null, Transport[]>();
  for (const each of classes.filter((one) => one.parts === 0)) {
    of_transport.set(each.transport, (of_transport.get(each.transport) ?? 0) + each.messages);
    of_size.set(each.size_limit_bytes, [...(of_size.get(each.size_limit_bytes) ?? []), each]);
  }
  const transports = [...of_transport].sort((left, right) => right[1] - left[1]).map(([name]) => name);
  const sizes = [...of_size]
    .sort(([left], [right]) => (left ?? Infinity) - (right ?? Infinity))
    .map(([limit_bytes, group]) => {
      const sum = (figure: (each: Transport) => number) => group.reduce((total, each) => total + figure(each), 0);
      return {
        limit_bytes,
        messages: sum((each) => each.messages),
        bytes: sum((each) => each.bytes),
        by_transport: transports.map((name) => sum((each) => (each.transport === name ? each.messages : 0))),
      };
    });
  return { transports, sizes };
}

/** Returns true if lists of integers travelled as bitmaps: other messages cannot reach their speed. */
export function went_packed(of: Transport): boolean {
  return of.wire_bytes !== of.bytes;
}

/** Returns the best speed of any transport between the same kinds of buffers at that size in this run; null if no speed
 * is known. */
export function possible_gb_per_s(of: Transport, classes: readonly Transport[]): number | null {
  const speeds = classes
    .filter((each) => went_packed(each) === went_packed(of) && each.source === of.source && each.destination === of.destination && each.size_limit_bytes === of.size_limit_bytes)
    .flatMap((each) => [each.best_gb_per_s, each.median_gb_per_s])
    .filter((speed) => speed !== null);
  return speeds.length === 0 ? null : Math.max(...speeds);
}
