// The page of `penstock trend --html`: three runs alike, and one whose kernels take 3 ms longer in each step.
import { describe, expect, it } from 'vitest';
import { is_firefox } from './browser';
import { cells, open, with_contents } from './pages';

describe('a history', () => {
  it('shows each run, what changed and by how much, without a request or a complaint', async () => {
    const { page, complaints } = await open('trend');
    expect(await page.locator('.verdict').textContent()).toBe('The newest run takes 13.500 ms a step: 28.6 % more than the run before it (kernels +3.000 ms); +28.6 % against the first one.');
    expect(await page.locator('.facts').textContent()).toBe('4 runs of 2 ranks on node01 · MPICH 4.0.2 · Test GPU');
    expect(await page.locator('.notices li').allTextContents()).toEqual(['no run has an NVTX range "nowhere"']);
    expect(await page.locator('.changes li').allTextContents()).toEqual([expect.stringMatching(/^Run 4 \(222222222\): \+3\.000 ms ± \d\.\d{3} a step: kernels \+3\.000 ms$/)]);
    const runs = await cells(page, 'Time a step of the average rank');
    expect(runs.map((row) => row.slice(0, 8))).toEqual([
      ['4', '2023-11-14 22:30 UTC', '222222222', '13.500', '13.000', '13.000', '13.000', '+28.6▲'],
      ...['3', '2'].map((run) => [run, '2023-11-14 22:30 UTC', '111111111', '10.500', '10.000', '10.000', '10.000', '0.0']),
      ['1', '2023-11-14 22:30 UTC', '111111111', '10.500', '10.000', '10.000', '10.000', '–'],
    ]);
    expect(runs.map((row) => row[9])).toEqual(['more', 'jitter', 'jitter', '']);
    expect((await cells(page, 'Where the time of a step went')).map((row) => row.slice(0, 3))).toEqual([
      ['4', '9.250▲', '0.250'],
      ['3', '6.250', '0.250'],
      ['2', '6.250', '0.250'],
      ['1', '6.250', '0.250'],
    ]);
    expect((await cells(page, 'Efficiencies'))[0]).toEqual(['4', '83.3', '97.8', '100.0', '85.2', '68.5']);
    expect((await cells(page, 'Time in NVTX ranges'))[0]?.slice(0, 3)).toEqual(['4', '13.500▲', '16.7']);
    expect((await cells(page, 'What was run'))[0]?.slice(2)).toEqual(['222222222', '–', '2', 'node01', 'Test GPU', '–', 'MPICH 4.0.2']);
    expect(complaints).toEqual([]);
  });
  it('has a chart with a mark, jitter, and a line where the commit changes, and tells the run that keys choose', async () => {
    const { page, complaints } = await open('trend');
    const chart = page.getByRole('img', { name: 'Time a step of each run' });
    expect(await chart.locator('.mark-more').count()).toBe(1);
    expect(await chart.locator('.mark-less').count()).toBe(0);
    expect(await chart.locator('circle.mean').count()).toBe(4);
    expect(await chart.locator('path.another-commit').getAttribute('d')).toMatch(/^M[\d.]+ 22V226$/);
    expect((await chart.locator('path.jitter').getAttribute('d'))?.match(/M/g)?.length).toBe(3);
    await chart.focus();
    await page.keyboard.press('End');
    const told = page.locator('#summary .told');
    expect(await told.textContent()).toMatch(/^Run 4, .*, commit 222222222: 13\.500 ms a step on average, half of the steps 13\.000 ms to 13\.000 ms; \+28\.6 % against the run before, beyond jitter/);
    await page.keyboard.press('ArrowLeft');
    expect(await told.textContent()).toMatch(/^Run 3, .*; \+0\.0 % against the run before, within jitter/);
    await page.keyboard.press('Escape');
    expect(await told.textContent()).toBe('Point at a run for its figures.');
    await page.getByRole('checkbox', { name: 'Times from 0' }).check();
    expect(await chart.locator('text', { hasText: 'not from 0' }).count()).toBe(0);
    expect(await page.getByRole('img', { name: /^parallel efficiency: 78\.6 % in run 1, .*83\.3 % in run 4$/ }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });
  it.each([390, 800])('fits on a screen of %i pixels', async (width) => {
    const { page } = await open('trend', { viewport: { width, height: 900 } });
    const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    expect(wide).toBe(narrow);
  });
  it.skipIf(is_firefox)('fits on A4 paper', async () => {
    const { page } = await open('trend', { viewport: { width: 703, height: 1000 } });
    await page.emulateMedia({ media: 'print' });
    const cut = await page.locator('main *').evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > 704).map((each) => each.outerHTML.slice(0, 80)));
    expect(cut).toEqual([]);
  });
  it('of one run, without steps, kernels and parts shows what is known', async () => {
    const lone = (json: string) => {
      const trend = JSON.parse(json) as { runs: Record<string, unknown>[] };
      const unknown = { steps: null, step_quartiles_s: null, counted_share: null, parts_s: null, efficiency: null, gpu_efficiency: null, regions: [], change: null };
      return JSON.stringify({ ...trend, time_of: 'run', since_first: null, runs: [{ ...trend.runs[0], ...unknown }] });
    };
    const { page, complaints } = await open(with_contents('lone_trend', lone, 'trend-document', 'trend'));
    expect((await cells(page, 'Time a run of the average rank'))[0]?.slice(0, 4)).toEqual(['1', '2023-11-14 22:30 UTC', '111111111', '10.500']);
    expect(await page.locator('nav a').allTextContents()).toEqual(['Summary', 'Runs', 'What was run']);
    expect(complaints).toEqual([]);
  });
  it('that lacks its oldest runs says so, and numbers the others as before', async () => {
    const { page } = await open(with_contents('trend_cut_short', (json) => json.replace('"runs_left_out":0', '"runs_left_out":100'), 'trend-document', 'trend'));
    expect(await page.locator('#summary .note').first().textContent()).toMatch(/^The 100 oldest runs before these are in `penstock trend --json` only/);
    expect((await cells(page, 'Efficiencies')).map((row) => row.slice(0, 2))).toEqual([['104', '83.3'], ['103', '78.6'], ['102', '78.6'], ['101', '78.6']]);
    expect(await page.locator('.changes li').textContent()).toMatch(/^Run 104 /);
  });
  it('of which much is to be said has its chart first', async () => {
    const much = (json: string) => JSON.stringify({ ...(JSON.parse(json) as object), remarks: Array.from({ length: 9 }, (_, index) => `remark ${index}`) });
    const { page } = await open(with_contents('trend_of_remarks', much, 'trend-document', 'trend'));
    expect(await page.locator('#summary .warning').textContent()).toBe('9 remarks on what to beware of stand below the chart.');
    expect(await page.locator('#summary figure ~ .notices li').count()).toBe(9);
  });
  it('with hostile names runs nothing', async () => {
    const { page, complaints } = await open('hostile_trend');
    expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
    expect(await page.locator('h1').textContent()).toContain('</script><script>window.attacked=1</script>');
    expect(complaints).toEqual([]);
  });
  it.each([
    ['cut', (json: string) => json.slice(0, 100), 'The history in this file is damaged: it cannot be read.'],
    ['newer', (json: string) => json.replace('penstock-trend-1', 'penstock-trend-9'), 'The history in this file is newer than the page that should show it.'],
  ])('that is %s gives a page that says so', async (name, change, words) => {
    const { page, complaints } = await open(with_contents(`trend_${name}`, change, 'trend-document', 'trend'));
    expect(await page.locator('[role=alert] h1').textContent()).toBe(words);
    expect(complaints).toEqual([]);
  });
});
