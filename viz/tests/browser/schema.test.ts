// What `penstock report --json`, `penstock scale --json` and `penstock trend --json` really write keeps to its schema, and has no key that the
// schema does not name.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import { expect, it } from 'vitest';
import { golden, report_of, scale_of, timeline_of, trend_of } from './golden';

type Schema = Record<string, unknown>;
const schema_of = (name: string) => JSON.parse(readFileSync(new URL(`../../../analysis/${name}.schema.json`, import.meta.url), 'utf8')) as Schema;

/** The same, but objects have no other keys than those named. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const copy: Schema = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  return copy['type'] === 'object' && 'properties' in copy ? { additionalProperties: false, ...copy } : copy;
}

const validate = new Ajv({ allErrors: true }).compile(closed(schema_of('report')) as Schema);
const validate_timeline = new Ajv({ allErrors: true }).compile(closed(schema_of('timeline')) as Schema);

it.each(golden)('the report of %s keeps to the schema', (name) => {
  validate(report_of(name));
  expect(validate.errors ?? []).toEqual([]);
});
it.each(golden)('the timeline of %s keeps to its schema', (name) => {
  validate_timeline(timeline_of(name));
  expect(validate_timeline.errors ?? []).toEqual([]);
});
it('a prediction for more ranks keeps to its schema', () => {
  const validate_scale = new Ajv({ allErrors: true, strict: false }).compile(closed(schema_of('scale')) as Schema);
  validate_scale(scale_of());
  expect(validate_scale.errors ?? []).toEqual([]);
});
it('a history of several runs keeps to its schema', () => {
  const validate_trend = new Ajv({ allErrors: true, strict: false }).compile(closed(schema_of('trend')) as Schema);
  validate_trend(trend_of());
  expect(validate_trend.errors ?? []).toEqual([]);
});
it('a report with a key that is not in the schema does not', () => {
  expect(validate({ ...report_of('late_sender'), surprise: 1 })).toBe(false);
});
