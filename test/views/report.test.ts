/** A report on a terminal, as JSON and as CSV. */
import { describe, expect, it } from 'vitest';
import { makeReport } from '../../src/flows/report/report.ts';
import { formatJson } from '../../src/lib/json.ts';
import { csvTable } from '../../src/ui/output.ts';
import { Paint } from '../../src/ui/paint.ts';
import { drawTable } from '../../src/ui/table.ts';
import { reportPages, reportView } from '../../src/views/report.ts';
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

const screen = (input: typeof oneInput, width = 100): string =>
  reportPages(makeReport(input), undefined)
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
MONTH    SPENT  CURRENCY  MINUTES  FILES  UNBILLED
2026-08  8.600  USD            10      1         1  ████████████████████
2026-09  3.125  USD            10      1            ███████▎

Spend by SKU
SKU       SPENT  CURRENCY  MINUTES  FILES  UNBILLED
TRANS14  11.725  USD            10      1         1  ████████████████████

Turnaround
SKU      DELIVERED  MEDIAN  SLOWEST  TARGET  ON TIME  LATE
TRANS14          1   10.0d    10.0d     14d        1     0

Open, held and unclear
ID  STATUS        TITLE     SKUS     ORDERED   DUE       LATE
2   Transcribing  Late one  TRANS14  106d ago  92d ago  92.1d
`,
    );
  });

  it.each([60, 80, 200])('fits %i columns, whatever the names are', (width) => {
    const lines = screen(hostileInput, width).split('\n');
    expect(lines.filter((line) => /[\u0000-\u001f\u202e]/.test(line))).toEqual([]);
    expect(lines.every((line) => line.length <= width * 2)).toBe(true);
  });
});

describe('as JSON', () => {
  it('shows no signature of a link', () => {
    const url = 'https://b.s3.amazonaws.com/a.mp3?AWSAccessKeyId=AKIA&Expires=1&Signature=secret';
    const report = makeReport({ ...emptyInput, unclear: [{ attempt: '1', at: '', url, skus: [] }] });
    expect(formatJson(reportView(report).json)).not.toContain('secret');
    expect(csvTable(reportView(report))).not.toContain('secret');
    expect(JSON.stringify(reportPages(report, undefined))).not.toContain('secret');
  });
});

describe('as CSV', () => {
  it.each(everyReport)('is rectangular, with all rows: %s', (_, report) => {
    const [head = [], ...rows] = parseCsv(csvTable(reportView(report)));
    const { totals, months, skus, orders, turnaround, waiting } = report;
    const all = [totals, months, skus, orders, turnaround, waiting].reduce(
      (sum, part) => sum + part.length,
      0,
    );
    expect(rows).toHaveLength(all);
    expect(new Set(rows.map((row) => row.length))).toEqual(all ? new Set([head.length]) : new Set());
    expect(new Set(head).size).toBe(head.length);
  });
});
