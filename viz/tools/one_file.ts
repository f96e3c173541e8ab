// Vite plugin: puts program and style of the page into template.html, so that the page is one file, with a
// security policy that allows these two and nothing else, and the licences of what is in it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const hash_of = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** The folder of the npm package that a module belongs to, if it is of one. */
function package_folder(module_path: string): string | undefined {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module_path.replace(/^\0/, ''));
  return match?.[1];
}

function licence_of(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence file, and so cannot be put into the page`);
  const text = readFileSync(join(folder, file), 'utf8').trim();
  return `${String(about['name'])} ${String(about['version'])} (${String(about['license'])})\n\n${text}`;
}

export function one_file(template_path: string): Plugin {
  return {
    name: 'penstock-one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      let program = '';
      let style = '';
      const packages = new Set<string>();
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') {
          program += part.code;
          for (const [path, module] of Object.entries(part.modules)) {
            const folder = module.renderedLength > 0 ? package_folder(path) : undefined;
            if (folder !== undefined && existsSync(join(folder, 'package.json'))) packages.add(folder);
          }
        } else if (name.endsWith('.css')) {
          style += String(part.source);
        } else {
          throw new Error(`the page would need a second file: ${name}`);
        }
        delete bundle[name];
      }
      if (/<\/script|<!--/i.test(program)) throw new Error('the program holds what would end its script element');
      const licences = [...packages].sort().map(licence_of).join(`\n\n${'-'.repeat(80)}\n\n`);
      const policy =
        `default-src 'none'; script-src ${hash_of(program)}; style-src ${hash_of(style)}; ` +
        "base-uri 'none'; form-action 'none'";
      const fill: Record<string, string> = { policy, style, program, licences: escaped(licences) };
      const page = readFileSync(template_path, 'utf8').replace(/@(policy|style|program|licences)@/g, (_, key: string) => {
        return fill[key] ?? '';
      });
      this.emitFile({ type: 'asset', fileName: 'page.html', source: page });
    },
    buildStart() {
      this.addWatchFile(join(dirname(template_path), 'template.html'));
    },
  };
}
