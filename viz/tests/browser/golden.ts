// The reports and pages that tests/viz/page_test made of golden recordings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../src/generated/report';

const folder = process.env['PENSTOCK_PAGES'] ?? '';
export const golden = ['late_sender', 'slow_step', 'many_ranks', 'ring', 'crowd', 'blind', 'hostile', 'long_run', 'unfinished', 'nccl'] as const;
export type Golden = (typeof golden)[number];

export const path_of = (name: string) => join(folder, `${name}.html`);
export const report_of = (name: Golden) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Report;
export const scale_of = () => JSON.parse(readFileSync(join(folder, 'scale.json'), 'utf8')) as unknown;
export const trend_of = () => JSON.parse(readFileSync(join(folder, 'trend.json'), 'utf8')) as unknown;
export const timeline_of = (name: Golden) =>
  JSON.parse(/id="timeline-document">([^]*?)<\/script>/.exec(readFileSync(path_of(name), 'utf8'))?.[1] ?? '') as unknown;
