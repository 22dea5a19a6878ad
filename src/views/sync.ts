import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { type Json, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { downloadJson, downloadRecord, shownDownload } from './download-record.ts';
import { RecordType, textField, timeField } from './record.ts';
import { arrayOf, described, integer, maybeText, object, type Schema, text } from './schema.ts';

/** What is new of a file: a change of its state, or a transcript. */
export interface SyncRow {
  readonly change?: Change;
  readonly saved?: Saved;
}

/** A row for each change of state, and one for each transcript. */
export const syncRecord = new RecordType<SyncRow>([
  textField('audiofile', "the file's id", ({ change, saved }) => change?.id ?? saved?.id, {
    header: 'id',
    kind: 'id',
  }),
  textField(
    'what',
    'state: it changed; transcript: one was downloaded',
    ({ saved }) => (saved ? 'transcript' : 'state'),
    { importance: 30, uncut: true },
  ),
  textField('was', 'the state before', ({ change }) => change?.previousState, {
    kind: 'state',
    importance: 40,
  }),
  textField('state', 'the state now', ({ change }) => change?.state, { kind: 'state' }),
  textField('format', 'of the transcript', ({ saved }) => saved?.ext, { importance: 60, uncut: true }),
  textField('bytes', 'its size', ({ saved }) => saved && String(saved.bytes), {
    header: 'size',
    kind: 'bytes',
    importance: 50,
  }),
  textField('path', 'where it is', ({ saved }) => saved?.path, { kind: 'link', importance: 90 }),
  timeField('downloaded_at', 'when it was written', ({ saved }) => saved?.at, { importance: 10 }),
]);

export const syncSchema: Schema = object({
  changed: arrayOf(object({ audiofile: text, was: maybeText, state: text })),
  downloads: arrayOf(downloadRecord.schema),
  checked: described('how many open files the service was asked about', integer),
});

/** The lists of the document, in the order in which they are printed. */
export const syncLists = ['changed', 'downloads'] as const;

/** One change or transcript: its JSON is an item of its list. */
export function syncedView(row: SyncRow): View {
  const { change, saved } = row;
  return {
    ...syncRecord.view([row], String),
    get json() {
      return saved ? downloadJson(shownDownload(saved)) : changeJson(change);
    },
    quiet: saved ? [saved.path] : [],
  };
}

const changeJson = (change: Change | undefined): Json =>
  toJson({
    audiofile: change?.id ?? '',
    was: change?.previousState || null,
    state: change?.state ?? '',
  });

const ROWS_PER_TABLE = 2000;

/** Tables for people. */
export function* syncTables(rows: readonly SyncRow[]): Generator<View> {
  for (let at = 0; at < rows.length; at += ROWS_PER_TABLE)
    yield syncRecord.filled(syncRecord.view(rows.slice(at, at + ROWS_PER_TABLE), String));
}

export const noSyncRows = (): View => syncRecord.view([], String);

/** What stands beside the lists. */
export const syncMembers = (checked: number): ReadonlyMap<string, Json> =>
  new Map<string, Json>([['checked', toJson(checked)]]);
