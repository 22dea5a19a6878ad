/** A report as one page of HTML that needs nothing else: no script, no font, no network. */
import type { Report } from '../flows/report/report.ts';
import { amountText } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { plural } from '../lib/text.ts';
import {
  daysText,
  type Grouping,
  namelessText,
  spendBy,
  spendTable,
  statusText,
  turnaroundTable,
} from './report.ts';
import { type Bar, cutLabel, horizontalBars, html, Markup, monthBars, none, spans } from './report-charts.ts';

/** The look of the report's page: light and dark by the reader's own setting, and black on white on paper. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d5dbe1; --panel: #f4f6f8;
  --bar: #2a6fb0; --track: #e9edf1; --late: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --text: #e8ebee; --muted: #a3adb8; --line: #39424c; --panel: #1e242b;
    --bar: #6fb3f2; --track: #2a323b; --late: #ff9b8f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
p { margin: .25rem 0; }
.muted, caption { color: var(--muted); }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 0; }
.tiles div {
  flex: 1 1 6.2rem; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem;
}
.tiles dt { color: var(--muted); font-size: .85rem; white-space: nowrap; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.late { color: var(--late); font-weight: 600; }
figure { margin: 0 0 1rem; }
figcaption { margin-bottom: .5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
.chart { display: block; width: 100%; min-width: 34rem; height: auto; overflow: visible; }
.chart text {
  fill: var(--text); font: 13px system-ui, sans-serif; font-variant-numeric: tabular-nums;
  paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round;
}
.chart .value, .chart .tick { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .tick, .chart .muted { fill: var(--muted); }
.bar { fill: var(--bar); }
.track { fill: var(--track); }
.grid { stroke: var(--line); stroke-width: 1; }
.target { stroke: var(--text); stroke-width: 3; }
.reach { stroke: var(--bar); stroke-width: 2; fill: none; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: start; padding: .25rem 0; }
th, td { text-align: start; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; min-width: 6rem; }
td.long { min-width: 12rem; }
td.words { min-width: 7rem; }
td.date, th.number, td.number { white-space: nowrap; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
ul { padding-inline-start: 1.2rem; margin: .5rem 0; }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
@media (forced-colors: active) {
  .bar { fill: CanvasText; }
  .track { fill: Canvas; stroke: CanvasText; }
  .reach, .target, .grid { stroke: CanvasText; }
  .chart text { fill: CanvasText; }
}
@media print {
  :root {
    --page: #ffffff; --text: #000000; --muted: #444444; --line: #bbbbbb; --panel: #ffffff;
    --bar: #2a6fb0; --track: #eeeeee; --late: #9b1c14;
  }
  @page { margin: 15mm; }
  html { font-size: 10pt; }
  body { padding: 0; max-width: none; }
  th, td { padding: .2rem .35rem; }
  tbody th { min-width: 4rem; }
  td.long { min-width: 8rem; }
  td.words { min-width: 7rem; }
  .chart { min-width: 0; }
  .scroll { overflow: visible; }
  .chart, .tiles div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, figcaption, caption { break-after: avoid; }
  figure, .tiles, tr { break-inside: avoid; }
  thead { display: table-header-group; }
}
`;

type SpendRow = Report['months'][number];

/** More would not fit side by side, or be read; the tables go further, and --csv has all. */
const MAX_MONTHS = 36;
const MAX_BARS = 12;
const MAX_ROWS = 500;
const MAX_CELL_UNITS = 160;
const DAY_SECONDS = 86_400;

/** Whether a file that begins so is a page of ours. */
export const isReportPage = (start: string): boolean =>
  start.startsWith('<!doctype html>') && start.includes('<meta name="generator" content="steno report">');

export function reportPage(report: Report): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="steno report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Transcription report, ${day(report.madeAt)}</title>
<style>${rawStyle}</style>
</head>
<body>
<header>
<h1>Transcription report</h1>
<p class="muted">${spanText(report)}</p>
</header>
<main>
${tiles(report)}
${notes(report)}
${spendSection(report, 'month', 'Spend by month')}
${spendSection(report, 'sku', 'Spend by SKU')}
${spendSection(report, 'order', 'Spend by order')}
${turnaroundSection(report)}
${waitingSection(report)}
</main>
<footer>Made by steno. Times are in UTC.</footer>
</body>
</html>
`;
  return page.text;
}

/** Ours, and without a character that would need escaping. */
const rawStyle = new Markup(style);

const day = (iso: string): string => iso.slice(0, 10);
const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const spanText = ({ madeAt, since, until }: Report): string => {
  const end = minute(until && until < madeAt ? until : madeAt);
  return since ? `From ${minute(since)} to ${end}` : `Everything until ${end}`;
};

function tiles({ totals, counts }: Report): Markup {
  const spent = totals.map((row) => tile(`Spent${inCurrency(row.currency)}`, amountText(row.spent)));
  const refunded = totals
    .filter((row) => row.refunded.sign !== 0)
    .map((row) => tile(`Refunded${inCurrency(row.currency)}`, amountText(row.refunded)));
  const unpaid = totals
    .filter((row) => row.unpaid.sign !== 0)
    .map((row) => tile(`Billed, not paid${inCurrency(row.currency)}`, amountText(row.unpaid)));
  return html`<dl class="tiles">
