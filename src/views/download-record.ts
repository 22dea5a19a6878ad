/** A transcript on disk, as every command prints it. */
import type { Saved } from '../flows/transcripts/save.ts';
import type { Download } from '../ledger/downloads.ts';
import type { Json } from '../lib/json.ts';
import { countField, type Field, RecordType, textField, timeField } from './record.ts';
import { boolean, text } from './schema.ts';

interface ShownDownload extends Omit<Download, 'at'> {
  readonly at: string | null;
  readonly skipped?: boolean | undefined;
}

const fields: ReadonlyArray<Field<ShownDownload>> = [
  textField('audiofile', 'the id of its file', ({ file }) => file, { kind: 'id', schema: text }),
  textField('format', 'its extension', ({ ext }) => ext, { schema: text, importance: 60, uncut: true }),
  countField('bytes', 'its size', ({ bytes }) => bytes, { header: 'size', kind: 'bytes', importance: 50 }),
  textField('path', 'where it is', ({ path }) => path, { kind: 'link', schema: text, importance: 90 }),
  timeField('downloaded_at', 'when it was written; null where it was there before', ({ at }) => at),
];

export const downloadRecord = new RecordType(fields);

/** What a command has just downloaded, or has found there. */
export const savedRecord = new RecordType<ShownDownload>([
  ...fields,
  {
    name: 'skipped',
    help: 'whether it was there before, and was left as it is (in rows: skipped)',
    schema: boolean,
    json: ({ skipped }) => skipped === true,
    cell: ({ skipped }) => (skipped ? 'skipped' : ''),
  },
]);

export const downloadJson = (download: ShownDownload): Json => downloadRecord.json(download);

export const shownDownload = ({ id, ext, path, bytes, at, skipped }: Saved): ShownDownload => ({
  ...{ file: id, ext, path, bytes, at: at ?? null, skipped },
});
