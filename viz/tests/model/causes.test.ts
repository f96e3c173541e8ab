// The words of causes and parts are those of the text report: both have them from the tables in analysis/.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cause_meaning, cause_name, causes } from '../../src/model/causes';
import { cause_of_part, part_meaning, part_name, parts } from '../../src/model/parts';

const table = (path: string) => readFileSync(new URL(`../../../analysis/${path}`, import.meta.url), 'utf8');

it('causes are named and explained as in the table of the text report', () => {
  const rows = table('causes/causes.def');
  for (const cause of causes) expect(rows).toContain(`"${cause}", "${cause_name(cause)}", "${cause_meaning(cause)}")`);
  expect(rows.match(/^PENSTOCK_CAUSE\(/gm)).toHaveLength(causes.length);
});

it('other parts are named and explained as in the table of the text report', () => {
  const rows = table('report/parts.def');
  const others = parts.filter((part) => cause_of_part(part) === undefined);
  for (const part of others) expect(rows).toContain(`PENSTOCK_PART(${part}, "${part_name(part)}", "${part_meaning(part)}")`);
  expect(rows.match(/^PENSTOCK_PART\(/gm)).toHaveLength(others.length);
});
