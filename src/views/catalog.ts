import { formats } from '../catalog/formats.ts';
import { orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { type FileState, fileStates, invoiceStates } from '../catalog/states.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

const view = (names: readonly string[], rows: readonly (readonly string[])[]): View => ({
  json: toJson(rows.map((row) => Object.fromEntries(row.map((cell, at) => [names[at] ?? '', cell])))),
  columns: names.map((name, at) => (at === 0 ? { name, kind: 'id' as const } : { name })),
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

function meaningOfState({ end, held }: FileState): string {
  if (end === 'delivered') return 'the transcript is there';
  if (end) return 'no transcript comes';
  return held ? 'waits for a release' : 'under way';
}

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
