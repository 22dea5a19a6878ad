import type { PlacedOrder } from '../flows/orders/place.ts';
import type { View } from '../lib/view.ts';

/** A row for each file. The JSON of one order is the service's answer, that of several an array of answers. */
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

/** Files come in the order of the URLs, if there are as many. */
function rowsOf({ order, request }: PlacedOrder): string[][] {
  const inStep = order.audiofiles.length === request.urls.length;
  const status = order.hold ? `held: ${order.hold}` : 'ordered';
  const ids = order.audiofiles.length ? order.audiofiles : [''];
  return ids.map((id, at) => [id, order.id, status, inStep ? (request.urls[at] ?? '') : '']);
}
