/** A report as one page of HTML that needs nothing else: no script, no font, no network. */
import type { Grouping, Report } from '../flows/report/report.ts';
import { Fraction, moneyText } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import type { Column, View } from '../lib/view.ts';
import { cutLabel, html, Markup, none } from './markup.ts';
import { sharesOf, spendBy, spendTable, turnaroundTable, waitingTable } from './report.ts';

/**
 * The look of the report's page: light and dark by the reader's own setting, and black on white on paper. On a narrow
 * screen each row of a table is a block: its name, its bar, and each value after its label.
 */
const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d5dbe1; --panel: #f4f6f8;
  --bar: #2a6fb0; --track: #e9edf1; --late: #b3261e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --text: #e8ebee; --muted: #a3adb8; --line: #39424c; --panel: #1e242b;
    --bar: #6fb3f2; --track: #2a323b; --late: #ff9b8f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 64rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
p { margin: .25rem 0; }
.muted, caption { color: var(--muted); }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.5rem 0 0; }
.tiles div {
  flex: 1 1 auto; min-width: 5rem; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .7rem;
}
.tiles dt { color: var(--muted); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.late { color: var(--late); font-weight: 600; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
section { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: start; padding: 0 0 .25rem; }
th, td { text-align: start; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child { padding-inline-start: 0; }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; min-width: 7.5rem; }
.titled tbody th { min-width: 9.5rem; }
tbody th span { color: var(--muted); font-weight: 400; }
td.bar { width: 28%; min-width: 5rem; padding-top: .75rem; }
.titled td.bar { width: 12%; }
td.state { min-width: 8.5rem; }
td.text { min-width: 6.8rem; }
td.time, .amount { white-space: nowrap; }
.amount { text-align: end; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: .6rem; overflow: visible; }
.fill { fill: var(--bar); }
.track { fill: var(--track); }
.reach, .target { stroke: var(--bar); stroke-width: 2; vector-effect: non-scaling-stroke; }
.target { stroke: var(--text); stroke-width: 3; }
ul { padding-inline-start: 1.2rem; margin: .5rem 0; }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
@media (forced-colors: active) {
  .fill { fill: CanvasText; }
  .track { fill: Canvas; stroke: CanvasText; vector-effect: non-scaling-stroke; }
  .reach, .target { stroke: CanvasText; }
}
@media print {
  @page { margin: 15mm; }
  html { font-size: 10pt; }
  body { padding: 0; max-width: none; }
  h2 { margin-top: 1.5rem; }
  section { overflow: visible; }
  th, td { padding-block: .2rem; }
  td.bar { padding-top: .5rem; }
  .tiles { gap: .4rem; }
  .tiles div { min-width: 0; padding: .3rem .5rem; }
  svg, .tiles div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, caption, thead, tbody tr:nth-child(-n+2) { break-after: avoid; }
  tbody tr:nth-last-child(-n+2) { break-before: avoid; }
  .tiles, tr { break-inside: avoid; }
  thead { display: table-header-group; }
}
@media screen and (max-width: 48rem), print and (max-width: 35rem) {
  table, caption, tbody { display: block; }
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td, td.state, td.text, td.time, td.amount { order: 3; padding: 0; border: 0; min-width: 0; white-space: normal; }
  tbody th, .titled tbody th { flex: 1 1 50%; padding: 0; border: 0; min-width: 0; }
  tr > th + td:not(.bar), tr > .bar + td { order: 1; }
  tr > td.bar { order: 2; flex: 1 0 100%; padding: .2rem 0; }
  td[data-label]::before { content: attr(data-label) " "; color: var(--muted); font-weight: 400; }
  td:empty { display: none; }
}
`;

/** The months that the page goes back, and the rows of a table; --csv has all. */
const MAX_MONTHS = 36;
const MAX_ROWS = 500;
const MAX_CELL_UNITS = 160;

/** Whether a file that begins so is a page of ours. */
export const isReportPage = (start: string): boolean =>
  start.startsWith('<!doctype html>') && start.includes('<meta name="generator" content="steno report">');

type SpendRow = Report['totals'][number];

export function reportPage(report: Report): string {
  const named = (['feed', 'tag', 'person'] as const).filter((by) =>
    report.groups[by].some(({ name }) => name),
  );
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="steno report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Transcription report, ${day(report.madeAt)}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<header>
<h1>Transcription report</h1>
<p class="muted">${spanText(report)}</p>
</header>
<main>
${tiles(report)}
${notesOf(report)}
${monthSection(report)}
${spendSection(report, 'sku')}
${spendSection(report, 'order')}
${named.map((by) => spendSection(report, by))}
${turnaroundSection(report)}
${section('waiting', 'Open, on hold and uncertain', waitingTable(report))}
</main>
<footer>Made by steno. Times are in UTC.</footer>
</body>
</html>
`;
  return page.text;
}

const day = (iso: string): string => iso.slice(0, 10);
const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const spanText = ({ madeAt, since, until }: Report): string => {
  const end = minute(until && until < madeAt ? until : madeAt);
  return since ? `From ${minute(since)} to ${end}` : `Everything up to ${end}`;
};

function tiles({ totals, counts }: Report): Markup {
  const amounts = (name: string, of: 'spent' | 'refunded' | 'unpaid'): Markup[] =>
    totals
      .filter((row) => of === 'spent' || row[of].sign !== 0)
      .map((row) => tile(name, moneyText({ amount: row[of], currency: row.currency })));
  return html`<dl class="tiles">
${totals.length ? amounts('Spent', 'spent') : [tile('Spent', 'nothing yet')]}
${amounts('Refunded', 'refunded')}
${amounts('Billed, not paid', 'unpaid')}
${tile('Delivered', String(counts.delivered))}
${tile('Open', String(counts.open))}
${tile('Late', String(counts.late), counts.late > 0)}
${tile('On hold', String(counts.held))}
${tile('Unclear', String(counts.unclear))}
</dl>`;
}

const tile = (name: string, value: string, isBad = false): Markup =>
  html`<div><dt>${name}</dt><dd${isBad ? html` class="late"` : none}>${value}</dd></div>`;

const notesOf = ({ notes }: Report): Markup =>
  notes.length
    ? html`<section aria-labelledby="notes"><h2 id="notes">Not in these figures</h2>
<ul>
${notes.map((note) => html`<li>${cutSignatures(note)}</li>`)}
</ul></section>`
    : none;

/** `bars` stand beside the names of the rows; `remark` says what the heading does not. */
const section = (
  id: string,
  title: string,
  { columns, rows }: View,
  bars: readonly Markup[] = [],
  remark = '',
) =>
  html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${rows.length ? table(title, remark, columns, rows, bars) : html`<p>Nothing yet.</p>`}
</section>`;

/**
 * The table of the terminal. A row's heading is its title with the id beside it, or the first cell if it has no title.
 * Some browsers drop the roles of tables that are styled as blocks, so each role is explicit.
 */
function table(
  caption: string,
  remark: string,
  columns: readonly Column[],
  rows: View['rows'],
  bars: readonly Markup[],
): Markup {
  const shown = rows.slice(0, MAX_ROWS);
  const cut = rows.length > shown.length ? `${shown.length} of ${rows.length} rows; ${HAS_ALL}` : '';
  const said = [remark, cut].filter(Boolean).join('. ');
  const title = columns.findIndex(({ name }) => name === 'title');
  const values = columns
    .map((column, at) => ({ column, at }))
    .filter(({ at, column }) => at !== 0 && at !== title && column.name);
  const rowOf = (
    row: readonly string[],
    at: number,
  ) => html`<tr role="row"><th role="rowheader" scope="row">${rowName(row[0] ?? '', row[title] ?? '')}</th>${bars.length ? html`<td role="cell" class="bar">${bars[at] ?? none}</td>` : none}
${values.map(({ column, at }) => valueCell(column, row[at] ?? ''))}</tr>`;
  return html`<table role="table"${title > 0 ? html` class="titled"` : none}>
<caption><span class="unseen">${caption}. </span>${said}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${columns[0] ? headingOf(columns[0]) : ''}</th>${bars.length ? html`<td role="cell"></td>` : none}
${values.map(({ column }) => html`<th role="columnheader" scope="col" class="${column.kind ?? 'text'}">${headingOf(column)}</th>`)}
</tr></thead>
<tbody role="rowgroup">
${shown.map(rowOf)}
</tbody>
</table>`;
}

const HAS_ALL = 'steno report --csv has all';

/** Untrusted text may run from right to left. */
const isolated = (text: string): Markup => html`<bdi>${cutLabel(text, MAX_CELL_UNITS)}</bdi>`;

const rowName = (id: string, title: string): Markup =>
  title ? html`${isolated(title)} <span>${isolated(id)}</span>` : isolated(id);

function valueCell(column: Column, value: string): Markup {
  const { name, kind = 'text' } = column;
  const isLate = name === 'late' && value !== '' && value !== '0';
  const spaced = name === 'skus' ? value.replaceAll(',', ', ') : value;
  const text = kind === 'time' ? day(value) : spaced;
  return html`<td role="cell" dir="auto" class="${kind}${isLate ? ' late' : ''}" data-label="${headingOf(column)}">${cutLabel(text, MAX_CELL_UNITS)}</td>`;
}

const headings: Readonly<Record<string, string>> = {
  ...{ sku: 'SKU', skus: 'SKUs', unpaid: 'Not paid', unbilled: 'Not billed' },
};

const headingOf = ({ name, header = name }: Column): string =>
  headings[name] ?? header.charAt(0).toUpperCase() + header.slice(1).replaceAll('_', ' ');

function spendSection(report: Report, by: Grouping, rows = spendBy(report, by), remark = ''): Markup {
  const title = `Spend by ${by === 'sku' ? 'SKU' : by}`;
  return section(by, title, spendTable(report, by, { rows }), sharesOf(rows).map(bar), remark);
}

/** The last months, including those without spending. */
function monthSection(report: Report): Markup {
  const given = spendBy(report, 'month');
  const dated = given.filter(({ name }) => /^\d{4}-\d\d$/.test(name));
  const [first, last] = [dated[0], dated.at(-1)];
  const months: SpendRow[][] = [];
  // From the end, so that a date of long ago does not make thousands of months.
  for (let month = last?.name ?? ''; first && month >= first.name; month = monthBefore(month)) {
    if (months.length === MAX_MONTHS) break;
    const found = dated.filter(({ name }) => name === month);
    months.unshift(found.length ? found : [{ ...nothing, name: month, currency: first.currency }]);
  }
  const rows = [...months.flat(), ...given.filter((row) => !dated.includes(row))];
  const isCut = rows[0]?.name !== given[0]?.name;
  return spendSection(report, 'month', rows, isCut ? `The last ${MAX_MONTHS} months; ${HAS_ALL}` : '');
}

const { zero } = Fraction;
const nothing = {
  ...{ spent: zero, refunded: zero, unpaid: zero, estimated: zero, minutes: zero },
  ...{ unbilled: 0, files: 0, unmeasured: 0 },
};

function monthBefore(label: string): string {
  const [year = 0, month = 0] = label.split('-').map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

function turnaroundSection(report: Report): Markup {
  const all = report.turnaround.map(({ medianSeconds = 0, slowestSeconds = 0, targetDays }) => ({
    ...{ median: medianSeconds / 86_400, slowest: slowestSeconds / 86_400, target: targetDays },
  }));
  const longest = Math.max(...all.flatMap(({ slowest, target = 0 }) => [slowest, target])) || 1;
  const bars = all.map(({ median, slowest, target }) =>
    span(median / longest, slowest / longest, target && target / longest),
  );
  const remark =
    'From order to delivery: a bar to the median, a line to the slowest, and a mark at the target';
  return section('turnaround', 'Turnaround by SKU', turnaroundTable(report), bars, remark);
}

// Bars as SVG, as wide as their cell. The figures stand beside them as text, so a screen reader skips the bars.

const drawing = (content: readonly Markup[]): Markup =>
  html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="10"/>${content}</svg>`;

/** In percent of the width; anything above zero shows. More digits can't be seen. */
const percent = (share: number): number => (share > 0 ? Math.max(0.5, Math.round(share * 1000) / 10) : 0);

const fill = (share: number): Markup => html`<rect class="fill" width="${percent(share)}" height="10"/>`;

/** A bar for a share of one. */
const bar = (share: number): Markup => drawing([fill(share)]);

/** How long something took, as shares of the longest: a bar to the median, a line to the slowest, a mark at the target. */
function span(median: number, slowest: number, target: number | undefined): Markup {
  const reach = html`<path class="reach" d="M${percent(median)} 5H${percent(slowest)}"/>`;
  const mark = target === undefined ? [] : [html`<path class="target" d="M${percent(target)} 0V10"/>`];
  return drawing([fill(median), reach, ...mark]);
}
