/** A report as one page of HTML that needs nothing else: no script, no font, no network. */
import type { Report } from '../flows/report/report.ts';
import { Fraction, moneyText } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { forTerminal, oneLine } from '../lib/text.ts';
import type { Column, View } from '../lib/view.ts';
import { groupings, sharesOf, spendBy, spendTable, turnaroundTable, waitingTable } from './report.ts';

/**
 * Light and dark by the reader's own setting, black on white on paper. On a narrow screen each row of a table is a block:
 * its name with the first value, its bar, and the other values, each after its label.
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
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; break-after: avoid; }
p { margin: .25rem 0; }
.muted, caption { color: var(--muted); }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.5rem 0 0; }
.tiles div { flex: 1 1 auto; min-width: 5rem; background: var(--panel); border: 1px solid var(--line); padding: .5rem .7rem; }
.tiles dt { color: var(--muted); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
.late { color: var(--late); font-weight: 600; }
section { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: start; break-after: avoid; }
th, td { text-align: start; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
thead { display: table-header-group; break-after: avoid; }
thead th { color: var(--muted); white-space: nowrap; }
tbody th { min-width: 9rem; }
tbody th span { color: var(--muted); font-weight: 400; }
.bar { width: 20%; min-width: 5rem; padding-top: .75rem; }
.state, .time, .amount { white-space: nowrap; }
.text { min-width: 6.8rem; }
.amount { text-align: end; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: .6rem; overflow: visible; }
.fill { fill: var(--bar); }
.track { fill: var(--track); }
.reach, .target { stroke: var(--bar); stroke-width: 2; vector-effect: non-scaling-stroke; }
.target { stroke: var(--text); stroke-width: 3; }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
tr, .tiles { break-inside: avoid; }
tbody tr:nth-child(-n+2) { break-after: avoid; }
tbody tr:nth-last-child(-n+2) { break-before: avoid; }
@media print {
  @page { margin: 15mm; }
  html { font-size: 8.5pt; }
  body { padding: 0; max-width: none; }
  section { overflow: visible; }
  tbody th, .text, .bar { min-width: 0; }
  .state, .time, .amount { white-space: normal; }
  .state { min-width: 8rem; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
@media screen and (max-width: 48rem), print and (max-width: 35rem) {
  table, caption, tbody { display: block; }
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tbody th { flex: 1 1 50%; padding: 0; border: 0; min-width: 0; }
  tbody [class] { order: 3; padding: 0; border: 0; min-width: 0; white-space: normal; }
  tr > th + td, tr > .bar + td { order: 1; }
  tbody td.bar { order: 2; flex: 1 0 100%; padding: .2rem 0; }
  td[data-label]::before { content: attr(data-label) " "; color: var(--muted); font-weight: 400; }
  td:empty { display: none; }
}
`;

/** The months that the page goes back, and the rows of a table; --csv has all. */
const MAX_MONTHS = 36;
const MAX_ROWS = 500;
const MAX_CELL_LENGTH = 160;
const HAS_ALL = 'steno report --csv has all';
const DAY_SECONDS = 86_400;

type SpendRow = Report['totals'][number];

/** Whether a file that begins so is a page of ours. */
export const isReportPage = (start: string): boolean =>
  start.startsWith('<!doctype html>') && start.includes('<meta name="generator" content="steno report">');

