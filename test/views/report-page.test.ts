/** The report as a page: what it holds, and how it looks and reads in a real browser. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeReport } from '../../src/flows/report/report.ts';
import { html, reportPage } from '../../src/views/report-page.ts';
import { Browser, chromium } from '../support/browser.ts';
import {
  busyInput,
  emptyInput,
  hostileInput,
  hostileTexts,
  invoiceOf,
  oneInput,
  reportFile,
} from '../support/report-samples.ts';
import { sliceOf } from '../support/slices.ts';

const manyInput = {
  ...busyInput(3000),
  unclear: Array.from({ length: 2000 }, (_, at) => ({
    attempt: String(at),
    at: '2026-11-14T09:00:00.000Z',
    url: `https://example.com/${at}.mp3`,
    skus: ['TRANS14'],
  })),
  invoices: Array.from({ length: 600 }, (_, at) =>
    invoiceOf(String(at), `${1977 + Math.floor(at / 12)}-${String(1 + (at % 12)).padStart(2, '0')}-01`, [
      [`SKU${at % 50}`, String(1001 + at), '10', String(at)],
    ]),
  ),
};
/** Amounts of more digits than fit, months apart, and one of next to nothing. */
const extremeInput = {
  ...oneInput,
  invoices: ['2025-12-01', '2026-01-01', '2026-02-01', '2026-03-01', '2026-05-01', '2026-08-01'].map(
    (created, at) =>
      invoiceOf(String(at), created, [
        [`SKU${at}`, '1', '1', at ? `${12345678901n * 10n ** BigInt(at)}.125` : '0.000001'],
      ]),
  ),
};
const inputs = {
  extreme: extremeInput,
  empty: emptyInput,
  one: oneInput,
  busy: busyInput(),
  hostile: hostileInput,
  many: manyInput,
};
const names = Object.keys(inputs) as Array<keyof typeof inputs>;
const pageOf = (name: keyof typeof inputs): string => reportPage(makeReport(inputs[name]));

describe('a page', () => {
  it.each(names)('needs nothing else, and runs nothing: %s', (name) => {
    const page = pageOf(name);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page.match(/<(script|link|img|iframe|object|embed|form|base)\b/gi)).toBeNull();
    expect(page.match(/\s(on\w+|href|src|style)=|url\(|@import/gi) ?? []).toEqual(
      name === 'hostile' ? expect.anything() : [],
    );
  });

  it('says that there is nothing, where there is nothing', () => {
    expect(pageOf('empty').match(/Nothing yet\./g)).toHaveLength(5);
    expect(pageOf('empty')).toContain('<dt>Spent</dt><dd>nothing yet</dd>');
    expect(pageOf('empty')).not.toContain('<svg');
  });

  it('is not longer for many rows than people can use, and says so', () => {
    const page = pageOf('many');
    expect(page.length).toBeLessThan(1_000_000);
    expect(page).toMatch(/500 of \d{4} rows; steno report --csv has all/);
    expect(page).toContain('The last 36 months; steno report --csv has all');
  });

  it('shows no signature of a link', () => {
    const url = 'https://b.s3.amazonaws.com/a.mp3?AWSAccessKeyId=AKIA&Expires=1&Signature=secret';
    const unclear = [{ attempt: '1', at: '', url, skus: [] }];
    expect(reportPage(makeReport({ ...emptyInput, unclear }))).not.toContain('secret');
  });

  it('has the months between, in which nothing was spent', () => {
    const invoices = ['2025-11-01', '2026-02-01'].map((created, at) =>
      invoiceOf(String(at), created, [['TRANS14', '1', '1', '1']]),
    );
    const page = reportPage(makeReport({ ...oneInput, files: [reportFile('1')], invoices }));
    const titles = [...page.matchAll(/<bdi>(20\d\d-\d\d)<.*\n.*data-label="Spent">([\d.]+) USD</g)].map(
      ([, month, value]) => [month, value],
    );
    expect(titles).toEqual([
      ['2025-11', '1.00'],
      ['2025-12', '0.00'],
      ['2026-01', '0.00'],
      ['2026-02', '1.00'],
    ]);
  });

  it('marks the slowest and the target beside the median, as shares of the longest', () => {
    const files = [1, 2, 6].map((days) =>
      reportFile(String(days), { deliveredAt: `2026-08-0${1 + days}T10:00:00.000Z` }),
    );
    const page = reportPage(makeReport({ ...emptyInput, files }));
    const [, turnaround = ''] = page.split('Turnaround by SKU</h2>');
    expect(turnaround).toContain('a bar to the median, a line to the slowest, and a mark at the target');
    expect(turnaround).toMatch(/class="fill" width="14.3" .*M14.3 5H42.9".*class="target" d="M100 0V10"/);
  });

  it('escapes whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(html`<p title="${text}">${text}</p>`.text).toMatch(/^<p title="[^<>"]*">[^<>]*<\/p>$/);
      }),
    );
    expect(html`${'<&>"\''}`.text).toBe('&lt;&amp;&gt;&quot;&#39;');
  });
});

