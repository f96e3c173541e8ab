// The timeline in a browser: what its canvas shows where, and how it is moved, searched and read out.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { is_firefox } from './browser';
import { cells, open, with_contents } from './pages';

const section = (page: Page) => page.locator('section#timeline');
const scroller = (page: Page) => section(page).getByRole('application');
const view_of = (page: Page) => section(page).locator('.window').textContent();
const chosen = (page: Page) => section(page).locator('.told[aria-live]').textContent();

/** Left of it are names. Of a canvas as wide as in these tests. */
const gutter_px = 190;
/** The middle of a closed rank's waits. */
const waits_y = (row: number) => 26 + row * 30 + 7;

/** Where a moment of a 300 ms run lies while all of it is shown. */
async function x_of(page: Page, time_ms: number, run_ms = 300) {
  const box = (await section(page).locator('canvas').boundingBox())!;
  return gutter_px + (time_ms / run_ms) * (box.width - gutter_px);
}
/** From there on downwards. */
async function colours_at(page: Page, x: number, y: number, count: number) {
  await page.waitForTimeout(50); // a frame or two
  return section(page)
    .locator('canvas')
    .evaluate(
      (canvas, place) => {
        const pixels = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
        pixels.drawImage(canvas as HTMLCanvasElement, -place.x, -place.y);
        const { data } = pixels.getImageData(0, 0, 1, place.count);
        return Array.from({ length: place.count }, (_, row) => `rgb(${data.slice(4 * row, 4 * row + 3).join(', ')})`);
      },
      { x: Math.round(x), y: Math.round(y), count },
    );
}
const colour_at = async (page: Page, x: number, y: number) => (await colours_at(page, x, y, 1))[0];
const show_all = (page: Page) => section(page).getByRole('button', { name: 'All', exact: true }).click();
async function point_at(page: Page, x: number, y: number) {
  const canvas = section(page).locator('canvas');
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox())!;
  await page.mouse.move(box.x + x, box.y + y);
}

/** Two fingers on the canvas. Chromium is touched as by its system; Firefox has no way for that, and the page is told what it would be told. */
async function fingers_on(page: Page) {
  const box = (await section(page).locator('canvas').boundingBox())!;
  const y = box.y + 60;
  if (is_firefox) {
    const send = (type: string) => (finger: number, x = 0) =>
      scroller(page).evaluate(
        (element, { kind, id, at }) =>
          element.dispatchEvent(new PointerEvent(kind, { pointerId: 10 + id, pointerType: 'touch', isPrimary: id === 0, clientX: at.x, clientY: at.y, bubbles: true, cancelable: true })),
        { kind: type, id: finger, at: { x: box.x + x, y } },
      );
    return { down: send('pointerdown'), move: send('pointermove'), up: send('pointerup') };
  }
  const client = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd') => (finger: number, x = 0) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: [{ id: finger, x: box.x + x, y }] });
  return { down: send('touchStart'), move: send('touchMove'), up: send('touchEnd') };
}

