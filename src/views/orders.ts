/** Orders that were placed, those that would be, and audio that is never ordered. */
import type { Order } from '../api/orders.ts';
import type { ShownFile } from '../flows/files/shown.ts';
import type { OrderResult } from '../flows/orders/order-flow.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import type { PlannedAudio, PlannedOrder } from '../flows/orders/planned-order.ts';
import type { Estimate } from '../flows/prices/estimate.ts';
import type { Ignored } from '../ledger/ignored-audio.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { cutJsonSignatures, cutSignatures, withoutSignature } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { fileDocuments, fileRecord } from './files.ts';
import { amountJson, estimateJson, estimateSchema } from './money.ts';
import {
  countField,
  documentOf,
  flagField,
  listField,
  RecordType,
  textField,
  timeField,
  wordField,
} from './record.ts';
import * as is from './schema.ts';
import { writtenPaths } from './transcripts.ts';

type OrderRow = Readonly<Record<'id' | 'order' | 'hold' | 'url', string>>;

/** The rows of orders that are not waited for; their JSON are file documents. */
export const orderRecord = new RecordType<OrderRow>([
  textField('audiofile', 'audiofile id', 'id', { kind: 'id' }),
  textField('order', 'order id', 'order', { importance: 70, uncut: true }),
  textField('state', 'ordered, or On Hold', ({ hold }) => (hold ? 'On Hold' : 'ordered'), { kind: 'state' }),
  textField('url', 'URL of the audio, without signatures', 'url', { kind: 'link', importance: 60 }),
  textField('hold', 'why the order is on hold', 'hold', { importance: 65, uncut: true }),
]);

/** People see which columns have something. */
export function ordersTable(placed: readonly PlacedOrder[], isBrief: boolean): View {
  const all = placed.flatMap(rowsOf);
  const view = orderRecord.view(all);
  if (!isBrief) return view;
  const hold = all.some((each) => each.hold) ? ['hold'] : [];
  return orderRecord.some(view, ['audiofile', 'order', 'state', ...hold, 'url']);
}

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

