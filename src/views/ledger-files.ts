/** Files as they are in the ledger. */
import type { Outcome } from '../flows/bulk.ts';
import type { FilePage } from '../flows/files/list.ts';
import type { Tracked } from '../flows/files/track.ts';
import type { Download } from '../ledger/downloads.ts';
import type { FileRow } from '../ledger/files.ts';
import { type Json, parseJson, toJson } from '../lib/json.ts';
import { type OrderedBy, otherSender, userAndHost } from '../lib/sender.ts';
import type { Column, View } from '../lib/view.ts';
import { failureJson } from './documents.ts';
import { viewPages } from './pages.ts';

const COLUMNS_FOR_PEOPLE = 7;

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'state', kind: 'state' },
  { name: 'title' },
  { name: 'order' },
  { name: 'ordered', kind: 'time' },
  { name: 'changed', kind: 'time' },
  { name: 'url', kind: 'link' },
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
  { name: 'key' },
  { name: 'by' },
  { name: 'job', kind: 'link' },
];

const everyColumn = columns.map((_, at) => at);

/** The first ones, the key where a file has one, and who ordered it where that was somebody else or a CI job. */
const columnsForPeople = (rows: readonly FileRow[]): number[] => [
  ...everyColumn.slice(0, COLUMNS_FOR_PEOPLE),
  ...(rows.some(({ key }) => key) ? [columnAt('key')] : []),
  ...(rows.some((row) => otherSender(senderOf(row))) ? [columnAt('by')] : []),
  ...(rows.some(({ job }) => job) ? [columnAt('job')] : []),
];

const columnAt = (name: string): number => columns.findIndex((column) => column.name === name);

const senderOf = ({ user, host, job }: FileRow): OrderedBy => ({
  ...{ user: user ?? '', host: host ?? '', job: job ?? '' },
});

/** People see the first columns, scripts everything. Each form is made only if it is asked for: there may be many rows. */
function filePageView({ rows, downloads }: FilePage, forPeople: boolean): View {
  const shown = forPeople ? columnsForPeople(rows) : everyColumn;
  return {
    columns: shown.map((at) => columns[at] as Column),
    get json() {
      return rows.map((row) => document(row, downloads.get(row.id) ?? []));
    },
    get rows() {
      return rows.map((row) => {
        const all = cells(row, downloads.get(row.id) ?? []);
        return shown.map((at) => all[at] ?? '');
      });
    },
    get quiet() {
      return rows.map((row) => row.id);
    },
  };
}

const cells = (row: FileRow, downloads: readonly Download[]): string[] => [
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
];

const document = (row: FileRow, downloads: readonly Download[]): Json =>
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

export const filePages = (pages: AsyncIterable<FilePage>, forPeople: boolean): AsyncGenerator<View> =>
  viewPages(pages, (page) => filePageView(page, forPeople), { rows: [], downloads: new Map() });

/** The files that were taken in. JSON: one document, or with `several` an array in the order asked. */
export function trackedView(
  outcomes: readonly Outcome<Tracked>[],
  several: boolean,
  forPeople: boolean,
): View {
  const tracked = outcomes.flatMap((outcome) => (outcome.error ? [] : [outcome.value]));
  const rows = tracked.map(({ row }) => row);
  const downloads = new Map(tracked.map((each) => [each.row.id, each.downloads]));
  const { columns: shown, rows: cellsOfRows, quiet } = filePageView({ rows, downloads }, forPeople);
  const json = outcomes.map((outcome) =>
    outcome.error
      ? failureJson(outcome.what, outcome.error)
      : document(outcome.value.row, outcome.value.downloads),
  );
  return { columns: shown, rows: cellsOfRows, quiet, json: several ? json : (json[0] ?? null) };
}