// In CI it must be there; elsewhere these are skipped.
if (!chromium) console.log('skipped: no Chromium is installed (Debian: apt-get install chromium)');

describe.skipIf(!chromium && !process.env.CI)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.start(chromium ?? 'chromium');
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
  });

  const modes = [
    { media: 'screen', scheme: 'light' },
    { media: 'screen', scheme: 'dark' },
    { media: 'print', scheme: 'dark' },
  ] as const;

  it.each(modes)('has text that stands out from what is behind it: $media, $scheme', async (mode) => {
    await browser.open(pageOf('busy'), mode);
    const ratios = await browser.evaluate<number[]>(contrasts);
    expect(ratios.length).toBeGreaterThan(300);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(sliceOf(names, 3))('fits a wide window, a telephone and paper: %s', async (name) => {
    for (const mode of [{ width: 1000 }, { width: 360 }, { media: 'print', width: 700 }] as const) {
      await browser.open(pageOf(name), mode);
      const [page, window] = await browser.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, innerWidth]',
      );
      expect(page, JSON.stringify(mode)).toBeLessThanOrEqual(window);
    }
  });

  it.each(names)('hides no value on a telephone, and scrolls nothing sideways: %s', async (name) => {
    await browser.open(pageOf(name), { width: 390 });
    expect(await browser.evaluate<string[]>(outsideWindow)).toEqual([]);
  });

  it('has each value beside its label on a telephone, the first on the line of the name', async () => {
    await browser.open(pageOf('busy'), { width: 390 });
    const rows = await browser.evaluate<Array<{ beside: boolean; labels: string[] }>>(stackedRows);
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter(({ beside }) => !beside)).toEqual([]);
    expect(rows[0]?.labels).toEqual(['"Spent "', '"Refunded "', '"Minutes "', '"Files "']);
  });

  it('runs nothing and fetches nothing, whatever names it shows', async () => {
    await browser.open(pageOf('hostile'));
    expect(await browser.evaluate('document.title')).toBe('Transcription report, 2026-11-15');
    expect(await browser.evaluate('document.querySelectorAll("script, img, iframe, link").length')).toBe(0);
    const shown = await browser.evaluate<string>('document.body.textContent');
    for (const text of hostileTexts.slice(0, 4)) expect(shown).toContain(text);
    expect(browser.log).toEqual([]);
  });

  it.each([1000, 390])(
    'is read aloud, %i wide: headings, and tables with names and headers',
    async (width) => {
      await browser.open(pageOf('busy'), { width });
      const nodes = await browser.accessibility();
      const named = (role: string): string[] =>
        nodes.filter((node) => node.role === role).map(({ name }) => name);
      const parts = [
        'Spend by month',
        'Spend by SKU',
        'Spend by order',
        'Spend by person',
        'Turnaround by SKU',
        'Open, on hold and uncertain',
      ];
      expect(named('heading')).toEqual(['Transcription report', 'Not in these figures', ...parts]);
      expect(named('table').map((name) => name.replace(/\..*/, ''))).toEqual(parts);
      expect(named('image')).toEqual([]);
      expect(named('columnheader')).toEqual(
        expect.arrayContaining(['Minutes', 'Audiofile', 'State', 'On time']),
      );
      expect(named('rowheader')).toEqual(
        expect.arrayContaining([
          ...['2026-01', 'TRANS14', 'Town council, session 4 and 3 more 501'],
          ...['Town council, session 159 1159', 'https://example.com/talks/keynote.mp3 attempt 17'],
        ]),
      );
      expect(named('banner').length + named('main').length + named('contentinfo').length).toBe(3);
    },
  );

  it('has each amount of a row once', () => {
    const page = pageOf('busy');
    for (const { name, spent } of makeReport(inputs.busy).groups.order) {
      const [row = ''] = page.match(new RegExp(`<bdi>${name}</bdi>[^]*?</tr>`)) ?? [];
      expect(row.split(`${spent.toExact(2)} USD`)).toHaveLength(2);
    }
    expect(page).not.toContain('<text');
  });

  it('keeps headings with their tables on paper, and rows whole', async () => {
    await browser.open(pageOf('busy'), { media: 'print', width: 680 });
    const breaks = (selector: string): Promise<string> =>
      browser.evaluate(`(({ breakBefore, breakInside, breakAfter }) => [breakBefore, breakInside, breakAfter].join())(
        getComputedStyle(document.querySelector('${selector}')))`);
    expect(await breaks('h2')).toBe('auto,auto,avoid');
    expect(await breaks('thead')).toBe('auto,avoid,avoid');
    expect(await breaks('tbody tr')).toBe('auto,avoid,avoid');
    expect(await breaks('tbody tr:last-child')).toBe('avoid,avoid,auto');
  });

  it('prints on as many pages in the dark as in the light', async () => {
    const pages: number[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      await browser.open(pageOf('busy'), { scheme });
      const pdf = (await browser.pdf(scheme)).toString('latin1');
      expect(pdf).toMatch(/^%PDF-/);
      pages.push(pdf.match(/\/Type \/Page\b(?!s)/g)?.length ?? 0);
    }
    expect(pages[0]).toBeGreaterThanOrEqual(3);
    expect(pages[0]).toBeLessThanOrEqual(8);
    expect(pages[1]).toBe(pages[0]);
  });

  it.each([{ width: 1000 }, { media: 'print', width: 680 }] as const)(
    'breaks no word of a state: $width',
    async (mode) => {
      await browser.open(pageOf('busy'), mode);
      const lines = await browser.evaluate<number[]>(`[...document.querySelectorAll('td')]
      .filter((cell) => cell.textContent === 'Transcribing')
      .map((cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects().length; })`);
      expect(new Set(lines)).toEqual(new Set([1]));
    },
  );
});

