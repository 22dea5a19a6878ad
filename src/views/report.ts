/** A report for programs: the parts of its JSON, and one table of all its rows for CSV. */
import type { Report } from '../flows/report/report.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import { Fraction, most } from '../lib/fraction.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import { amountText } from '../lib/money.ts';
import type { Column, View } from '../lib/view.ts';
import {
  arrayOf,
  described,
  integer,
  maybeInteger,
  maybeNumber,
  maybeText,
  maybeTime,
  number,
  object,
  oneOf,
  type RecordColumn,
  type Schema,
  text,
  time,
} from './record.ts';

type SpendRow = Report['months'][number];
type TurnaroundRow = Report['turnaround'][number];
type WaitingFile = Report['waiting'][number];

export const groupings = ['month', 'sku', 'order', 'feed', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export const spendBy = (report: Report, by: Grouping): readonly SpendRow[] =>
  ({
    ...{ month: report.months, sku: report.skus, order: report.orders },
    ...{ feed: report.feeds, tag: report.tags },
  })[by];

/** Minutes have no cents. */
export const minutesText = (minutes: Fraction): string => minutes.toExact() ?? minutes.roundedUp(4);

const exact = (value: Fraction): JsonNumber => new JsonNumber(amountText(value));

const spendJson = (row: SpendRow, name: Grouping | undefined) => ({
  ...(name && { [name]: row.name || null }),
  currency: row.currency || null,
  spent: exact(row.spent),
  refunded: exact(row.refunded),
  unpaid: exact(row.unpaid),
  estimated: exact(row.estimated),
  unbilled: row.unbilled,
  minutes: new JsonNumber(minutesText(row.minutes)),
  files: row.files,
  unmeasured: row.unmeasured,
});

const turnaroundJson = (row: TurnaroundRow) => ({
  sku: row.sku || null,
  target_days: row.targetDays ?? null,
  delivered: row.delivered,
  on_time: row.onTime,
  late: row.late,
  median_seconds: row.medianSeconds ?? null,
  slowest_seconds: row.slowestSeconds ?? null,
  unmeasured: row.unmeasured,
});

const waitingJson = (file: WaitingFile) => ({
  kind: file.kind,
  audiofile: file.id || null,
  // A text that is no number would break the document.
  attempt: /^[1-9]\d*$/.test(file.attempt) ? new JsonNumber(file.attempt) : null,
  title: cutSignatures(file.title) || null,
  order: file.order || null,
  skus: file.skus,
  state: file.state || null,
  ordered_at: file.orderedAt || null,
  due_at: file.dueAt || null,
  late_seconds: file.lateSeconds,
  url: cutSignatures(file.url) || null,
});

/** Most files have no feed and no tag. */
const optional: ReadonlySet<Grouping> = new Set(['feed', 'tag']);

const named = (rows: readonly SpendRow[]): readonly SpendRow[] => (rows.some(({ name }) => name) ? rows : []);

const reportJson = (report: Report): Json =>
  toJson({
    made_at: report.madeAt,
    since: report.since ?? null,
    until: report.until ?? null,
    counts: { ...report.counts },
    totals: report.totals.map((row) => spendJson(row, undefined)),
    months: report.months.map((row) => spendJson(row, 'month')),
    skus: report.skus.map((row) => spendJson(row, 'sku')),
    orders: report.orders.map((row) => spendJson(row, 'order')),
    feeds: named(report.feeds).map((row) => spendJson(row, 'feed')),
    tags: named(report.tags).map((row) => spendJson(row, 'tag')),
    turnaround: report.turnaround.map(turnaroundJson),
    waiting: report.waiting.map(waitingJson),
    notes: [...report.notes],
  });

const spendColumns: readonly Column[] = [
  { name: 'currency' },
  { name: 'spent', kind: 'amount' },
  { name: 'refunded', kind: 'amount' },
  { name: 'unpaid', kind: 'amount' },
  { name: 'estimated', kind: 'amount' },
  { name: 'unbilled', kind: 'amount' },
  { name: 'minutes', kind: 'amount' },
  { name: 'files', kind: 'amount' },
  { name: 'unmeasured', kind: 'amount' },
];

const spendCells = (row: SpendRow): string[] => [
  row.currency,
  amountText(row.spent),
  amountText(row.refunded),
  amountText(row.unpaid),
  amountText(row.estimated),
  String(row.unbilled),
  minutesText(row.minutes),
  String(row.files),
  String(row.unmeasured),
];

/** The rows of --by: what was spent by month, SKU or order. */
export const spendView = (report: Report, by: Grouping): View => ({
  json: reportJson(report),
  columns: [{ name: by, kind: 'id' }, ...spendColumns],
  rows: spendBy(report, by).map((row) => [row.name, ...spendCells(row)]),
  quiet: totalLines(report),
});

const progressColumns: readonly Column[] = [
  { name: 'target_days', kind: 'amount' },
  { name: 'delivered', kind: 'amount' },
  { name: 'on_time', kind: 'amount' },
  { name: 'late', kind: 'amount' },
  { name: 'median_seconds', kind: 'amount' },
  { name: 'slowest_seconds', kind: 'amount' },
  { name: 'title' },
  { name: 'order' },
  { name: 'skus' },
  { name: 'state', kind: 'state' },
  { name: 'ordered_at', kind: 'time' },
  { name: 'due_at', kind: 'time' },
  { name: 'late_seconds', kind: 'amount' },
  { name: 'url', kind: 'link' },
];

/**
 * All parts of a report as one table. `part` says which one a row is of: total, month, sku, order, turnaround, open, held
 * or unclear; `name` is the month, SKU, order, audiofile or attempt. What a part does not have is empty.
 */
export function reportView(report: Report): View {
  const noSpend = spendColumns.map(() => '');
  const noProgress = progressColumns.map(() => '');
  const spend = (part: string, rows: readonly SpendRow[]): string[][] =>
    rows.map((row) => [part, row.name, ...spendCells(row), ...noProgress]);
  return {
    json: reportJson(report),
    columns: [{ name: 'part' }, { name: 'name', kind: 'id' }, ...spendColumns, ...progressColumns],
    rows: [
      ...spend('total', report.totals),
      ...groupings.flatMap((by) =>
        spend(by, optional.has(by) ? named(spendBy(report, by)) : spendBy(report, by)),
      ),
      ...report.turnaround.map((row) => [
        'turnaround',
        row.sku,
        ...noSpend.slice(1),
        ...turnaroundCells(row),
      ]),
      ...report.waiting.map((file) => [
        file.kind,
        file.id || file.attempt,
        ...noSpend,
        ...waitingCells(file),
      ]),
    ],
    quiet: totalLines(report),
  };
}

/** The last column of spend, `unmeasured`, is also one of deliveries. */
const turnaroundCells = (row: TurnaroundRow): string[] => [
  String(row.unmeasured),
  row.targetDays === undefined ? '' : String(row.targetDays),
  ...[row.delivered, row.onTime, row.late].map(String),
  ...[row.medianSeconds, row.slowestSeconds].map((seconds) => (seconds === undefined ? '' : String(seconds))),
  ...progressColumns.slice(6).map(() => ''),
];

const waitingCells = (file: WaitingFile): string[] => [
  ...progressColumns.slice(0, 6).map(() => ''),
  cutSignatures(file.title),
  file.order,
  file.skus.join(','),
  file.state,
  file.orderedAt,
  file.dueAt,
  String(file.lateSeconds),
  cutSignatures(file.url),
];

/** What --quiet prints: what was spent, a line for each currency. */
const totalLines = ({ totals }: Report): string[] =>
  totals.map(({ spent, currency }) => [amountText(spent), currency].filter(Boolean).join(' '));

// The schema of a report.

const spend = {
  currency: described('null where the invoices name none', maybeText),
  spent: described('billed and paid, less what was refunded', number),
  refunded: number,
  unpaid: described('billed, and not paid yet', number),
  estimated: described('what is not billed yet, by estimate, as far as that is known', number),
  unbilled: described('how many purchases are not billed yet', integer),
  minutes: described('of what was billed', number),
  files: described('that were billed', integer),
  unmeasured: described('files that are not in the minutes: their length is not known', integer),
};

const spendSchema = (name: string): Schema =>
  arrayOf(object({ [name]: described('null where it is not known', maybeText), ...spend }));

export const reportSchema: Schema = object({
  made_at: time,
  since: maybeTime,
  until: maybeTime,
  counts: object({ delivered: integer, open: integer, held: integer, unclear: integer, late: integer }),
  totals: described('one for each currency', arrayOf(object(spend))),
  months: spendSchema('month'),
  skus: spendSchema('sku'),
  orders: spendSchema('order'),
  feeds: described('empty where no file has one', spendSchema('feed')),
  tags: described('a file counts for each of its tags; empty where no file has one', spendSchema('tag')),
  turnaround: arrayOf(
    object({
      sku: maybeText,
      target_days: maybeNumber,
      delivered: integer,
      on_time: integer,
      late: integer,
      median_seconds: maybeNumber,
      slowest_seconds: maybeNumber,
      unmeasured: integer,
    }),
  ),
  waiting: arrayOf(
    object({
      kind: oneOf('open', 'held', 'unclear'),
      audiofile: maybeText,
      attempt: described('of an order without a known end', maybeInteger),
      title: maybeText,
      order: maybeText,
      skus: arrayOf(text),
      state: maybeText,
      ordered_at: maybeTime,
      due_at: maybeTime,
      late_seconds: number,
      url: described('of the audio, without signatures', maybeText),
    }),
  ),
  notes: described('what the sums leave out', arrayOf(text)),
});

const help: Readonly<Record<string, string>> = {
  part: 'total, month, sku, order, turnaround, open, held or unclear',
  name: 'the month, SKU, order, audiofile or attempt',
  currency: 'of the amounts',
  spent: 'billed and paid, less refunds',
  refunded: 'what came back',
  unpaid: 'billed, not paid yet',
  estimated: 'not billed yet, by estimate',
  unbilled: 'purchases that are not billed yet',
  minutes: 'of audio that was billed',
  files: 'that were billed',
  unmeasured: 'files of unknown length or time',
  target_days: 'how long the SKU may take',
  delivered: 'how many',
  on_time: 'of them',
  late: 'of them',
  median_seconds: 'from order to delivery',
  slowest_seconds: 'from order to delivery',
  title: 'of the audio',
  order: 'the id of its order',
  skus: 'of its order',
  state: 'as the service names it',
  ordered_at: 'when it was ordered',
  due_at: 'when it is due',
  late_seconds: 'how late it is',
  url: 'of the audio, without signatures',
};

export const reportColumns: readonly RecordColumn[] = Object.entries(help).map(([name, text]) => ({
  name,
  help: text,
}));

// A report for people at a terminal: tables with small bars.

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
