/** Orders that were placed, and those that were not. */
import type { Order } from '../api/orders.ts';
import type { ShownFile } from '../flows/files/shown.ts';
import type { OrderResult } from '../flows/orders/order-and-wait.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import { withoutSignature } from '../lib/audio-identity.ts';
import type { View } from '../lib/view.ts';
import { fileRecord } from './file-record.ts';
import { RecordType, textField } from './record.ts';
import { writtenPaths } from './saved.ts';

interface OrderRow {
  readonly id: string;
  readonly order: string;
  readonly hold: string;
  readonly url: string;
}

/** The rows of orders that are not waited for; their JSON are file documents. */
export const orderRecord = new RecordType<OrderRow>([
  textField('audiofile', "the file's id", ({ id }) => id, { kind: 'id' }),
  textField('order', 'the id of the order', ({ order }) => order, { importance: 70, uncut: true }),
  textField('state', 'ordered, or On Hold', ({ hold }) => (hold ? 'On Hold' : 'ordered'), { kind: 'state' }),
  textField('url', 'of the audio, without signatures', ({ url }) => url, { kind: 'link', importance: 60 }),
  textField('hold', 'why the order is on hold', ({ hold }) => hold, { importance: 65, uncut: true }),
]);

/** Without those that the answer names, but that are files of another order. */
const ownFiles = ({ files }: PlacedOrder): string[] => files.files.map(({ id }) => id);

/** People see which columns have something. */
export function ordersTable(placed: readonly PlacedOrder[], forPeople: boolean): View {
  const all = placed.flatMap(rowsOf);
  const view = orderRecord.view(all, ({ id }) => id);
  if (!forPeople) return view;
  const hold = all.some((each) => each.hold) ? ['hold'] : [];
  return orderRecord.some(view, ['audiofile', 'order', 'state', ...hold, 'url']);
}

function rowsOf({ order, files }: PlacedOrder): OrderRow[] {
  const urls = new Map(files.files.map(({ id, audio }) => [id, audio?.url ?? '']));
  return distinctIds(order.audiofiles).map((id) => ({
    ...{ id, order: order.id, hold: order.hold ?? '' },
    url: withoutSignature(urls.get(id) ?? ''),
  }));
}

/** An order without files is one row. */
const distinctIds = (ids: readonly string[]): string[] => (ids.length ? [...new Set(ids)] : ['']);

/** The files of a list of orders. Rows: of what was ordered. */
export function orderedView(
  files: readonly ShownFile[],
  { placed, waited }: Pick<OrderResult, 'placed' | 'waited'>,
  waits: boolean,
): View {
  const ordered = files.filter(({ row, error, leftOut }) => !leftOut && (row.order_id || !error));
  const { columns, rows } = waits
    ? fileRecord.view(ordered, ({ row }) => row.id)
    : ordersTable(placed, false);
  const ids = placed.flatMap(ownFiles);
  return {
    json: files.map((file) => fileRecord.json(file)),
    columns,
    rows,
    quiet: waited?.saved ? writtenPaths(waited.saved) : [...new Set(ids)],
  };
}

/** Lines for people. */
export const placedLine = ({ id, audiofiles }: Order): string =>
  `order ${id} is placed: audiofile ${audiofiles.join(', ')}`;

export const orderLines = (orders: readonly Order[]): string[] =>
  orders.map(({ id, audiofiles }) => `order ${id}: audiofile ${audiofiles.join(', ')}`);
