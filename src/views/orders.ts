/** Orders that were placed, those that would be, and audio that is never ordered. */
import type { Order } from '../api/orders.ts';
import type { ShownFile } from '../flows/files/shown.ts';
import type { OrderResult } from '../flows/orders/order-flow.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import type { PlannedAudio, PlannedOrder } from '../flows/orders/planned-order.ts';
import type { Estimate } from '../flows/prices/estimate.ts';
import type { Ignored } from '../ledger/ignored-audio.ts';
import type { JsonObject } from '../lib/json.ts';
import { cutJsonSignatures, cutSignatures, withoutSignature } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { fileRecord, type ListForm, waitedView } from './files.ts';
import { estimateRecord } from './money.ts';
import { RecordType, ranked } from './record.ts';
import * as is from './schema.ts';
import { writtenPaths } from './transcripts.ts';

type OrderRow = Readonly<Record<'id' | 'order' | 'hold' | 'url', string>>;

/** The rows of orders that are not waited for; their JSON are file documents. */
export const orderRecord = ranked<OrderRow>('order hold url', [
  a.text('audiofile', 'audiofile id', 'id', { kind: 'id' }),
  a.text('order', 'order id', 'order', { uncut: true }),
  a.text('state', 'ordered, or On Hold', ({ hold }) => (hold ? 'On Hold' : 'ordered'), { kind: 'state' }),
  a.text('url', 'URL of the audio, without signatures', 'url', { kind: 'link' }),
  a.text('hold', 'why the order is on hold', 'hold', { uncut: true }),
]);

/** People see the hold where there is one, before the URL. */
const ordersView = (placed: readonly PlacedOrder[], isBrief: boolean, quiet: readonly string[]): View =>
  orderRecord.view(placed.flatMap(rowsOf), {
    quiet,
    ...(isBrief && {
      only: [
        'audiofile',
        'order',
        'state',
        ...(placed.some(({ order }) => order.hold) ? ['hold'] : []),
        'url',
      ],
    }),
  });

function rowsOf({ order, files, planned }: PlacedOrder): OrderRow[] {
  const urlAt = (position: number | undefined) =>
    position === undefined ? '' : planned.audios[position]?.url;
  const urls = new Map(files.files.map(({ id, position }) => [id, urlAt(position)]));
  return distinctIds(order.audiofiles).map((id) => ({
    ...{ id, order: order.id, hold: order.hold ?? '' },
    url: withoutSignature(urls.get(id) ?? ''),
  }));
}

/** An order without files is one row. */
const distinctIds = (ids: readonly string[]): string[] => (ids.length ? [...new Set(ids)] : ['']);

/** The files of a list of orders: as files where there are any. */
export function orderedView(
  files: readonly ShownFile[] | undefined,
  { placed, waited }: OrderResult,
  form: ListForm,
): View {
  // Without files that the answer names, but that are of another order.
  const ids = placed.flatMap((each) => each.files.files.map(({ id }) => id));
  if (!files || (form.isBrief && !waited)) {
    const quiet = waited?.saved ? writtenPaths(waited.saved) : [...new Set(ids)];
    return ordersView(placed, form.isBrief, quiet);
  }
  const ordered = files.filter(({ row, error, leftOut }) => !leftOut && (row.order_id || !error));
  return waitedView(ordered, waited?.saved, true, form, [...new Set(ids)]);
}

/** The documents of a list of orders. */
export async function* orderedPages(pages: AsyncIterable<readonly ShownFile[]>): AsyncGenerator<View> {
  for await (const files of pages) yield fileRecord.view(files);
}

/** Lines for people. */
export const placedLine = ({ id, audiofiles }: Order): string =>
  `order ${id} is placed: audiofile ${audiofiles.join(', ')}`;

export const orderLines = (orders: readonly Order[]): string[] =>
  orders.map(({ id, audiofiles }) => `order ${id}: audiofile ${audiofiles.join(', ')}`);

/** What to run next. */
export const followLine = ([first, ...rest]: readonly PlacedOrder[]): string =>
  `follow it: steno wait${first && rest.length === 0 ? ` --order ${shellWord(first.order.id)}` : ''}`;

interface PlanRow {
  readonly order: PlannedOrder;
  /** What would be sent. */
  readonly document: JsonObject;
  readonly estimate: Estimate;
}

/** One audio of a planned order. */
interface PlannedRow {
  readonly batch: number;
  readonly order: PlannedOrder;
  readonly audio: PlannedAudio;
}

