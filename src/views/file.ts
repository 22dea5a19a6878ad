import type { AudioFile } from '../api/files.ts';
import { cutSignatures, withoutSignature } from '../lib/audio-identity.ts';
import type { View } from '../lib/view.ts';
import { alignAmounts } from './amounts.ts';
import { listField, RecordType, textField } from './record.ts';

/** A file as the service has it now, for people. */
const audioFileRecord = new RecordType<AudioFile>([
  textField('audiofile', "the file's id", ({ id }) => id, { header: 'id', kind: 'id' }),
  textField('state', 'as the service names it', ({ state }) => state, { kind: 'state' }),
  textField('title', 'of the audio', ({ title }) => cutSignatures(title), { importance: 90 }),
  textField('minutes', 'how long the audio is', ({ duration }) => duration, {
    header: 'length',
    kind: 'minutes',
    importance: 50,
  }),
  textField('total', 'what it costs', ({ total }) => total, { kind: 'amount', importance: 60 }),
  textField('quality_stars', "the service's note for the audio", ({ qualityStars }) => qualityStars, {
    header: 'stars',
    kind: 'amount',
    importance: 30,
  }),
  listField('order', 'ids of its orders', ({ orders }) => orders, { importance: 40 }),
  listField('invoices', 'ids of its invoices', ({ invoices }) => invoices),
  textField('names', 'of the speakers', ({ names }) => cutSignatures(names)),
  textField('notes', 'for the transcriber', ({ notes }) => cutSignatures(notes)),
  textField('description', 'of the audio', ({ description }) => cutSignatures(description)),
  textField('url', 'of the audio, without signatures', ({ originalLink }) => withoutSignature(originalLink), {
    kind: 'link',
  }),
]);

const tableColumns = ['audiofile', 'state', 'title', 'minutes', 'total', 'quality_stars', 'order'];

/** A single file is a page, several are a table of what matters most. */
export function filesTable(files: readonly AudioFile[], currency: string): View {
  const totals = alignAmounts(
    files.map(({ total }) => total),
    currency,
  );
  const shown = files.map((file, at) => ({ ...file, total: totals[at] ?? '' }));
  const view = audioFileRecord.view(shown, ({ id }) => id);
  const { columns, rows } = view;
  if (files.length === 1) return { json: null, quiet: [], columns, rows, asRecord: true };
  return audioFileRecord.some(view, tableColumns);
}
