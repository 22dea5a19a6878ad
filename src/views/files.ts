/** The file document: what `files`, `file`, `order`, `wait`, `track`, `upgrade` and `refund` print of each file. */

import type { AudioFile } from '../api/files.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { FilePage } from '../flows/files/listed.ts';
import type { ChangedFile, ShownFile } from '../flows/files/shown.ts';
import type { WaitResult } from '../flows/files/wait.ts';
import type { FileRow } from '../ledger/files.ts';
import { leftOutReasons } from '../lib/errors.ts';
import { type Json, parseJson } from '../lib/json.ts';
import { type OrderedBy, otherSender, userAndHost } from '../lib/sender.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { plural } from '../lib/text.ts';
import { isNameOf } from '../lib/url.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { alignAmounts, amountWithCurrency, currencyOf } from './money.ts';
import {
  type CommandOutput,
  cellText,
  documents,
  oneOrAll,
  printed,
  RecordType,
  ranked,
  viewPages,
} from './record.ts';
import * as is from './schema.ts';
import { downloadRecord, writtenPaths } from './transcripts.ts';

const senderRecord = new RecordType<FileRow>([
  a.text('user', 'user name', 'user'),
  a.text('host', 'name of the machine', 'host'),
  a.text('job', 'the CI job', 'job'),
  a.text('actor', 'who started the CI job', 'actor'),
]);

/** Of a field that most documents lack. */
const onlyInJson = { cell: false, optional: true } as const;

const endings = is.nullable(is.oneOf('delivered', 'unfinished'));

const byImportance = 'title total ordered_at minutes url order changed_at by key job';

export const fileRecord = ranked<ShownFile>(byImportance, [
  a.text('audiofile', "audiofile id; null if the service's answer names none", ({ row }) => row.id, {
    kind: 'id',
  }),
  a.text(
    'state',
    'state as the service names it; ordered until the service has been asked',
    ({ row, error }) => row.state || (error && !row.order_id ? '' : 'ordered'),
    { kind: 'state' },
  ),
  a.text('title', 'title of the audio; for an episode, the title in the feed', ({ row }) => row.title),
  a.amount('minutes', 'length of the audio in minutes', ({ row }) => row.minutes, {
    ...{ header: 'length', kind: 'minutes' },
  }),
  a.amount('total', 'exact cost', ({ row }) => row.total),
  a.text('order', 'order id', ({ row }) => row.order_id, { uncut: true }),
  a.time('ordered_at', 'when it was ordered; null where that is unknown', ({ row }) => row.ordered_at, {
    header: 'ordered',
  }),
  a.time('changed_at', 'when a change of state was last seen', ({ row }) => row.changed_at, {
    header: 'changed',
  }),
  a.text('url', 'URL of the audio, without signatures', ({ row }) => row.url, { kind: 'link' }),
  a.text('key', 'key that identifies the audio instead of its URL', ({ row }) => row.key),
  {
    ...{ name: 'by', help: 'who ordered it: the actor of the CI job, or user and host' },
    schema: is.nullable(senderRecord.schema),
    json: ({ row }) => (row.host ? senderRecord.json(row) : null),
    cell: ({ row }) => row.actor || userAndHost(senderOf(row)),
  },
  {
    ...{ name: 'job', help: 'the CI job that ordered it', kind: 'link', schema: is.maybeText },
    cell: ({ row }) => row.job ?? '',
  },
  ...a.onRequest<ShownFile>([
    a.text('currency', 'currency of the total', ({ row, currency }) => currencyOf(row.total, currency)),
    a.list('skus', 'SKUs of its order', ({ row }) => split(row.skus, ',')),
    a.text('hold', 'why its order is on hold', ({ row }) => (row.ended ? '' : row.hold)),
    a.flag('test', 'whether it is a test order (in rows: test)', ({ row }) => row.test === 1),
    a.text(
      'ended',
      'delivered, or unfinished (no transcript will come); null while it may still change',
      ({ row }) => row.ended,
      { schema: endings },
    ),
    a.time('checked_at', 'when the service was last asked about it', ({ row }) => row.checked_at, {
      header: 'checked',
    }),
    a.time('heard_at', 'when the last event about it arrived', ({ row }) => row.heard_at),
    a.list('invoices', 'invoice ids', ({ row }) => split(row.invoices, ',')),
    a.records('downloads', 'downloaded transcripts (in rows: their paths)', downloadRecord, 'downloads', {
      cell: ({ downloads }) => downloads.map(({ path }) => path).join(','),
    }),
    a.list('names', 'names of the speakers', ({ row }) => split(row.names, '|'), { separator: '|' }),
    a.text('notes', 'notes for the transcribers', ({ row }) => row.notes),
    a.text('remark', 'open again since its upgrade; what events have reported since then', ({ row }) =>
      [row.isReopened && 'open again since its upgrade', row.hint, row.remark].filter(Boolean).join('; '),
    ),
    a.list('tags', 'tags of the audio', ({ row }) => row.audio.tags ?? [], { separator: '|' }),
    a.text('feed', 'title of its feed', ({ row }) => row.audio.feed),
    a.text('guid', 'guid of the episode in its feed', ({ row }) => row.audio.guid),
    a.text('link', 'web page of the episode', ({ row }) => row.audio.link, { kind: 'link' }),
    a.time('published_at', 'when the episode was published', ({ row }) => row.audio.published),
    a.text('source', 'path of a local recording, on its machine', ({ row }) => row.audio.source),
  ]),
  a.answer(answerOf),
  {
    ...{ name: 'left_out', help: 'why it was not ordered this time', schema: is.oneOf(...leftOutReasons) },
    json: ({ leftOut }) => leftOut ?? null,
    ...onlyInJson,
  },
  {
    ...{ name: 'assumed', schema: is.alwaysTrue, ...onlyInJson },
    help: 'true: the service has not said yet which audio of its order it is of, so url, key, tags and the like follow the sequence of the order',
    json: ({ row }) => (row.assumed === 1 ? true : null),
  },
  {
    ...{ name: 'existing', schema: is.alwaysTrue, ...onlyInJson },
    help: 'true: it was on order before, and --or-existing accepted it',
    json: ({ isExisting }) => isExisting ?? null,
  },
  a.error(({ error }) => error),
]);