/** An audio to order: the rows of --dry-run, and an element of its documents, where the order is told above it. */
export const plannedRecord = ranked<PlannedRow>('title url test skus minutes published_at notes names', [
  a.column('batch', 'number of the order that it goes into, starting with 1', ({ batch }) => String(batch), {
    kind: 'id',
  }),
  a.text('title', 'title of the episode or file', ({ audio }) => audio.details?.title),
  a.time('published_at', 'when the episode was published', ({ audio }) => audio.details?.published, {
    header: 'published',
  }),
  a.amount('minutes', 'length of the audio in minutes', ({ audio }) => minutesText(audio.details?.seconds), {
    ...{ header: 'length', kind: 'minutes' },
  }),
  a.text(
    'url',
    'URL of the audio; null for a local file (in rows: its path)',
    ({ audio }) => (audio.path === undefined ? audio.url : null),
    { kind: 'link', cell: ({ audio }) => audio.path ?? audio.url },
  ),
  a.text('path', 'path of a local file', ({ audio }) => audio.path, { cell: false }),
  a.column('skus', 'SKUs ordered', ({ order }) => order.skus.join(',')),
  a.column('names', 'names of the speakers', ({ order }) => order.names.join('|')),
  a.column('notes', 'notes for the transcribers', ({ order }) => order.notes ?? ''),
  a.column('test', 'test, if it is a test order', ({ order }) => (order.test ? 'test' : ''), { uncut: true }),
  a.text('key', 'key that identifies the audio instead of its URL', ({ audio }) => audio.key),
  a.text('feed', 'title of its feed', ({ audio }) => audio.details?.feed, { cell: false }),
  a.text('guid', 'guid of the episode in its feed', ({ audio }) => audio.details?.guid, { cell: false }),
  a.text('link', 'web page of the episode', ({ audio }) => audio.details?.link, { cell: false }),
]);

const rowsOfOrder = (order: PlannedOrder, batch: number): PlannedRow[] =>
  order.audios.map((audio) => ({ batch, order, audio }));

/** The documents of --dry-run: an order each. */
const planRecord = new RecordType<PlanRow>([
  a.records('audios', 'audio to order', plannedRecord, ({ order }) => rowsOfOrder(order, 0)),
  a.list('skus', 'SKUs ordered', ({ order }) => order.skus),
  a.list('names', 'names of the speakers', ({ order }) => order.names),
  a.text('notes', 'notes for the transcribers', ({ order }) => order.notes),
  a.flag('test', 'whether it is a test order', ({ order }) => order.test),
  a.plain('estimate', 'estimated cost, as far as prices are known', estimateRecord.schema, ({ estimate }) =>
    estimateRecord.json(estimate),
  ),
  a.plain('request', 'request that would be sent, without the key', { type: 'object' }, 'document'),
]);

/** Rows of a page: on a terminal each is a table of its own. */
const AUDIOS_PER_PAGE = 2000;

/** What --dry-run shows, page by page; at least one, which may be empty. */
export function* planPages(orders: readonly PlannedOrder[], isBrief: boolean): Generator<View> {
  let [page, audios, first]: [PlannedOrder[], number, number] = [[], 0, 1];
  for (const order of orders) {
    page.push(order);
    audios += order.audios.length;
    if (audios < AUDIOS_PER_PAGE) continue;
    yield planView(page, isBrief, first);
    first += page.length;
    [page, audios] = [[], 0];
  }
  if (page.length || first === 1) yield planView(page, isBrief, first);
}

/** A row for each audio. Signatures are left out. `first` is the number of the first. */
function planView(plan: readonly PlannedOrder[], isBrief: boolean, first: number): View {
  const audios = plan.flatMap((order, at) => rowsOfOrder(order, first + at));
  const shown = plannedRecord.view(audios, {
    ...(isBrief && { only: 'filled' }),
    quiet: audios.map(({ audio: { path, url } }) => path ?? cutSignatures(url)),
  });
  return { ...shown, rows: shown.rows.map((row) => row.map(cutSignatures)) };
}

interface Plan {
  readonly orders: readonly PlanRow[];
  readonly estimate: Estimate;
  readonly leftOut: readonly ShownFile[];
}

const wholePlan = new RecordType<Plan>([
  a.records('orders', 'orders that would be placed', planRecord, 'orders'),
  a.plain('estimate', 'estimated cost of all orders', estimateRecord.schema, ({ estimate }) =>
    estimateRecord.json(estimate),
  ),
  a.records('left_out', 'audio that would not be ordered', fileRecord, 'leftOut'),
]);

/** The document of --dry-run: what would be ordered, what all of it would cost, and what would be left out. */
export const planDocument = (plan: Plan): View =>
  wholePlan.view([], { json: () => cutJsonSignatures(wholePlan.json(plan)) });

export const planSchema = (): is.Schema => wholePlan.schema;

/** As `files` has them. */
const minutesText = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);

/** Audio that is left out of lists, feeds and folders. */
export const ignoredRecord = ranked<Ignored>('ignored_at ignored_by', [
  a.word('audio', 'URL, key, guid or path', 'given', { kind: 'link' }),
  a.time('ignored_at', 'when it was added to the list', 'setAt', { header: 'since', schema: is.time }),
  a.text('ignored_by', 'who added it', 'setBy', { header: 'by' }),
]);
