/** What was spent: the report's charts, budgets, invoices, and what is uncertain. */
import { useEffect, useState } from 'preact/hooks';
import { shellWord } from '../../lib/text.ts';
import { getText, useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { counted, countText, money, shortTime } from './format.ts';
import * as parts from './parts.ts';
import { keep, pathWith, route } from './route.ts';
import type { Budget, Spend, SpendRow } from './types.ts';

const { a, b, dd, div, dl, dt, fieldset, h1, legend, p, rect, span, svg } = el;

const groupings = { month: 'months', sku: 'skus', feed: 'feeds', tag: 'tags' } as const;
type Grouping = keyof typeof groupings;
/** What is beyond is in the CSV. */
const MAX_ROWS = 200;

/** Parts of a whole, side by side. Numbers are rounded for drawing only; the text beside has them to the digit. */
function bar(shares: ReadonlyArray<readonly [kind: string, share: number]>, label: string) {
  let x = 0;
  const rects = shares.map(([kind, share]) => {
    const [from, width] = [x, 100 * Math.max(0, Math.min(1, share || 0))];
    x += width;
    return rect({ class: kind, x: from, width, height: 4 });
  });
  const props = { class: 'share', viewBox: '0 0 100 4', preserveAspectRatio: 'none', role: 'img' } as const;
  return svg({ ...props, 'aria-label': label }, rect({ class: 'track', width: 100, height: 4 }), rects);
}

const tile = (label: string, value: string, tone = '') => div('', dt('', label), dd(tone, value));

const toneOfCount: Readonly<Record<string, string>> = { held: 'warn', unclear: 'bad', late: 'bad' };

/** What is not zero, and what was spent in any case. */
function tilesOf({ totals, counts }: Spend['report']) {
  const sums = totals.flatMap((row) =>
    (['spent', 'unpaid', 'estimated', 'refunded'] as const)
      .filter((name) => name === 'spent' || Number(row[name]))
      .map((name) => tile(name, money(row[name], row.currency))),
  );
  const files = Object.entries(counts).filter(([, count]) => count);
  const tiles = files.map(([name, count]) => tile(name, countText(count), toneOfCount[name]));
  return dl('tiles', sums, tiles);
}

const amounts = ['spent', 'unpaid', 'estimated'] as const;
const sumOf = (row: SpendRow): number =>
  amounts.reduce((sum, name) => sum + Math.max(0, Number(row[name])), 0);

function chartOf({ totals, ...report }: Spend['report'], by: Grouping) {
  const rows = report[groupings[by]];
  const most = rows.reduce((top, row) => Math.max(top, sumOf(row)), 0) || 1;
  const cellsOf = (row: SpendRow): Child[] => {
    const shares = amounts.map((name) => [name, Number(row[name]) / most] as const);
    const share = bar(shares, `${Math.round((100 * sumOf(row)) / most)} % of the largest`);
    const [spent, ...others] = amounts.map((name) => Number(row[name]) && money(row[name], row.currency));
    const sums = [spent || money(0, row.currency), ...others.map((sum) => sum || '')];
    return [parts.text(String(row[by] ?? `no ${by}`), 200), share, ...sums, countText(row.files)];
  };
  const head = [by, 'share', 'spent', 'unpaid', 'estimated', 'files'];
  const title = `Spend by ${by}`;
  const kinds = amounts.map((name) => span(name, name));
  const table = parts.grid(title, head, rows.slice(0, MAX_ROWS).map(cellsOf));
  const more =
    rows.length > MAX_ROWS && p('muted', `and ${counted(rows.length - MAX_ROWS, 'row')} more in the CSV`);
  const none = p('muted', totals.length ? `No file has a ${by}.` : 'Nothing was bought yet.');
  return parts.panel(title, span('legend muted', kinds), rows.length ? [table, more] : none);
}

function budgetOf(budget: Budget): Child {
  const { left, limit, unknown, currency } = budget;
  const used = 1 - Number(left) / (Number(limit) || 1);
  const until = parts.timeAt(budget.until, shortTime);
  const parting = ` of ${money(limit)}: ${money(budget.billed)} billed, ${money(budget.estimated)} estimated`;
  return [
    b('', budget.budget),
    span('muted', ` from ${budget.source}, until `, until),
    bar([[used > 0.9 ? 'over' : 'spent', used]], `${Math.round(100 * used)} % of the budget is used`),
    b(Number(left) > 0 ? '' : 'bad', `${money(left, currency)} left`),
    span('muted', parting, unknown > 0 && `, ${counted(unknown, 'purchase')} of unknown cost`),
  ];
}

const invoiceOf = ({ invoice, state, total, currency, created }: Spend['invoices'][number]): Child => [
  b('', invoice),
  ` ${state ?? ''} ${money(total, currency)} `,
  span('muted', parts.timeAt(created)),
  ' ',
  parts.command(`invoice ${shellWord(invoice)}`),
];

type Waiting = Spend['report']['waiting'][number];

const unclearOf = ({ audiofile, title, url, order, ordered_at, attempt }: Waiting): Child => [
  b('bad', 'uncertain '),
  parts.fileLink(audiofile, title || url || `order ${order ?? '?'}`),
  p('muted', 'ordered ', parts.timeAt(ordered_at)),
  attempt !== null && a({ href: '#/health' }, `settle attempt ${attempt}`),
];

async function exportCsv(path: string, by: Grouping): Promise<void> {
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([await getText(path)], { type: 'text/csv' }));
    link.download = `steno-spend-by-${by}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    parts.say(`Exported ${link.download}`);
  } catch (error) {
    parts.say((error as Error).message, true);
  }
}

function columnsOf({ report, budgets: { budgets }, invoices }: Spend, by: Grouping) {
  const unclear = report.waiting.filter(({ kind }) => kind === 'unclear');
  const noBudget = budgets.length === 0 && parts.empty('No budget is set.', 'budget set 500/month');
  const noInvoice = invoices.length === 0 && p('muted', 'No invoices yet.');
  const isClear = unclear.length + report.notes.length === 0 && p('good', 'Nothing: every amount is known.');
  const notes = [isClear, ...report.notes.map((note) => p('', note))];
  const open = parts.facts(unclear.slice(0, MAX_ROWS), unclearOf);
  const right = [
    parts.panel('Budget', null, noBudget, parts.facts(budgets, budgetOf)),
    parts.panel('Uncertain', parts.command('attempts'), notes, open),
    parts.panel('Invoices', null, noInvoice, parts.facts(invoices, invoiceOf)),
  ];
  return [chartOf(report, by), right];
}

export function SpendPage() {
  const given = route.value.params.get('by') ?? '';
  const [by, setBy] = useState(Object.hasOwn(groupings, given) ? (given as Grouping) : 'month');
  const { data, error } = useLoad<Spend>('/api/spend', ['spend']);
  const line = `report --by ${by}`;
  useEffect(() => keep({ by }), [by]);
  const tab = (each: Grouping) => parts.button(each, () => setBy(each), { 'aria-pressed': each === by });
  const above = parts.tools(
    fieldset('tabs', legend('unseen', 'Group by'), (Object.keys(groupings) as Grouping[]).map(tab)),
    span('grow'),
    parts.button('Export CSV', () => void exportCsv(pathWith('/api/spend.csv', { by }), by)),
    parts.button('Print', () => print()),
    parts.command(line),
  );
  const lead = data ? tilesOf(data.report) : !error && p('muted', 'Loading…');
  return parts.frame([h1('unseen', 'Spend'), above], error, lead, data && columnsOf(data, by));
}
