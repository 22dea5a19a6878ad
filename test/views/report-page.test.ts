/** The report as a page: what it holds, and how it looks and reads in a real browser. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeReport } from '../../src/flows/report/report.ts';
import { cutLabel, html, scaleTo } from '../../src/views/report-charts.ts';
import { reportPage } from '../../src/views/report-page.ts';
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
    expect(page).toMatch(/Open, held and unclear: 500 of \d{4} rows; steno report --csv has all/);
    expect(page).toContain('The last 36 months');
    expect(page).toContain('The 12 highest of 50');
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
    const titles = [...page.matchAll(/<g><title>(20\d\d-\d\d): ([\d.]+)</g)].map(([, month, value]) => [
      month,
      value,
    ]);
    expect(titles).toEqual([
      ['2025-11', '1.00'],
      ['2025-12', '0.00'],
      ['2026-01', '0.00'],
      ['2026-02', '1.00'],
    ]);
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

describe('a scale', () => {
  it('goes from zero to the value or a little above, in a few round steps', () => {
    expect(scaleTo(8.6)).toEqual({ top: 10, ticks: [0, 2.5, 5, 7.5, 10] });
    expect(scaleTo(0)).toEqual({ top: 1, ticks: [0] });
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e15, noNaN: true }), (value) => {
        const { top, ticks } = scaleTo(value);
        expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-8));
        expect(top).toBeLessThanOrEqual(value * 2.5);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(6);
      }),
    );
  });
});

it('a label is cut between characters, by the room that they take', () => {
  expect(cutLabel('short', 5)).toBe('short');
  expect(cutLabel('longer', 5)).toBe('longe…');
  expect(cutLabel('東京都', 4)).toBe('東京…');
  expect(cutLabel('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3)).toBe('👩‍👩‍👧‍👦…');
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

  it.each(names.filter((name) => name !== 'empty'))(
    'has charts whose texts lie within, and on no other: %s',
    async (name) => {
      await browser.open(pageOf(name));
      const { outside, overlapping, count } = await browser.evaluate<ChartTexts>(chartTexts);
      expect(count).toBeGreaterThan(5);
      expect(outside).toEqual([]);
      expect(overlapping).toEqual([]);
    },
  );

  it('runs nothing and fetches nothing, whatever names it shows', async () => {
    await browser.open(pageOf('hostile'));
    expect(await browser.evaluate('document.title')).toBe('Transcription report, 2026-11-15');
    expect(await browser.evaluate('document.querySelectorAll("script, img, iframe, link").length')).toBe(0);
    const shown = await browser.evaluate<string>('document.body.textContent');
    for (const text of hostileTexts.slice(0, 4)) expect(shown).toContain(text);
    expect(browser.log).toEqual([]);
  });

  it('is read aloud: headings, charts with a title and a description, and tables with names and headers', async () => {
    await browser.open(pageOf('busy'));
    const nodes = await browser.accessibility();
    const named = (role: string): string[] =>
      nodes.filter((node) => node.role === role).map(({ name }) => name);
    const parts = [
      'Spend by month',
      'Spend by SKU',
      'Spend by order',
      'Turnaround by SKU',
      'Open, held and unclear',
    ];
    expect(named('heading')).toEqual(['Transcription report', 'Not in these figures', ...parts]);
    expect(named('table')).toEqual(parts);
    const charts = named('image');
    expect(charts).toHaveLength(4);
    expect(charts[0]).toMatch(
      /^Spend by month, USD A bar for each month from 2025-11 to 2026-11\. The most is 2026-01/,
    );
    expect(named('columnheader')).toContain('Minutes');
    expect(named('rowheader')).toEqual(expect.arrayContaining(['2026-01', 'TRANS14', '501', 'attempt 17']));
    expect(named('banner').length + named('main').length + named('contentinfo').length).toBe(3);
  });

  it('has each figure of a chart in the table behind it', async () => {
    await browser.open(pageOf('busy'));
    const missing = await browser.evaluate<
      string[]
    >(`[...document.querySelectorAll('section')].flatMap((section) => {
      const table = section.querySelector('table')?.textContent ?? '';
      return [...section.querySelectorAll('svg g > title')].map((title) => title.textContent.split(': '))
        .filter(([, value]) => /^[0-9.]+$/.test(value) && !table.includes(value)).map(String);
    })`);
    expect(missing).toEqual([]);
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

interface ChartTexts {
  readonly outside: readonly string[];
  readonly overlapping: readonly string[];
  readonly count: number;
}

/** Texts of charts that leave their chart, or lie on another text. */
const chartTexts = `(() => {
  const found = { outside: [], overlapping: [], count: 0 };
  for (const svg of document.querySelectorAll('svg')) {
    const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
    const boxes = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBBox() }));
    found.count += boxes.length;
    for (const { text, box } of boxes)
      if (box.x < -1 || box.y < -1 || box.x + box.width > width + 1 || box.y + box.height > height + 1)
        found.outside.push(text);
    boxes.forEach(({ text, box }, at) => {
      for (const { text: other, box: its } of boxes.slice(at + 1))
        if (box.x < its.x + its.width && its.x < box.x + box.width && box.y + 3 < its.y + its.height - 3 && its.y + 3 < box.y + box.height - 3)
          found.overlapping.push(text + ' / ' + other);
    });
  }
  return found;
})()`;
