import { formats } from '../catalog/formats.ts';
import { orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { fileStates, invoiceStates, meaningOfState } from '../catalog/states.ts';
import { toJson } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';

/** What a name means is worth more than the rest; a word that was cut would mean nothing. */
const columnOf = (name: string, at: number): Column => {
  if (at === 0) return { name, kind: 'id' };
  return name === 'meaning' ? { name, importance: 90 } : { name, importance: 50 - at, uncut: true };
};

const view = (names: readonly string[], rows: readonly (readonly string[])[]): View => ({
  json: toJson(rows.map((row) => Object.fromEntries(row.map((cell, at) => [names[at] ?? '', cell])))),
  columns: names.map(columnOf),
  rows,
  quiet: [...new Set(rows.map((row) => row[0] ?? ''))],
});

export const skusView = (): View =>
  view(
    ['sku', 'use', 'kind', 'meaning'],
    [
      ...orderSkus.map(({ sku, kind, meaning, aliasOf }) => [
        sku,
        'order',
        kind,
        aliasOf ? `${meaning} (the same as ${aliasOf})` : meaning,
      ]),
      ...upgradeSkus.map(({ sku, meaning }) => [sku, 'upgrade', 'upgrade', meaning]),
    ],
  );

export const statesView = (): View =>
  view(
    ['state', 'of', 'end', 'refund', 'meaning'],
    [
      ...fileStates.map((state) => [
        state.name,
        'file',
        state.end ?? '',
        state.refundable ? 'possible' : '',
        meaningOfState(state),
      ]),
      ...invoiceStates.map(({ name, meaning }) => [name, 'invoice', '', '', meaning]),
    ],
  );

export const formatsView = (): View =>
  view(
    ['format', 'content', 'media_type', 'meaning'],
    formats.map(({ ext, content, mime, meaning }) => [ext, content, mime, meaning]),
  );
