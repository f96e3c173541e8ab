// The flame graph of call paths.
import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { is_firefox } from './browser';
import { cells, open, with_contents } from './pages';

const none = { late_sender: 0, late_receiver: 0, wait_at_collective: 0, wait_at_window: 0, wire: 0, packing_or_staging: 0, gpu_not_ready: 0, missing_progress: 0, unattributed: 0 };
const long_name = 'lattice::hopping_term<lattice::Field<float, 12>, lattice::Gauge<float>>::exchange_all_faces';
const call_paths = [
  { mpi_function: 'MPI_Waitall', frames: ['exchange (halo.cpp:20)', `${long_name} (hopping.cpp:5)`, 'main (main.cpp:30)'], shown_frame: 0, call_site: 0, calls: 9, counted_s: 0.06, by_cause_s: { ...none, wire: 0.02, late_sender: 0.04 } },
  { mpi_function: 'MPI_Recv', frames: ['main (main.cpp:31)'], shown_frame: 0, call_site: 0, calls: 1, counted_s: 0.02, by_cause_s: { ...none, wire: 0.02 } },
];
const page_with = (name: string, paths: unknown) => with_contents(name, (json) => JSON.stringify({ ...(JSON.parse(json) as object), call_paths: paths }));
const deep = () => page_with('deep', call_paths);

describe('the flame graph', () => {
  it('has a box for each function and call, as wide as what is exposed in it, with its causes', async () => {
    const { page, complaints } = await open(deep());
    const graph = page.locator('#call-paths svg[role=img]');
    const width = async (name: string) => (await graph.locator('g', { hasText: name }).last().locator('rect').boundingBox())!.width;
    const all = await width('all exposed');
    expect((await width('exchange')) / all).toBeCloseTo(0.75, 2);
    expect((await width('MPI_Recv at main.cpp:31')) / all).toBeCloseTo(0.25, 2);
    expect(await graph.locator('rect[class^=fill-]').evaluateAll((all) => all.map((each) => each.getAttribute('class')))).toEqual(['fill-late_sender', 'fill-wire', 'fill-wire']);
    expect(await graph.locator('g', { hasText: 'lattice::' }).last().locator('title').textContent()).toBe(
      `${long_name}, called at main.cpp:30: 30.0 ms a rank exposed, 75.0 % of it: late sender 20.0 ms, wire 10.0 ms.`,
    );
    expect(complaints).toEqual([]);
  });
  it('shows what is clicked at full width, and all again', async () => {
    const { page } = await open(deep());
    const graph = page.locator('#call-paths svg[role=img]');
    const shown = () => graph.locator('text').allTextContents();
    expect(await shown()).toContain('MPI_Recv at main.cpp:31');
    await graph.locator('text', { hasText: 'exchange' }).last().click({ force: true });
    expect(await shown()).not.toContain('MPI_Recv at main.cpp:31');
    expect((await graph.locator('g', { has: page.locator('text', { hasText: 'MPI_Waitall' }) }).locator('rect').boundingBox())!.width).toBeCloseTo((await graph.boundingBox())!.width, -1);
    await page.locator('#call-paths').getByRole('button', { name: 'All', exact: true }).click();
    expect(await shown()).toContain('MPI_Recv at main.cpp:31');
  });
  it('is walked and zoomed by keys, and the page tells of each box', async () => {
    const { page } = await open(deep());
    const told = page.locator('#call-paths .told');
    await page.locator('#call-paths svg[role=img]').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    expect(await told.textContent()).toMatch(/^lattice::.*, called at main.cpp:30: 30.0 ms a rank exposed/);
    await page.keyboard.press('ArrowDown');
    expect(await told.textContent()).toMatch(/^exchange, called at hopping.cpp:5: 30.0 ms a rank exposed, 75.0 % of it/);
    await page.keyboard.press('Enter');
    expect(await page.locator('#call-paths svg text').allTextContents()).not.toContain('MPI_Recv at main.cpp:31');
    await page.keyboard.press('ArrowDown');
    expect(await told.textContent()).toMatch(/^MPI_Waitall at halo.cpp:20: .* Its call site$/);
    await page.keyboard.press('f');
    expect(await page.locator('#call-paths svg text').allTextContents()).toContain('MPI_Recv at main.cpp:31');
  });
  it('marks what a search finds, and says how much it is', async () => {
    const { page } = await open(deep());
    const field = page.locator('#call-paths').getByLabel('Find functions, files or causes').first();
    await field.fill('wire');
    expect(await page.locator('#call-paths .found').count()).toBe(2);
    expect(await page.locator('#call-paths [role=status]').first().textContent()).toBe('20.0 ms a rank, 50.0 % of it');
  });
  it('is a table, too', async () => {
    const { page } = await open(deep());
    await page.locator('#call-paths summary').click();
    expect((await cells(page, 'Call paths to MPI')).map((row) => row[0])).toEqual([
      `MPI_Waitall ← exchange (halo.cpp:20) ← ${long_name} (hopping.cpp:5) ← main (main.cpp:30)`,
      'MPI_Recv ← main (main.cpp:31)',
    ]);
  });
  it('is not there where call sites alone were recorded, and the page says how to have it', async () => {
    const { page, complaints } = await open('late_sender');
    expect(await page.locator('#call-paths svg').count()).toBe(0);
    expect(await page.locator('#call-paths').textContent()).toContain('No flame graph: each call was recorded with its call site alone. Call paths are recorded where PENSTOCK_CALL_PATHS is not set');
    expect(complaints).toEqual([]);
  });
  it.each([390, 800])('fits on a screen %i wide', async (width) => {
    const { page } = await open(deep(), { viewport: { width, height: 900 } });
    await page.locator('#call-paths summary').click();
    const [wide, narrow = 0] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    expect(wide).toBe(narrow);
    const right = await page.locator('#call-paths svg text').evaluateAll((all) => Math.max(...all.map((each) => each.getBoundingClientRect().right)));
    expect(right).toBeLessThanOrEqual(narrow);
  });
  it.skipIf(is_firefox)('fits on A4 paper, and breaks no rule of accessibility', async () => {
    const { page } = await open(deep(), { viewport: { width: 703, height: 1000 } });
    await page.emulateMedia({ media: 'print' });
    const cut = await page.locator('#call-paths *').evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > 704).map((each) => each.outerHTML.slice(0, 80)));
    expect(cut).toEqual([]);
    await page.emulateMedia({ media: null });
    await page.locator('#call-paths summary').click();
    await page.evaluate(axe.source);
    const found = await page.evaluate(async () => (await (window as unknown as { axe: typeof axe }).axe.run('#call-paths')).violations.map(({ id }) => id));
    expect(found).toEqual([]);
  });
});
