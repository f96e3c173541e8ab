// What a machine can tell of use with a keyboard and a screen reader.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { is_firefox } from './browser';
import { in_colours, open } from './pages';

/** What axe finds wrong by `rules`, or by all of them. */
const violations = (page: Page, rules: string[] = []) =>
  page.evaluate(async (only) => {
    const { axe: checker } = window as unknown as { axe: typeof axe };
    const { violations: found } = await checker.run(only.length === 0 ? {} : { runOnly: only });
    return found.map((each) => `${each.id}: ${each.help}: ${each.nodes[0]?.html.slice(0, 120) ?? ''}`);
  }, rules);

// axe goes by elements and styles, which are the same in any browser
describe.skipIf(is_firefox)('no rule of accessibility', () => {
  it.each(['many_ranks', 'ring', 'long_run', 'unfinished', 'diff', 'trend'])('is broken by the page of %s', async (name) => {
    const { page } = await open(name);
    // with all that can be opened
    for (const each of await page.locator('#timeline details > summary').all()) await each.click();
    const add_up = page.getByRole('button', { name: 'Add up what is in view' });
    if ((await add_up.count()) === 1) await add_up.click();
    await page.evaluate(axe.source);
    expect(await violations(page)).toEqual([]);
  });
  it.each(['ring', 'unfinished', 'diff', 'trend'])('of contrast is broken by the page of %s in dark colours', async (name) => {
    const { page } = await open(name);
    await in_colours(page, 'dark');
    await page.evaluate(axe.source);
    expect(await violations(page, ['color-contrast'])).toEqual([]);
  });
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
