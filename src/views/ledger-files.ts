/** Files as they are in the ledger. */
import type { Outcome } from '../flows/bulk.ts';
import type { FilePage } from '../flows/files/list.ts';
import type { ListedFile } from '../flows/files/listed.ts';
import type { Tracked } from '../flows/files/track.ts';
import type { Download } from '../ledger/downloads.ts';
import type { FileRow } from '../ledger/files.ts';
import { type Json, parseJson, toJson } from '../lib/json.ts';
import { type OrderedBy, otherSender, userAndHost } from '../lib/sender.ts';
import type { Column, View } from '../lib/view.ts';
import { alignAmounts, amountJson, currencyOf } from './amounts.ts';
import { failureJson } from './documents.ts';
import { viewPages } from './pages.ts';

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'state', kind: 'state' },
  { name: 'title', importance: 90 },
  { name: 'order', importance: 40, uncut: true },
  { name: 'ordered', kind: 'time', importance: 80 },
  { name: 'changed', kind: 'time', importance: 30 },
  { name: 'url', kind: 'link', importance: 70 },
  { name: 'skus' },
  { name: 'hold' },
  { name: 'test' },
  { name: 'ended' },
  { name: 'checked', kind: 'time' },
  { name: 'invoices' },
  { name: 'downloads' },
  { name: 'names' },
  { name: 'notes' },
  { name: 'remark' },
  { name: 'heard', kind: 'time' },
  { name: 'answer' },
  { name: 'key', importance: 20 },
  { name: 'by', importance: 25 },
  { name: 'job', kind: 'link', importance: 10 },
  { name: 'minutes', header: 'length', kind: 'minutes', importance: 50 },
  { name: 'total', kind: 'amount', importance: 60 },
  { name: 'currency' },
];

const everyColumn = columns.map((_, at) => at);

const columnAt = (name: string): number => columns.findIndex((column) => column.name === name);

/** What people see of each file: of the last ones only those that tell something of one of the files. */
const columnsForPeople = (rows: readonly ListedFile[]): number[] => {
  const has = (name: string, isTold: (row: ListedFile) => unknown): string[] =>
    rows.some(isTold) ? [name] : [];
  return [
    ...['id', 'state', 'title'],
    ...has('minutes', ({ minutes }) => minutes),
    ...has('total', ({ total }) => total),
    ...['order', 'ordered', 'changed', 'url'],
    ...has('key', ({ key }) => key),
    // Where it was somebody else.
    ...has('by', (row) => otherSender(senderOf(row))),
    ...has('job', ({ job }) => job),
  ].map(columnAt);
};

const senderOf = ({ user, host, job }: FileRow): OrderedBy => ({
  ...{ user: user ?? '', host: host ?? '', job: job ?? '' },
});

export interface ListForm {
  readonly forPeople: boolean;
  /** Of totals that name none; empty where it is not known. */
  readonly currency: string;
}

function aligned(rows: readonly ListedFile[], currency: string): ListedFile[] {
  const totals = alignAmounts(
    rows.map((row) => row.total),
    currency,
  );
  return rows.map((row, at) => ({ ...row, total: totals[at] ?? '' }));
}

/** People see the first columns, scripts everything. Each form is made only if it is asked for: there may be many rows. */
function filePageView({ rows, downloads }: FilePage, { forPeople, currency }: ListForm): View {
  const shown = forPeople ? columnsForPeople(rows) : everyColumn;
  return {
    columns: shown.map((at) => columns[at] as Column),
    get json() {
      return rows.map((row) => document(row, downloads.get(row.id) ?? [], currency));
    },
    get rows() {
      return (forPeople ? aligned(rows, currency) : rows).map((row) => {
        const all = cells(row, downloads.get(row.id) ?? [], currency);
        return shown.map((at) => all[at] ?? '');
      });
    },
    get quiet() {
      return rows.map((row) => row.id);
    },
  };
}

const cells = (row: ListedFile, downloads: readonly Download[], currency: string): string[] => [
  row.id,
  row.state || 'ordered',
  row.title,
  row.order_id,
  row.ordered_at,
  row.changed_at ?? '',
  row.url,
  row.skus ?? '',
  holdOf(row),
  row.test ? 'test' : '',
  row.ended,
  row.checked_at ?? '',
  row.invoices,
  downloads.map((each) => each.path).join(','),
  row.names ?? '',
  row.notes ?? '',
  remarkOf(row),
  row.heard_at ?? '',
  row.answer ?? '',
  row.key,
  userAndHost(senderOf(row)),
  row.job ?? '',
  row.minutes,
  row.total,
  currencyOf(row.total, currency),
];

const document = (row: ListedFile, downloads: readonly Download[], currency: string): Json =>
  toJson({
    audiofile: row.id,
    state: row.state || null,
    ended: row.ended || null,
    title: row.title || null,
    order: row.order_id,
    url: row.url,
    skus: row.skus ? row.skus.split(',') : [],
    names: row.names ? row.names.split('|') : [],
    notes: row.notes || null,
    hold: holdOf(row) || null,
    remark: remarkOf(row) || null,
    test: row.test === 1,
    invoices: row.invoices ? row.invoices.split(',') : [],
    ordered_at: row.ordered_at,
    changed_at: row.changed_at,
    checked_at: row.checked_at,
    heard_at: row.heard_at,
    downloads: downloads.map(({ ext, path, bytes, at }) => ({ format: ext, path, bytes, at })),
    answer: answerOf(row) as never,
    key: row.key || null,
    by: row.host ? { user: row.user || null, host: row.host, job: row.job || null } : null,
    minutes: amountJson(row.minutes),
    total: amountJson(row.total),
    currency: currencyOf(row.total, currency) || null,
  });

/** What an event says of the state is a remark, until the service has said it. */
const remarkOf = ({ hint, remark }: FileRow): string => [hint, remark].filter(Boolean).join('; ');

/** Why its order is on hold; a file that has ended is not on hold any more. */
const holdOf = (row: FileRow): string => (row.ended ? '' : (row.hold ?? ''));

/** The service's last answer; as text where it is no JSON any more because a secret was masked in it. */
function answerOf({ answer }: FileRow): Json {
  try {
    return answer === null ? null : parseJson(answer);
  } catch {
    return answer;
  }
}

export const filePages = (pages: AsyncIterable<FilePage>, form: ListForm): AsyncGenerator<View> =>
  viewPages(pages, (page) => filePageView(page, form), { rows: [], downloads: new Map() });

/** The files that were taken in. JSON: one document, or with `several` an array in the order asked. */
export function trackedView(outcomes: readonly Outcome<Tracked>[], several: boolean, form: ListForm): View {
  const tracked = outcomes.flatMap((outcome) => (outcome.error ? [] : [outcome.value]));
  const rows = tracked.map(({ row }) => row);
  const downloads = new Map(tracked.map((each) => [each.row.id, each.downloads]));
  const { columns: shown, rows: cellsOfRows, quiet } = filePageView({ rows, downloads }, form);
  const json = outcomes.map((outcome) =>
    outcome.error
      ? failureJson(outcome.what, outcome.error)
      : document(outcome.value.row, outcome.value.downloads, form.currency),
  );
  return { columns: shown, rows: cellsOfRows, quiet, json: several ? json : (json[0] ?? null) };
}