${totals.length ? spent : [tile('Spent', 'nothing yet')]}
${refunded}
${unpaid}
${tile('Delivered', String(counts.delivered))}
${tile('Open', String(counts.open))}
${tile('Late', String(counts.late), counts.late > 0)}
${tile('On hold', String(counts.held))}
${tile('Unclear', String(counts.unclear))}
</dl>`;
}

const inCurrency = (currency: string): string => (currency ? `, ${currency}` : '');

const tile = (name: string, value: string, isBad = false): Markup =>
  html`<div><dt>${name}</dt><dd${isBad ? html` class="late"` : none}>${value}</dd></div>`;

const notes = (report: Report): Markup =>
  report.notes.length
    ? html`<section aria-labelledby="notes"><h2 id="notes">Not in these figures</h2>
<ul>
${report.notes.map((note) => html`<li>${cutSignatures(note)}</li>`)}
</ul></section>`
    : none;

function section(id: string, title: string, content: readonly Markup[]): Markup {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content.length ? content : [html`<p>Nothing yet.</p>`]}
</section>`;
}

interface TableColumn {
  readonly name: string;
  readonly kind?: 'number' | 'date' | 'words' | 'long';
}

/** The first cell of a row is its heading. Texts of others may run from right to left. */
function table(
  caption: string,
  columns: readonly TableColumn[],
  rows: ReadonlyArray<readonly string[]>,
): Markup {
  const shown = rows.slice(0, MAX_ROWS);
  const more = rows.length - shown.length;
  const className = (at: number): Markup => {
    const kind = columns[at]?.kind;
    return kind ? html` class="${kind}"` : none;
  };
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}">
<table>
<caption${more > 0 ? none : html` class="unseen"`}>${caption}${more > 0 ? `: ${shown.length} of ${rows.length} rows; steno report --csv has all` : ''}</caption>
<thead><tr>
${columns.map(({ name }, at) => html`<th scope="col"${className(at)}>${name}</th>`)}
</tr></thead>
<tbody>
${shown.map(
  ([
    name = '',
    ...cells
  ]) => html`<tr><th scope="row" dir="auto"${className(0)}>${cutLabel(name, MAX_CELL_UNITS)}</th>
${cells.map((cell, at) => html`<td dir="auto"${className(at + 1)}>${cutLabel(cell, MAX_CELL_UNITS)}</td>`)}</tr>`,
)}
</tbody>
</table>
</div>`;
}

const headings: Readonly<Record<string, string>> = { sku: 'SKU', unpaid: 'Not paid', unbilled: 'Not billed' };
const headingOf = (name: string): string =>
  headings[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** The same table that people see on a terminal. */
const figures = (caption: string, { columns, rows }: ReturnType<typeof spendTable>): Markup =>
  table(
    caption,
    columns.map(({ name, kind }) => ({
      name: headingOf(name),
      ...(kind === 'amount' && { kind: 'number' }),
    })),
    rows,
  );

/** `remark`: what the heading above does not say. */
const figure = (title: string, remark: string, chart: Markup): Markup =>
  html`<figure>${remark ? html`<figcaption class="muted">${remark}</figcaption>` : none}