/** The contrast of each text with its background, by the formula of WCAG. */
const contrasts = `(() => {
  const parse = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.body.querySelectorAll('*')]
    .filter((element) => hasText(element) && !element.closest('title, desc'))
    .map((element) => {
      const style = getComputedStyle(element);
      const front = light(parse(element.closest('svg') ? style.fill : style.color));
      const back = light(behind(element));
      return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    });
})()`;

/** Texts that stand outside the window, or in something that scrolls sideways. */
const outsideWindow = `(() => {
  const wide = [...document.querySelectorAll('section')].filter((each) => each.scrollWidth > each.clientWidth);
  const cells = [...document.querySelectorAll('h1, h2, dd, tbody th, tbody td, li')].filter((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return [...range.getClientRects()].some(({ left, right }) => left < -1 || right > innerWidth + 1);
  });
  return [...wide, ...cells].map((each) => each.textContent.slice(0, 80));
})()`;

/** Of each row: whether its first value is on the line of its name, and the labels before its values. */
const stackedRows = `[...document.querySelectorAll('tbody tr')].map((row) => {
  const cells = [...row.querySelectorAll('td[data-label]')].filter((cell) => cell.textContent);
  const [name, first] = [row.querySelector('th'), cells[0]].map((each) => each.getBoundingClientRect());
  return {
    beside: Math.abs(name.top - first.top) < 2 && first.left >= name.right,
    labels: cells.map((cell) => getComputedStyle(cell, '::before').content),
  };
})`;
