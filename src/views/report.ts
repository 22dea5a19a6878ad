/** A report: its JSON, its rows, and tables with small bars for people. */
import type { Grouping, Report } from '../flows/report/report.ts';
import { JsonNumber } from '../lib/json.ts';
import { amountText, DEFAULT_CURRENCY, Fraction, most } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { readableUrl } from '../lib/url.ts';
import type { Column, Rows, View } from '../lib/view.ts';
import { commonDecimals, exactField } from './money.ts';
import {
  countField,
  documentOf,
  type Field,
  listField,
  numberField,
  type RecordColumn,
  RecordType,
  textField,
  timeField,
} from './record.ts';
import * as is from './schema.ts';

type SpendRow = Report['totals'][number];

export const groupings: readonly Grouping[] = ['month', 'sku', 'order', 'feed', 'tag', 'person', 'invoice'];

/** The name of the row of what has none; empty where it should have one, so that it is only not known. */
const noneText = (by: Grouping): string => (by === 'month' || by === 'sku' || by === 'order' ? '' : '(none)');

export const spendBy = ({ groups }: Report, by: Grouping): readonly SpendRow[] =>
  groups[by].map((row) => ({ ...row, name: row.name || noneText(by) }));

/** Minutes have no cents. */
const minutesText = (minutes: Fraction): string => minutes.toExact() ?? minutes.roundedUp(4);

const spendFields: ReadonlyArray<Field<SpendRow>> = [
  textField('currency', 'currency of the amounts', 'currency'),
  exactField('spent', 'billed and paid, less refunds', 'spent'),
  exactField('refunded', 'amount refunded', 'refunded'),
  exactField('unpaid', 'billed but not paid yet', 'unpaid'),
  exactField('estimated', 'estimated cost of purchases not billed yet', 'estimated'),
  countField('unbilled', 'number of purchases not billed yet', 'unbilled'),
  {
    ...{ name: 'minutes', help: 'minutes of audio billed', kind: 'amount', schema: is.number },
    json: ({ minutes }) => new JsonNumber(minutesText(minutes)),
    cell: ({ minutes }) => minutesText(minutes),
  },
  countField('files', 'number of files billed', 'files'),
  countField('unmeasured', 'number of files of unknown length or turnaround', 'unmeasured'),
];

const spendRecord = new RecordType(spendFields);

const groupRecord = (by: Grouping): RecordType<SpendRow> =>
  new RecordType<SpendRow>([textField(by, 'null if unknown', 'name', { kind: 'id' }), ...spendFields]);

/** In rows, what it names is the name of the row, and what is unmeasured stands among the columns of spend. */
const turnaroundRecord = new RecordType<Report['turnaround'][number]>([
  textField('sku', 'null if unknown', 'sku', { cell: false }),
  numberField('target_days', 'target of the SKU in days', 'targetDays'),
  countField('delivered', 'number of files delivered', 'delivered'),
  countField('on_time', 'number delivered on time', 'onTime'),
  countField('late', 'number delivered late', 'late'),
  numberField('median_seconds', 'from order to delivery, in seconds', 'medianSeconds'),
  numberField('slowest_seconds', 'from order to delivery, in seconds', 'slowestSeconds'),
  countField('unmeasured', 'number of files of unknown turnaround', 'unmeasured', { cell: false }),
]);

const waitingRecord = new RecordType<Report['waiting'][number]>([
  textField('kind', 'why it is listed', 'kind', {
    ...{ cell: false, schema: is.oneOf('open', 'held', 'unclear') },
  }),
  textField('audiofile', 'audiofile id', 'id', { cell: false }),
  {
    ...{
      name: 'attempt',
      help: 'number of the attempt, for an order of unknown outcome',
      schema: is.maybeInteger,
      cell: false,
    },
    // A text that is no number would break the document.
    json: ({ attempt }) => (/^[1-9]\d*$/.test(attempt) ? new JsonNumber(attempt) : null),
  },
  textField('title', 'title of the audio', ({ title }) => cutSignatures(title)),
  textField('order', 'order id', 'order'),
  listField('skus', 'SKUs of its order', 'skus'),
  textField('state', 'state as the service names it', 'state', { kind: 'state' }),
  timeField('ordered_at', 'when it was ordered', 'orderedAt'),
  timeField('due_at', 'when it is due', 'dueAt'),
  numberField('late_seconds', 'how late it is, in seconds', 'lateSeconds', { schema: is.number }),
  textField('url', 'URL of the audio, without signatures', ({ url }) => cutSignatures(url), { kind: 'link' }),
]);

const spendPart = (by: Grouping, help: string) => {
  const record = groupRecord(by);
  const rows = (report: Report) => spendBy(report, by).map((row) => record.json(row));
  return [is.arrayOf(record.schema), rows, help] as const;
};

