import type { OrderRequest } from '../api/orders.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import type { JsonObject } from '../lib/json.ts';
import { cutJsonSignatures } from '../lib/json-signatures.ts';
import type { View } from '../lib/view.ts';

/**
 * What --dry-run shows: a row for each URL; as JSON, the document that would be sent, or with `isList` an array of
 * them. Signatures are left out.
 */
export function planView(
  requests: readonly OrderRequest[],
  documents: readonly JsonObject[],
  isList: boolean,
): View {
  const rows = requests.flatMap((request, at) =>
    request.urls.map((url) =>
      [
        String(at + 1),
        url,
        request.skus.join(','),
        request.names.join('|'),
        request.notes ?? '',
        request.test ? 'test' : '',
      ].map(cutSignatures),
    ),
  );
  return {
    json: cutJsonSignatures(isList ? [...documents] : (documents[0] ?? null)),
    columns: [
      { name: 'order', kind: 'id' },
      { name: 'url', kind: 'link' },
      { name: 'skus' },
      { name: 'names' },
      { name: 'notes' },
      { name: 'test' },
    ],
    rows,
    quiet: rows.map((row) => row[1] ?? ''),
  };
}
