import { type Format, formats } from '../catalog/formats.ts';
import { meaningOfOrderSku, orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { type FileState, fileStates, invoiceStates, orderedState } from '../catalog/states.ts';
import type { View } from '../lib/view.ts';
import { RecordType, wordField } from './record.ts';

/** What a name means is worth more than the rest; a word that was cut would mean nothing. */
const MEANING = { importance: 90 } as const;
const word = (importance: number) => ({ importance, uncut: true }) as const;

type Words<Name extends string> = Readonly<Record<Name, string>>;

export const skuRecord = new RecordType<Words<'sku' | 'use' | 'kind' | 'meaning'>>([
  wordField('sku', 'value for --sku', 'sku', { kind: 'id' }),
  wordField('use', 'order or upgrade', 'use', word(49)),
  wordField('kind', 'transcription, add-on or upgrade', 'kind', word(48)),
  wordField('meaning', 'what it buys', 'meaning', MEANING),
]);

export const skusView = (): View =>
  listView(
    skuRecord,
    [
      ...orderSkus.map(({ sku, kind }) => ({ sku, use: 'order', kind, meaning: meaningOfOrderSku(sku) })),
      ...upgradeSkus.map(({ sku, meaning }) => ({ sku, use: 'upgrade', kind: 'upgrade', meaning })),
    ],
    ({ sku }) => sku,
  );

export const stateRecord = new RecordType<Words<'state' | 'of' | 'end' | 'refund' | 'meaning'>>([
  wordField('state', 'state as the service names it', 'state', { kind: 'id' }),
  wordField('of', 'file or invoice', 'of', word(49)),
  wordField('end', 'delivered or unfinished; empty if it may still change', 'end', word(48)),
  wordField('refund', 'possible, or empty', 'refund', word(47)),
  wordField('meaning', 'what the state means', 'meaning', MEANING),
]);

export const statesView = (): View =>
  listView(
    stateRecord,
    [
      ...[orderedState, ...fileStates].map((state: FileState) => ({
        ...{ state: state.name, of: 'file', end: state.end ?? '' },
        ...{ refund: state.refundable ? 'possible' : '', meaning: state.meaning },
      })),
      ...invoiceStates.map(({ name, meaning }) => ({
        ...{ state: name, of: 'invoice', end: '', refund: '', meaning },
      })),
    ],
    ({ state }) => state,
  );

export const formatRecord = new RecordType<Format>([
  wordField('format', 'value for --format', 'ext', { kind: 'id' }),
  wordField('content', 'text or binary', 'content', word(49)),
  wordField('media_type', 'media type', 'mime', word(48)),
  wordField('meaning', 'what the format is', 'meaning', MEANING),
]);

export const formatsView = (): View => listView(formatRecord, formats, ({ ext }) => ext);

/** A name is printed once by --quiet, whatever it is used for. */
function listView<T>(record: RecordType<T>, values: readonly T[], name: (value: T) => string): View {
  return { ...record.view(values), quiet: [...new Set(values.map(name))] };
}
