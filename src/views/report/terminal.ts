/** A report for people at a terminal: tables with small bars. */
import type { Report } from '../../flows/report/report.ts';
import { cutSignatures } from '../../lib/audio-identity.ts';
import { Fraction, most } from '../../lib/fraction.ts';
import type { Column, View } from '../../lib/view.ts';
import { type Grouping, minutesText, spendBy } from './rows.ts';

export interface ReportPage {
  readonly title: string;
  readonly view: View;
}

/** In columns of the screen. */
const BAR_WIDTH = 20;
/** What is beyond is in --csv and --json. */
const MAX_ROWS = 40;

/** The tables of a report, each with its title; a table without rows is left out. */
export function reportPages(report: Report, by: Grouping | undefined): ReportPage[] {
  const pages = [
    spendPage(report, by ?? 'month'),
    ...(by ? [] : [spendPage(report, 'sku'), turnaroundPage(report), waitingPage(report)]),
  ];
  return pages.filter(({ view }) => view.rows.length > 0);
}

const page = (title: string, columns: readonly Column[], rows: string[][]): ReportPage => {
  const more = rows.length - MAX_ROWS;
  const shown = more > 0 ? rows.slice(0, MAX_ROWS) : rows;
  const heading = more > 0 ? `${title} (${MAX_ROWS} of ${rows.length}; --csv has all)` : title;
  return { title: heading, view: { json: null, columns, rows: shown, quiet: [] } };
};

function spendPage(report: Report, by: Grouping): ReportPage {
  const rows = spendBy(report, by);
  const hasCurrency = rows.some(({ currency }) => currency);
  const amounts = filledAmounts(rows);
  const hasUnbilled = rows.some(({ unbilled }) => unbilled > 0);
  const decimals = commonDecimals(amountsOf(rows));
  const amount = (value: Fraction): string => value.roundedUp(decimals);
  // Bars of different currencies would compare what can't be compared.
  const highest = (currency: string): Fraction =>
    rows
      .filter((row) => row.currency === currency)
      .map(({ spent }) => spent)
      .reduce(most, Fraction.zero);
  const tops = new Map(
    [...new Set(rows.map(({ currency }) => currency))].map((each) => [each, highest(each)]),
  );
  const columns: Column[] = [
    { name: by, kind: 'id' },
    { name: 'spent', kind: 'amount' },
    ...amounts.map((name): Column => ({ name, kind: 'amount' })),
    ...(hasCurrency ? [{ name: 'currency' }] : []),
    { name: 'minutes', kind: 'amount' },
    { name: 'files', kind: 'amount' },
    ...(hasUnbilled ? [{ name: 'unbilled', kind: 'amount' } as const] : []),
    { name: '', importance: 0, uncut: true },
  ];
  const cells = rows.map((row) => [
    row.name || namelessText[by],
    amount(row.spent),
    ...amounts.map((name) => (row[name].sign ? amount(row[name]) : '')),
    ...(hasCurrency ? [row.currency] : []),
    minutesText(row.minutes),
    String(row.files),
    ...(hasUnbilled ? [row.unbilled ? String(row.unbilled) : ''] : []),
    barOf(row.spent, tops.get(row.currency) ?? Fraction.zero),
  ]);
  return page(`Spend by ${by === 'sku' ? 'SKU' : by}`, columns, cells);
}

/** What a row is called that belongs to no month, SKU or order. */
export const namelessText: Readonly<Record<Grouping, string>> = {
  month: 'no date',
  sku: 'no SKU',
  order: 'no order',
  feed: 'no feed',
  tag: 'no tag',
};

const otherAmounts = ['refunded', 'unpaid', 'estimated'] as const;

/** The amounts beside what was spent that one of the rows has. */
export const filledAmounts = (rows: Report['months']): Array<(typeof otherAmounts)[number]> =>
  otherAmounts.filter((name) => rows.some((row) => row[name].sign !== 0));

export const amountsOf = (rows: Report['months']): Fraction[] =>
  rows.flatMap((row) => [row.spent, ...otherAmounts.map((name) => row[name])]);

/** As many as the most exact of them takes, so that points stand below each other; at least two. */
export const commonDecimals = (amounts: readonly Fraction[]): number =>
  amounts.reduce((decimals, amount) => Math.max(decimals, amount.decimals ?? 0), 2);

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar as long as `value` is of `top`; anything above zero shows. */
export function barOf(value: Fraction, top: Fraction): string {
  if (value.sign <= 0 || top.sign <= 0) return '';
  const eighths = Math.max(1, Math.round(value.over(top).toNumber() * BAR_WIDTH * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

function turnaroundPage({ turnaround }: Report): ReportPage {
  const columns: Column[] = [
    { name: 'sku', kind: 'id' },
    { name: 'delivered', kind: 'amount' },
    { name: 'median', kind: 'amount' },
    { name: 'slowest', kind: 'amount' },
    { name: 'target', kind: 'amount' },
    { name: 'on_time', kind: 'amount' },
    { name: 'late', kind: 'amount' },
  ];
  const rows = turnaround.map((row) => [
    row.sku || 'no SKU',
    String(row.delivered),
    daysText(row.medianSeconds),
    daysText(row.slowestSeconds),
    row.targetDays === undefined ? 'none' : `${row.targetDays}d`,
    row.targetDays === undefined ? '' : String(row.onTime),
    row.targetDays === undefined ? '' : String(row.late),
  ]);
  return page('Turnaround', columns, rows);
}

/** `3.5d`, or `5h` below a day; empty where it is not known. */
export function daysText(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)}h`;
  return `${(seconds / 86_400).toFixed(1)}d`;
}

function waitingPage({ waiting }: Report): ReportPage {
  const columns: Column[] = [
    { name: 'id', kind: 'id' },
    { name: 'status', kind: 'state' },
    { name: 'title', importance: 90 },
    { name: 'skus', importance: 40 },
    { name: 'ordered', kind: 'time', importance: 50 },
    { name: 'due', kind: 'time', importance: 60 },
    { name: 'late', kind: 'amount', importance: 80 },
  ];
  const rows = waiting.map((file) => [
    file.id || `attempt ${file.attempt}`,
    statusText(file),
    cutSignatures(file.title || file.url),
    file.skus.join(','),
    file.orderedAt,
    file.dueAt,
    file.lateSeconds ? daysText(file.lateSeconds) : '',
  ]);
  return page('Open, held and unclear', columns, rows);
}

/** The service's own word for it, where it has one. */
export const statusText = ({ kind, state }: Report['waiting'][number]): string => {
  if (kind === 'unclear') return 'unclear';
  return kind === 'held' ? 'On Hold' : state || 'ordered';
};
