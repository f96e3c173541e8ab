// The page of `penstock diff --html`.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import { path_of } from './golden';
import { is_firefox } from './browser';
import { cells, open, with_contents } from './pages';

describe('two runs side by side', () => {
  it('show what changed, by cause and by place, without a request or a complaint', async () => {
    const { page, complaints } = await open('diff');
    expect(await page.locator('.verdict').textContent()).toBe('The average rank’s run takes 1.000 s instead of 1.000 s: as long. Whether that is more than jitter is not known: repeat the runs. Exposed: 0.070 s instead of 0.100 s.');
    // the sender is 60 ms sooner, so that rank 0 waits for it with its GPU idle that much shorter
    expect((await cells(page, 'Where the time of the average')).map((row) => row.slice(0, 5))).toEqual([
      ['kernels', '0.250', '0.220', '-0.030', '-12.0'],
      ['late sender', '0.050', '0.020', '-0.030', '-60.0'],
      ['wire', '0.050', '0.050', '0.000', '0.0'],
      ['host code', '0.650', '0.710', '+0.060', '+9.2'],
    ]);
    expect((await cells(page, 'Exposed communication by call site'))[0]?.slice(0, 4)).toEqual(['MPI_Recv at 0x40', '0.075', '0.045', '-0.030']);
    expect((await cells(page, 'Time of the average')).map(([name]) => name)).toEqual(['run', 'exposed', 'hidden', 'kernels', 'in MPI']);
    expect(await page.locator('#states tr', { hasText: 'Ranks' }).textContent()).toBe('Ranks22');
    expect(complaints).toEqual([]);
  });
  it('say that a GPU was simulated', async () => {
    const simulated = (json: string) => json.replace(/"simulated_gpu": ?false/, '"simulated_gpu":true');
    expect(await (await open(with_contents('simulated_diff', simulated, 'diff-document', 'diff'))).page.locator('.warning').allTextContents()).toEqual(["The GPU was simulated: its times say nothing of a real one's."]);
    expect(await (await open('diff')).page.locator('.warning').count()).toBe(0);
  });
  it('fit on a narrow screen', async () => {
    const { page } = await open('diff', { viewport: { width: 390, height: 900 } });
    const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    expect(wide).toBe(narrow);
  });
  it.skipIf(is_firefox)('fit on A4 paper', async () => {
    const { page } = await open('diff', { viewport: { width: 703, height: 1000 } });
    await page.emulateMedia({ media: 'print' });
    const cut = await page.locator('main *').evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > 704).map((each) => each.outerHTML.slice(0, 80)));
    expect(cut).toEqual([]);
  });
  it('have their timelines below each other at one scale, which move together until they are let go', async () => {
    const { page, complaints } = await open('diff');
    const one = (side: 'before' | 'after') => page.locator('.one-timeline', { has: page.getByRole('application', { name: `Timeline ${side}` }) });
    const views = async () => [await one('before').locator('.window').textContent(), await one('after').locator('.window').textContent()];
    expect(await views()).toEqual(['0.000 s to 1.000 s', '0.000 s to 1.000 s']);
    await page.getByRole('application', { name: 'Timeline before' }).focus();
    await page.keyboard.press('w');
    expect(await views()).toEqual(['200.0 ms to 800.0 ms', '200.0 ms to 800.0 ms']);
    await page.getByRole('checkbox', { name: 'Move both together' }).uncheck();
    await page.getByRole('application', { name: 'Timeline after' }).focus();
    await page.keyboard.press('a');
    expect(await views()).toEqual(['200.0 ms to 800.0 ms', '80.0 ms to 680.0 ms']);
    // they keep what lies between them
    await page.getByRole('checkbox', { name: 'Move both together' }).check();
    await one('before').getByRole('button', { name: 'Later' }).click();
    expect(await views()).toEqual(['0.5000 s to 1.1000 s', '380.0 ms to 980.0 ms']);
    // all of both, as they lie above each other
    await one('before').getByRole('button', { name: 'All', exact: true }).click();
    expect(await views()).toEqual(['0.000 s to 1.120 s', '-0.120 s to 1.000 s']);
    // the sender was 60 ms sooner
    await page.getByRole('application', { name: 'Timeline before' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await one('before').locator('.told[aria-live]').textContent()).toMatch(/^Chosen: late sender, rank 0, waits, by cause, begins 100.000000 ms, takes 200 ms, exposed 100 ms/);
    await page.getByRole('application', { name: 'Timeline after' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await one('after').locator('.told[aria-live]').textContent()).toMatch(/^Chosen: late sender, rank 0, waits, by cause, begins 100.000000 ms, takes 140 ms, exposed 40.0 ms/);
    expect(complaints).toEqual([]);
  });
  it('of which one timeline is damaged say which, and show all else', async () => {
    const { page, complaints } = await open(with_contents('diff_one_timeline', (json) => json.slice(0, 100), 'second-timeline-document', 'diff'));
    expect(await page.locator('#timelines [role=alert]').allTextContents()).toEqual([expect.stringMatching(/^After: The timeline in this file is damaged: it cannot be read\./)]);
    expect((await cells(page, 'Where the time of the average')).length).toBe(4);
    expect(complaints).toEqual([]);
  });
  it('with hostile names run nothing', async () => {
    const { page, complaints } = await open('hostile_diff');
    expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
    expect(await page.locator('#states').textContent()).toContain('</script><script>window.attacked=1</script>');
    expect(complaints).toEqual([]);
  });
  it.each([
    ['cut', (json: string) => json.slice(0, 100), 'The comparison in this file is damaged: it cannot be read.'],
    ['newer', (json: string) => json.replace('penstock-diff-1', 'penstock-diff-9'), 'The comparison in this file is newer than the page that should show it.'],
  ])('that are %s give a page that says so', async (name, change, words) => {
    const { page, complaints } = await open(with_contents(`diff_${name}`, change, 'diff-document', 'diff'));
    expect(await page.locator('[role=alert] h1').textContent()).toBe(words);
    expect(complaints).toEqual([]);
  });
  it('keep to their schema', () => {
    const schema = JSON.parse(readFileSync(new URL('../../../analysis/diff.schema.json', import.meta.url), 'utf8')) as object;
    const validate = new Ajv({ allErrors: true }).compile(schema);
    validate(JSON.parse(readFileSync(path_of('diff').replace(/html$/, 'json'), 'utf8')));
    expect(validate.errors ?? []).toEqual([]);
  });
});