export const { schema: reportSchema, json: reportJson } = documentOf<Report>({
  made_at: [is.time, 'madeAt'],
  since: [is.maybeTime, 'since'],
  until: [is.maybeTime, 'until'],
  counts: [
    is.object({
      delivered: is.integer,
      open: is.integer,
      held: is.integer,
      unclear: is.integer,
      late: is.integer,
    }),
    ({ counts }) => ({ ...counts }),
  ],
  totals: [
    is.arrayOf(spendRecord.schema),
    ({ totals }) => totals.map((row) => spendRecord.json(row)),
    'one row per currency',
  ],
  months: spendPart('month', 'by month; the rows of each grouping add up to the totals'),
  skus: spendPart('sku', 'by SKU'),
  orders: spendPart('order', 'by order'),
  feeds: spendPart('feed', 'by feed; (none) without one'),
  tags: spendPart('tag', 'by set of tags, such as radio + tv; (none) without any'),
  persons: spendPart('person', 'by person or CI actor; (none) if unknown'),
  invoices: spendPart('invoice', 'by invoice; (none) if not billed yet'),
  turnaround: [
    is.arrayOf(turnaroundRecord.schema),
    ({ turnaround }) => turnaround.map((row) => turnaroundRecord.json(row)),
  ],
  waiting: [
    is.arrayOf(waitingRecord.schema),
    ({ waiting }) => waiting.map((file) => waitingRecord.json(file)),
  ],
  notes: [is.arrayOf(is.text), 'notes', 'what the totals leave out'],
});

/** The rows of --by. */
export const spendView = (report: Report, by: Grouping): View => ({
  ...groupRecord(by).view(spendBy(report, by)),
  json: reportJson(report),
  quiet: totalLines(report),
});

/** What --quiet prints: what was spent, a line for each currency; bare where it is the usual one. */
const totalLines = ({ totals }: Report): string[] =>
  totals.map(
    ({ spent, currency }) => amountText(spent) + (currency === DEFAULT_CURRENCY ? '' : ` ${currency}`),
  );

/**
 * All parts of a report as one table. `part` says which one a row is of: total, a grouping, turnaround, open, held or
 * unclear; `name` is the group, SKU, audiofile or attempt. What a part does not have is empty.
 */
export function reportView(report: Report): View {
  const [noSpend, noTurnaround, noWaiting] = [spendRecord, turnaroundRecord, waitingRecord].map(
    ({ columns }) => columns.map(() => ''),
  ) as [string[], string[], string[]];
  const spend = (part: string, rows: readonly SpendRow[]): string[][] =>
    rows.map((row) => [part, row.name, ...spendRecord.cells(row), ...noTurnaround, ...noWaiting]);
  return {
    json: reportJson(report),
    columns: [
      ...[{ name: 'part' }, { name: 'name', kind: 'id' as const }],
      ...[...spendRecord.columns, ...turnaroundRecord.columns, ...waitingRecord.columns],
    ],
    rows: [
      ...spend('total', report.totals),
      ...groupings.flatMap((by) => spend(by, spendBy(report, by))),
      ...report.turnaround.map((row) => [
        ...['turnaround', row.sku, ...noSpend.slice(1), String(row.unmeasured)],
        ...[...turnaroundRecord.cells(row), ...noWaiting],
      ]),
      ...report.waiting.map((file) => [
        ...[file.kind, file.id || file.attempt, ...noSpend, ...noTurnaround],
        ...waitingRecord.cells(file),
      ]),
    ],
    quiet: totalLines(report),
  };
}

export const reportColumns: readonly RecordColumn[] = [
  { name: 'part', help: 'total, a grouping of --by, turnaround, open, held or unclear' },
  { name: 'name', help: 'name of the group, SKU, audiofile or attempt' },
  ...[...spendRecord.columnHelp, ...turnaroundRecord.columnHelp, ...waitingRecord.columnHelp],
];

interface ReportPage {
  readonly title: string;
  readonly view: View;
}

/** In columns of the screen. */
const BAR_WIDTH = 20;
/** What is beyond is in --csv and --json. */
const MAX_ROWS = 40;

/** The tables of a report, each with its title; a table without rows is left out. */
export function reportPages(report: Report, by: Grouping | undefined, hasBars: boolean): ReportPage[] {
  const pages = [
    spendPage(report, by ?? 'month', hasBars),
    ...(by ? [] : [spendPage(report, 'sku', hasBars), page('Turnaround', turnaroundTable(report))]),
    ...(by ? [] : [page('Open, on hold and uncertain', waitingTable(report))]),
  ];
  return pages.filter(({ view }) => view.rows.length > 0);
}

function page(title: string, table: Rows): ReportPage {
  const { columns, rows } = filled(table);
  const more = rows.length - MAX_ROWS;
  const shown = more > 0 ? rows.slice(0, MAX_ROWS) : rows;
  const heading = more > 0 ? `${title} (${MAX_ROWS} of ${rows.length}; --csv has all)` : title;
  return { title: heading, view: { json: null, columns, rows: shown, quiet: [] } };
}

