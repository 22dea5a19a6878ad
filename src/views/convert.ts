/** Transcripts that were written in another format. */
import type { Converted } from '../flows/convert/files.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { RecordType } from './record.ts';

export const convertedRecord = new RecordType<Converted>([
  a.word('path', 'path of the new file', 'path', { kind: 'link', importance: 90 }),
  a.word('format', 'format of the new file', 'format', { importance: 60, uncut: true }),
  a.count('bytes', 'size in bytes', 'bytes', { header: 'size', kind: 'bytes', importance: 50 }),
  a.word('source', 'path of the file that was converted', 'source', { kind: 'link', importance: 70 }),
  a.text('audiofile', 'audiofile id, if the ledger knows it', 'audiofile', { kind: 'id', importance: 40 }),
  a.flag('unchanged', 'whether the same file already existed', 'unchanged', { importance: 30 }),
]);

/** --quiet has the files that are new. */
export const convertedView = (converted: readonly Converted[]): View =>
  convertedRecord.view(converted, {
    quiet: converted.flatMap(({ unchanged, path }) => (unchanged ? [] : [path])),
  });
