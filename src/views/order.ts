import type { Order, OrderRequest } from '../api/orders.ts';
import type { View } from '../ui/view.ts';

/** A row a file: what was ordered and what it became. */
export function orderView(order: Order, request: OrderRequest): View {
  const inStep = order.audiofiles.length === request.urls.length;
  const status = order.hold ? `held: ${order.hold}` : 'ordered';
  const ids = order.audiofiles.length ? order.audiofiles : [''];
  return {
    json: order.json,
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'order' },
      { name: 'status', kind: 'state' },
      { name: 'url', kind: 'link' },
    ],
    rows: ids.map((id, at) => [id, order.id, status, inStep ? (request.urls[at] ?? '') : '']),
    quiet: order.audiofiles,
  };
}
