/** A transcript on disk, as every command prints it. */

import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import type { Download } from '../ledger/downloads.ts';
import type { Failure } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { type Field, failed, failureJson, RecordType } from './record.ts';
import { anyOf, arrayOf, described, type Schema } from './schema.ts';

interface ShownDownload extends Omit<Download, 'at'> {
  readonly at: string | null;
  readonly skipped?: boolean | undefined;
}

const fields: ReadonlyArray<Field<ShownDownload>> = [
  a.word('audiofile', 'audiofile id', 'file', { kind: 'id' }),
  a.word('format', 'file extension', 'ext', { importance: 60, uncut: true }),
  a.count('bytes', 'size in bytes', 'bytes', { header: 'size', kind: 'bytes', importance: 50 }),
  a.word('path', 'path of the file', 'path', { kind: 'link', importance: 90 }),
  a.time('downloaded_at', 'when it was written; null if it already existed', 'at', { more: true }),
];

export const downloadRecord = new RecordType(fields);

/** What a command has just downloaded, or has found there. */
export const savedRecord = new RecordType<ShownDownload>([
  ...fields,
  a.flag('skipped', 'whether it already existed and was left alone', ({ skipped = false }) => skipped, {
    more: true,
  }),
]);

/** An element for each transcript that was written; one that failed has these names instead. */
export const savedList = (...names: readonly string[]): Schema =>
  arrayOf(
    anyOf(
      described('a transcript', savedRecord.schema),
      failed('audiofile', 'format'),
      ...names.map((name) => failed(name)),
    ),
  );

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
export const savedView = (saved: readonly Saved[], json?: () => Json): View =>
  savedRecord.view(saved.map(shownDownload), { quiet: writtenPaths(saved), ...(json && { json }) });

/** What is new of a file: a change of its state, or a transcript. */
export interface SyncRow {
  readonly change?: Change;
  readonly saved?: Saved;
}

/** A row for each change of state, and one for each transcript. */
export const syncRecord = new RecordType<SyncRow>([
  a.text('audiofile', 'audiofile id', ({ change, saved }) => change?.id ?? saved?.id, { kind: 'id' }),
  a.text(
    'what',
    'state for a change of state, transcript for a download',
    ({ saved }) => (saved ? 'transcript' : 'state'),
    { importance: 30, uncut: true },
  ),
  a.text('was', 'previous state', ({ change }) => change?.previousState, { kind: 'state', importance: 40 }),
  a.text('state', 'new state', ({ change }) => change?.state, { kind: 'state' }),
  a.text('format', 'format of the transcript', ({ saved }) => saved?.ext, { importance: 60, uncut: true }),
  a.text('bytes', 'size in bytes', ({ saved }) => saved && String(saved.bytes), {
    ...{ header: 'size', kind: 'bytes', importance: 50 },
  }),
  a.text('path', 'path of the file', ({ saved }) => saved?.path, { kind: 'link', importance: 90 }),
  a.time('downloaded_at', 'when it was written', ({ saved }) => saved?.at, { importance: 10 }),
]);

/** A change of state is a row alone: what has changed is told by `files`. */
export function syncedView(...rows: readonly SyncRow[]): View {
  const saved = rows.flatMap((row) => row.saved ?? []);
  return syncRecord.view(rows, { quiet: saved.map(({ path }) => path), json: () => saved.map(savedJson) });
}

/** A file that could not be asked about; or a transcript, `1.txt`, that was not downloaded or whose command failed. */
export function notSyncedView({ what, error }: Failure, isTranscript: boolean): View {
  const at = isTranscript ? what.lastIndexOf('.') : what.length;
  const format = isTranscript ? { format: what.slice(at + 1) } : {};
  return syncRecord.view([], {
    json: () => [failureJson({ audiofile: what.slice(0, at), ...format }, error)],
  });
}

const ROWS_PER_TABLE = 2000;

/** Tables for people. */
export function* syncTables(rows: readonly SyncRow[]): Generator<View> {
  for (let at = 0; at < rows.length; at += ROWS_PER_TABLE)
    yield syncRecord.view(rows.slice(at, at + ROWS_PER_TABLE), { only: 'filled' });
}
