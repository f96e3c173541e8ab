// What `penstock report --json` really writes keeps to the schema, and has no key that the schema does not name.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import { expect, it } from 'vitest';
import { golden, report_of } from './golden';

type Schema = Record<string, unknown>;
const schema = JSON.parse(readFileSync(new URL('../../../analysis/report.schema.json', import.meta.url), 'utf8')) as Schema;

/** The same, but objects have no other keys than those named. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const copy: Schema = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  return copy['type'] === 'object' && 'properties' in copy ? { additionalProperties: false, ...copy } : copy;
}

const validate = new Ajv({ allErrors: true }).compile(closed(schema) as Schema);

it.each(golden)('the report of %s keeps to the schema', (name) => {
  validate(report_of(name));
  expect(validate.errors ?? []).toEqual([]);
});
it('a report with a key that is not in the schema does not', () => {
  expect(validate({ ...report_of('late_sender'), surprise: 1 })).toBe(false);
});
