/** A report as one page of HTML that needs nothing else: no script, no font, no network. */
import type { Grouping, Report } from '../flows/report/report.ts';
import { Fraction, moneyText } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import type { Column, Rows } from '../lib/view.ts';
import { sharesOf, spendBy, spendTable, turnaroundTable, waitingTable } from './report.ts';
import { bar, cutLabel, html, Markup, none, span } from './report-charts.ts';

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
@media (prefers-color-scheme: dark) {
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
  :root {
    --page: #ffffff; --text: #000000; --muted: #444444; --line: #bbbbbb; --panel: #ffffff;
    --bar: #2a6fb0; --track: #eeeeee; --late: #9b1c14;
  }
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
${monthSection(report)}
${spendSection(report, 'sku', 'Spend by SKU')}
${spendSection(report, 'order', 'Spend by order')}
${named.map((by) => spendSection(report, by, `Spend by ${by}`))}
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

const notes = (report: Report): Markup =>
  report.notes.length
    ? html`<section aria-labelledby="notes"><h2 id="notes">Not in these figures</h2>
<ul>
${report.notes.map((note) => html`<li>${cutSignatures(note)}</li>`)}
</ul></section>`
    : none;

/** `bars` stand beside the names of the rows; `remark` says what the heading does not. */
function section(
  id: string,
  title: string,
  { columns, rows }: Rows,
  { bars, remark = '' }: { bars?: readonly Markup[]; remark?: string } = {},
): Markup {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${rows.length ? table(title, remark, { columns, rows }, bars) : html`<p>Nothing yet.</p>`}
</section>`;
}

/**
 * The table of the terminal. A row's heading is its title with the id beside it, or the first cell if it has no title.
 * Some browsers drop the roles of tables that are styled as blocks, so each role is explicit.
 */
function table(caption: string, remark: string, { columns, rows }: Rows, bars?: readonly Markup[]): Markup {
  const shown = rows.slice(0, MAX_ROWS);
  const cut = rows.length > shown.length ? `${shown.length} of ${rows.length} rows; ${HAS_ALL}` : '';
  const said = [remark, cut].filter(Boolean).join('. ');
  const title = columns.findIndex(({ name }) => name === 'title');
  const values = columns
    .map((column, at) => ({ column, at, heading: headingOf(column), className: column.kind ?? 'text' }))
    .filter(({ at }) => at !== 0 && at !== title);
  const [first] = columns;
  return html`<table role="table"${title > 0 ? html` class="titled"` : none}>
<caption><span class="unseen">${caption}. </span>${said}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${first ? headingOf(first) : ''}</th>${bars ? html`<td role="cell"></td>` : none}
${values.map(({ heading, className }) => html`<th role="columnheader" scope="col" class="${className}">${heading}</th>`)}
</tr></thead>
<tbody role="rowgroup">
${shown.map(
  (
    row,
    index,
  ) => html`<tr role="row"><th role="rowheader" scope="row">${rowName(row[0] ?? '', row[title] ?? '')}</th>${bars ? html`<td role="cell" class="bar">${bars[index] ?? none}</td>` : none}
${values.map(({ column, at, heading, className }) => valueCell(column, row[at] ?? '', heading, className))}</tr>`,
)}
</tbody>
</table>`;
}

const HAS_ALL = 'steno report --csv has all';

/** Untrusted text may run from right to left. */
const rowName = (id: string, title: string): Markup =>
  title
    ? html`<bdi>${cutLabel(title, MAX_CELL_UNITS)}</bdi> <span><bdi>${cutLabel(id, MAX_CELL_UNITS)}</bdi></span>`
    : html`<bdi>${cutLabel(id, MAX_CELL_UNITS)}</bdi>`;

function valueCell({ name, kind }: Column, value: string, heading: string, className: string): Markup {
  const isLate = name === 'late' && value !== '' && value !== '0';
  const spaced = name === 'skus' ? value.replaceAll(',', ', ') : value;
  const text = kind === 'time' ? day(value) : spaced;
  return html`<td role="cell" dir="auto" class="${className}${isLate ? ' late' : ''}" data-label="${heading}">${cutLabel(text, MAX_CELL_UNITS)}</td>`;
}

const headings: Readonly<Record<string, string>> = {
  ...{ sku: 'SKU', skus: 'SKUs', unpaid: 'Not paid', unbilled: 'Not billed' },
};

const headingOf = ({ name, header = name }: Column): string =>
  headings[name] ?? header.charAt(0).toUpperCase() + header.slice(1).replaceAll('_', ' ');

const spendSection = (
  report: Report,
  by: Grouping,
  title: string,
  rows = spendBy(report, by),
  remark = '',
): Markup => section(by, title, spendTable(report, by, rows), { bars: sharesOf(rows).map(bar), remark });

function monthSection(report: Report): Markup {
  const { month } = report.groups;
  const rows = everyMonth(month);
  const isCut = rows[0]?.name !== month[0]?.name;
  const remark = isCut ? `The last ${MAX_MONTHS} months; ${HAS_ALL}` : '';
  return spendSection(report, 'month', 'Spend by month', rows, remark);
}

/** The last months, including those without spending. */
function everyMonth(rows: readonly SpendRow[]): SpendRow[] {
  const dated = rows.filter(({ name }) => /^\d{4}-\d\d$/.test(name));
  const [first, last] = [dated[0], dated.at(-1)];
  const all: SpendRow[][] = [];
  // From the end, so that a date of long ago does not make thousands of months.
  for (let month = last?.name ?? ''; first && month >= first.name; month = monthBefore(month)) {
    if (all.length === MAX_MONTHS) break;
    const found = dated.filter(({ name }) => name === month);
    all.unshift(found.length ? found : [{ ...nothing, name: month, currency: first.currency }]);
  }
  return [...all.flat(), ...rows.filter((row) => !dated.includes(row))];
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
  const { turnaround } = report;
  const days = (seconds = 0): number => seconds / 86_400;
  const longest = Math.max(
    ...turnaround.flatMap(({ slowestSeconds, targetDays = 0 }) => [days(slowestSeconds), targetDays]),
  );
  const share = (value: number): number => value / (longest || 1);
  const bars = turnaround.map(({ medianSeconds, slowestSeconds, targetDays }) =>
    span(
      share(days(medianSeconds)),
      share(days(slowestSeconds)),
      targetDays === undefined ? undefined : share(targetDays),
    ),
  );
  return section('turnaround', 'Turnaround by SKU', turnaroundTable(report), {
    bars,
    remark: 'From order to delivery: a bar to the median, a line to the slowest, and a mark at the target',
  });
}

const waitingSection = (report: Report): Markup =>
  section('waiting', 'Open, on hold and uncertain', waitingTable(report));
