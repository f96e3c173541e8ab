// Makes of analysis/report.schema.json what the page knows of a report: its types, and a function that says
// whether a file holds one. The function is made here since the page's security policy forbids making it there.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { compile } from 'json-schema-to-typescript';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const schema = JSON.parse(readFileSync(here('../../analysis/report.schema.json'), 'utf8'));
const made_of = '// Made of analysis/report.schema.json by tools/generate.mjs.\n';

/** Several builds may do this at once: whole files only. */
function write(/** @type {string} */ name, /** @type {string} */ text) {
  const path = here(`../src/generated/${name}`);
  writeFileSync(`${path}.${process.pid}`, made_of + text);
  renameSync(`${path}.${process.pid}`, path);
}

mkdirSync(here('../src/generated'), { recursive: true });
write('report.ts', await compile(structuredClone(schema), 'Report', { additionalProperties: false, bannerComment: '' }));

const ajv = new Ajv.default({ code: { source: true, esm: true, lines: true }, strict: true });
write('validate.js', standaloneCode.default(ajv, ajv.compile(schema)));
write(
  'validate.d.ts',
  `interface Violation { instancePath: string; message?: string }
export declare const validate: ((data: unknown) => boolean) & { errors?: Violation[] | null };
`,
);
