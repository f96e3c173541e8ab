// Makes of the schemas in analysis/ what the page knows of a report, of its timeline and of a comparison: their types, and functions that
// say whether a file holds one. The functions are made here since the page's security policy forbids making them there.
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

mkdirSync(here('../src/generated'), { recursive: true });
for (const [name, type] of [['report', 'Report'], ['timeline', 'Timeline'], ['diff', 'Diff']]) {
  const schema = JSON.parse(readFileSync(here(`../../analysis/${name}.schema.json`), 'utf8'));
  const made_of = `// Made of analysis/${name}.schema.json by tools/generate.mjs.\n`;
  write(`${name}.ts`, made_of + (await compile(structuredClone(schema), type, { additionalProperties: false, bannerComment: '' })));
  // Functions instead of the same code at each reference: an eighth of the page.
  const ajv = new Ajv.default({ code: { source: true, esm: true, lines: true }, strict: true, inlineRefs: false });
  write(`validate_${name}.js`, made_of + standaloneCode.default(ajv, ajv.compile(schema)));
  write(
    `validate_${name}.d.ts`,
    `${made_of}interface Violation { instancePath: string; message?: string }
export declare const validate: ((data: unknown) => boolean) & { errors?: Violation[] | null };
`,
  );
}
