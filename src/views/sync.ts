import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { errorJson } from '../lib/error-json.ts';
import type { Failure } from '../lib/errors.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { RecordType, textField, timeField } from './record.ts';
import { savedJson } from './saved.ts';

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

/** A change of state is a row alone: what has changed is told by `files`. */
export function syncedView(row: SyncRow): View {
  const { saved } = row;
  return {
    ...syncRecord.view([row], String),
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
    yield syncRecord.filled(syncRecord.view(rows.slice(at, at + ROWS_PER_TABLE), String));
}

export const noSyncRows = (): View => syncRecord.view([], String);
