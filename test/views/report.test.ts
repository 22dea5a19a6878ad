/** A report on a terminal, as JSON and as CSV. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeReport } from '../../src/flows/report/report.ts';
import { formatJson, type Json, parseJson } from '../../src/lib/json.ts';
import { amountText, Fraction, parseMoney, sumOf } from '../../src/lib/money.ts';
import { csvTable } from '../../src/ui/output.ts';
import { Paint } from '../../src/ui/paint.ts';
import { drawTable } from '../../src/ui/table.ts';
import {
  barOf,
  daysText,
  groupings,
  reportPages,
  reportView,
  sharesOf,
  spendView,
} from '../../src/views/report.ts';
import { reportPage } from '../../src/views/report-page.ts';
import { parseCsv } from '../support/csv.ts';
import {
  busyInput,
  emptyInput,
  hostileInput,
  invoiceOf,
  NOW,
  oneInput,
  reportFile,
} from '../support/report-samples.ts';

const inputs = { empty: emptyInput, one: oneInput, busy: busyInput(), hostile: hostileInput };
const everyReport = Object.entries(inputs).map(([name, input]) => [name, makeReport(input)] as const);

const noSpend = {
  ...{ name: '', currency: '', unbilled: 0, files: 0, unmeasured: 0, minutes: Fraction.zero },
  ...{ spent: Fraction.zero, refunded: Fraction.zero, unpaid: Fraction.zero, estimated: Fraction.zero },
};

const screen = (input: typeof oneInput, width = 100): string =>
  reportPages(makeReport(input), undefined, true)
    .map(({ title, view }) => `${title}\n${drawTable(view, width, new Paint(false), NOW)}`)
    .join('\n');

describe('on a terminal', () => {
  it('shows a table with bars for each part that has rows', () => {
    const invoices = [
      invoiceOf('1', '2026-08-11', [['TRANS14', '1', '10', '0.86']]),
      invoiceOf('2', '2026-09-01', [['TRANS14', '1', '5', '0.625']]),
    ];
    const open = reportFile('2', {
      ended: '',
      state: 'Transcribing',
      deliveredAt: '',
      order: '92',
      title: 'Late one',
    });
    expect(screen({ ...oneInput, files: [...oneInput.files, open], invoices })).toBe(
      `Spend by month
MONTH        SPENT  MINUTES  FILES  UNBILLED
2026-08  8.600 USD       10      1         1  ████████████████████
2026-09  3.125 USD       10      1            ███████▎

Spend by SKU
SKU           SPENT  MINUTES  FILES  UNBILLED
TRANS14  11.725 USD       10      1         1  ████████████████████

Turnaround
SKU      MEDIAN  SLOWEST  TARGET  DELIVERED  ON TIME  LATE
TRANS14   10.0d    10.0d     14d          1        1     0

Open, on hold and uncertain
AUDIOFILE  STATE         TITLE      LATE  DUE      ORDERED   SKUS     ORDER
2          Transcribing  Late one  92.1d  92d ago  106d ago  TRANS14  92
`,
    );
  });

  it('shows nothing of nothing, and with --by that part alone', () => {
    expect(reportPages(makeReport(emptyInput), undefined, true)).toEqual([]);
    const pages = reportPages(makeReport(busyInput()), 'order', true);
    expect(pages.map(({ title }) => title)).toEqual(['Spend by order']);
  });

  it('names orders by the title of their first audio', () => {
    const second = reportFile('2', { order: '91', title: '', url: 'https://h/b.mp3?sig=s&sv=1&se=2' });
    const files = [second, { ...second, id: '3' }, ...oneInput.files];
    const [page] = reportPages(makeReport({ ...oneInput, files }), 'order', false);
    expect(page?.view.columns.map(({ name }) => name)).toEqual([
      ...['order', 'title', 'spent', 'minutes', 'files', 'unbilled'],
    ]);
    expect(page?.view.rows).toEqual([['91', 'Episode 1 and 2 more', '8.60 USD', '10', '1', '2']]);
    const [nameless] = reportPages(makeReport({ ...oneInput, files: [second] }), 'order', false);
    expect(nameless?.view.rows.find(([order]) => order === '91')?.slice(0, 2)).toEqual([
      '91',
      'https://h/b.mp3',
    ]);
  });

  it('says how many rows it leaves out', () => {
    const [page] = reportPages(makeReport(busyInput(400)), 'order', true);
    expect(page?.title).toBe('Spend by order (40 of 100; --csv has all)');
    expect(page?.view.rows).toHaveLength(40);
  });

  it.each([60, 80, 200])('fits %i columns, whatever the names are', (width) => {
    const lines = screen(hostileInput, width).split('\n');
    expect(lines.filter((line) => /[\u0000-\u001f\u202e]/.test(line))).toEqual([]);
    expect(lines.every((line) => line.length <= width * 2)).toBe(true);
  });

  it('draws a bar for anything above zero, and none for zero', () => {
    expect([0, 1e-9, 1, 0.5].map(barOf)).toEqual(['', '▏', '█'.repeat(20), '█'.repeat(10)]);
    const rows = [5, 0, -1, 10].map((spent) => ({ ...noSpend, spent: Fraction.of(spent) }));
    expect(sharesOf([...rows, { ...noSpend, currency: 'EUR', spent: Fraction.one }])).toEqual([
      ...[0.5, 0, 0, 1],
      1,
    ]);
    expect(sharesOf([noSpend])).toEqual([0]);
  });

  it('writes a time in its largest unit', () => {
    expect([0, 59, 3600, 86_399, 86_400, 129_600, undefined].map(daysText)).toEqual([
      '0m',
      '1m',
      '1h',
      '24h',
      '1.0d',
      '1.5d',
      '',
    ]);
  });
});

describe('as JSON', () => {
  it('has every figure exactly, with all of its digits', () => {
    const invoices = [invoiceOf('1', '2026-08-11', [['TRANS14', '1', '10', '12345678901234567890.123']])];
    const text = formatJson(reportView(makeReport({ ...oneInput, invoices })).json, 0);
    expect(text).toContain(
      '"months":[{"month":"2026-08","currency":"USD","spent":123456789012345678901.23,"refunded":0.00,',
    );
  });

  it.each(everyReport)('is the same for each --by, and can be read again: %s', (_, report) => {
    const text = formatJson(reportView(report).json);
    for (const by of groupings) expect(formatJson(spendView(report, by).json)).toBe(text);
    expect(formatJson(parseJson(text) as Json)).toBe(text);
  });

  it('shows no signature of a link', () => {
    const url = 'https://b.s3.amazonaws.com/a.mp3?AWSAccessKeyId=AKIA&Expires=1&Signature=secret';
    const report = makeReport({ ...emptyInput, unclear: [{ attempt: '1', at: '', url, skus: [] }] });
    expect(formatJson(reportView(report).json)).not.toContain('secret');
    expect(csvTable(reportView(report))).not.toContain('secret');
    expect(JSON.stringify(reportPages(report, undefined, true))).not.toContain('secret');
  });
});

describe('as CSV', () => {
  it.each(everyReport)('is rectangular, with all rows: %s', (_, report) => {
    const [head = [], ...rows] = parseCsv(csvTable(reportView(report)));
    const { totals, groups, turnaround, waiting } = report;
    const all = [totals, ...Object.values(groups), turnaround, waiting].reduce(
      (sum, part) => sum + part.length,
      0,
    );
    expect(rows).toHaveLength(all);
    expect(new Set(rows.map((row) => row.length))).toEqual(all ? new Set([head.length]) : new Set());
    expect(new Set(head).size).toBe(head.length);
  });

  it('has each part under the names of its columns', () => {
    const [head = [], ...rows] = parseCsv(csvTable(reportView(makeReport(busyInput()))));
    const of = (part: string) =>
      Object.fromEntries(
        (rows.find(([name]) => name === part) ?? [])
          .map((cell, at) => [head[at], cell])
          .filter(([, cell]) => cell),
      );
    expect(of('month')).toEqual({
      part: 'month',
      name: '2025-11',
      currency: 'USD',
      spent: '301.35',
      refunded: '10.32',
      unpaid: '0.00',
      estimated: '0.00',
      unbilled: '0',
      minutes: '171',
      files: '6',
      unmeasured: '0',
    });
    expect(of('turnaround')).toMatchObject({
      name: 'TRANS14',
      target_days: '14',
      delivered: '53',
      unmeasured: '0',
    });
    expect(of('turnaround').spent).toBeUndefined();
    expect(of('unclear')).toEqual({
      part: 'unclear',
      name: '17',
      url: 'https://example.com/talks/keynote.mp3',
      skus: 'TRANS14',
      ordered_at: '2026-11-14T09:00:00.000Z',
      late_seconds: '0',
    });
  });

  it.each(groupings)('has the rows of --by %s', (by) => {
    const report = makeReport(busyInput());
    const [head = [], ...rows] = parseCsv(csvTable(spendView(report, by)));
    expect(head).toEqual([
      ...[by, 'currency', 'spent', 'refunded', 'unpaid', 'estimated', 'unbilled'],
      ...['minutes', 'files', 'unmeasured'],
    ]);
    expect(rows).toHaveLength({ month: 13, sku: 9, order: 40, feed: 1, tag: 1, person: 1, invoice: 156 }[by]);
  });
});

describe('sums', () => {
  /** The first amount of each row: what was spent. */
  const spentIn = (rows: ReadonlyArray<readonly string[]>): string[] =>
    rows.map((row) => row.find((cell) => / USD$/.test(cell)) ?? '');
  const pageRows = (page: string, title: string): string[][] => {
    const [, section = ''] = page.split(`>${title}</h2>`);
    const [table = ''] = section.split('</section>');
    const cells = (row: string) =>
      [...row.matchAll(/class="amount[^"]*"[^>]*>([^<]*)</g)].map(([, cell]) => cell ?? '');
    return table
      .split(/<tr[^>]*>/)
      .slice(2)
      .map(cells);
  };
  const sum = (amounts: readonly string[]): string =>
    amountText(sumOf(amounts.map((text) => parseMoney(text)?.amount ?? Fraction.of(-1n, 7n))));

  it('are the same in CSV, rows, tables, Markdown and on the page, however they are divided', () => {
    const line = fc.tuple(
      fc.constantFrom('TRANS14', 'TSTMP1', ''),
      fc.constantFrom('1', '2', '3', ''),
      fc.constant('1'),
      fc.integer({ min: 0, max: 10 ** 6 }).map((n) => String(n / 1000)),
    );
    const invoice = fc.tuple(fc.constantFrom('2026-01-05', '2026-02-28', '?'), fc.array(line));
    const tags = [['radio'], ['tv', 'radio'], []];
    const files = tags.map((each, at) => reportFile(String(at + 1), { tags: each, feed: at ? 'A' : '' }));
    fc.assert(
      fc.property(fc.array(invoice, { minLength: 1 }), (list) => {
        const invoices = list.map(([created, lines], at) => invoiceOf(String(at), created, lines));
        const report = makeReport({ ...oneInput, files, invoices });
        const wanted = amountText(sumOf(report.totals.map(({ spent }) => spent)));
        const csv = reportView(report).rows;
        const page = reportPage(report);
        for (const by of groupings) {
          const at = spendView(report, by).columns.findIndex(({ name }) => name === 'spent');
          expect(sum(csv.flatMap((row) => (row[0] === by ? (row[3] ?? '') : [])))).toBe(wanted);
          expect(sum(spendView(report, by).rows.map((row) => row[at] ?? ''))).toBe(wanted);
          for (const { view } of reportPages(report, by, false)) expect(sum(spentIn(view.rows))).toBe(wanted);
          const title = `Spend by ${by === 'sku' ? 'SKU' : by}`;
          if (page.includes(`>${title}</h2><table`)) expect(sum(spentIn(pageRows(page, title)))).toBe(wanted);
        }
      }),
    );
  });
});

it('--quiet prints what was spent, a line for each currency', () => {
  expect(reportView(makeReport(hostileInput)).quiet).toEqual(['557.50 EUR']);
  expect(reportView(makeReport(oneInput)).quiet).toEqual(['8.60']);
});
