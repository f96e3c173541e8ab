// How quick the timeline of a page is in a headless browser: time until it is drawn, and frames a second while it is
// zoomed and moved with the wheel, every frame, with all ranks closed and open. Figures, not a test.
//   node tools/measure_timeline.mjs PAGE [/usr/bin/firefox-esr]      PAGE: of a recording by tests/viz/large_recording
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { chromium, firefox } from 'playwright-core';

const [page_path = '', executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const browser = await (/firefox/.test(executablePath)
  ? firefox.launch({ channel: 'moz-firefox', executablePath })
  : chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] }));
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
const began = performance.now();
await page.goto(`file://${resolve(page_path)}`);
await page.locator('.timeline canvas').waitFor();
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
console.log(`page of ${(statSync(page_path).size / 1e6).toFixed(1)} MB: drawn after ${(performance.now() - began).toFixed(0)} ms`);

/** Turns the wheel at each frame; how long frames took. */
const frames = (what, turns) =>
  page.evaluate(
    async ({ label, wheel }) => {
      const scroller = document.querySelector('.timeline-scroller');
      scroller.scrollIntoView();
      const box = scroller.getBoundingClientRect();
      const times = [];
      let scripts = 0;
      for (const [delta_x, delta_y, zooms] of wheel) {
        const before = performance.now();
        scroller.dispatchEvent(new WheelEvent('wheel', { deltaX: delta_x, deltaY: delta_y, ctrlKey: zooms, clientX: box.left + box.width * 0.6, clientY: box.top + 100, bubbles: true, cancelable: true }));
        await new Promise((done) => requestAnimationFrame(() => { scripts += performance.now() - before; done(); }));
        // behind the painting, which asked for its frame before this one
        times.push(performance.now() - before);
      }
      times.sort((left, right) => left - right);
      const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
      return `${label}: ${(1000 / mean).toFixed(0)} frames/s; a frame takes ${at(0.5)} ms (median), ${at(0.95)} (of 20 the slowest), ${at(1)} (the slowest)`;
    },
    { label: what, wheel: turns },
  );
const zoom = (count, delta) => Array.from({ length: count }, () => [0, delta, true]);
const move = (count, delta) => Array.from({ length: count }, () => [delta, 0, false]);
const journey = [...zoom(150, -25), ...move(100, 8), ...zoom(75, -25), ...move(100, -8), ...zoom(225, 25)];
for (const state of ['closed', 'open']) {
  if (state === 'open') await page.getByRole('button', { name: 'Open all ranks' }).click();
  console.log(await frames(`all ranks ${state}, zooming and moving`, journey));
  console.log(await frames(`all ranks ${state}, moving the whole run's tenth`, [...zoom(23, -25), ...move(200, 3), ...zoom(40, 25)]));
}
await browser.close();
