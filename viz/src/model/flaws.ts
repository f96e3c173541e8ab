// Says in words what is wrong with the files of a recording.
import type { Flaw } from '../generated/report';

/** Returns "rank-3.penstock, byte 4096: …", without the folder. */
export function flaw_text({ file, offset_bytes, what }: Flaw): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return `${name}${offset_bytes === null ? '' : `, byte ${offset_bytes}`}: ${what}`;
}

/** Returns those that leave figures without records, in words: one is said once. */
export const lost_records = (flaws: readonly Flaw[]): string[] => [...new Set(flaws.filter((flaw) => flaw.loses_records).map(flaw_text))];
