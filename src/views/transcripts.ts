/** A transcript on disk, as every command prints it. */

import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import type { Download } from '../ledger/downloads.ts';
import { errorJson } from '../lib/error-json.ts';
import type { Failure } from '../lib/errors.ts';
import { type Json, toJson } from '../lib/json.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { countField, type Field, flagField, RecordType, textField, timeField, wordField } from './record.ts';
import { described, type Schema } from './schema.ts';

interface ShownDownload extends Omit<Download, 'at'> {
  readonly at: string | null;
  readonly skipped?: boolean | undefined;
}

const fields: ReadonlyArray<Field<ShownDownload>> = [
  wordField('audiofile', 'audiofile id', 'file', { kind: 'id' }),
  wordField('format', 'file extension', 'ext', { importance: 60, uncut: true }),
  countField('bytes', 'size in bytes', 'bytes', { header: 'size', kind: 'bytes', importance: 50 }),
  wordField('path', 'path of the file', 'path', { kind: 'link', importance: 90 }),
  timeField('downloaded_at', 'when it was written; null if it already existed', 'at', { more: true }),
];

export const downloadRecord = new RecordType(fields);

/** What a command has just downloaded, or has found there. */
export const savedRecord = new RecordType<ShownDownload>([
  ...fields,
  flagField(
    'skipped',
    'whether the file already existed and was left alone (in rows: skipped)',
    ({ skipped }) => skipped === true,
    { more: true },
  ),
]);

export const savedSchema = (): Schema => described('a transcript', savedRecord.schema);

const shownDownload = ({ id, ext, path, bytes, at, skipped }: Saved): ShownDownload => ({
  ...{ file: id, ext, path, bytes, at: at ?? null, skipped },
});

export const savedJson = (saved: Saved): Json => savedRecord.json(shownDownload(saved));

/** Those that were not there already. */
export const writtenPaths = (saved: readonly Saved[]): string[] =>
  saved.flatMap(({ path, skipped }) => (skipped ? [] : [path]));

/** Says which files were written; nothing if none was. */
export function savedLine(saved: readonly Saved[] = []): string[] {
  const paths = writtenPaths(saved);
  return paths.length ? [`${plural(paths.length, 'transcript')} saved: ${paths.join(', ')}`] : [];
}

type Warning = readonly [message: string, hint?: string | undefined];

/** More would fill the screen. */
const MAX_LISTED = 10;

function alreadyThere(what: string, hint: string | undefined, paths: readonly string[]): Warning[] {
  if (paths.length === 0) return [];
  const more = paths.length > MAX_LISTED ? `, and ${paths.length - MAX_LISTED} more` : '';
  return [[`already exists, ${what}: ${paths.slice(0, MAX_LISTED).join(', ')}${more}`, hint]];
}

/** Of files that existed already and were not written. */
export function skippedWarnings(saved: readonly Saved[] = [], hint?: string): Warning[] {
  const skipped = saved.filter((file) => file.skipped).map(({ path }) => path);
  return alreadyThere('not written', hint, skipped);
}

/** Of files that existed already and whose name does not tell which transcript they are. */
export function unidentifiedWarnings(saved: readonly Saved[]): Warning[] {
  const unknown = saved.filter(({ unidentified, isDraft }) => unidentified && !isDraft);
  const paths = unknown.map(({ path, id }) => `${path} for ${id}`);
  const hint = 'replace it with --force, or add {id} to --name-as';
  return alreadyThere('but may be another transcript', hint, paths);
}

/** Of files that existed already and were written before the transcript was known to be final. */
export function draftWarnings(saved: readonly Saved[]): Warning[] {
  const drafts = saved.filter(({ isDraft }) => isDraft).map(({ path }) => path);
  const hint = 'download it again with --force; steno sync does so once it is delivered';
  return alreadyThere('but was saved before the delivery', hint, drafts);
}

/** The files that were written, or were there already. */
export function savedView(saved: readonly Saved[], json: () => Json = () => saved.map(savedJson)): View {
  const shown = savedRecord.view(saved.map(shownDownload), ({ path }) => path);
  return {
    // Made only if asked for: there may be thousands of files.
    get json() {
      return json();
    },
    columns: shown.columns,
    get rows() {
      return shown.rows;
    },
    quiet: writtenPaths(saved),
  };
}

/** What is new of a file: a change of its state, or a transcript. */
export interface SyncRow {
  readonly change?: Change;
  readonly saved?: Saved;
}

/** A row for each change of state, and one for each transcript. */
export const syncRecord = new RecordType<SyncRow>([
  textField('audiofile', 'audiofile id', ({ change, saved }) => change?.id ?? saved?.id, {
    kind: 'id',
  }),
  textField(
    'what',
    'state for a change of state, transcript for a download',
    ({ saved }) => (saved ? 'transcript' : 'state'),
    { importance: 30, uncut: true },
  ),
  textField('was', 'previous state', ({ change }) => change?.previousState, {
    kind: 'state',
    importance: 40,
  }),
  textField('state', 'new state', ({ change }) => change?.state, { kind: 'state' }),
  textField('format', 'format of the transcript', ({ saved }) => saved?.ext, { importance: 60, uncut: true }),
  textField('bytes', 'size in bytes', ({ saved }) => saved && String(saved.bytes), {
    header: 'size',
    kind: 'bytes',
    importance: 50,
  }),
  textField('path', 'path of the file', ({ saved }) => saved?.path, { kind: 'link', importance: 90 }),
  timeField('downloaded_at', 'when it was written', ({ saved }) => saved?.at, { importance: 10 }),
]);

/** A change of state is a row alone: what has changed is told by `files`. */
export function syncedView(row: SyncRow): View {
  const { saved } = row;
  return {
    ...syncRecord.view([row]),
    get json() {
      return saved ? [savedJson(saved)] : [];
    },
    quiet: saved ? [saved.path] : [],
  };
}

/** A file that could not be asked about. */
export const notAskedView = ({ what, error }: Failure): View => ({
  ...noSyncRows(),
  json: [toJson({ audiofile: what, error: errorJson(error) })],
});

/** A transcript, `1.txt`, that could not be downloaded, or whose command failed. */
export function notHandedOverView({ what, error }: Failure): View {
  const at = what.lastIndexOf('.');
  const [audiofile, format] = [what.slice(0, at), what.slice(at + 1)];
  return { ...noSyncRows(), json: [toJson({ audiofile, format, error: errorJson(error) })] };
}

const ROWS_PER_TABLE = 2000;

/** Tables for people. */
export function* syncTables(rows: readonly SyncRow[]): Generator<View> {
  for (let at = 0; at < rows.length; at += ROWS_PER_TABLE)
    yield syncRecord.filled(syncRecord.view(rows.slice(at, at + ROWS_PER_TABLE)));
}

export const noSyncRows = (): View => syncRecord.view([]);
