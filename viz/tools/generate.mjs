// Makes of the schemas in analysis/ what the page knows of a report, of its timeline, of a comparison and of a history: their types, and
// functions that say whether a file holds one. The functions are made here since the page's security policy forbids making them there. And of the
// tables of causes and parts, the words that the text report has, too.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { compile } from 'json-schema-to-typescript';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** Several builds may do this at once: whole files only. */
function write(/** @type {string} */ name, /** @type {string} */ text) {
  const path = here(`../src/generated/${name}`);
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** Returns the rows of a table of C++, one a line, as lists of words. */
function rows_of(/** @type {string} */ path, /** @type {string} */ macro) {
  const lines = readFileSync(here(`../../analysis/${path}`), 'utf8').split('\n').filter((line) => line.startsWith(`${macro}(`));
  return lines.map((line) => [line.slice(macro.length + 1).split(',')[0] ?? '', ...Array.from(line.matchAll(/"([^"]*)"/g), ([, words]) => words ?? '')]);
}

function write_words() {
  const causes = rows_of('causes/causes.def', 'PENSTOCK_CAUSE').map(([, identifier, name, meaning]) => [identifier, { name, meaning }]);
  const parts = rows_of('report/parts.def', 'PENSTOCK_PART').map(([identifier, name, meaning]) => [identifier, { name, meaning }]);
  const table = (/** @type {unknown[][]} */ rows) => JSON.stringify(Object.fromEntries(rows), null, 2);
  write(
    'words.ts',
    `// Made of analysis/causes/causes.def and analysis/report/parts.def by tools/generate.mjs.
export const cause_words = ${table(causes)} as const;
export const part_words = ${table(parts)} as const;
`,
  );
}

/** Leaves out what the page does not read of a violation (load.ts): an eighth of the page. */
function without_unread(/** @type {string} */ code) {
  const short = code.replace(/schemaPath:"[^"]*",keyword:"[^"]*",params:\{[^{}]*\},/g, '');
  if (short.includes('schemaPath')) throw new Error('Ajv writes violations in another form now');
  return short;
}

mkdirSync(here('../src/generated'), { recursive: true });
write_words();
for (const [name, type] of [['report', 'Report'], ['timeline', 'Timeline'], ['diff', 'Diff'], ['trend', 'Trend']]) {
  const schema = JSON.parse(readFileSync(here(`../../analysis/${name}.schema.json`), 'utf8'));
  const made_of = `// Made of analysis/${name}.schema.json by tools/generate.mjs.\n`;
  write(`${name}.ts`, made_of + (await compile(structuredClone(schema), type, { additionalProperties: false, bannerComment: '' })));
  // Functions instead of the same code at each reference: an eighth of the page.
  const ajv = new Ajv.default({ code: { source: true, esm: true, lines: true }, strict: true, inlineRefs: false });
  write(`validate_${name}.js`, made_of + without_unread(standaloneCode.default(ajv, ajv.compile(schema))));
  write(
    `validate_${name}.d.ts`,
    `${made_of}interface Violation { instancePath: string; message?: string }
export declare const validate: ((data: unknown) => boolean) & { errors?: Violation[] | null };
`,
  );
}
