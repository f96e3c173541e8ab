import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { one_file } from './tools/one_file';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [one_file(here('src/template.html'))],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: process.env['PENSTOCK_PAGE_FOLDER'] ?? here('dist'),
    emptyOutDir: true,
    target: ['chrome100', 'firefox100'],
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    lib: { entry: here('src/main.tsx'), formats: ['iife'], name: 'penstock_page', fileName: 'page' },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  // the models have no state that one test could leave to another
  test: { include: ['**/*.test.ts'], environment: 'node', isolate: false },
});
