/** A report for programs: the parts of its JSON, and one table of all its rows for CSV. */
import type { Report } from '../../flows/report/report.ts';
import { cutSignatures } from '../../lib/audio-identity.ts';
import type { Fraction } from '../../lib/fraction.ts';
import { type Json, JsonNumber, toJson } from '../../lib/json.ts';
import { amountText } from '../../lib/money.ts';
import type { Column, View } from '../../lib/view.ts';

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
