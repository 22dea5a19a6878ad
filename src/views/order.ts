import type { PlacedOrder } from '../flows/orders/place.ts';
import type { View } from '../lib/view.ts';

/** A row a file: what was ordered and what it became. One order is its answer, several are an array of theirs. */
export function ordersView(placed: readonly PlacedOrder[], several: boolean): View {
  const documents = placed.map(({ order }) => order.json);
  return {
    json: !several && documents[0] !== undefined ? documents[0] : documents,
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'order' },
      { name: 'status', kind: 'state' },
      { name: 'url', kind: 'link' },
    ],
    rows: placed.flatMap(rowsOf),
    quiet: placed.flatMap(({ order }) => order.audiofiles),
  };
}

/** Files stand in the order of the URLs, if the service made as many. */
function rowsOf({ order, request }: PlacedOrder): string[][] {
  const inStep = order.audiofiles.length === request.urls.length;
  const status = order.hold ? `held: ${order.hold}` : 'ordered';
  const ids = order.audiofiles.length ? order.audiofiles : [''];
  return ids.map((id, at) => [id, order.id, status, inStep ? (request.urls[at] ?? '') : '']);
}
