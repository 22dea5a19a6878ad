/** Files as they are in the ledger. */
import type { FilePage } from '../flows/files/list.ts';
import type { Download } from '../ledger/downloads.ts';
import type { FileRow } from '../ledger/files.ts';
import { type Json, parseJson, toJson } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';
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
];

/** People see the first columns, scripts everything. Each form is made only if it is asked for: there may be many rows. */
function filePageView({ rows, downloads }: FilePage, forPeople: boolean): View {
  const shown = forPeople ? columns.slice(0, COLUMNS_FOR_PEOPLE) : columns;
  return {
    columns: shown,
    get json() {
      return rows.map((row) => document(row, downloads.get(row.id) ?? []));
    },
    get rows() {
      return rows.map((row) => cells(row, downloads.get(row.id) ?? []).slice(0, shown.length));
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
  row.remark,
  row.heard_at ?? '',
  row.answer ?? '',
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
    remark: row.remark || null,
    test: row.test === 1,
    invoices: row.invoices ? row.invoices.split(',') : [],
    ordered_at: row.ordered_at,
    changed_at: row.changed_at,
    checked_at: row.checked_at,
    heard_at: row.heard_at,
    downloads: downloads.map(({ ext, path, bytes, at }) => ({ format: ext, path, bytes, at })),
    answer: answerOf(row) as never,
  });

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

export const filePages = (pages: Iterable<FilePage>, forPeople: boolean): Generator<View> =>
  viewPages(pages, (page) => filePageView(page, forPeople), { rows: [], downloads: new Map() });
