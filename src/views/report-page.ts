/** A report as one page of HTML that needs nothing else: no script, no font, no network. */
import type { Report } from '../flows/report/report.ts';
import { moneyText } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { forTerminal, oneLine } from '../lib/text.ts';
import type { Column, View } from '../lib/view.ts';
import { groupings, sharesOf, spendBy, spendTable, turnaroundTable, waitingTable } from './report.ts';

/** Light and dark by the reader's own setting, black on white on paper; a wide table scrolls on a narrow screen. */
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
svg { display: block; width: 100%; height: .6rem; }
.fill { fill: var(--bar); }
.track { fill: var(--track); }
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
`;

/** The rows of a table; --csv has all. */
const MAX_ROWS = 500;
const MAX_CELL_LENGTH = 160;

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
    const shares = sharesOf(spendBy(report, by));
    return section(`Spend by ${by === 'sku' ? 'SKU' : by}`, spendTable(report, by), shares);
  });
  const longest = Math.max(...turnaround.map(({ medianSeconds = 0 }) => medianSeconds)) || 1;
  const medians = turnaround.map(({ medianSeconds = 0 }) => medianSeconds / longest);
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
${section('Turnaround by SKU', turnaroundTable(report), medians)}
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

/** The table of the terminal, with a bar for each share. A row's heading is its title with the id beside it. */
function section(title: string, { columns, rows }: View, shares: readonly number[] = []): Markup {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  const titleAt = columns.findIndex(({ name }) => name === 'title');
  const values = columns.map((column, at) => ({ column, at })).filter(({ at }) => at !== 0 && at !== titleAt);
  const rowOf = (row: readonly string[], at: number): Markup =>
    html`<tr><th scope="row">${rowName(row[0] ?? '', row[titleAt] ?? '')}</th>${shares.length ? bar(shares[at] ?? 0) : none}
${values.map(({ column, at }) => valueCell(column, row[at] ?? ''))}</tr>`;
  const cut = rows.length > MAX_ROWS ? `${MAX_ROWS} of ${rows.length} rows; steno report --csv has all` : '';
  const table = html`<table aria-labelledby="${id}">
<caption>${cut}</caption>
<thead><tr><th scope="col">${columns[0] ? headingOf(columns[0]) : ''}</th>${shares.length ? html`<td></td>` : none}
${values.map(({ column }) => html`<th scope="col" class="${column.kind ?? 'text'}">${headingOf(column)}</th>`)}</tr></thead>
<tbody>
${rows.slice(0, MAX_ROWS).map(rowOf)}
</tbody>
</table>`;
  return html`<section><h2 id="${id}">${title}</h2>${rows.length ? table : html`<p>Nothing yet.</p>`}</section>`;
}

/** Untrusted text may run from right to left. */
const isolated = (text: string): Markup => html`<bdi>${oneLine(text, MAX_CELL_LENGTH)}</bdi>`;

const rowName = (id: string, title: string): Markup =>
  title ? html`${isolated(title)} <span>${isolated(id)}</span>` : isolated(id);

function valueCell({ name, kind = 'text' }: Column, value: string): Markup {
  const isLate = name === 'late' && value !== '' && value !== '0';
  const text = kind === 'time' ? day(value) : value.replaceAll(',', name === 'skus' ? ', ' : ',');
  return html`<td dir="auto" class="${kind}${isLate ? ' late' : ''}">${oneLine(text, MAX_CELL_LENGTH)}</td>`;
}

const headings: Readonly<Record<string, string>> = {
  ...{ sku: 'SKU', skus: 'SKUs', unpaid: 'Not paid', unbilled: 'Not billed' },
};

const headingOf = ({ name, header = name }: Column): string =>
  headings[name] ?? header.charAt(0).toUpperCase() + header.slice(1).replaceAll('_', ' ');

/** In percent of the width; anything above zero shows. The figure stands beside it, so a screen reader skips it. */
function bar(share: number): Markup {
  const width = share > 0 ? Math.max(0.5, Math.round(share * 1000) / 10) : 0;
  return html`<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="10"/><rect class="fill" width="${width}" height="10"/></svg></td>`;
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