function spendPage(report: Report, by: Grouping, hasBars: boolean): ReportPage {
  const { columns, rows } = spendTable(report, by);
  const shares = sharesOf(spendBy(report, by));
  const bars: Column[] = hasBars ? [{ name: '', importance: 0, uncut: true }] : [];
  return page(`Spend by ${by === 'sku' ? 'SKU' : by}`, {
    columns: [...columns, ...bars],
    rows: rows.map((cells, at) => [...cells, ...bars.map(() => barOf(shares[at] ?? 0))]),
  });
}

/** What each row spent, as a share of the most in its currency: between currencies nothing can be compared. */
export function sharesOf(rows: readonly SpendRow[]): number[] {
  const tops = new Map<string, Fraction>();
  for (const { currency, spent } of rows)
    tops.set(currency, most(tops.get(currency) ?? Fraction.zero, spent));
  return rows.map(({ currency, spent }) =>
    spent.sign > 0 ? spent.over(tops.get(currency) ?? spent).toNumber() : 0,
  );
}

/** Without columns that are empty in every row. */
function filled({ columns, rows }: Rows): Rows {
  const isFilled = (_: unknown, at: number): boolean => rows.some((row) => row[at]);
  return { columns: columns.filter(isFilled), rows: rows.map((row) => row.filter(isFilled)) };
}

/** Beside what was spent, zero is empty. */
export function spendTable(report: Report, by: Grouping, rows = spendBy(report, by)): Rows {
  const amounts = ['spent', 'refunded', 'unpaid', 'estimated'] as const;
  const decimals = commonDecimals(rows.flatMap((row) => amounts.map((name) => row[name])));
  const amountOf = (row: SpendRow, name: (typeof amounts)[number]): string =>
    row[name].sign || name === 'spent'
      ? [row[name].roundedUp(decimals), row.currency].filter(Boolean).join(' ')
      : '';
  const title: Column[] = by === 'order' ? [{ name: 'title', importance: 3 }] : [];
  return filled({
    columns: [
      ...[{ name: by, kind: 'id' as const }, ...title],
      ...[...amounts, 'minutes', 'files', 'unbilled'].map((name) => ({ name, kind: 'amount' as const })),
    ],
    rows: rows.map((row) => [
      ...[row.name || (namelessText[by] ?? ''), ...title.map(() => report.orderTitles.get(row.name) ?? '')],
      ...amounts.map((name) => amountOf(row, name)),
      ...[minutesText(row.minutes), String(row.files), row.unbilled ? String(row.unbilled) : ''],
    ]),
  });
}

/** What a row is called whose month, SKU or order is not known. */
const namelessText: Readonly<Partial<Record<Grouping, string>>> = {
  month: 'no date',
  sku: 'no SKU',
  order: 'no order',
};

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share of one; anything above zero shows. */
export function barOf(share: number): string {
  if (share <= 0) return '';
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

export function turnaroundTable({ turnaround }: Report): Rows {
  const numbers = ['median', 'slowest', 'target', 'delivered', 'on_time', 'late'] as const;
  return {
    columns: [{ name: 'sku', kind: 'id' }, ...numbers.map((name) => ({ name, kind: 'amount' as const }))],
    rows: turnaround.map((row) => [
      row.sku || 'no SKU',
      daysText(row.medianSeconds) || 'unknown',
      daysText(row.slowestSeconds) || 'unknown',
      row.targetDays === undefined ? 'none' : `${row.targetDays}d`,
      String(row.delivered),
      row.targetDays === undefined ? '' : String(row.onTime),
      row.targetDays === undefined ? '' : String(row.late),
    ]),
  };
}

/** `3.5d`, or `5h` below a day; empty where it is not known. */
export function daysText(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)}h`;
  return `${(seconds / 86_400).toFixed(1)}d`;
}

export const waitingTable = ({ waiting }: Report): Rows =>
  filled({
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'state', kind: 'state' },
      { name: 'title', importance: 90 },
      { name: 'late', kind: 'amount', importance: 80 },
      { name: 'due_at', header: 'due', kind: 'time', importance: 60 },
      { name: 'ordered_at', header: 'ordered', kind: 'time', importance: 50 },
      { name: 'skus', importance: 40 },
      { name: 'order', kind: 'id', importance: 30 },
    ],
    rows: waiting.map((file) => [
      file.id || `attempt ${file.attempt}`,
      stateText(file),
      cutSignatures(file.title || readableUrl(file.url)),
      file.lateSeconds ? daysText(file.lateSeconds) : '',
      ...[file.dueAt, file.orderedAt, file.skus.join(','), file.order],
    ]),
  });

/** The service's own word for it, where it has one. */
const stateText = ({ kind, state }: Report['waiting'][number]): string => {
  if (kind === 'unclear') return 'unclear';
  return kind === 'held' ? 'On Hold' : state || 'ordered';
};
