/** What was spent: the report's charts, budgets, invoices, and what is uncertain. */
import { useEffect, useState } from 'preact/hooks';
import { shellWord } from '../../lib/text.ts';
import { getText, useLoad } from './api.ts';
import { saveAs } from './downloads.ts';
import { type Child, el } from './el.ts';
import { counted, countText, money, shortDate, shortTime } from './format.ts';
import * as parts from './parts.ts';
import { keep, pathWith, route } from './route.ts';
import type { Budget, Spend, SpendRow } from './types.ts';

const { a, b, dd, details, div, dl, dt, fieldset, g, h1, legend, line, p, rect, span, summary, svg, text } =
  el;
const svgTitle = el.title;

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

const toneOfCount: Readonly<Record<string, string>> = { held: 'warn', late: 'bad' };

/** What is not zero, and what was spent in any case. What is uncertain is in none of the other sums. */
function tilesOf({ report: { totals, counts }, uncertain }: Spend) {
  const sums = totals.flatMap((row) =>
    (['spent', 'unpaid', 'estimated', 'refunded'] as const)
      .filter((name) => name === 'spent' || Number(row[name]))
      .map((name) => tile(name, money(row[name], row.currency))),
  );
  const unclear = uncertain.map(({ amount, currency }) => tile('uncertain', money(amount, currency), 'bad'));
  const unknown = uncertain.reduce((sum, each) => sum + each.unknown, 0);
  const files = Object.entries(counts).filter(([name, count]) => count && name !== 'unclear');
  const tiles = files.map(([name, count]) => tile(name, countText(count), toneOfCount[name]));
  return dl(
    'tiles',
    sums,
    unclear,
    unknown > 0 && tile('uncertain, cost unknown', counted(unknown, 'audio file'), 'bad'),
    tiles,
  );
}

const amounts = ['spent', 'unpaid', 'estimated'] as const;
const sumOf = (row: SpendRow): number =>
  amounts.reduce((sum, name) => sum + Math.max(0, Number(row[name])), 0);

/** Months, one after the other, that are drawn. */
const MAX_MONTHS = matchMedia('screen and (max-width: 760px)').matches ? 8 : 24;
const HEIGHT = 120;
const STEP = 40;

