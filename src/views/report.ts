/** A report: its JSON, its rows, and tables with small bars for people. */
import type { Grouping, Report } from '../flows/report/report.ts';
import { JsonNumber } from '../lib/json.ts';
import { amountText, DEFAULT_CURRENCY, Fraction, most } from '../lib/money.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { readableUrl } from '../lib/url.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { commonDecimals } from './money.ts';
import {
  type CommandOutput,
  cellOf,
  type Field,
  printed,
  RecordType,
  ranked,
  writtenFile,
} from './record.ts';
import * as is from './schema.ts';

type SpendRow = Report['totals'][number];
type Turnaround = Report['turnaround'][number];
type Waiting = Report['waiting'][number];

const json = { cell: false } as const;

export const groupings: readonly Grouping[] = ['month', 'sku', 'order', 'feed', 'tag', 'person', 'invoice'];

const NONE = '(none)';

/** A month, a SKU and an order should be there: of those, a name that is not known is empty. */
export const spendBy = ({ groups }: Report, by: Grouping): readonly SpendRow[] =>
  by === 'month' || by === 'sku' || by === 'order'
    ? groups[by]
    : groups[by].map((row) => ({ ...row, name: row.name || NONE }));

/** Minutes have no cents. */
const minutesText = ({ minutes }: SpendRow): string => minutes.toExact() ?? minutes.roundedUp(4);

const spendFields: ReadonlyArray<Field<SpendRow>> = [
  a.text('currency', 'currency of the amounts', 'currency'),
  a.exact('spent', 'billed and paid, less refunds', 'spent'),
  a.exact('refunded', 'amount refunded', 'refunded'),
  a.exact('unpaid', 'billed but not paid yet', 'unpaid'),
  a.exact('estimated', 'estimated cost of purchases not billed yet', 'estimated'),
  a.count('unbilled', 'number of purchases not billed yet', 'unbilled'),
  a.number('minutes', 'minutes of audio billed', () => 0, {
    ...{ schema: is.number, json: (row) => new JsonNumber(minutesText(row)) },
  }),
  a.count('files', 'number of files billed', 'files'),
  a.count('unmeasured', 'number of files of unknown length or turnaround', 'unmeasured'),
];

const spendRecord = new RecordType(spendFields);

const groupRecord = (by: Grouping): RecordType<SpendRow> =>
  new RecordType<SpendRow>([a.text(by, 'null if unknown', 'name', { kind: 'id' }), ...spendFields]);

/** In rows, what it names is the name of the row, and what is unmeasured stands among the columns of spend. */
const turnaroundRecord = new RecordType<Turnaround>([
  a.text('sku', 'null if unknown', 'sku', json),
  a.number('target_days', 'target of the SKU in days', 'targetDays'),
  a.count('delivered', 'number of files delivered', 'delivered'),
  a.count('on_time', 'number delivered on time', 'onTime'),
  a.count('late', 'number delivered late', 'late'),
  a.number('median_seconds', 'from order to delivery, in seconds', 'medianSeconds'),
  a.number('slowest_seconds', 'from order to delivery, in seconds', 'slowestSeconds'),
  a.count('unmeasured', 'number of files of unknown turnaround', 'unmeasured', json),
]);

const waitingRecord = new RecordType<Waiting>([
  a.word('kind', 'why it is listed', 'kind', { ...json, schema: is.oneOf('open', 'held', 'unclear') }),
  a.text('audiofile', 'audiofile id', 'id', json),
  a.number('attempt', 'number of the attempt, for an order of unknown outcome', () => null, {
    ...{ ...json, schema: is.maybeInteger },
    // A text that is no number would break the document.
    json: ({ attempt }) => (/^[1-9]\d*$/.test(attempt) ? new JsonNumber(attempt) : null),
  }),
  a.text('title', 'title of the audio', ({ title }) => cutSignatures(title)),
  a.text('order', 'order id', 'order'),
  a.list('skus', 'SKUs of its order', 'skus'),
  a.text('state', 'state as the service names it', 'state', { kind: 'state' }),
  a.time('ordered_at', 'when it was ordered', 'orderedAt'),
  a.time('due_at', 'when it is due', 'dueAt'),
  a.number('late_seconds', 'how late it is, in seconds', 'lateSeconds', { schema: is.number }),
  a.text('url', 'URL of the audio, without signatures', ({ url }) => cutSignatures(url), { kind: 'link' }),
]);

