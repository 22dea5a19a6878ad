/** The file document: what `files`, `file`, `order`, `wait`, `track`, `upgrade` and `refund` print of each file. */

import type { AudioFile } from '../api/files.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { FilePage, ListedFile } from '../flows/files/listed.ts';
import type { ChangedFile, ShownFile } from '../flows/files/shown.ts';
import type { WaitResult } from '../flows/files/wait.ts';
import type { FileRow } from '../ledger/files.ts';
import { leftOutReasons } from '../lib/errors.ts';
import { type Json, parseJson } from '../lib/json.ts';
import { type OrderedBy, otherSender, userAndHost } from '../lib/sender.ts';
import { cutSignatures, withoutSignature } from '../lib/signatures.ts';
import { plural } from '../lib/text.ts';
import { isNameOf } from '../lib/url.ts';
import type { View } from '../lib/view.ts';
import { alignAmounts, amountField, amountWithCurrency, currencyOf } from './money.ts';
import {
  answerField,
  type CommandOutput,
  documentOf,
  documents,
  errorField,
  flagField,
  listField,
  onRequest,
  printed,
  RecordType,
  textField,
  timeField,
  viewPages,
} from './record.ts';
import * as is from './schema.ts';
import { downloadRecord, savedView, writtenPaths } from './transcripts.ts';

const orderedBy = documentOf<FileRow>({
  user: [is.maybeText, ({ user }) => user || null],
  host: [is.maybeText, 'host'],
  job: [is.maybeText, ({ job }) => job || null],
  actor: [is.maybeText, ({ actor }) => actor || null],
});

/** Of a field that most documents lack. */
const onlyInJson = { cell: false, optional: true } as const;

export const fileRecord = new RecordType<ShownFile>([
  textField('audiofile', "audiofile id; null if the service's answer names none", ({ row }) => row.id, {
    kind: 'id',
  }),
  textField(
    'state',
    'state as the service names it; ordered until the service has been asked',
    ({ row, error }) => row.state || (error && !row.id ? '' : 'ordered'),
    { kind: 'state' },
  ),
  textField('title', 'title of the audio; for an episode, the title in the feed', ({ row }) => row.title, {
    importance: 90,
  }),
  amountField('minutes', 'length of the audio in minutes', ({ row }) => row.minutes, {
    ...{ header: 'length', kind: 'minutes', importance: 50 },
  }),
  amountField('total', 'exact cost', ({ row }) => row.total, { importance: 85 }),
  textField('order', 'order id', ({ row }) => row.order_id, { importance: 40, uncut: true }),
  timeField('ordered_at', 'when it was ordered; null where that is unknown', ({ row }) => row.ordered_at, {
    header: 'ordered',
    importance: 80,
  }),
  timeField('changed_at', 'when a change of state was last seen', ({ row }) => row.changed_at, {
    header: 'changed',
    importance: 30,
  }),
  textField('url', 'URL of the audio, without signatures', ({ row }) => row.url, {
    kind: 'link',
    importance: 45,
  }),
  textField('key', 'key that identifies the audio instead of its URL', ({ row }) => row.key, {
    importance: 20,
  }),
  {
    ...{ name: 'by', help: 'who ordered it: the actor of the CI job, or user and host', importance: 25 },
    schema: is.nullable(orderedBy.schema),
    json: ({ row }) => (row.host ? orderedBy.json(row) : null),
    cell: ({ row }) => row.actor || userAndHost(senderOf(row)),
  },
  {
    ...{ name: 'job', help: 'the CI job that ordered it', kind: 'link', importance: 10 },
    schema: is.maybeText,
    cell: ({ row }) => row.job ?? '',
  },
  ...onRequest<ShownFile>([
    textField('currency', 'currency of the total', ({ row, currency }) => currencyOf(row.total, currency)),
    listField('skus', 'SKUs of its order', ({ row }) => split(row.skus, ',')),
    textField('hold', 'why its order is on hold', ({ row }) => holdOf(row)),
    flagField(
      'test',
      'whether it is a test order, which is not transcribed (in rows: test)',
      ({ row }) => row.test === 1,
    ),
    textField(
      'ended',
      'delivered, or unfinished (no transcript will come); null while it may still change',
      ({ row }) => row.ended,
      { schema: is.nullable(is.oneOf('delivered', 'unfinished')) },
    ),
    timeField('checked_at', 'when the service was last asked about it', ({ row }) => row.checked_at),
    timeField('heard_at', 'when the last event about it arrived', ({ row }) => row.heard_at),
    listField('invoices', 'invoice ids', ({ row }) => split(row.invoices, ',')),
    {
      ...{ name: 'downloads', help: 'downloaded transcripts (in rows: their paths)' },
      schema: is.arrayOf(downloadRecord.schema),
      json: ({ downloads }) => downloads.map((each) => downloadRecord.json(each)),
      cell: ({ downloads }) => downloads.map(({ path }) => path).join(','),
    },
    listField('names', 'names of the speakers', ({ row }) => split(row.names, '|'), { separator: '|' }),
    textField('notes', 'notes for the transcribers', ({ row }) => row.notes),
    textField('remark', 'what events have reported since the service was last asked', ({ row }) =>
      remarkOf(row),
    ),
    listField('tags', 'tags of the audio', ({ row }) => row.audio.tags ?? [], { separator: '|' }),
    textField('feed', 'title of its feed', ({ row }) => row.audio.feed),
    textField('guid', 'guid of the episode in its feed', ({ row }) => row.audio.guid),
    textField('link', 'web page of the episode', ({ row }) => row.audio.link, { kind: 'link' }),
    timeField('published_at', 'when the episode was published', ({ row }) => row.audio.published),
    textField(
      'source',
      'path of a local recording, on the machine that uploaded it',
      ({ row }) => row.audio.source,
    ),
  ]),
  answerField(answerOf),
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
  errorField(({ error }) => error),
]);

