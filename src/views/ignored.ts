/** Audio that is left out of lists, feeds and folders. */
import type { Ignored } from '../ledger/ignored-audio.ts';
import type { View } from '../lib/view.ts';
import { RecordType, textField, timeField } from './record.ts';
import { text, time } from './schema.ts';

export const ignoredRecord = new RecordType<Ignored>([
  textField('audio', 'a URL, a key, a guid or a path', ({ given }) => given, { kind: 'link', schema: text }),
  timeField('ignored_at', 'since when', ({ setAt }) => setAt, {
    header: 'since',
    importance: 80,
    schema: time,
  }),
  textField('ignored_by', 'who said so', ({ setBy }) => setBy, { header: 'by', importance: 50 }),
]);

export const ignoredView = (ignored: readonly Ignored[]): View =>
  ignoredRecord.view(ignored, ({ given }) => given);