const grouped = (by: Grouping, help: string): Field<Report> =>
  a.records(`${by}s`, help, groupRecord(by), (report) => spendBy(report, by));

const counts = ['delivered', 'open', 'held', 'unclear', 'late'] as const;

const reportRecord = new RecordType<Report>([
  a.time('made_at', 'when it was made', 'madeAt', { schema: is.time }),
  a.time('since', 'start of its time, if limited', 'since'),
  a.time('until', 'end of its time, if limited', 'until'),
  a.plain(
    'counts',
    'number of files',
    is.object(Object.fromEntries(counts.map((name) => [name, is.integer]))),
    (report) => ({ ...report.counts }),
  ),
  a.records('totals', 'one row per currency', spendRecord, 'totals'),
  grouped('month', 'by month; the rows of each grouping add up to the totals'),
  grouped('sku', 'by SKU'),
  grouped('order', 'by order'),
  grouped('feed', 'by feed; (none) without one'),
  grouped('tag', 'by set of tags, such as radio + tv; (none) without any'),
  grouped('person', 'by person or CI actor; (none) if unknown'),
  grouped('invoice', 'by invoice; (none) if not billed yet'),
  a.records('turnaround', 'how long transcripts took', turnaroundRecord, 'turnaround'),
  a.records('waiting', 'what is open, on hold or uncertain', waitingRecord, 'waiting'),
  a.list('notes', 'what the totals leave out', 'notes'),
]);

/** What --quiet prints: what was spent, a line for each currency; bare where it is the usual one. */
const forms = (report: Report) => ({
  json: () => reportRecord.json(report),
  quiet: report.totals.map(
    ({ spent, currency }) => amountText(spent) + (currency === DEFAULT_CURRENCY ? '' : ` ${currency}`),
  ),
});

/** The rows of --by. */
export const spendView = (report: Report, by: Grouping): View =>
  groupRecord(by).view(spendBy(report, by), forms(report));

/**
 * A row of any part of a report. `part` says which one: total, a grouping, turnaround, open, held or unclear; `name` is
 * the group, SKU, audiofile or attempt. What a part does not have is empty.
 */
interface PartRow {
  readonly part: string;
  readonly name: string;
  readonly spend?: SpendRow;
  readonly turnaround?: Turnaround;
  readonly waiting?: Waiting;
}

const columnsOf = <Part>(record: RecordType<Part>, partOf: (row: PartRow) => Part | undefined) =>
  record.columns.map(
    (field): Field<PartRow> => ({
      ...{
        name: field.name,
        help: field.help,
        schema: field.schema,
        ...(field.kind && { kind: field.kind }),
      },
      cell: (row) => {
        const part = partOf(row);
        if (part) return cellOf(field, part);
        return field.name === 'unmeasured' ? String(row.turnaround?.unmeasured ?? '') : '';
      },
    }),
  );

const partRecord = new RecordType<PartRow>([
  a.column('part', 'total, a grouping of --by, turnaround, open, held or unclear', ({ part }) => part),
  a.column('name', 'name of the group, SKU, audiofile or attempt', ({ name }) => name, { kind: 'id' }),
  ...columnsOf(spendRecord, ({ spend }) => spend),
  ...columnsOf(turnaroundRecord, ({ turnaround }) => turnaround),
  ...columnsOf(waitingRecord, ({ waiting }) => waiting),
]);

export const reportOutput = (): CommandOutput =>
  printed(is.anyOf(reportRecord.schema, is.described('with --html', writtenFile)), partRecord.columnHelp);

/** All parts of a report as one table. */
export function reportView(report: Report): View {
  const spend = (part: string, rows: readonly SpendRow[]): PartRow[] =>
    rows.map((row) => ({ part, name: row.name, spend: row }));
  const rows = [
    ...spend('total', report.totals),
    ...groupings.flatMap((by) => spend(by, spendBy(report, by))),
    ...report.turnaround.map((row) => ({ part: 'turnaround', name: row.sku, turnaround: row })),
    ...report.waiting.map((row) => ({ part: row.kind, name: row.id || row.attempt, waiting: row })),
  ];
  return partRecord.view(rows, forms(report));
}

// Tables for people.

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
  const spend = (by: Grouping) =>
    page(`Spend by ${by === 'sku' ? 'SKU' : by}`, spendTable(report, by, { hasBars }));
  if (by) return spend(by);
  return [
    ...[...spend('month'), ...spend('sku'), ...page('Turnaround', turnaroundTable(report))],
    ...page('Open, on hold and uncertain', waitingTable(report)),
  ];
}

