/** Files as they are in the ledger. */
import type { Outcome } from '../flows/bulk.ts';
import type { FilePage, ListedFile } from '../flows/files/listed.ts';
import type { ChangedFile, ShownFile } from '../flows/files/shown.ts';
import type { Json } from '../lib/json.ts';
import { otherSender } from '../lib/sender.ts';
import type { View } from '../lib/view.ts';
import { alignAmounts } from './amounts.ts';
import { documents as documentsOf } from './documents.ts';
import { fileRecord, senderOf } from './file-record.ts';
import { viewPages } from './pages.ts';
import { RecordType, textField } from './record.ts';

/** What people see of each file: of the last ones only those that tell something of one of the files. */
const columnsForPeople = (files: readonly ShownFile[]): string[] => {
  const has = (name: string, isTold: (row: ListedFile) => unknown): string[] =>
    files.some(({ row }) => isTold(row)) ? [name] : [];
  return [
    ...['audiofile', 'state', 'title'],
    ...has('minutes', ({ minutes }) => minutes),
    ...has('total', ({ total }) => total),
    ...['order', 'ordered_at', 'changed_at', 'url'],
    ...has('key', ({ key }) => key),
    // Where it was somebody else.
    ...has('by', (row) => otherSender(senderOf(row))),
    ...has('job', ({ job }) => job),
  ];
};

export interface ListForm {
  readonly forPeople: boolean;
  /** Of totals that name none; empty where it is not known. */
  readonly currency: string;
}

function aligned(files: readonly ShownFile[], currency: string): ShownFile[] {
  const totals = alignAmounts(
    files.map(({ row }) => row.total),
    currency,
  );
  return files.map((file, at) => ({
    ...file,
    row: { ...file.row, total: totals[at] ?? '' },
  }));
}

/** People see the first columns, scripts everything. Each form is made only if it is asked for: there may be many rows. */
function fileListView(files: readonly ShownFile[], { forPeople, currency }: ListForm): View {
  const view = fileRecord.view(files, ({ row }) => row.id);
  if (!forPeople) return view;
  const shown = aligned(files, currency);
  return fileRecord.some(
    fileRecord.view(shown, ({ row }) => row.id),
    columnsForPeople(files),
  );
}

const filePageView = ({ rows, downloads }: FilePage, form: ListForm): View => {
  const { currency } = form;
  return fileListView(
    rows.map((row) => ({ row, downloads: downloads.get(row.id) ?? [], currency })),
    form,
  );
};

export const filePages = (pages: AsyncIterable<FilePage>, form: ListForm): AsyncGenerator<View> =>
  viewPages(pages, (page) => filePageView(page, form), { rows: [], downloads: new Map() });

/** The files that were asked about. JSON: one document, or with `several` an array in the order asked. */
export function askedView(files: readonly ShownFile[], several: boolean, form: ListForm): View {
  const found = files.filter(({ error }) => !error);
  const { columns, rows, quiet } = fileListView(found, form);
  return { columns, rows, quiet, json: documents(files, several) };
}

const documents = (files: readonly ShownFile[], several: boolean): Json => {
  const all = files.map((each) => fileRecord.json(each));
  return several ? all : (all[0] ?? null);
};

/** A file that was upgraded or refunded: its rows say what the service answers, its document is that of the file. */
export const changeRecord = new RecordType<ChangedFile>([
  textField('audiofile', "the file's id", ({ row }) => row.id, { kind: 'id' }),
  textField('message', 'what the service says', ({ message }) => message),
  ...fileRecord.fields.slice(1).flatMap((field) => (field.json ? [{ ...field, cell: false as const }] : [])),
]);

/** JSON: one document, or with `several` an array in the order asked. */
export const changedView = (outcomes: readonly Outcome<ChangedFile>[], several: boolean): View => ({
  ...changeRecord.view(
    outcomes.flatMap(({ value }) => value ?? []),
    ({ row }) => row.id,
  ),
  json: documentsOf(outcomes, (file) => changeRecord.json(file), { name: 'audiofile', isList: several }),
});