export const fileSchema = (): is.Schema => is.described('a file', fileRecord.schema);

/** What commands print that ask the service about files. */
export const askedFiles = (): CommandOutput =>
  printed(
    is.anyOf(
      is.described('for a single id', fileSchema()),
      is.described('for several ids, or if the command line names none', is.arrayOf(fileSchema())),
    ),
    fileRecord.columnHelp,
  );

const split = (text: string | null, separator: string): string[] => (text ? text.split(separator) : []);

export const senderOf = ({ user, host, job }: FileRow): OrderedBy => ({
  ...{ user: user ?? '', host: host ?? '', job: job ?? '' },
});

/** What an event says of the state is a remark, until the service has said it. */
const remarkOf = ({ hint, remark }: FileRow): string => [hint, remark].filter(Boolean).join('; ');

/** Why its order is on hold; a file that has ended is not on hold any more. */
const holdOf = (row: FileRow): string => (row.ended ? '' : (row.hold ?? ''));

/** As text where it is no JSON any more because a secret was masked in it. */
function answerOf({ answer, row }: ShownFile): Json {
  if (answer !== undefined) return answer;
  try {
    return row.answer === null ? null : parseJson(row.answer);
  } catch {
    return row.answer;
  }
}

/** What people see of each file: of the last ones only those that tell something of one of the files. */
const columnsForPeople = (files: readonly ShownFile[]): string[] => {
  const has = (name: string, isTold: (row: ListedFile) => unknown): string[] =>
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

interface ListForm {
  readonly isBrief: boolean;
  /** Of totals that name none; empty where it is not known. */
  readonly currency: string;
}

/** People see the first columns, scripts everything. Each form is made only if it is asked for: there may be many rows. */
function fileListView(files: readonly ShownFile[], { isBrief, currency }: ListForm): View {
  if (!isBrief) return fileRecord.view(files);
  const totals = alignAmounts(
    currency,
    files.map(({ row }) => row.total),
  );
  const aligned = files.map((file, at) => ({ ...file, row: { ...file.row, total: totals[at] ?? '' } }));
  return fileRecord.some(fileRecord.view(aligned), columnsForPeople(files));
}

export function filePages(pages: AsyncIterable<FilePage>, form: ListForm): AsyncGenerator<View> {
  const { currency } = form;
  const view = ({ rows, downloads }: FilePage): View =>
    fileListView(
      rows.map((row) => ({ row, downloads: downloads.get(row.id) ?? [], currency })),
      form,
    );
  return viewPages(pages, view, { rows: [], downloads: new Map() });
}

/** The files that were asked about. JSON: one document, or with `several` an array in the order asked. */
export function askedView(files: readonly ShownFile[], several: boolean, form: ListForm): View {
  const found = files.filter(({ error }) => !error);
  const { columns, rows, quiet } = fileListView(found, form);
  return { columns, rows, quiet, json: fileDocuments(files, several) };
}

export const fileDocuments = (files: readonly ShownFile[], several: boolean): Json => {
  const all = files.map((each) => fileRecord.json(each));
  return several ? all : (all[0] ?? null);
};

/** A file that was upgraded or refunded: its rows say what the service answers, its document is that of the file. */
export const changeRecord = new RecordType<ChangedFile>([
  textField('audiofile', 'audiofile id', ({ row }) => row.id, { kind: 'id' }),
  textField('message', "the service's message", 'message'),
  ...fileRecord.fields.slice(1).flatMap((field) => (field.json ? [{ ...field, cell: false as const }] : [])),
]);

/** JSON: one document, or with `several` an array in the order asked. */
export const changedView = (outcomes: readonly Outcome<ChangedFile>[], several: boolean): View => ({
  ...changeRecord.view(outcomes.flatMap(({ value }) => value ?? [])),
  json: documents(outcomes, (file) => changeRecord.json(file), { name: 'audiofile', isList: several }),
});

/** A file as the service has it now, for people. */
const audioFileRecord = new RecordType<AudioFile>([
  textField('audiofile', 'audiofile id', 'id', { kind: 'id' }),
  textField('state', 'state as the service names it', 'state', { kind: 'state' }),
  textField('title', 'title of the audio', ({ title }) => cutSignatures(title), { importance: 90 }),
  textField('minutes', 'length of the audio in minutes', 'duration', {
    header: 'length',
    kind: 'minutes',
    importance: 50,
  }),
  textField('total', 'cost', 'total', { kind: 'amount', importance: 60 }),
  textField('quality_stars', 'rating of the audio by the service', 'qualityStars', {
    header: 'stars',
    kind: 'amount',
    importance: 30,
  }),
  listField('order', 'order ids', 'orders', { importance: 40 }),
  listField('invoices', 'invoice ids', 'invoices'),
  textField('names', 'names of the speakers', ({ names }) => cutSignatures(names)),
  textField('notes', 'notes for the transcribers', ({ notes }) => cutSignatures(notes)),
  textField('description', 'description of the audio', ({ description }) => cutSignatures(description)),
  textField(
    'url',
    'URL of the audio, without signatures',
    ({ originalLink }) => withoutSignature(originalLink),
    {
      kind: 'link',
    },
  ),
]);

const tableColumns = ['audiofile', 'state', 'title', 'minutes', 'total', 'order'];

/** A single file is a page, several are a table of what matters most. */
export function filesTable(files: readonly AudioFile[], currency: string): View {
  const totals = alignAmounts(
    currency,
    files.map(({ total }) => total),
  );
  const shown = files.map((file, at) => ({ ...file, total: totals[at] ?? '' }));
  const view = audioFileRecord.view(shown);
  return files.length === 1 ? { ...view, asRecord: true } : audioFileRecord.some(view, tableColumns);
}

/**
 * For programs: a document or a row for each file. With --quiet: the files that were written, or the ids. `several`: the
 * JSON is an array, because several files were asked for, or the command line does not say how many.
 */
export function waitedView(
  files: readonly ShownFile[],
  { outcomes, saved }: WaitResult,
  several: boolean,
): View {
  // Of a file that failed before the service said anything, there is no row.
  const withState = files.filter(({ row, error }) => !error || row.state);
  const { columns, rows } = fileRecord.view(withState);
  const delivered = outcomes.flatMap(({ what, file, error }) => (file && !error ? [what] : []));
  const quiet = saved ? writtenPaths(saved) : delivered;
  return { json: fileDocuments(files, several), columns, rows, quiet };
}

/** `2 of 3 files delivered` */
export const deliveredText = ({ outcomes }: WaitResult): string =>
  `${outcomes.filter(({ error }) => !error).length} of ${plural(outcomes.length, 'file')} delivered`;

/** For people: the transcripts if they were downloaded, otherwise the files. */
export function waitedTable(
  { outcomes, saved }: WaitResult,
  currency: string,
  held: readonly AudioFile[] = [],
): View {
  if (saved) return savedView(saved);
  const files = outcomes.flatMap(({ file }) => file ?? []);
  return filesTable([...files, ...held], currency);
}

/** No title hides the rest of a question. */
const MAX_TITLE_LENGTH = 80;

/** More would fill the screen. */
const MAX_NAMED = 5;

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
