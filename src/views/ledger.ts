/** Files as the ledger knows them. */
import type { KnownFile } from '../flows/list-files.ts';
import { type Json, parseJson, toJson } from '../json.ts';
import type { Column, View } from '../ui/view.ts';

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
];

/** People see what matters most; scripts see everything. */
function knownFilesView(files: readonly KnownFile[], forPeople: boolean): View {
  const width = forPeople ? 7 : columns.length;
  return {
    json: files.map(document),
    columns: columns.slice(0, width),
    rows: files.map((file) => cells(file).slice(0, width)),
    quiet: files.map(({ row }) => row.id),
  };
}

const cells = ({ row, downloads }: KnownFile): string[] => [
  row.id,
  row.state || (row.hold ? 'On Hold' : 'ordered'),
  row.title,
  row.order_id,
  row.ordered_at,
  row.changed_at ?? '',
  row.url,
  row.skus ?? '',
  row.hold ?? '',
  row.test ? 'test' : '',
  row.ended,
  row.checked_at ?? '',
  row.invoices,
  downloads.map((each) => each.path).join(','),
];

const document = ({ row, downloads }: KnownFile): Json =>
  toJson({
    audiofile: row.id,
    state: row.state || null,
    ended: row.ended || null,
    title: row.title || null,
    order: row.order_id,
    url: row.url,
    skus: row.skus ? row.skus.split(',') : [],
    hold: row.hold,
    test: row.test === 1,
    invoices: row.invoices ? row.invoices.split(',') : [],
    ordered_at: row.ordered_at,
    changed_at: row.changed_at,
    checked_at: row.checked_at,
    downloads: downloads.map(({ ext, path, bytes, at }) => ({ format: ext, path, bytes, at })),
    answer: row.answer === null ? null : (parseJson(row.answer) as never),
  });

/** The pages of a listing as they come; one with no rows still has its header line. */
export function* knownFilesPages(pages: Iterable<readonly KnownFile[]>, forPeople: boolean): Generator<View> {
  let any = false;
  for (const page of pages) {
    any = true;
    yield knownFilesView(page, forPeople);
  }
  if (!any) yield knownFilesView([], forPeople);
}
