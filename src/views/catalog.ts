/** `skus`, `states` and `formats`: the tables of the catalogue. --quiet has each name once, whatever it is used for. */
import { type Format, formats } from '../catalog/formats.ts';
import { meaningOfOrderSku, orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { type FileState, fileStates, invoiceStates, orderedState } from '../catalog/states.ts';
import * as a from './fields.ts';
import { RecordType } from './record.ts';

/** What a name means is worth more than the rest; a word that was cut would mean nothing. */
const MEANING = { importance: 90 } as const;
const word = (importance: number) => ({ importance, uncut: true }) as const;

type Words<Name extends string> = Readonly<Record<Name, string>>;

const listed = <T>(record: RecordType<T>, values: readonly T[], name: (value: T) => string) => ({
  record,
  view: () => record.view(values, { quiet: [...new Set(values.map(name))] }),
});

const sku = new RecordType<Words<'sku' | 'use' | 'kind' | 'meaning'>>([
  a.word('sku', 'value for --sku', 'sku', { kind: 'id' }),
  a.word('use', 'order or upgrade', 'use', word(49)),
  a.word('kind', 'transcription, add-on or upgrade', 'kind', word(48)),
  a.word('meaning', 'what it buys', 'meaning', MEANING),
]);

export const skuTable = listed(
  sku,
  [
    ...orderSkus.map(({ sku, kind }) => ({ sku, use: 'order', kind, meaning: meaningOfOrderSku(sku) })),
    ...upgradeSkus.map(({ sku, meaning }) => ({ sku, use: 'upgrade', kind: 'upgrade', meaning })),
  ],
  ({ sku }) => sku,
);

const state = new RecordType<Pick<FileState, 'name' | 'meaning' | 'end' | 'refundable'> & { of: string }>([
  a.word('state', 'state as the service names it', 'name', { kind: 'id' }),
  a.word('of', 'file or invoice', 'of', word(49)),
  a.word('end', 'delivered or unfinished; empty if it may still change', ({ end }) => end ?? '', word(48)),
  a.word('refund', 'possible, or empty', ({ refundable }) => (refundable ? 'possible' : ''), word(47)),
  a.word('meaning', 'what the state means', 'meaning', MEANING),
]);

export const stateTable = listed(
  state,
  [
    ...[orderedState, ...fileStates].map((each) => ({ ...each, of: 'file' })),
    ...invoiceStates.map((each) => ({ ...each, of: 'invoice' })),
  ],
  ({ name }) => name,
);

const format = new RecordType<Format>([
  a.word('format', 'value for --format', 'ext', { kind: 'id' }),
  a.word('content', 'text or binary', 'content', word(49)),
  a.word('media_type', 'media type', 'mime', word(48)),
  a.word('meaning', 'what the format is', 'meaning', MEANING),
]);

export const formatTable = listed(format, formats, ({ ext }) => ext);
