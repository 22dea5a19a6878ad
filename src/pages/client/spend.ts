/** What was spent: the report's charts, budgets, invoices, and what is uncertain. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { shellWord } from '../../lib/text.ts';
import { getBlob, saveAs, useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { counted, countText, money, now, shortDate, shortTime } from './format.ts';
import { useAttempts } from './health.ts';
import * as parts from './parts.ts';
import { keep, pathWith, route } from './route.ts';
import type { Budget, Invoice, Spend, SpendRow } from './types.ts';

const { b, dd, div, dl, dt, fieldset, figure, h1, i, legend, li, ol, p, progress, span } = el;
const { table, tbody, td, th, thead, tr } = el;

const groupings = { month: 'months', sku: 'skus', feed: 'feeds', tag: 'tags' } as const;
type Grouping = keyof typeof groupings;
/** What is beyond is in the CSV. */
const MAX_ROWS = 200;

const amounts = ['spent', 'unpaid', 'estimated'] as const;
/** Rounded, for drawing only: the text beside has them to the digit. */
const sumOf = (row: SpendRow): number =>
  amounts.reduce((sum, name) => sum + Math.max(0, Number(row[name])), 0);

const toneOfCount: Readonly<Record<string, string>> = { held: 'warn', late: 'bad' };

/** What is not zero, and what was spent in any case. What is uncertain is in none of the other sums. */
function tilesOf({ report: { totals, counts }, uncertain }: Spend) {
  const tile = (label: string, value: string, tone = '') => div('', dt('', label), dd(tone, value));
  const sums = totals.flatMap((row) =>
    (['spent', 'unpaid', 'estimated', 'refunded'] as const)
      .filter((name) => name === 'spent' || Number(row[name]))
      .map((name) => tile(name, money(row[name], row.currency))),
  );
  const unclear = uncertain.map(({ amount, currency }) => tile('uncertain', money(amount, currency), 'bad'));
  const unknown = uncertain.reduce((sum, each) => sum + each.unknown, 0);
  const unpriced = unknown > 0 && tile('uncertain, cost unknown', counted(unknown, 'audio file'), 'bad');
  const files = Object.entries(counts).filter(([name, count]) => count && name !== 'unclear');
  const tiles = files.map(([name, count]) => tile(name, countText(count), toneOfCount[name]));
  return dl('tiles', sums, unclear, unpriced, tiles);
}

const isNarrow = matchMedia('screen and (max-width: 760px)').matches;
const [MIN_MONTHS, MAX_MONTHS] = isNarrow ? [6, 6] : [12, 24];

const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** One after the other up to the present one, also those in which nothing was bought. */
function monthsOf(rows: readonly SpendRow[]): string[] {
  const named = rows
    .map(({ month }) => String(month))
    .filter((month) => /^\d{4}-(0[1-9]|1[0-2])$/.test(month));
  const [first = '', ...others] = [...named, monthOf(now.value)].sort();
  const months = [others.at(-1) ?? first];
  for (let month = ''; months.length < MAX_MONTHS; months.unshift(month)) {
    month = monthOf(Date.parse(`${months[0]}-01`) - 1);
    if (months.length >= MIN_MONTHS && month < first) break;
  }
  return months;
}

/** Months over time, and what the budget of a month allows. */
function timeline({ report, budgets: { budgets } }: Spend, currency: string | null) {
  const rows = report.months.filter((row) => row.currency === currency);
  const months = monthsOf(rows);
  const limits = budgets
    .filter((each) => each.budget.endsWith('/month') && each.currency === currency)
    .map(({ limit }) => Number(limit));
  const most = Math.max(...limits, ...rows.map(sumOf)) || 1;
  const share = (amount: unknown): string => `${(100 * Math.max(0, Number(amount ?? 0))) / most}%`;
  const columns = months.map((month, at) => {
    const row = rows.find((each) => each.month === month);
    const stack = amounts.map((name) => i({ class: name, style: { height: share(row?.[name]) } }));
    const isNamed = (months.length - 1 - at) % Math.ceil(months.length / 12) === 0;
    const told = `${month}: ${money(row ? sumOf(row).toFixed(2) : '0', currency)}`;
    return li({ title: told }, div('stack', stack), span('muted', isNamed && month.slice(2)));
  });
  const lines = limits.map((limit) =>
    p({ class: 'limit', style: { bottom: share(limit) } }, `budget ${money(limit, currency)}`),
  );
  const label = `Spend by month${limits.length ? ', with the budget of a month' : ''}`;
  return figure({ class: 'timeline', 'aria-label': label }, ol('', columns), div('limits', lines));
}

