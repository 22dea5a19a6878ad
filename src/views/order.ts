import type { PlacedOrder } from '../flows/orders/place.ts';
import { withoutSignature } from '../lib/audio-identity.ts';
import { cutJsonSignatures } from '../lib/json-signatures.ts';
import type { View } from '../lib/view.ts';

/** A row for each file. The JSON of one order is the service's answer, with `isList` an array of answers. */
export function ordersView(placed: readonly PlacedOrder[], isList: boolean): View {
  const documents = placed.map(({ order }) => order.json);
  return {
    // The answer of a single call passes as it came.
    json: isList ? cutJsonSignatures(documents) : (documents[0] ?? null),
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'order', importance: 70, uncut: true },
      { name: 'status', kind: 'state' },
      { name: 'url', kind: 'link', importance: 60 },
    ],
    rows: placed.flatMap(rowsOf),
    quiet: [...new Set(placed.flatMap(({ order }) => order.audiofiles))],
  };
}

function rowsOf({ order, files }: PlacedOrder): string[][] {
  const urls = new Map(files.files.map(({ id, audio }) => [id, audio?.url ?? '']));
  const status = order.hold ? `held: ${order.hold}` : 'ordered';
  const ids = order.audiofiles.length ? [...new Set(order.audiofiles)] : [''];
  return ids.map((id) => [id, order.id, status, withoutSignature(urls.get(id) ?? '')]);
}