/** Of files that were waited for: with --download, the transcripts are a part of the table. */
const withPaths = (more: boolean): RecordType<ShownFile> =>
  ranked(`path ${byImportance}`, [
    ...fileRecord.fields,
    a.column('path', 'path of the transcript, with --download', pathsOf, { kind: 'link', more }),
  ]);

const pathsOf = ({ saved = [] }: ShownFile): string => saved.map(({ path }) => path).join(',');

export const waitedRecord = withPaths(true);
const downloadedRecord = withPaths(false);

export const fileSchema = (): is.Schema => is.described('a file', fileRecord.schema);

/** What commands print that ask the service about files. */
export const askedFiles = (record = fileRecord): CommandOutput =>
  printed(
    is.anyOf(
      is.described('for a single id', fileSchema()),
      is.described('for several ids, or if the command line names none', is.arrayOf(fileSchema())),
    ),
    record.columnHelp,
  );

const split = (text: string | null, separator: string): string[] => (text ? text.split(separator) : []);

export const senderOf = ({ user, host, job }: FileRow): OrderedBy => ({
  ...{ user: user ?? '', host: host ?? '', job: job ?? '' },
});

/** As text where it is no JSON any more because a secret was masked in it. */
function answerOf({ answer, row }: ShownFile): Json {
  if (answer !== undefined) return answer;
  try {
    return row.answer === null ? null : parseJson(row.answer);
  } catch {
    return row.answer;
  }
}

/** All about one file, for people, with what only the service says. */
const said = (name: 'description' | 'quality_stars') => (file: ShownFile) => {
  const answer = answerOf(file);
  const audio = answer instanceof Map ? (answer.get('audiofile') ?? answer) : null;
  return audio instanceof Map ? cutSignatures(cellText(audio.get(name) ?? null)) : '';
};

const due = a.time<ShownFile>('due_at', 'by the target of its SKU', ({ row }) => row.due_at, {
  header: 'due',
});

/** Where a line is full, the next path begins a line of its own. */
const pathLines = ({ downloads }: ShownFile): string => downloads.map(({ path }) => path).join(', ');

const pageRecord = new RecordType<ShownFile>([
  ...fileRecord.fields
    .filter(({ name }) => name !== 'currency')
    .flatMap((each) => {
      const field = { ...each, more: false };
      if (each.name === 'downloads') return [{ ...field, cell: pathLines }];
      return each.name === 'skus' ? [field, due] : [field];
    }),
  a.text('quality_stars', 'rating of the audio by the service', said('quality_stars'), { header: 'stars' }),
  a.text('description', 'description of the audio', said('description')),
]);

/** What people see of each file: of the last ones only those that tell something of one of the files. */
const columnsForPeople = (files: readonly ShownFile[]): string[] => {
  const has = (name: string, isTold: (row: ShownFile['row']) => unknown): string[] =>
    files.some(({ row }) => isTold(row)) ? [name] : [];
  return [
    ...['audiofile', 'state', 'title'],
    ...has('minutes', ({ minutes }) => minutes),
    ...has('total', ({ total }) => total),
    ...['order', 'ordered_at', 'changed_at'],
    ...has('url', ({ url, title }) => !isNameOf(title ?? '', url ?? '')),
    ...has('key', ({ key }) => key),
    // Where it was somebody else.
    ...has('by', (row) => otherSender(senderOf(row))),
    ...has('job', ({ job }) => job),
  ];
};

