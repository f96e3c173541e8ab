// A browser that opens the golden pages and watches what they do.
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { path_of } from './golden';

/** A page with other contents in place of its report, or of what has another id. */
export function with_contents(name: string, contents: (json: string) => string, id = 'report', of = 'late_sender') {
  const html = readFileSync(path_of(of), 'utf8');
  const [, before = '', json = '', after = ''] = new RegExp(`^([^]*<script type="application/json" id="${id}">)([^]*?)(</script>[^]*)$`).exec(html) ?? [];
  expect(json).not.toBe('');
  writeFileSync(path_of(name), before + contents(json) + after);
  return name;
}

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env['PENSTOCK_CHROMIUM'] ?? 'chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(() => browser.close());

export interface Opened {
  readonly page: Page;
  /** What the page asked for besides itself, and what it complained of. Empty, if all is well. */
  readonly complaints: string[];
}

export async function open(name: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const address = `file://${path_of(name)}`;
  page.on('request', (request) => request.url().split('#')[0] === address || complaints.push(`asked for ${request.url()}`));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  return { page, complaints };
}

/** The cells of a table's rows, as they are read. */
export const cells = async (page: Page, caption: string) =>
  page
    .locator('table', { has: page.locator('caption', { hasText: caption }) })
    .first()
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
