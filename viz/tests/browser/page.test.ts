import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/generated/report';
import { golden, path_of, report_of } from './golden';
import { is_firefox } from './browser';
import { cells, in_colours, open, with_contents } from './pages';

describe.each(golden)('the page of %s', (name) => {
  it('loads from a file without a request or a complaint, in light, in dark and on a narrow screen, its links lead somewhere, and its headline is that of the text report', async () => {
    const { page, complaints } = await open(name);
    expect(await page.locator('main h2').count()).toBeGreaterThan(3);
    expect(await page.locator('#summary .verdict').last().textContent()).toBe(report_of(name).headline.words);
    const screens = [['light', 1280], ['dark', 1280], ['light', 800], ['dark', 390]] as const;
    // Firefox draws slowly, and lays the page out like Chromium where it is narrow enough
    for (const [colorScheme, width] of is_firefox ? screens.slice(2) : screens) {
      await in_colours(page, colorScheme);
      await page.setViewportSize({ width, height: 900 });
      const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      expect(wide).toBe(narrow);
    }
    const hrefs = await page.locator('a[href^="#"]').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
    expect(hrefs.length).toBeGreaterThan(5);
    expect(await page.evaluate((selectors) => selectors.filter((selector) => document.querySelector(selector) === null), hrefs)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

// the page's script writes them, alike in any browser
describe.skipIf(is_firefox)('figures', () => {
  it('of a late sender are those of its recording', async () => {
    const { page } = await open('late_sender');
    expect(await page.locator('#summary .large').textContent()).toBe('65.0 %of the run host code');
    expect(await page.locator('#summary .verdict').textContent()).toBe(
      '65.0 % of the run (0.650 s of 1.000 s on the average rank) is host code: no kernel runs, and the host is outside MPI. ' +
        '50.0 % of it is after MPI_Send at 0x80, most on rank 1. 10.0 % is exposed communication. First advice: shorten host code (65.0 %).',
    );
    expect((await cells(page, 'The parts of the time')).map((row) => row.slice(0, 5))).toEqual([
      ['kernels', '0.250', '25.00', '0.300', '1'],
      ['host code', '0.650', '65.00', '0.650', '0'],
      ['exposed communication', '0.100', '10.00', '0.150', '0'],
      ['late sender', '0.050', '5.00', '0.100', '0'],
      ['wire', '0.050', '5.00', '0.050', '0'],
    ]);
    expect((await cells(page, 'Figures of each rank')).map((row) => row.slice(0, 8))).toEqual([
      ['0', '1.000', '0.200', '0.250', '0.100', '40.0', '0.150', '0.150'],
      ['1', '1.000', '0.300', '0.050', '0.000', '0.0', '0.050', '0.050'],
    ]);
    expect((await cells(page, "The replay's predictions")).map((row) => row.slice(1, 3))).toEqual([
      ['0.950', '-5.0'],
      ['0.950', '-5.0'],
      ['1.000', '0.0'],
      ['1.022', '2.2'],
    ]);
    expect(await page.locator('.finding .amount').allTextContents()).toEqual([
      'saves 0.650 ± 0.013 s a rank, 65.0 % of the run',
      'saves 0.016 s a rank, 1.6 % of the run',
    ]);
  });
  it('of a run that is not known are none, not zeros', async () => {
    const unknown = (json: string) => {
      const report = JSON.parse(json) as Report;
      return JSON.stringify({ ...report, counted: { ...report.counted, total_s: 0, counted_s: 0, parts_s: null }, advice: [], replay: null, headline: { part: null, time_s: 0, words: 'No figures: the run is not known.' } });
    };
    const { page, complaints } = await open(with_contents('unknown', unknown));
    expect(await page.locator('#summary').textContent()).toBe('SummaryNo figures: the run is not known.');
    for (const section of ['time', 'what-if', 'ranks']) expect(await page.locator(`#${section}`).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
  it('of a job without a GPU are called communication time, as in its headline', async () => {
    const without_gpu = (json: string) => JSON.stringify({ ...(JSON.parse(json) as object), measure: 'communication_time', why_not_exposed: 'the program used no GPU' });
    const { page } = await open(with_contents('without_gpu', without_gpu));
    expect((await cells(page, 'The parts of the time')).map(([name]) => name)).toEqual(['host code', 'communication time', 'late sender', 'wire']);
    expect(await page.locator('#time').textContent()).not.toContain('exposed communication');
  });
  it('are the same numbers in the tables as in the JSON', async () => {
    const report = report_of('many_ranks');
    const { page } = await open('many_ranks');
    await page.locator('#ranks').getByRole('button', { name: 'Show all 40 rows' }).click();
    const rows = await cells(page, 'Figures of each rank');
    const exposed = report.ranks.map((rank) => ((rank.exposed_s ?? NaN) * 1e3).toFixed(3));
    expect(rows.map((row) => row[6])).toEqual(exposed);
    expect(exposed[39]).toBe('61.000');
  });
  it('show which step is slow, and why', async () => {
    const { page } = await open('slow_step');
    const [slowest] = await cells(page, 'The longest steps');
    expect(slowest?.slice(0, 4)).toEqual(['18', '30.000', '3.00', '1']);
    expect(slowest?.[5]).toBe('wait at collective by 9.75 ms, kernels by 9.75 ms');
  });
  it('show which step is slow, and why, where the report joins steps since there are many', async () => {
    const { page } = await open('long_run');
    expect((await cells(page, 'The longest steps')).map((row) => [row[0], row[1], row[5]])).toEqual([['1700', '6.000', 'host code by 2.55 ms, wait at collective by 2.50 ms']]);
  });
  it('show who was waited for, in which steps, and what it did meanwhile', async () => {
    const { page } = await open('long_run');
    expect(await cells(page, 'Ranks that others waited for')).toEqual([['1', 'MPI_Allreduce at 0x1300', '1', '0.005', '1 × 0.005', '1,700', '93.6 % host code in the NVTX range assemble']]);
  });
  it('show how efficient NVTX ranges are', async () => {
    const { phases } = report_of('long_run');
    const { page } = await open('long_run');
    const shown = (await cells(page, 'NVTX phases; nested')).map((row) => [row[0], row[4]]);
    expect(shown).toEqual(phases.map(({ name, efficiency }) => [name, efficiency == null ? '–' : (efficiency.parallel * 100).toFixed(1)]));
    expect(shown.length).toBe(2);
  });
  it('show how efficient the ranks were over time: less where a step was slow', async () => {
    const { page } = await open('long_run');
    const shown = await cells(page, 'Efficiency over time');
    expect(shown.length).toBe(15); // of 20: a table begins with so many rows
    expect(shown[0]?.[0]).toBe('1–120');
    expect(shown.slice(13).map((row) => [row[0], row[2]])).toEqual([
      ['1,561–1,680', '88.0'],
      ['1,681–1,800', '86.5'], // with step 1,700
    ]);
  });
  it('show each thread below its rank', async () => {
    const { page } = await open('long_run');
    expect((await cells(page, 'Figures of each rank and thread')).map((row) => [row[0], row[6]])).toEqual([
      ['0', '0.525'],
      ['0, thread 0 §', '0.293'],
      ['0, thread io §', '0.280'],
      ['1', '0.288'],
    ]);
  });
  it('show who sends how much to whom, and how fast', async () => {
    const { page, complaints } = await open('ring');
    expect((await cells(page, 'Messages by sender and receiver')).slice(0, 2)).toEqual([
      ['7', '0', '12', '96.000', '12.000', '8.39', '8.39', '100', 'peer'],
      ['6', '7', '12', '84.000', '12.000', '7.34', '8.39', '88', 'peer'],
    ]);
    const map = page.locator('#matrix svg[role=img]');
    expect(await map.locator('rect[class^=heat]').count()).toBe(8);
    const shades = () => map.locator('rect[class^=heat]').evaluateAll((all) => all.map((each) => each.getAttribute('class')));
    expect((await shades())[0]).toBe('heat-7');
    expect(await page.locator('#matrix .scale').textContent()).toBe('12 MiB96 MiB');
    await page.getByLabel('Time moving').check();
    expect(new Set(await shades()).size).toBe(1);
    await page.getByLabel('Bandwidth reached').check();
    expect(await page.locator('#matrix .scale').textContent()).toBe('1.05 GB/s8.39 GB/s');
    await page.getByLabel('Share of what is possible').check();
    expect(await page.locator('#matrix .scale').textContent()).toMatch(/^\d+\.\d %100\.0 %$/);
    await page.getByLabel('Transport', { exact: true }).check();
    expect(await page.locator('#matrix .legend').textContent()).toBe('peer');
    expect(await map.locator('rect.fill-transport-peer').count()).toBe(8);
    await page.getByLabel('Bytes', { exact: true }).check();
    await map.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#matrix .told').textContent()).toBe(
      'rank 0 → rank 1: 12 MiB in 12 messages, 12.0 ms moving, 1.05 GB/s of 1.05 possible, mostly by peer.',
    );
    const box = (await map.locator('rect[class^=heat]').nth(1).boundingBox())!; // rank 6 → rank 7
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    expect(await page.locator('#matrix .told').textContent()).toMatch(/^rank 6 → rank 7: 84 MiB/);
    expect(complaints).toEqual([]);
  });
  it('that are not known are not shown as zero', async () => {
    const { page } = await open('blind');
    expect(await page.locator('#summary .verdict').textContent()).toMatch(/communication time. How much of it is exposed is unknown: GPU kernels of rank 0 were not recorded/);
    const [row] = await cells(page, 'Figures of each rank');
    expect(row?.[2]).toBe('–');
  });
});

describe('hands', () => {
  it('switch between light and dark', async () => {
    const { page, complaints } = await open('late_sender');
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await paper()).toBe('rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    expect(await paper()).toBe('rgb(20, 23, 27)');
    await page.getByRole('button', { name: 'Light colours' }).click();
    expect(await paper()).toBe('rgb(255, 255, 255)');
    expect(complaints).toEqual([]);
  });
  it('sort a table by its head, and find rows in it', async () => {
    const { page } = await open('many_ranks');
    const ranks = async () => (await cells(page, 'Figures of each rank')).map((row) => row[0]);
    expect((await ranks()).slice(0, 3)).toEqual(['0', '1', '2']);
    const head = page.locator('#ranks th', { hasText: 'kernels' });
    await head.getByRole('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect((await ranks()).slice(0, 3)).toEqual(['39', '38', '37']);
    await head.getByRole('button').click();
    expect((await ranks()).slice(0, 3)).toEqual(['0', '1', '2']);
    await page.getByLabel('Find ranks or hosts').fill('39');
    expect(await ranks()).toEqual(['39']);
    expect(await page.locator('#ranks [role=status]').textContent()).toBe('1 of 40');
    await page.getByLabel('Find ranks or hosts').fill('nobody');
    expect(await ranks()).toEqual([]);
  });
  it('follow a finding to the row that shows it', async () => {
    const { page } = await open('late_sender');
    const link = page.locator('.finding', { hasText: 'Balance the ranks' }).locator('a');
    expect(await link.textContent()).toBe('Shown in Who is waited for');
    await link.click();
    const row = page.locator('tr.target');
    expect(await row.locator('td').first().textContent()).toBe('1');
    expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator('.finding a').first().getAttribute('href')).toBe('#call_sites-0');
  });
  it('zoom into the steps with the keys, the buttons and by dragging, and out again', async () => {
    const { page, complaints } = await open('slow_step');
    const chart = page.locator('#steps svg[role=img]').first();
    const window = () => page.locator('#steps .window').textContent();
    expect(await window()).toBe('step 1 to 40');
    await chart.focus();
    await page.keyboard.press('w');
    expect(await window()).toBe('step 11 to 30');
    await page.keyboard.press('d');
    expect(await window()).toBe('step 16 to 35');
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    expect(await window()).toBe('step 1 to 40');
    await page.locator('#steps').getByRole('button', { name: 'Closer' }).click();
    expect(await window()).toBe('step 11 to 30');
    await chart.focus();
    await page.keyboard.press('f');
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.25, box.y + 90);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 90);
    await page.mouse.up();
    const [, from, to] = /step (\d+) to (\d+)/.exec((await window()) ?? '') ?? [];
    expect(Number(to) - Number(from)).toBeGreaterThan(7);
    expect(Number(to) - Number(from)).toBeLessThan(12);
    expect(complaints).toEqual([]);
  });
  it('go from step to step with the arrow keys, and the page tells about each', async () => {
    const { page } = await open('slow_step');
    await page.locator('#steps svg[role=img]').first().focus();
    for (let step = 0; step < 18; ++step) await page.keyboard.press('ArrowRight');
    expect(await page.locator('#steps .told').textContent()).toBe(
      "step 18: 30.0 ms on the average rank: kernels 16.0 ms, wait at collective 10.0 ms, wire 2.00 ms, host code 2.00 ms; the slowest rank's time 30.0 ms.",
    );
  });
  it('move the what-if sliders, and what it would be worth follows at once', async () => {
    const { page } = await open('late_sender');
    const result = page.locator('#what-if-result');
    expect(await result.textContent()).toBe('At best it is 1.000 s instead of 1.000 s (0.0 % less), and 10.0 % of that is exposed.');
    await page.getByLabel('Reduction of late sender, in percent').fill('50');
    expect(await result.textContent()).toMatch(/it is 0.975 s instead of 1.000 s \(2.5 % less\), and 7.7 % of that is exposed/);
    const widths = () => page.locator('#what-if .sliders .bar').evaluateAll((bars) => bars.map((bar) => Number(bar.querySelector('.fill-late_sender')?.getAttribute('width'))));
    expect(await widths()).toEqual([5, 2.5]);
    await page.getByRole('button', { name: 'No waiting' }).click();
    expect(await result.textContent()).toMatch(/it is 0.900 s instead of 1.000 s \(10.0 % less\), and 0.0 % of that is exposed/);
    await page.getByRole('button', { name: 'As it was' }).click();
    expect(await result.textContent()).toMatch(/it is 1.000 s/);
  });
  it('choose two ranks to compare', async () => {
    const { page } = await open('many_ranks');
    await page.getByRole('spinbutton', { name: 'Rank', exact: true }).fill('7');
    await page.getByRole('spinbutton', { name: 'and rank' }).fill('9');
    const rows = await cells(page, 'Rank 7 and rank 9');
    expect(rows.find(([name]) => name === 'kernels')?.slice(1)).toEqual(['7.000', '9.000', '2.000']);
  });
  it('copy numbers as numbers', async () => {
    const { page } = await open('many_ranks');
    const copied = await page.evaluate(() => {
      const body = document.querySelector('#ranks .table tbody');
      getSelection()?.selectAllChildren(body!);
      return getSelection()?.toString() ?? '';
    });
    const numbers = copied.trim().split(/\s+/);
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter((text) => text !== '–' && Number.isNaN(Number(text)))).toEqual([]);
  });
  it('print on A4 paper', async () => {
    const { page } = await open('late_sender', { viewport: { width: 703, height: 1000 } }); // 186 mm
    await in_colours(page, 'dark');
    expect((await page.pdf({ preferCSSPageSize: true })).length).toBeGreaterThan(10_000);
  });
  it.skipIf(is_firefox)('print no buttons, and no table in two pieces', async () => {
    const { page } = await open('ring', { viewport: { width: 703, height: 1000 } });
    await page.getByRole('button', { name: 'Add up what is in view' }).click();
    await page.emulateMedia({ media: 'print' });
    const seen = await page.locator('button, input, select, summary').evaluateAll((all) => all.filter((each) => each.closest('thead') === null && each.getBoundingClientRect().height > 0).map((each) => each.outerHTML.slice(0, 80)));
    expect(seen).toEqual([]);
    // 269 mm at 96 dpi fit on a page
    const tables = await page.locator('main table').evaluateAll((all) =>
      all.filter((each) => each.getBoundingClientRect().height > 0).map((each) => {
        let whole: Element | null = each;
        while (whole !== null && getComputedStyle(whole).breakInside !== 'avoid') whole = whole.parentElement;
        return { caption: each.querySelector('caption')?.textContent, fits: whole !== null && whole.getBoundingClientRect().height < 1016 };
      }),
    );
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.filter(({ fits }) => !fits)).toEqual([]);
  });
  it.skipIf(is_firefox)('print in black on white, and nothing is cut off', async () => {
    const { page } = await open('late_sender', { viewport: { width: 703, height: 1000 } });
    await in_colours(page, 'dark');
    await page.emulateMedia({ media: 'print' });
    const wide = await page.locator('main *').evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > 704).map((each) => each.outerHTML.slice(0, 80)));
    expect(wide).toEqual([]);
    expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe('rgb(0, 0, 0)');
  });
});

describe('a GPU that was throttled', () => {
  it('is named below the headline, and has its row among the others', async () => {
    const { page, complaints } = await open('ring');
    expect(await page.locator('#summary .notices li').allTextContents()).toEqual(['! GPU 3 (rank 3) was throttled by heat for 100.0 % of the steps: 990 MHz on average, of 1,980 at most; 91 °C.']);
    const rows = await cells(page, 'Each GPU in what is counted');
    expect(rows.length).toBe(8);
    expect(rows[3]).toEqual(['node01', '3', '0000:13:00.0', '3', '36.0', '300', '300', '990', '990', '1980', '91', '100.0', 'heat']);
    expect(rows[4]?.slice(-2)).toEqual(['0.0', '']);
    expect(await page.locator('#gpu-power .intro').textContent()).toBe('The 8 GPUs used 288 J in the steps, 24.0 J a step: 300 W on average each, 300 W at most; the hottest had 91 °C.');
    expect(complaints).toEqual([]);
  });
  it('is not named of recordings without samples', async () => {
    const { page } = await open('late_sender');
    expect(await page.locator('#summary .notices, #gpu-power').count()).toBe(0);
  });
});

describe('NCCL', () => {
  it('has a row for each kind of call, and one for each rank that comes late', async () => {
    const { page, complaints } = await open('nccl');
    expect(await cells(page, 'What NCCL’s calls took on the GPUs')).toEqual([['AllReduce', '8', '512.000', '10', '170.000', '160.000', '10.000', '80.000', '80.000', '3.36']]);
    expect(await cells(page, 'Ranks whose kernels of NCCL began last')).toEqual([['1', 'AllReduce', '4', '160.000', '100.0', '0.0', 'stencil']]);
    expect(await page.locator('#nccl .intro').textContent()).toMatch(/what is left is moving. Of 2 of 10 kernels it is not known when the other ranks' began/);
    expect(complaints).toEqual([]);
  });
  it('is not there where it was not used', async () => {
    const { page } = await open('ring');
    expect(await page.locator('#nccl').count()).toBe(0);
  });
});

describe('a job that did not end', () => {
  it('is told in red above all else', async () => {
    const { page } = await open('unfinished');
    const broken = page.locator('header [role=alert]');
    const told = (report_of('unfinished') as { unfinished?: { words: string } }).unfinished?.words;
    expect(await broken.locator('strong').textContent()).toBe(told ?? 'The job did not end as it should: 2 ranks of 2 did not reach MPI_Finalize.');
    expect((await broken.boundingBox())!.y).toBeLessThan((await page.locator('nav').boundingBox())!.y);
    const [red = 0, green = 0, blue = 0] = (await broken.evaluate((element) => getComputedStyle(element).color)).match(/\d+/g)!.map(Number);
    expect(red).toBeGreaterThan(2 * Math.max(green, blue));
  });
  it('is told with why ranks wait, what to do, and what each was in', async () => {
    const unfinished = {
      is_running: false, looked_at_unix_s: null, all_records_read: true,
      words: 'The job did not end: rank 1 was killed.',
      standstills: [{ kind: 'chain', ranks: [0, 1], waiting_ranks: 1, words: 'Rank 0 waits for rank 1, which is gone.' }],
      next: 'see why rank 1 was killed',
      ranks: [
        { rank: 0, host: null, process_id: null, state: 'exited', abort_code: null, last_alive_s: 0.1, calls: [{ call: 'MPI_Barrier at main.c:7', what: null, since_s: 0.035, waits_for: [1], any_is_enough: false }], threads_unnoticed: 0, moves: false, last_call: null, last_call_end_s: null },
        { rank: 1, host: null, process_id: null, state: 'killed', abort_code: null, last_alive_s: 0.04, calls: [], threads_unnoticed: 0, moves: false, last_call: 'MPI_Barrier at main.c:7', last_call_end_s: 0.03 },
      ],
    };
    const { page, complaints } = await open(with_contents('told_unfinished', (json) => JSON.stringify({ ...(JSON.parse(json) as object), unfinished }), 'report', 'unfinished'));
    const broken = page.locator('header [role=alert]');
    expect(await broken.locator('p, li').allTextContents()).toEqual([
      'The job did not end: rank 1 was killed.',
      'Rank 0 waits for rank 1, which is gone.',
      'Next: see why rank 1 was killed',
      'All figures are of what was recorded until then. Each rank',
    ]);
    expect(await cells(page, 'What each rank was in')).toEqual([
      ['0', 'exited', '0.10', 'MPI_Barrier at main.c:7', '0.04', '1'],
      ['1', 'killed', '0.04', 'outside MPI, after MPI_Barrier at main.c:7', '0.03', ''],
    ]);
    expect(complaints).toEqual([]);
  });
  it('is not told of where all ranks ended', async () => {
    const { page } = await open('late_sender');
    expect(await page.locator('header [role=alert]').count()).toBe(0);
  });
});

describe('a recording that is hostile', () => {
  it('shows its names as they are, and runs nothing', async () => {
    const { page, complaints } = await open('hostile');
    expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(6); // five places for data, and the program
    const attack = '</script><script>window.attacked=1</script>';
    for (const place of ['h1', '#call-sites table', '#kernels table', '#others table', '#messages .table table', '.notices', '.facts']) {
      expect(await page.locator(place).first().textContent(), place).toContain(attack);
    }
    expect(complaints).toEqual([]);
  });
  it('could reach nothing if it did run: the policy forbids it', async () => {
    const { page, complaints } = await open('late_sender');
    const outcome = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.attacked = 1';
      document.body.append(script);
      const fetched = await fetch('https://penstock.invalid/').then(() => 'fetched', () => 'refused');
      const loaded = await new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve('loaded');
        image.onerror = () => resolve('refused');
        image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
      });
      return { ran: 'attacked' in window, fetched, loaded };
    });
    expect(outcome).toEqual({ ran: false, fetched: 'refused', loaded: 'refused' });
    // so says the browser, in its own time
    await expect.poll(() => complaints.filter((each) => /content.security.policy/i.test(each)).length).toBeGreaterThanOrEqual(3);
  });
});