/** The files of a list of orders. Rows: of what was ordered. */
export function orderedView(
  files: readonly ShownFile[],
  { placed, waited }: OrderResult,
  waits: boolean,
): View {
  const ordered = files.filter(({ row, error, leftOut }) => !leftOut && (row.order_id || !error));
  const { columns, rows } = waits ? fileRecord.view(ordered) : ordersTable(placed, false);
  // Without files that the answer names, but that are of another order.
  const ids = placed.flatMap((each) => each.files.files.map(({ id }) => id));
  const quiet = waited?.saved ? writtenPaths(waited.saved) : [...new Set(ids)];
  return { json: fileDocuments(files, true), columns, rows, quiet };
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

/** The rows of --dry-run. */
export const plannedRecord = new RecordType<PlannedRow>([
  countField('batch', 'number of the order that it goes into, starting with 1', 'batch', { kind: 'id' }),
  textField('title', 'title of the episode or file', ({ audio }) => audio.details?.title, { importance: 80 }),
  timeField('published_at', 'when the episode was published', ({ audio }) => audio.details?.published, {
    header: 'published',
    importance: 40,
  }),
  textField('minutes', 'length of the audio in minutes', ({ audio }) => minutesText(audio.details?.seconds), {
    header: 'length',
    kind: 'minutes',
    importance: 50,
  }),
  textField('url', 'URL of the audio, or path of a local file', ({ audio }) => audio.path ?? audio.url, {
    kind: 'link',
    importance: 70,
  }),
  listField('skus', 'SKUs ordered', ({ order }) => order.skus, { importance: 60 }),
  listField('names', 'names of the speakers', ({ order }) => order.names, { separator: '|', importance: 20 }),
  textField('notes', 'notes for the transcribers', ({ order }) => order.notes, { importance: 30 }),
  textField('test', 'test, if it is a test order', ({ order }) => (order.test ? 'test' : ''), {
    importance: 65,
    uncut: true,
  }),
  textField('key', 'key that identifies the audio instead of its URL', ({ audio }) => audio.key),
]);

const plannedAudio = documentOf<PlannedAudio>({
  url: [
    is.maybeText,
    ({ path, url }) => (path === undefined ? url : null),
    'URL of the audio; null for a local file, which has none yet',
  ],
  path: [is.maybeText, 'path', 'path of a local file'],
  title: [is.maybeText, ({ details }) => details?.title || null],
  published_at: [is.maybeTime, ({ details }) => details?.published],
  minutes: [is.maybeNumber, ({ details }) => amountJson(minutesText(details?.seconds))],
  key: [is.maybeText, 'key', 'key that identifies the audio instead of its URL'],
  feed: [is.maybeText, ({ details }) => details?.feed, 'title of its feed'],
  guid: [is.maybeText, ({ details }) => details?.guid, 'guid of the episode in its feed'],
  link: [is.maybeText, ({ details }) => details?.link, 'web page of the episode'],
});

/** The documents of --dry-run: an order each. */
const planRecord = new RecordType<PlanRow>([
  {
    ...{ name: 'audios', help: 'audio to order', schema: is.arrayOf(plannedAudio.schema) },
    json: ({ order }) => order.audios.map(plannedAudio.json),
  },
  listField('skus', 'SKUs ordered', ({ order }) => order.skus),
  listField('names', 'names of the speakers', ({ order }) => order.names),
  textField('notes', 'notes for the transcribers', ({ order }) => order.notes),
  flagField('test', 'whether it is a test order', ({ order }) => order.test),
  {
    ...{ name: 'estimate', help: 'estimated cost, as far as prices are known' },
    ...{ schema: estimateSchema, json: ({ estimate }) => estimateJson(estimate) },
  },
  {
    ...{ name: 'request', help: 'request that would be sent, without the key', schema: { type: 'object' } },
    json: ({ document }) => document,
  },
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
  const audios = plan.flatMap((order, at) =>
    order.audios.map((audio) => ({ batch: first + at, order, audio })),
  );
  const all = plannedRecord.view(audios);
  const shown = isBrief ? plannedRecord.filled(all) : all;
  return {
    json: null,
    columns: shown.columns,
    get rows() {
      return shown.rows.map((row) => row.map(cutSignatures));
    },
    quiet: audios.map(({ audio: { path, url } }) => path ?? cutSignatures(url)),
  };
}

/** The document of --dry-run: what would be ordered, what all of it would cost, and what would be left out. */
export const planDocument = (
  plan: readonly PlanRow[],
  estimate: Estimate,
  leftOut: readonly ShownFile[],
): View => ({
  json: cutJsonSignatures(
    new Map<string, Json>([
      ['orders', plan.map((row) => planRecord.json(row))],
      ['estimate', estimateJson(estimate)],
      ['left_out', fileDocuments(leftOut, true)],
    ]),
  ),
  ...{ columns: [], rows: [], quiet: [] },
});

export const planSchema: is.Schema = is.object({
  orders: is.described('orders that would be placed', is.arrayOf(planRecord.schema)),
  estimate: is.described('estimated cost of all orders', estimateSchema),
  left_out: is.described(
    'audio that would not be ordered, as in order --json',
    is.arrayOf(fileRecord.schema),
  ),
});

/** As `files` has them. */
const minutesText = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);

/** Audio that is left out of lists, feeds and folders. */
export const ignoredRecord = new RecordType<Ignored>([
  wordField('audio', 'URL, key, guid or path', 'given', { kind: 'link' }),
  timeField('ignored_at', 'when it was added to the list', 'setAt', {
    header: 'since',
    importance: 80,
    schema: is.time,
  }),
  textField('ignored_by', 'who added it', 'setBy', { header: 'by', importance: 50 }),
]);
