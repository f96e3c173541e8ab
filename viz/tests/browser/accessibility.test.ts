// What a machine can tell of use with a keyboard and a screen reader.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { open } from './pages';

/** What axe finds wrong by `rules`, or by all of them. */
const violations = (page: Page, rules: string[] = []) =>
  page.evaluate(async (only) => {
    const { axe: checker } = window as unknown as { axe: typeof axe };
    const { violations: found } = await checker.run(only.length === 0 ? {} : { runOnly: only });
    return found.map((each) => `${each.id}: ${each.help}: ${each.nodes[0]?.html.slice(0, 120) ?? ''}`);
  }, rules);

it.each(['slow_step', 'many_ranks', 'ring'] as const)('the page of %s breaks no rule of accessibility, in light and dark colours', async (name) => {
  const { page } = await open(name, { colorScheme: 'light' });
  await page.evaluate(axe.source);
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(page, ['color-contrast'])).toEqual([]);
});

it('the keyboard reaches the summary first, then every section', async () => {
  const { page } = await open('late_sender');
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('To the summary');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Summary');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Timeline');
});
