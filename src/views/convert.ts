/** Transcripts that were written in another format. */
import type { Converted } from '../flows/convert/files.ts';
import type { View } from '../lib/view.ts';
import { countField, flagField, RecordType, textField, wordField } from './record.ts';

export const convertedRecord = new RecordType<Converted>([
  wordField('path', 'path of the new file', 'path', { kind: 'link', importance: 90 }),
  wordField('format', 'format of the new file', 'format', { importance: 60, uncut: true }),
  countField('bytes', 'size in bytes', 'bytes', { header: 'size', kind: 'bytes', importance: 50 }),
  wordField('source', 'path of the file that was converted', 'source', { kind: 'link', importance: 70 }),
  textField('audiofile', 'audiofile id, if the ledger knows it', 'audiofile', { kind: 'id', importance: 40 }),
  flagField('unchanged', 'whether the same file already existed', 'unchanged', { importance: 30 }),
]);

/** --quiet has the files that are new. */
export const convertedView = (converted: readonly Converted[]): View => ({
  ...convertedRecord.view(converted),
  quiet: converted.filter(({ unchanged }) => !unchanged).map(({ path }) => path),
});