export interface ListForm {
  readonly isBrief: boolean;
  /** Of totals that name none; empty where it is not known. */
  readonly currency: string;
}

function aligned(files: readonly ShownFile[], currency: string): ShownFile[] {
  const totals = alignAmounts(
    currency,
    files.map(({ row }) => row.total),
  );
  return files.map((file, at) => ({ ...file, row: { ...file.row, total: totals[at] ?? '' } }));
}

/** People see the first columns, scripts everything. */
const listView = (files: readonly ShownFile[], { isBrief, currency }: ListForm, record = fileRecord): View =>
  isBrief
    ? record.view(aligned(files, currency), { only: [...columnsForPeople(files), 'path'] })
    : record.view(files);

export function filePages(pages: AsyncIterable<FilePage>, form: ListForm): AsyncGenerator<View> {
  const { currency } = form;
  const view = ({ rows, downloads }: FilePage): View =>
    listView(
      rows.map((row) => ({ row, downloads: downloads.get(row.id) ?? [], currency })),
      form,
    );
  return viewPages(pages, view, { rows: [], downloads: new Map() });
}

/**
 * Files that were asked about or waited for; one that nothing was said of has no row. For people, one file is a page,
 * and several are a table. `several`: the JSON is an array, in the order asked. `quiet`: in place of the ids.
 */
export function askedView(
  files: readonly ShownFile[],
  several: boolean,
  form: ListForm,
  quiet?: readonly string[],
  record = fileRecord,
): View {
  const found = files.filter(({ error, answer }) => !error || answer || error.kind === 'held');
  const isPage = form.isBrief && found.length === 1 && record !== downloadedRecord;
  const shown = isPage
    ? pageRecord.view(aligned(found, form.currency), { only: 'filled', asRecord: true })
    : listView(found, form, record);
  return {
    ...{ asRecord: isPage, columns: shown.columns, quiet: quiet ?? found.map(({ row }) => row.id) },
    get rows() {
      return shown.rows;
    },
    get json() {
      return fileDocuments(files, several);
    },
  };
}

/** With --quiet: what was written, or else `ids`. */
export const waitedView = (
  files: readonly ShownFile[],
  saved: WaitResult['saved'],
  several: boolean,
  form: ListForm,
  ids: readonly string[],
): View =>
  askedView(files, several, form, saved ? writtenPaths(saved) : ids, saved ? downloadedRecord : waitedRecord);

export const fileDocuments = (files: readonly ShownFile[], several: boolean): Json =>
  oneOrAll(files.map(fileRecord.json), several);

/** A file that was upgraded or refunded: its rows say what the service answers, its document is that of the file. */
export const changeRecord = new RecordType<ChangedFile>([
  a.text('audiofile', 'audiofile id', ({ row }) => row.id, { kind: 'id' }),
  a.text('message', "the service's message", 'message'),
  ...fileRecord.fields.slice(1).flatMap((field) => (field.json ? [{ ...field, cell: false as const }] : [])),
]);

/** JSON: one document, or with `several` an array in the order asked. */
export const changedView = (outcomes: readonly Outcome<ChangedFile>[], several: boolean): View =>
  changeRecord.view(
    outcomes.flatMap(({ value }) => value ?? []),
    { json: () => oneOrAll(documents(outcomes, changeRecord.json, 'audiofile'), several) },
  );

/** `2 of 3 files delivered` */
export const deliveredText = ({ outcomes }: WaitResult): string =>
  `${outcomes.filter(({ error }) => !error).length} of ${plural(outcomes.length, 'file')} delivered`;

/** Of files that are delivered, and open again because they were upgraded since. */
export function reopenedNotes(ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const what = ids.length === 1 ? 'was upgraded and is' : 'were upgraded and are';
  return [`${filesInQuestion(ids)} ${what} open again until the next delivery, for 30 days at most`];
}

/** No title hides the rest of a question, and no more files are named than fit the screen. */
const [MAX_TITLE_LENGTH, MAX_NAMED] = [80, 5];

/** `7 files (audiofile 1001, 1002, 1003, 1004, 1005 and 2 more)` */
export function filesInQuestion(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${plural(ids.length, 'file')} (audiofile ${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
}

/** `audiofile 1001, “A talk”, Transcribing, 12.50 USD`: what a person must know before it is changed. */
export function fileInQuestion({ id, title, state, total }: AudioFile, currency: string): string {
  const name = [...title];
  const shown = name.length > MAX_TITLE_LENGTH ? `${name.slice(0, MAX_TITLE_LENGTH).join('')}…` : title;
  const cost = total && amountWithCurrency(total, currency);
  return [`audiofile ${id}`, shown && `“${shown}”`, state, cost].filter(Boolean).join(', ');
}
