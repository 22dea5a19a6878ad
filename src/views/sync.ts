import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { type Json, toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { downloadJson, downloadRecord, shownDownload } from './download-record.ts';
import { RecordType, textField, timeField } from './record.ts';
import { arrayOf, described, integer, maybeText, object, type Schema, text } from './schema.ts';

export interface Synced {
  readonly checked: number;
  readonly changed: readonly Change[];
  readonly downloads: readonly Saved[];
}

interface SyncRow {
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
  checked: described('how many open files the service was asked about', integer),
  changed: arrayOf(object({ audiofile: text, was: maybeText, state: text })),
  downloads: arrayOf(downloadRecord.schema),
});

/** What is new: changes of state, and the transcripts that were downloaded. */
export function syncView({ checked, changed, downloads }: Synced, forPeople: boolean): View {
  const rows = [...changed.map((change) => ({ change })), ...downloads.map((saved) => ({ saved }))];
  const all = syncRecord.view(rows, String);
  return {
    ...(forPeople ? syncRecord.filled(all) : all),
    json: new Map<string, Json>([
      ['checked', toJson(checked)],
      [
        'changed',
        toJson(
          changed.map(({ id, previousState: was, state }) => ({ audiofile: id, was: was || null, state })),
        ),
      ],
      ['downloads', downloads.map((saved) => downloadJson(shownDownload(saved)))],
    ]),
    quiet: downloads.map(({ path }) => path),
  };
}
