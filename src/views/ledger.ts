/** Files as the ledger knows them. */
import type { KnownFiles } from '../flows/files/list.ts';
import type { Download } from '../ledger/downloads.ts';
import type { FileRow } from '../ledger/files.ts';
import { type Json, parseJson, toJson } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';

const FOR_PEOPLE = 7;

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

/** People see what matters most; scripts see everything. Each form is made only if it is asked for. */
function knownFilesView({ rows, downloads }: KnownFiles, forPeople: boolean): View {
  const shown = forPeople ? columns.slice(0, FOR_PEOPLE) : columns;
  return {
    columns: shown,
    get json() {
      const found = downloads();
      return rows.map((row) => document(row, found.get(row.id) ?? []));
    },
    get rows() {
      if (forPeople) return rows.map((row) => cells(row, []).slice(0, FOR_PEOPLE));
      const found = downloads();
      return rows.map((row) => cells(row, found.get(row.id) ?? []));
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

/** Why its order was held; over with the file at the latest. */
const holdOf = (row: FileRow): string => (row.ended ? '' : (row.hold ?? ''));

/** What the service last said. A secret that was taken out may have broken its form: then it is a text. */
function answerOf({ answer }: FileRow): Json {
  try {
    return answer === null ? null : parseJson(answer);
  } catch {
    return answer;
  }
}

/** The pages of a listing as they come; one with no rows still has its header line. */
export function* knownFilesPages(pages: Iterable<KnownFiles>, forPeople: boolean): Generator<View> {
  let any = false;
  for (const page of pages) {
    any = true;
    yield knownFilesView(page, forPeople);
  }
  if (!any) yield knownFilesView({ rows: [], downloads: () => new Map() }, forPeople);
}