<div class="scroll" tabindex="0" role="group" aria-label="${title}, chart">${chart}</div></figure>`;

function spendSection(report: Report, by: Grouping, title: string): Markup {
  const rows = spendBy(report, by);
  if (rows.length === 0) return section(by, title, []);
  // Where nothing is billed yet, there is nothing to draw.
  const drawn = rows.filter(({ spent, unbilled }) => spent.sign !== 0 || unbilled === 0);
  const currencies = [...new Set(drawn.map(({ currency }) => currency))];
  const charts = currencies.map((currency) =>
    spendChart(
      `${title}${inCurrency(currency)}`,
      `${by}-${currency}`,
      by,
      drawn.filter((row) => row.currency === currency),
      currencyRemark(currency, currencies.length),
    ),
  );
  return section(by, title, [...charts, figures(title, spendTable(rows, by, false))]);
}

function currencyRemark(currency: string, of: number): string {
  if (currency) return `In ${currency}`;
  return of > 1 ? 'Amounts without a currency' : '';
}

function spendChart(
  title: string,
  id: string,
  by: Grouping,
  rows: readonly SpendRow[],
  currency: string,
): Markup {
  const bars = rows.map((row) => barOf(row, by));
  const [largest] = [...rows].sort((one, other) => other.spent.compare(one.spent));
  const most = largest
    ? `The most is ${largest.name || namelessText[by]} with ${amountText(largest.spent)}.`
    : '';
  const describe = (what: string): string => `${what} ${most} The table below has all figures.`;
  if (by === 'month') return monthChart(title, id, bars, currency, describe);
  const remark = bars.length > MAX_BARS ? `The ${MAX_BARS} highest of ${bars.length}` : '';
  const shown = bars.slice(0, MAX_BARS);
  const text = { id, title, description: describe(`${plural(shown.length, 'bar')}.`) };
  return figure(title, [currency, remark].filter(Boolean).join('. '), horizontalBars(text, shown));
}

function monthChart(
  title: string,
  id: string,
  bars: readonly Bar[],
  currency: string,
  describe: (what: string) => string,
): Markup {
  const dated = bars.filter(({ label }) => /^\d{4}-\d\d$/.test(label));
  const shown = withEmptyMonths(dated);
  const [from, to] = [shown[0]?.label, shown.at(-1)?.label];
  if (!from || !to) return none;
  const remark = from === dated[0]?.label ? '' : `The last ${MAX_MONTHS} months`;
  const text = { id, title, description: describe(`A bar for each month from ${from} to ${to}.`) };
  return figure(title, [currency, remark].filter(Boolean).join('. '), monthBars(text, shown));
}

const barOf = ({ name, spent }: SpendRow, by: Grouping): Bar => ({
  label: name || namelessText[by],
  text: amountText(spent),
  value: spent.toNumber(),
});

/** With the months between, in which nothing was spent. */
function withEmptyMonths(bars: readonly Bar[]): Bar[] {
  const byMonth = new Map(bars.map((bar) => [bar.label, bar]));
  const [last, all] = [bars.at(-1), [] as Bar[]];
  // From the end, so that a date of long ago does not make thousands of months.
  for (let label = last?.label; label !== undefined && all.length < MAX_MONTHS; label = monthBefore(label)) {
    all.unshift(byMonth.get(label) ?? { label, text: '0.00', value: 0 });
    byMonth.delete(label);
    if (byMonth.size === 0) break;
  }
  return all;
}

function monthBefore(label: string): string {
  const [year = 0, month = 0] = label.split('-').map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

function turnaroundSection(report: Report): Markup {
  const { turnaround } = report;
  const title = 'Turnaround by SKU';
  if (turnaround.length === 0) return section('turnaround', title, []);
  const inDays = (seconds: number | undefined): number | undefined =>
    seconds === undefined ? undefined : seconds / DAY_SECONDS;
  const rows = turnaround.map((row) => ({
    label: `${row.sku || namelessText.sku} (${row.delivered} delivered)`,
    text: row.medianSeconds === undefined ? 'not known' : `median ${daysText(row.medianSeconds)}`,
    median: inDays(row.medianSeconds),
    slowest: inDays(row.slowestSeconds),
    target: row.targetDays,
  }));
  const description =
    'From order to delivery, in days: a bar to the median, a line to the slowest, and a mark at the target. The table below has all figures.';
  return section('turnaround', title, [
    figure(title, '', spans({ id: 'turnaround-chart', title, description }, rows.slice(0, MAX_BARS))),
    figures(title, turnaroundTable(report, 'not known')),
  ]);
}

function waitingSection({ waiting }: Report): Markup {
  const title = 'Open, held and unclear';
  if (waiting.length === 0) return section('waiting', title, []);
  const columns: TableColumn[] = [
    { name: 'File' },
    { name: 'Status', kind: 'words' },
    { name: 'Title', kind: 'long' },
    { name: 'Order' },
    { name: 'SKUs', kind: 'words' },
    { name: 'Ordered', kind: 'date' },
    { name: 'Due', kind: 'date' },
    { name: 'Late', kind: 'number' },
  ];
  const cells = waiting.map((file) => [
    file.id || `attempt ${file.attempt}`,
    statusText(file),
    cutSignatures(file.title || file.url),
    file.order,
    file.skus.join(', '),
    day(file.orderedAt),
    day(file.dueAt),
    file.lateSeconds ? daysText(file.lateSeconds) : '',
  ]);
  return section('waiting', title, [table(title, columns, cells)]);
}
