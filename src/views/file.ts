import type { AudioFile } from '../api/files.ts';
import { cutSignatures, withoutSignature } from '../lib/audio-identity.ts';
import type { Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import { alignAmounts } from './amounts.ts';
import { listField, RecordType, textField } from './record.ts';

/** The rows of `file`. Its JSON is the service's answer. */
export const audioFileRecord = new RecordType<AudioFile>([
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

/** On a terminal a single file is a page, several are a table of what matters most. */
export function filesView(
  files: readonly AudioFile[],
  json: Json,
  { forPeople, currency }: { forPeople: boolean; currency?: string | undefined } = { forPeople: false },
): View {
  const totals = files.map((file) => file.total);
  const shownTotals = forPeople ? alignAmounts(totals, currency) : totals;
  const shown = files.map((file, at) => ({ ...file, total: shownTotals[at] ?? '' }));
  const { rows, columns } = audioFileRecord.view(shown, ({ id }) => id);
  const quiet = files.map((file) => file.state);
  if (!forPeople) return { json, columns, rows, quiet };
  if (files.length === 1) return { json, columns, rows, quiet, asRecord: true };
  return { ...audioFileRecord.some({ json, columns, rows, quiet }, tableColumns), json, quiet };
}