/** Groupings that say nothing, because no file has a feed, a tag or a person, are left out. */
export function reportPage(report: Report): string {
  const { madeAt, notes, turnaround } = report;
  const told = groupings.filter(
    (by) =>
      by !== 'invoice' &&
      (['month', 'sku', 'order'].includes(by) || report.groups[by].some(({ name }) => name)),
  );
  const spend = told.map((by) => {
    const all = spendBy(report, by);
    const rows = by === 'month' ? everyMonth(all) : all;
    const remark = rows[0]?.name === all[0]?.name ? '' : `The last ${MAX_MONTHS} months; ${HAS_ALL}`;
    const bars = sharesOf(rows).map((share) => bar(share));
    return section(`Spend by ${by === 'sku' ? 'SKU' : by}`, spendTable(report, by, { rows }), bars, remark);
  });
  const times = turnaround.map(
    ({ medianSeconds = 0, slowestSeconds = 0, targetDays }) =>
      [medianSeconds, slowestSeconds, ...(targetDays ? [targetDays * DAY_SECONDS] : [])] as const,
  );
  const longest = Math.max(...times.flat()) || 1;
  const spans = times.map(([median, ...marks]) =>
    bar(median / longest, ...marks.map((mark) => mark / longest)),
  );
  const key = 'From order to delivery: a bar to the median, a line to the slowest, and a mark at the target';
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="steno report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Transcription report, ${day(madeAt)}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<header>
<h1>Transcription report</h1>
<p class="muted">${timeText(report)}</p>
</header>
<main>
${tiles(report)}
${notes.length ? html`<h2>Not in these figures</h2><ul>${notes.map((note) => html`<li>${cutSignatures(note)}</li>`)}</ul>` : none}
${spend}
${section('Turnaround by SKU', turnaroundTable(report), spans, key)}
${section('Open, on hold and uncertain', waitingTable(report))}
</main>
<footer>Made by steno. Times are in UTC.</footer>
</body>
</html>
`;
  return page.text;
}

const day = (iso: string): string => iso.slice(0, 10);
const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const timeText = ({ madeAt, since, until }: Report): string => {
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

/** The last months, including those without spending. */
function everyMonth(rows: readonly SpendRow[]): SpendRow[] {
  const isDated = ({ name }: SpendRow): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(name);
  const dated = rows.filter(isDated);
  const [first, last] = [dated[0], dated.at(-1)];
  const months: SpendRow[][] = [];
  // From the end, so that a date of long ago does not make thousands of months.
  for (let name = last?.name ?? ''; first && name >= first.name && months.length < MAX_MONTHS; ) {
    const found = dated.filter((row) => row.name === name);
    months.unshift(found.length ? found : [{ ...first, ...nothing, name }]);
    name = new Date(Date.parse(`${name}-01`) - 1).toISOString().slice(0, 7);
  }
  return [...months.flat(), ...rows.filter((row) => !isDated(row))];
}

const { zero } = Fraction;
const nothing = {
  ...{ spent: zero, refunded: zero, unpaid: zero, estimated: zero, minutes: zero },
  ...{ unbilled: 0, files: 0, unmeasured: 0 },
};

/**
 * The table of the terminal, with bars. A row's heading is its title with the id beside it. Some browsers drop the roles of
 * tables that are styled as blocks, so each role is explicit.
 */
function section(title: string, { columns, rows }: View, bars: readonly Markup[] = [], remark = ''): Markup {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  const titleAt = columns.findIndex(({ name }) => name === 'title');
  const values = columns.map((column, at) => ({ column, at })).filter(({ at }) => at !== 0 && at !== titleAt);
  const rowOf = (row: readonly string[], at: number): Markup =>
    html`<tr role="row"><th role="rowheader" scope="row">${rowName(row[0] ?? '', row[titleAt] ?? '')}</th>${bars.length ? html`<td role="cell" class="bar">${bars[at] ?? none}</td>` : none}
${values.map(({ column, at }) => valueCell(column, row[at] ?? ''))}</tr>`;
  const cut = rows.length > MAX_ROWS ? `${MAX_ROWS} of ${rows.length} rows; ${HAS_ALL}` : '';
  const table = html`<table role="table" aria-labelledby="${id}">
<caption>${[remark, cut].filter(Boolean).join('. ')}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${columns[0] ? headingOf(columns[0]) : ''}</th>${bars.length ? html`<td role="cell"></td>` : none}
${values.map(({ column }) => html`<th role="columnheader" scope="col" class="${column.kind ?? 'text'}">${headingOf(column)}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.slice(0, MAX_ROWS).map(rowOf)}
</tbody>
</table>`;
  return html`<section><h2 id="${id}">${title}</h2>${rows.length ? table : html`<p>Nothing yet.</p>`}</section>`;
}

/** Untrusted text may run from right to left. */
const isolated = (text: string): Markup => html`<bdi>${oneLine(text, MAX_CELL_LENGTH)}</bdi>`;

const rowName = (id: string, title: string): Markup =>
  title ? html`${isolated(title)} <span>${isolated(id)}</span>` : isolated(id);

function valueCell(column: Column, value: string): Markup {
  const { name, kind = 'text' } = column;
  const isLate = name === 'late' && value !== '' && value !== '0';
  const text = kind === 'time' ? day(value) : value.replaceAll(',', name === 'skus' ? ', ' : ',');
  return html`<td role="cell" dir="auto" class="${kind}${isLate ? ' late' : ''}" data-label="${headingOf(column)}">${oneLine(text, MAX_CELL_LENGTH)}</td>`;
}

const headings: Readonly<Record<string, string>> = {
  ...{ sku: 'SKU', skus: 'SKUs', unpaid: 'Not paid', unbilled: 'Not billed' },
};

const headingOf = ({ name, header = name }: Column): string =>
  headings[name] ?? header.charAt(0).toUpperCase() + header.slice(1).replaceAll('_', ' ');

/** In percent of the width; anything above zero shows. */
const percent = (share: number): number => (share > 0 ? Math.max(0.5, Math.round(share * 1000) / 10) : 0);

/** Up to a share of one, a line beyond it, and a mark. The figures stand beside it, so a screen reader skips it. */
function bar(share: number, reach = share, mark?: number): Markup {
  const line = html`<path class="reach" d="M${percent(share)} 5H${percent(reach)}"/>`;
  const target = mark === undefined ? none : html`<path class="target" d="M${percent(mark)} 0V10"/>`;
  return html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="10"/><rect class="fill" width="${percent(share)}" height="10"/>${reach > share ? line : none}${target}</svg>`;
}

// Text of any origin: whatever is put into a template is escaped, unless it is markup itself.

class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | readonly Markup[];

/** A template whose values are escaped. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = pieces[0] ?? '';
  for (const [at, part] of parts.entries()) text += textOf(part) + (pieces[at + 1] ?? '');
  return new Markup(text);
}

const none = new Markup('');

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return part.map(({ text }) => text).join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that steer or show nothing become visible ones, as on a terminal. */
const escapeText = (text: string): string =>
  forTerminal(text).replace(/[&<>"']/g, (found) => entities[found] ?? '');