function page(title: string, { columns, rows }: View): ReportPage[] {
  const isCut = rows.length > MAX_ROWS;
  const heading = isCut ? `${title} (${MAX_ROWS} of ${rows.length}; --csv has all)` : title;
  const view = { json: null, columns, rows: isCut ? rows.slice(0, MAX_ROWS) : rows, quiet: [] };
  return rows.length ? [{ title: heading, view }] : [];
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

const amounts = ['spent', 'refunded', 'unpaid', 'estimated'] as const;

/** Beside what was spent, zero is empty. */
export function spendTable(
  report: Report,
  by: Grouping,
  { hasBars = false, rows = spendBy(report, by) } = {},
): View {
  const decimals = commonDecimals(rows.flatMap((row) => amounts.map((name) => row[name])));
  const shares = new Map(sharesOf(rows).map((share, at) => [rows[at], share]));
  const amount = (name: (typeof amounts)[number]) => (row: SpendRow) =>
    row[name].sign || name === 'spent'
      ? [row[name].roundedUp(decimals), row.currency].filter(Boolean).join(' ')
      : '';
  const titleOf = ({ name }: SpendRow) => (by === 'order' ? report.titleOfOrder(name) : '');
  return new RecordType<SpendRow>([
    a.column(by, '', ({ name }) => name || NONE, { kind: 'id' }),
    a.column('title', '', titleOf, { importance: 3 }),
    ...amounts.map((name) => a.column(name, '', amount(name), { kind: 'amount' })),
    a.column('minutes', '', minutesText, { kind: 'amount' }),
    a.column('files', '', ({ files }) => String(files), { kind: 'amount' }),
    a.column('unbilled', '', ({ unbilled }) => String(unbilled || ''), { kind: 'amount' }),
    a.column('', '', (row) => (hasBars ? barOf(shares.get(row) ?? 0) : ''), { importance: 0, uncut: true }),
  ]).view(rows, { only: 'filled' });
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share of one; anything above zero shows. */
export function barOf(share: number): string {
  if (share <= 0) return '';
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

const figure = { kind: 'amount' } as const;

const ofTarget = ({ targetDays }: Turnaround, count: number): string =>
  targetDays === undefined ? '' : String(count);

const turnaroundColumns = new RecordType<Turnaround>([
  a.column('sku', '', ({ sku }) => sku || NONE, { kind: 'id' }),
  a.column('median', '', ({ medianSeconds }) => daysText(medianSeconds) || 'unknown', figure),
  a.column('slowest', '', ({ slowestSeconds }) => daysText(slowestSeconds) || 'unknown', figure),
  a.column('target', '', ({ targetDays: days }) => (days === undefined ? 'none' : `${days}d`), figure),
  a.column('delivered', '', ({ delivered }) => String(delivered), figure),
  a.column('on_time', '', (row) => ofTarget(row, row.onTime), figure),
  a.column('late', '', (row) => ofTarget(row, row.late), figure),
]);

export const turnaroundTable = ({ turnaround }: Report): View =>
  turnaroundColumns.view(turnaround, { only: 'filled' });

/** `3.5d`, or `5h` below a day; empty where it is not known. */
export function daysText(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)}h`;
  return `${(seconds / 86_400).toFixed(1)}d`;
}

/** The service's own word for the state, where it has one. */
const openStates = { open: '', held: 'On Hold', unclear: 'unclear' };

const waitingColumns = ranked<Waiting>('title late due_at ordered_at skus order', [
  a.column('audiofile', '', ({ id, attempt }) => id || `attempt ${attempt}`, { kind: 'id' }),
  a.column('state', '', ({ kind, state }) => openStates[kind] || state || 'ordered', { kind: 'state' }),
  a.column('title', '', ({ title, url }) => cutSignatures(title || readableUrl(url))),
  a.column('late', '', ({ lateSeconds }) => (lateSeconds ? daysText(lateSeconds) : ''), figure),
  a.time('due_at', '', 'dueAt', { header: 'due' }),
  a.time('ordered_at', '', 'orderedAt', { header: 'ordered' }),
  a.list('skus', '', 'skus'),
  a.text('order', '', 'order', { kind: 'id' }),
]);

export const waitingTable = ({ waiting }: Report): View => waitingColumns.view(waiting, { only: 'filled' });
