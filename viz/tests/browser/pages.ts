// Opens the golden pages and watches what they do.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { is_firefox, the_page } from './browser';
import { path_of } from './golden';

/** A page with other contents in place of its report, or of what has another id. */
export function with_contents(name: string, contents: (json: string) => string, id = 'report', of = 'late_sender') {
  const html = readFileSync(path_of(of), 'utf8');
  const [, before = '', json = '', after = ''] = new RegExp(`^([^]*<script type="application/json" id="${id}">)([^]*?)(</script>[^]*)$`).exec(html) ?? [];
  expect(json).not.toBe('');
  writeFileSync(path_of(name), before + contents(json) + after);
  return name;
}

export interface Opened {
  readonly page: Page;
  /** What the page asked for besides itself, and what it complained of. Empty, if all is well. */
  readonly complaints: string[];
}

interface Options {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly has_touch?: boolean;
}

let seen: { address: string; complaints: string[] } = { address: '', complaints: [] };
const watched = new Set<Page>();

function watch(page: Page) {
  if (watched.has(page)) return;
  watched.add(page);
  page.on('request', (request) => request.url().split('#')[0] === seen.address || seen.complaints.push(`asked for ${request.url()}`));
  page.on('console', (message) => seen.complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => seen.complaints.push(String(error)));
}

export async function open(name: string, { viewport = { width: 1280, height: 900 }, has_touch = false }: Options = {}): Promise<Opened> {
  const page = await the_page(has_touch);
  const complaints: string[] = [];
  seen = { address: `file://${path_of(name)}`, complaints };
  watch(page);
  // as no test has left it
  if (!is_firefox) await page.emulateMedia({ media: null, colorScheme: 'light' });
  await page.setViewportSize(viewport);
  await page.mouse.move(0, 0);
  await page.goto(seen.address);
  return { page, complaints };
}

/** As if the reader's system had these colours; in Firefox by the page's own switch. */
export async function in_colours(page: Page, colours: 'light' | 'dark') {
  if (!is_firefox) return page.emulateMedia({ colorScheme: colours });
  const name = `${colours === 'dark' ? 'Dark' : 'Light'} colours`;
  const change = page.getByRole('button', { name });
  if ((await change.count()) > 0) await change.click();
}

/** The cells of a table's rows, as they are read. */
export const cells = async (page: Page, caption: string) =>
  page
    .locator('table', { has: page.locator('caption', { hasText: caption }) })
    .first()
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