/** `2026-01` after `2025-12`. */
function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`;
}

/** All months from the first to the last, also those in which nothing was bought. */
function monthsOf(rows: readonly SpendRow[]): Array<readonly [month: string, row: SpendRow | undefined]> {
  const dated = rows.filter(({ month }) => /^\d{4}-\d{2}$/.test(String(month)));
  const named = new Map(dated.map((row) => [String(row.month), row]));
  const names = [...named.keys()].sort();
  const all: Array<readonly [string, SpendRow | undefined]> = [];
  const last = names.at(-1) ?? '';
  for (let at = names[0] ?? last; at && at <= last && all.length < 1200; at = nextMonth(at))
    all.push([at, named.get(at)]);
  return all.slice(-MAX_MONTHS);
}

/** Months over time, and what the budget of a month allows. Numbers are rounded for drawing only. */
function timeline({ report, budgets: { budgets } }: Spend, currency: string | null) {
  const months = monthsOf(report.months.filter((row) => row.currency === currency));
  if (months.length === 0) return null;
  const isMonthly = ({ budget, ...each }: Budget): boolean =>
    /[/]month$/.test(budget) && each.currency === currency;
  const limits = budgets.filter(isMonthly).map(({ limit }) => Number(limit));
  const most = Math.max(...limits, ...months.map(([, row]) => (row ? sumOf(row) : 0))) || 1;
  const columns = months.map(([month, row], at) => {
    let y = HEIGHT;
    const parts = amounts.map((name) => {
      const height = (HEIGHT * Math.max(0, Number(row?.[name] ?? 0))) / most;
      y -= height;
      return rect({ class: name, x: at * STEP + 6, y, width: STEP - 12, height });
    });
    const told = `${month}: ${money(row ? sumOf(row).toFixed(2) : '0', currency)}`;
    const label =
      at % Math.ceil(months.length / 12) === 0 &&
      text({ x: at * STEP + STEP / 2, y: HEIGHT + 14 }, month.slice(2));
    return g('', svgTitle('', told), parts, label);
  });
  const width = Math.max(8, months.length) * STEP;
  const lines = limits.map((limit) => {
    const y = HEIGHT - (HEIGHT * limit) / most;
    const label = text({ class: 'limit', x: width, y: y - 3 }, `budget ${money(limit, currency)}`);
    return [line({ class: 'limit', x1: 0, x2: width, y1: y, y2: y }), label];
  });
  const label = `Spend by month${limits.length ? ', with the budget of a month' : ''}`;
  const props = {
    class: 'timeline',
    viewBox: `0 -14 ${width} ${HEIGHT + 32}`,
    role: 'img',
    'aria-label': label,
  } as const;
  return svg(props, columns, line({ class: 'base', x1: 0, x2: width, y1: HEIGHT, y2: HEIGHT }), lines);
}

function chartOf(spend: Spend, by: Grouping) {
  const { totals, ...report } = spend.report;
  const rows = report[groupings[by]];
  const most = rows.reduce((top, row) => Math.max(top, sumOf(row)), 0) || 1;
  const isOverTime = by === 'month';
  const cellsOf = (row: SpendRow): Child[] => {
    const shares = amounts.map((name) => [name, Number(row[name]) / most] as const);
    const share = bar(shares, `${Math.round((100 * sumOf(row)) / most)} % of the largest`);
    const [spent, ...others] = amounts.map((name) => Number(row[name]) && money(row[name], row.currency));
    const sums = [spent || money(0, row.currency), ...others.map((sum) => sum || '')];
    const name = parts.text(String(row[by] ?? `no ${by}`), 200);
    return [name, ...(isOverTime ? [] : [share]), ...sums, countText(row.files)];
  };
  const head = [by, ...(isOverTime ? [] : ['share']), 'spent', 'unpaid', 'estimated', 'files'];
  const title = `Spend by ${by}`;
  const kinds = amounts.map((name) => span(name, name));
  const drawn = isOverTime && totals.map(({ currency }) => timeline(spend, currency));
  const newest = (one: SpendRow, other: SpendRow): number =>
    String(one.month) < String(other.month) ? 1 : -1;
  const shown = isOverTime ? [...rows].sort(newest) : rows;
  const table = parts.grid(title, head, shown.slice(0, MAX_ROWS).map(cellsOf));
  const more =
    rows.length > MAX_ROWS && p('muted', `and ${counted(rows.length - MAX_ROWS, 'row')} more in the CSV`);
  const none = p('muted', totals.length ? `No file has a ${by}.` : 'Nothing was bought yet.');
  return parts.panel(title, span('legend muted', kinds), rows.length ? [drawn, table, more] : none);
}

function budgetOf(budget: Budget): Child {
  const { left, limit, unknown, currency } = budget;
  const used = 1 - Number(left) / (Number(limit) || 1);
  const until = parts.timeAt(budget.until, shortTime);
  const parting = ` of ${money(limit, currency)}: ${money(budget.billed, currency)} billed, ${money(budget.estimated, currency)} estimated`;
  return [
    b('', budget.budget),
    span('muted', ` from ${budget.source}, until `, until),
    bar([[used > 0.9 ? 'over' : 'spent', used]], `${Math.round(100 * used)} % of the budget is used`),
    b(Number(left) > 0 ? '' : 'bad', `${money(left, currency)} left`),
    span('muted', parting, unknown > 0 && `, ${counted(unknown, 'purchase')} of unknown cost`),
  ];
}

/** Opens to its lines. */
function invoiceOf({ invoice, state, total, currency, created, items }: Spend['invoices'][number]): Child {
  const lines = items.map(({ sku, quantity, price, audiofile, total: sum }) => [
    parts.text(sku ?? 'item', 60),
    audiofile ? parts.fileLink(audiofile, audiofile) : '',
    `${quantity ?? ''} × ${money(price)}`,
    money(sum, currency),
  ]);
  const head = [
    b('', parts.text(invoice, 60)),
    span('muted', parts.timeAt(created, shortDate)),
    span(state === 'PAID' ? 'good' : 'warn', state),
    span('sum', money(total, currency)),
  ];
  const table = lines.length
    ? parts.grid(`Lines of invoice ${invoice}`, ['SKU', 'file', 'quantity', 'total'], lines)
    : p('muted', 'It has no lines.');
  return details('invoice', summary('', head), table, parts.command(`invoice ${shellWord(invoice)}`));
}

type Waiting = Spend['report']['waiting'][number];

const unclearOf = ({ audiofile, title, url, order, ordered_at, attempt }: Waiting): Child => [
  b('bad', 'uncertain '),
  parts.fileLink(audiofile, title || url || `order ${order ?? '?'}`),
  p('muted', 'ordered ', parts.timeAt(ordered_at)),
  attempt !== null && a({ href: '#/health' }, `settle attempt ${attempt}`),
];

async function exportCsv(path: string, by: Grouping): Promise<void> {
  try {
    saveAs(new Blob([await getText(path)], { type: 'text/csv' }), `steno-spend-by-${by}.csv`);
    parts.say(`Exported steno-spend-by-${by}.csv`);
  } catch (error) {
    parts.say((error as Error).message, true);
  }
}

function columnsOf(spend: Spend, by: Grouping) {
  const {
    report,
    budgets: { budgets },
    invoices,
  } = spend;
  const unclear = report.waiting.filter(({ kind }) => kind === 'unclear');
  const noBudget = budgets.length === 0 && parts.empty('No budget is set.', 'budget set 500/month');
  const noInvoice = invoices.length === 0 && p('muted', 'No invoices yet.');
  const isClear = unclear.length + report.notes.length === 0 && p('good', 'No uncertain charges.');
  const notes = [isClear, ...report.notes.map((note) => p('', note))];
  const open = parts.facts(unclear.slice(0, MAX_ROWS), unclearOf);
  const right = [
    parts.panel('Budget', null, noBudget, parts.facts(budgets, budgetOf)),
    parts.panel('Invoices', null, noInvoice, invoices.map(invoiceOf)),
    parts.panel('Uncertain and unknown', parts.command('attempts'), notes, open),
  ];
  return [chartOf(spend, by), right];
}

export function SpendPage() {
  const given = route.value.params.get('by') ?? '';
  const [by, setBy] = useState(Object.hasOwn(groupings, given) ? (given as Grouping) : 'month');
  const { data, error } = useLoad<Spend>('/api/spend', ['spend']);
  const report = `report --by ${by}`;
  useEffect(() => keep({ by }), [by]);
  const tab = (each: Grouping) => parts.button(each, () => setBy(each), { 'aria-pressed': each === by });
  const above = parts.tools(
    fieldset('tabs', legend('unseen', 'Group by'), (Object.keys(groupings) as Grouping[]).map(tab)),
    span('grow'),
    parts.button('Export CSV', () => void exportCsv(pathWith('/api/spend.csv', { by }), by)),
    parts.button('Print', () => print()),
    parts.command(report),
  );
  const lead = data ? tilesOf(data) : !error && p('muted', 'Loading…');
  return parts.frame([h1('unseen', 'Spend'), above], error, lead, data && columnsOf(data, by));
}