describe('a report that cannot be shown', () => {
  it.each([
    ['cut', (json: string) => json.slice(0, json.length / 2), 'The report in this file is damaged: it cannot be read.'],
    ['empty', () => '', 'The report in this file is damaged: it cannot be read.'],
    ['partial', (json: string) => json.replace('"ranks":[', '"rinks":['), 'The report in this file is damaged: parts of it are missing or are not what they should be.'],
    ['newer', (json: string) => json.replace('penstock-report-2', 'penstock-report-3'), 'The report in this file is newer than the page that should show it.'],
  ])('since it is %s, gives a page that says so', async (name, change, words) => {
    const { page, complaints } = await open(with_contents(`damaged_${name}`, change));
    expect(await page.locator('[role=alert] h1').textContent()).toBe(words);
    expect(complaints).toEqual([]);
  });
});

describe('the file', () => {
  it('lists the licences of what is in it', () => {
    const html = readFileSync(path_of('late_sender'), 'utf8');
    for (const name of ['preact', 'd3-scale', 'd3-shape']) expect(html).toMatch(new RegExp(`\\n?${name} \\d+\\.\\d+\\.\\d+ \\(`));
    expect(html).toContain('Copyright (c) 2015-present Jason Miller');
  });
  it('is small', () => expect(readFileSync(path_of('late_sender')).length).toBeLessThan(500_000));
});