function chartOf(spend: Spend, by: Grouping) {
  const { totals, ...report } = spend.report;
  const rows = report[groupings[by]];
  const most = Math.max(...rows.map(sumOf)) || 1;
  const shareOf = (row: SpendRow) => {
    const label = `${Math.round((100 * sumOf(row)) / most)} % of the largest`;
    return progress({ max: most, value: sumOf(row), 'aria-label': label });
  };
  const isOverTime = by === 'month';
  const cellsOf = (row: SpendRow): Child[] => {
    const sums = amounts.map((name) =>
      name === 'spent' || Number(row[name]) ? money(row[name], row.currency) : '',
    );
    const name = parts.text(String(row[by] ?? `no ${by}`), 200);
    return [name, ...(isOverTime ? [] : [shareOf(row)]), ...sums, countText(row.files)];
  };
  const head = [by, ...(isOverTime ? [] : ['share']), ...amounts, 'files'];
  const title = `Spend by ${by}`;
  const newest = (one: SpendRow, other: SpendRow) => String(other.month).localeCompare(String(one.month));
  const shown = isOverTime ? [...rows].sort(newest) : rows;
  const left = rows.length - MAX_ROWS;
  const content = [
    isOverTime && totals.map(({ currency }) => timeline(spend, currency)),
    parts.grid(title, head, shown.slice(0, MAX_ROWS).map(cellsOf)),
    left > 0 && p('muted', `and ${counted(left, 'row')} more in the CSV`),
  ];
  const none = p('muted', totals.length ? `No file has a ${by}.` : 'Nothing was bought yet.');
  const kinds = amounts.map((name) => span(name, name));
  return parts.panel(title, span('legend muted', kinds), rows.length ? content : none);
}

function budgetOf(budget: Budget): Child {
  const { left, limit, unknown, currency } = budget;
  const used = 1 - Number(left) / (Number(limit) || 1);
  const label = `${Math.round(100 * used)} % of the budget is used`;
  const sums = `${money(budget.billed, currency)} billed, ${money(budget.estimated, currency)} estimated`;
  return [
    b('', budget.budget),
    span('muted', ` from ${budget.source}, until `, parts.timeAt(budget.until, shortTime)),
    progress({ class: used > 0.9 ? 'high' : '', value: Math.max(0, Math.min(1, used)), 'aria-label': label }),
    b(Number(left) > 0 ? '' : 'bad', `${money(left, currency)} left`),
    span('muted', ` of ${money(limit, currency)}: ${sums}`),
    span('muted', unknown > 0 && `, ${counted(unknown, 'purchase')} of unknown cost`),
  ];
}

/** A row that opens to its lines. */
function InvoiceRow({ invoice: { invoice, state, total, currency, created, items } }: { invoice: Invoice }) {
  const [isOpen, setOpen] = useState(false);
  const lines = items.map(({ sku, quantity, price, audiofile, total: sum }) => [
    parts.text(sku ?? 'item', 60),
    audiofile ? parts.fileLink(audiofile, audiofile) : '',
    `${quantity ?? ''} × ${money(price, currency)}`,
    money(sum, currency),
  ]);
  const heads = ['SKU', 'file', 'quantity', 'total'];
  const opened = [
    lines.length ? parts.grid(`Lines of invoice ${invoice}`, heads, lines) : p('muted', 'No line items.'),
    parts.command(`invoice ${shellWord(invoice)}`),
  ];
  const name = [isOpen ? '⌄ ' : '› ', parts.text(invoice, 60)];
  const opener = parts.button(name, () => setOpen(!isOpen), { class: 'plain', 'aria-expanded': isOpen });
  return [
    tr(
      'invoice',
      th({ scope: 'row' }, opener),
      td('', parts.timeAt(created, shortDate)),
      td(state === 'PAID' ? 'good' : 'warn', state),
      td('', money(total, currency)),
    ),
    isOpen && tr('', td({ class: 'lines', colSpan: 4 }, opened)),
  ];
}

function invoicesOf(invoices: readonly Invoice[]): Child {
  if (invoices.length === 0) return p('muted', 'No invoices yet.');
  const heads = ['invoice', 'created', 'state', 'total'].map((name) => th({ scope: 'col' }, name));
  const rows = invoices.map((invoice) => h(InvoiceRow, { key: invoice.invoice, invoice }));
  return table({ class: 'invoices', 'aria-label': 'Invoices' }, thead('', tr('', heads)), tbody('', rows));
}

function columnsOf(spend: Spend, by: Grouping, attempts: Child) {
  const { report, invoices } = spend;
  const { budgets } = spend.budgets;
  const noBudget = parts.empty('No budget is set.', 'budget set 500/month');
  const notes = report.notes.map((note) => p('', note));
  const isClear = notes.length === 0 && p('good', 'No uncertain charges.');
  return [
    tilesOf(spend),
    chartOf(spend, by),
    [
      parts.panel('Budget', null, parts.facts(budgets, budgetOf, noBudget)),
      parts.panel('Invoices', parts.command('invoice'), invoicesOf(invoices)),
      parts.panel('Uncertain and unknown', parts.command('attempts'), notes, attempts ?? isClear),
    ],
  ];
}

export function SpendPage() {
  const given = route.value.params.get('by') ?? '';
  const by = Object.hasOwn(groupings, given) ? (given as Grouping) : 'month';
  const loaded = useLoad<Spend>('/api/spend', ['spend']);
  const attempts = useAttempts();
  const tab = (each: string) => parts.button(each, () => keep({ by: each }), { 'aria-pressed': each === by });
  const exported = async (): Promise<string> => {
    const name = `steno-spend-by-${by}.csv`;
    saveAs(await getBlob(pathWith('/api/spend.csv', { by })), name);
    return `Exported ${name}`;
  };
  const above = parts.tools(
    fieldset('tabs', legend('unseen', 'Group by'), Object.keys(groupings).map(tab)),
    span('grow'),
    parts.button('Export CSV', () => void parts.sayWhen(exported())),
    parts.button('Print', () => print()),
    parts.command(`report --by ${by}`),
  );
  return parts.usePage('Spend', [h1('unseen', 'Spend'), above], loaded, (spend) =>
    columnsOf(spend, by, attempts),
  );
}
