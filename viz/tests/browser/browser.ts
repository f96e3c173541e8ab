// The browser that the tests run in: PENSTOCK_BROWSER names it, PENSTOCK_BROWSER_PATH is its program. Firefox is Debian's own, which
// Playwright drives by WebDriver BiDi; that has no command for media features yet.
import { chromium, firefox, type Browser, type Page } from 'playwright-core';

const { PENSTOCK_BROWSER, PENSTOCK_BROWSER_PATH } = process.env;
export const is_firefox = PENSTOCK_BROWSER === 'firefox';

function launch(): Promise<Browser> {
  if (PENSTOCK_BROWSER_PATH === undefined) throw new Error('PENSTOCK_BROWSER_PATH is not set: tests/viz/page_test sets it');
  const executablePath = PENSTOCK_BROWSER_PATH;
  if (is_firefox) {
    // light, whatever the desktop's colours are
    return firefox.launch({ channel: 'moz-firefox', executablePath, firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': 1 } });
  }
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

let launched: Promise<Browser> | undefined;
const pages = new Map<boolean, Promise<Page>>();

async function new_page(has_touch: boolean): Promise<Page> {
  const browser = await (launched ??= launch());
  return (await browser.newContext({ hasTouch: has_touch, colorScheme: 'light' })).newPage();
}

/** One for all tests, since making one takes longer than most tests. The browser ends with the process. */
export function the_page(has_touch: boolean): Promise<Page> {
  const made = pages.get(has_touch) ?? new_page(has_touch);
  pages.set(has_touch, made);
  return made;
}