describe('the timeline', () => {
  it('shows waits in the colour of their cause where they were', async () => {
    const { page, complaints } = await open('ring');
    expect(await view_of(page)).toBe('159.00 ms to 171.00 ms'); // a typical step, the seventh
    await show_all(page);
    expect(await view_of(page)).toBe('0.0 ms to 300.0 ms');
    // rank 4 waits from 101.2 to 103.2 ms for rank 3, which is late
    expect(await colour_at(page, await x_of(page, 102.8), waits_y(4) + 1)).toBe('rgb(213, 94, 0)');
    // a third of it lies behind a kernel
    expect(await colour_at(page, await x_of(page, 102.8), waits_y(4) - 5)).toMatch(/^rgb\(23\d, 19\d, 1[56]\d\)$/);
    expect(await colour_at(page, await x_of(page, 50), waits_y(4))).toBe('rgb(245, 246, 248)');
    await point_at(page, await x_of(page, 102.2), waits_y(4));
    expect(await section(page).locator('.pointed').textContent()).toBe('late sender, rank 4, waits, by cause, begins 101.240000 ms, takes 1.96 ms, exposed 1.30 ms, with rank 3');
    expect(complaints).toEqual([]);
  });
  it('zooms and moves with the keys, the buttons, the wheel and by dragging', async () => {
    const { page, complaints } = await open('ring');
    await show_all(page);
    const canvas = section(page).locator('canvas');
    await scroller(page).focus();
    await page.keyboard.press('w');
    expect(await view_of(page)).toBe('60.0 ms to 240.0 ms');
    await page.keyboard.press('d');
    expect(await view_of(page)).toBe('96.0 ms to 276.0 ms');
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    expect(await view_of(page)).toBe('0.0 ms to 300.0 ms');
    await section(page).getByRole('button', { name: 'Closer' }).click();
    expect(await view_of(page)).toBe('75.0 ms to 225.0 ms');
    await show_all(page);
    await canvas.scrollIntoViewIfNeeded();
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + (await x_of(page, 150)), box.y + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await expect.poll(() => view_of(page)).not.toBe('0.0 ms to 300.0 ms');
    const [from = 0, to = 0] = ((await view_of(page)) ?? '').match(/[\d.]+/g)!.map(Number);
    expect((from + to) / 2).toBeCloseTo(150, 0);
    await page.mouse.down();
    await page.mouse.move(box.x + (await x_of(page, 150)) + 100, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const [moved = 0] = ((await view_of(page)) ?? '').match(/[\d.]+/g)!.map(Number);
    expect(moved).toBeLessThan(from);
    expect(await chosen(page)).toBe(''); // a drag is no click
    expect(complaints).toEqual([]);
  });
  it('zooms by two fingers about what lies between them, and moves on with the one that stays', async () => {
    const { page, complaints } = await open('ring', { has_touch: true });
    await show_all(page);
    await section(page).locator('canvas').scrollIntoViewIfNeeded();
    const middle = await x_of(page, 150);
    const pair = (distance: number) => [middle - distance / 2, middle + distance / 2] as const;
    const fingers = await fingers_on(page);
    await fingers.down(0, pair(100)[0]);
    await fingers.down(1, pair(100)[1]);
    for (const distance of [200, 300, 400]) for (const finger of [0, 1] as const) await fingers.move(finger, pair(distance)[finger]);
    await fingers.up(1);
    const seen = async () => ((await view_of(page)) ?? '').match(/[\d.]+/g)!.map(Number);
    await expect.poll(async () => (await seen())[0]).toBeGreaterThan(110);
    const [from = 0, to = 0] = await seen();
    expect(to - from).toBeCloseTo(300 / 4, 0);
    expect((from + to) / 2).toBeCloseTo(150, 0);
    await fingers.move(0, pair(400)[0] + 60);
    await expect.poll(async () => (await seen())[0]).toBeLessThan(from - 2);
    await fingers.up(0);
    expect(await chosen(page)).toBe(''); // that was no tap
    expect(complaints).toEqual([]);
  });
  it('tells about the piece that is clicked, the messages that come meanwhile, and goes to their sender', async () => {
    const { page } = await open('ring');
    await show_all(page);
    await point_at(page, await x_of(page, 102.2), waits_y(4));
    await page.mouse.down();
    await page.mouse.up();
    expect(await chosen(page)).toMatch(/^Chosen: late sender, rank 4, waits, by cause, begins 101.240000 ms/);
    const details = section(page).locator('.details');
    expect(await details.locator('tr', { hasText: 'What' }).textContent()).toBe('Whatlate sender: the sending rank had not posted its message yet');
    await scroller(page).focus();
    await page.keyboard.press('f');
    expect(await view_of(page)).toBe('100.260 ms to 104.180 ms');
    await page.keyboard.press('ArrowRight'); // what is left of the call, on the wire
    expect(await chosen(page)).toMatch(/^Chosen: wire, rank 4/);
    expect(await details.locator('li').first().textContent()).toMatch(/^from rank 3: 4 MiB, sent at 103.200 ms, complete 1.80 ms later/);
    await details.getByRole('button', { name: 'To its sender' }).first().click();
    expect(await chosen(page)).toMatch(/^Chosen: MPI_Isend, rank 3, thread 0, begins 103.200000 ms, takes 30.0 µs, with rank 4, payload 4 MiB/);
  });
  it('marks the time of a piece with m, and lets go of it', async () => {
    const { page } = await open('ring');
    await point_at(page, await x_of(page, 102.2), waits_y(4));
    await page.mouse.down();
    await page.mouse.up();
    await scroller(page).focus();
    await page.keyboard.press('f');
    const middle = gutter_px + ((await section(page).locator('canvas').boundingBox())!.width - gutter_px) / 2;
    const before = await colour_at(page, middle, waits_y(8) - 18);
    await page.keyboard.press('m');
    expect(await colour_at(page, middle, waits_y(8) - 18)).not.toBe(before);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await colour_at(page, middle, waits_y(8) - 18)).toBe(before);
  });
  it('measures what the ruler is dragged over, and zooms to it with f', async () => {
    const { page } = await open('ring');
    await show_all(page);
    await point_at(page, await x_of(page, 200), 10);
    await page.mouse.down();
    await point_at(page, await x_of(page, 140), 10);
    await page.mouse.up();
    expect(await view_of(page)).toBe('0.0 ms to 300.0 ms');
    const marked = waits_y(8) - 18;
    expect(await colour_at(page, await x_of(page, 170), marked)).not.toBe(await colour_at(page, await x_of(page, 230), marked));
    await page.keyboard.press('f');
    const [from = 0, to = 0] = ((await view_of(page)) ?? '').match(/[\d.]+/g)!.map(Number);
    expect(from).toBeCloseTo(110, 0);
    expect(to).toBeCloseTo(230, 0);
    expect(await chosen(page)).toBe(''); // that was no click
  });
  it('has a strip of the whole run, whose window moves, widens and jumps with the pointer', async () => {
    const { page, complaints } = await open('ring');
    const strip = section(page).locator('svg.strip');
    expect(await strip.getAttribute('aria-label')).toBe('The whole run, 0.0 ms to 300.0 ms: how much of the time kernels run and ranks wait. Shown below: 159.00 ms to 171.00 ms');
    await strip.scrollIntoViewIfNeeded();
    const box = (await strip.boundingBox())!;
    const at = async (time_ms: number) => [box.x + (await x_of(page, time_ms)), box.y + box.height / 2] as const;
    const seen = async () => ((await view_of(page)) ?? '').match(/[\d.]+/g)!.map(Number);
    await page.mouse.click(...(await at(250)));
    expect((await seen()).map(Math.round)).toEqual([244, 256]);
    await page.mouse.move(...(await at(250)));
    await page.mouse.down();
    await page.mouse.move(...(await at(200)), { steps: 3 });
    await page.mouse.up();
    expect((await seen()).map(Math.round)).toEqual([194, 206]);
    await page.mouse.move(...(await at(206)));
    await page.mouse.down();
    await page.mouse.move(...(await at(230)), { steps: 3 });
    await page.mouse.up();
    expect((await seen()).map(Math.round)).toEqual([194, 230]);
    expect(complaints).toEqual([]);
  });
  it('gives a link that shows the same again: time, open ranks, folded and hidden tracks', async () => {
    const { page, complaints } = await open('ring');
    await section(page).getByRole('button', { name: 'the slowest' }).or(section(page).getByRole('button', { name: 'a long wait: rank 4' })).first().click();
    await section(page).locator('.tracks summary').click();
    await section(page).getByLabel('thread 0').selectOption('one row');
    await section(page).getByLabel('transfers').selectOption('hidden');
    await section(page).getByLabel('Find names or ranks', { exact: true }).fill('rank 3');
    await section(page).getByLabel('Find names or ranks', { exact: true }).press('Enter'); // opens it
    const view = await view_of(page);
    const look = async () => [await view_of(page), await scroller(page).evaluate((element) => element.scrollHeight), await section(page).locator('.tracks select').evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).value).join())];
    const before = await look();
    await section(page).getByRole('button', { name: 'Copy a link to this view' }).click();
    const address = page.url();
    expect(address).toMatch(/#timeline\?ns=\d+-\d+&open=3&row=thread%200&hidden=transfers$/);
    await page.goto('about:blank');
    await page.goto(address);
    expect(await view_of(page)).toBe(view);
    expect(await look()).toEqual(before);
    await show_all(page);
    await page.evaluate((fragment) => (location.hash = fragment), address.slice(address.indexOf('#')).replace('open=3', 'open=3-4'));
    await expect.poll(() => view_of(page)).toBe(view);
    expect(complaints).toEqual([]);
  });
  it('folds a track when its name is clicked, and hides it on request, of all ranks', async () => {
    const { page } = await open('late_sender');
    const height = () => section(page).locator('canvas').evaluate((canvas) => canvas.clientHeight);
    const all = await height();
    await point_at(page, 80, 26 + 18 + 3 + 17 + 3 + 8); // thread 0 of rank 0, which has two lanes
    await page.mouse.down();
    await page.mouse.up();
    expect(await height()).toBe(all - 17);
    await section(page).locator('.tracks summary').click();
    await section(page).getByLabel('waits, by cause').selectOption('hidden');
    expect(await height()).toBeLessThan(all - 2 * 17);
    expect(await section(page).locator('.tracks summary').textContent()).toBe('Tracks, 1 hidden');
  });
  it('has the streams of a GPU in one row if they are many, and each in its own on request', async () => {
    const { page } = await open('long_run');
    const height = () => section(page).locator('canvas').evaluate((canvas) => canvas.clientHeight);
    const folded = await height();
    await section(page).locator('.tracks summary').click();
    const streams = section(page).getByLabel('GPU 0 streams');
    expect(await streams.inputValue()).toBe('row');
    await streams.selectOption('each stream');
    expect(await height()).toBe(folded + 5 * (17 + 3));
  });
  it('adds up what is marked: waits by cause, kernels and copies', async () => {
    const { page, complaints } = await open('ring');
    await section(page).getByRole('button', { name: 'Add up what is in view' }).click();
    expect(await section(page).locator('.sums h3').textContent()).toBe('12.0 ms, from 159.00 ms to 171.00 ms, of 8 ranks');
    const sums = await cells(page, 'Sums of what is marked');
    expect(sums[0]).toEqual(['kernel', '7.100', '59.2', '7.600', '0']);
    expect(sums.find(([name]) => name === 'exposed: late sender')?.slice(1)).toEqual(['0.163', '1.4', '1.300', '4']);
    expect((await cells(page, 'Kernels and copies in what is marked'))[0]?.slice(0, 3)).toEqual(['edge', '8', '4.400']);
    await section(page).getByRole('button', { name: 'Remove the mark' }).click();
    expect(await section(page).locator('.sums').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
  it('finds pieces by name, one after the other, and ranks', async () => {
    const { page } = await open('ring');
    const search = section(page).getByLabel('Find names or ranks', { exact: true });
    await search.fill('bulk');
    expect(await section(page).getByRole('status').first().textContent()).toBe('96');
    await search.press('Enter');
    expect(await chosen(page)).toMatch(/^Chosen: bulk, rank 0, GPU 0 stream 0, begins 100.100000 ms/);
    await search.press('Enter');
    expect(await chosen(page)).toMatch(/^Chosen: bulk, rank 1,/);
    expect(await section(page).getByRole('status').first().textContent()).toBe('2 of 96');
    await section(page).getByRole('button', { name: 'Previous' }).click();
    expect(await chosen(page)).toMatch(/^Chosen: bulk, rank 0,/);
    await search.fill('nothing like it');
    expect(await section(page).getByRole('status').first().textContent()).toBe('Nothing has these words.');
    await search.fill('rank 7');
    await search.press('Enter');
    await expect.poll(() => scroller(page).evaluate((element) => element.scrollHeight > element.clientHeight || element.clientHeight > 300)).toBe(true);
  });
  it('goes from piece to piece with the arrow keys, and opens a rank with Enter', async () => {
    const { page } = await open('late_sender');
    await scroller(page).focus();
    await page.keyboard.press('ArrowDown');
    expect(await chosen(page)).toMatch(/^Chosen: late sender, rank 0, waits/);
    await page.keyboard.press('ArrowRight');
    expect(await chosen(page)).toMatch(/^Chosen: wire, rank 0/);
    await page.keyboard.press('ArrowDown');
    expect(await chosen(page)).toMatch(/^Chosen: exchange, rank 0, thread 0/);
    await page.keyboard.press('ArrowDown');
    expect(await chosen(page)).toMatch(/^Chosen: MPI_Recv, rank 0, thread 0/);
    const height = () => section(page).locator('canvas').evaluate((canvas) => canvas.clientHeight);
    const open_height = await height();
    await page.keyboard.press('Enter');
    expect(await height()).toBeLessThan(open_height);
  });
  it('is also a table of what is in view, which follows it', async () => {
    const { page } = await open('slow_step');
    await show_all(page);
    await section(page).locator('.in-view summary').click();
    const [longest] = await cells(page, 'The longest events in view');
    expect(longest?.slice(0, 3)).toEqual(['step', '0', 'thread 0']);
    await expect.poll(async () => (await cells(page, 'The longest events in view'))[0]?.[3]).toBe('270.000');
    await section(page).getByRole('button', { name: 'a typical step' }).click();
    await expect.poll(async () => (await cells(page, 'The longest events in view'))[0]?.[3]).not.toBe('270.000');
    await section(page).getByRole('button', { name: 'the slowest step: step 18' }).click();
    expect(await view_of(page)).toBe('267.00 ms to 303.00 ms');
  });
  it('of many ranks has rows for those without tracks, and says so', async () => {
    const { page, complaints } = await open('crowd');
    expect(await section(page).locator('.note').first().textContent()).toMatch(/^32 ranks of 100 have tracks of their own/);
    await scroller(page).evaluate((element) => element.scrollTo({ top: 1e6 }));
    await page.waitForTimeout(100);
    // the last row's rank came about last to the barrier, which ends at 100 ms
    const height = await section(page).locator('canvas').evaluate((canvas) => canvas.clientHeight);
    expect(await colours_at(page, await x_of(page, 90, 200), height - 14, 14)).toContain('rgb(0, 114, 178)');
    expect(complaints).toEqual([]);
  });
  it('shows a long wait that the tables name', async () => {
    const { page, complaints } = await open('ring');
    expect((await cells(page, 'The longest waits one by one'))[0]?.slice(0, 7)).toEqual(['4', '0.101240', '1.960', '1.300', 'late sender', '3', 'MPI_Waitall at 0x30']);
    await page.getByRole('button', { name: 'Show the wait of rank 4 at 0.101240 s in the timeline' }).click();
    expect(await view_of(page)).toBe('100.260 ms to 104.180 ms');
    expect(await chosen(page)).toMatch(/^Chosen: late sender, rank 4/);
    expect(await scroller(page).evaluate((element) => element === document.activeElement)).toBe(true);
    expect(complaints).toEqual([]);
  });
  it('follows light and dark', async () => {
    const { page } = await open('ring');
    expect(await colour_at(page, 5, 5)).toBe('rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    expect(await colour_at(page, 5, 5)).toBe('rgb(20, 23, 27)');
  });
  it('shows hostile names as they are', async () => {
    const { page, complaints } = await open('hostile');
    await section(page).locator('.in-view summary').click();
    expect(await section(page).locator('.in-view table').textContent()).toContain('</script><script>window.attacked=1</script>');
    await scroller(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await chosen(page)).toContain('</script><script>window.attacked=1</script>');
    expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });
});

describe('a timeline that cannot be shown', () => {
  it.each([
    ['cut', (json: string) => json.slice(0, json.length / 2), 'The timeline in this file is damaged: it cannot be read.'],
    ['absent', () => '', 'The timeline in this file is damaged: it cannot be read.'],
    ['garbled', (json: string) => json.replace('"data":"', '"data":"AAAA'), 'The timeline in this file is damaged: its events cannot be read.'],
    ['newer', (json: string) => json.replace('penstock-timeline-1', 'penstock-timeline-2'), 'The timeline in this file is newer than the page that should show it.'],
  ])('since it is %s, gives words for that, and all else of the page shows', async (name, change, words) => {
    const { page, complaints } = await open(with_contents(`timeline_${name}`, change, 'timeline-document'));
    expect(await section(page).getByRole('alert').textContent()).toContain(words);
    expect((await cells(page, 'The parts of the time')).length).toBe(5);
    expect(complaints).toEqual([]);
  });
});
