/** Places one order, and tells which file belongs to which of its audios. */
import type { Transport } from '../../api/http/transport.ts';
import { type Order, placeOrder } from '../../api/orders.ts';
import { Files } from '../../ledger/files.ts';
import { recheckTimer } from '../../ledger/lease.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from '../../ledger/ordered-files.ts';
import { type Audio, detailsText } from '../../ledger/purchase.ts';
import { Uploads } from '../../ledger/uploads.ts';
import { cutSignatures } from '../../lib/audio-identity.ts';
import type { Outcome } from '../bulk.ts';
import type { OrderCosts } from './cost.ts';
import type { KeptOut, OrderGuard } from './guard.ts';
import { type PlannedOrder, requestOf } from './planned-order.ts';
import { sendOnce } from './send-once.ts';

export interface PlacedOrder {
  readonly planned: PlannedOrder;
  readonly order: Order;
  readonly files: OrderedFiles;
  /** The number of the attempt, where there is a ledger. */
  readonly attempt: number | undefined;
  /** It was placed before, and counts as placed now. */
  readonly isExisting?: true;
}

/** What became of an order. */
export type SentOrder = Outcome<PlacedOrder> & { readonly planned: PlannedOrder };

/** What was ordered before, by its order. */
export function existingOrders(rows: readonly KeptOut[]): PlacedOrder[] {
  const byPurchase = new Map<string, KeptOut[]>();
  for (const row of rows) {
    const id = row.holder?.id ?? '';
    byPurchase.set(id, [...(byPurchase.get(id) ?? []), row]);
  }
  return [...byPurchase.values()].map((ofOne) => {
    const { planned, holder } = ofOne[0] as KeptOut;
    const files = ofOne.flatMap(({ planned: { audios }, holder: { file = '' } = {} }) =>
      file ? [{ id: file, audio: audios[0] && keptAudio(audios[0]) }] : [],
    );
    const audiofiles = files.map(({ id }) => id);
    return {
      planned: { ...planned, audios: ofOne.flatMap(({ planned: { audios } }) => audios) },
      order: { id: holder?.order ?? '', audiofiles, message: '', hold: undefined, json: null },
      files: { files, remark: undefined, problem: undefined },
      attempt: holder?.attempt,
      isExisting: true,
    };
  });
}

/** What counts as ordered gets the tags that it would have been ordered with. */
export async function tagExisting(ledger: Ledger | undefined, rows: readonly KeptOut[]): Promise<void> {
  const tagged = rows.flatMap(({ planned: { audios }, holder }) => {
    const tags = audios.flatMap(({ details }) => details?.tags ?? []);
    return holder?.file && tags.length ? [[holder.file, tags] as const] : [];
  });
  if (ledger && tagged.length) await new Files(ledger).addTags(new Map(tagged));
}

/** The ids of its files; the answer may also name a file of another order. */
export const ownFiles = ({ files }: PlacedOrder): string[] => files.files.map(({ id }) => id);

export interface PlaceOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** Gives the files of this machine their URLs; what can't be uploaded is left out of the order. */
  readonly upload?: ((order: PlannedOrder) => Promise<PlannedOrder>) | undefined;
  readonly costs?: OrderCosts | undefined;
  /** The ledger could not record what became of an order. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
}

/** Gives nothing where another process was faster with some of it: then it is back with the guard. */
export async function placeOne(
  wanted: PlannedOrder,
  guard: OrderGuard,
  options: PlaceOptions,
): Promise<PlacedOrder | undefined> {
  const { transport, ledger, costs, onLedgerError } = options;
  const planned = (await options.upload?.(wanted)) ?? wanted;
  if (planned.audios.length === 0) return undefined;
  const isRecheckDue = recheckTimer();
  const purchase = costs?.priced(planned) ?? planned;
  const takeOver = guard.takeOver(wanted);
  const sent = await sendOnce(
    purchase,
    { ledger, takeOver, limits: costs?.limits, onLedgerError, isRecheckDue },
    {
      send: (check) => placeOrder(transport, requestOf(planned), check),
      keep: (purchases, begun, order) => purchases.markPlaced(begun, purchase, order),
    },
  );
  // Not as it was wanted: what was uploaded has its URL, and what could not be is told.
  if (sent === 'held') return giveBack(planned, guard, costs);
  if (typeof sent === 'string') return void (await guard.putBack(planned));
  const { answer: order, kept, attempt } = sent;
  if (planned !== wanted) await forgetUploads(ledger, planned).catch(onLedgerError);
  const files = kept ?? matchFiles(planned.audios.map(keptAudio), order.audiofiles, new Map());
  return { planned, order, attempt, files };
}

/** Another process was faster, or a budget no longer covers it. */
async function giveBack(
  order: PlannedOrder,
  guard: OrderGuard,
  costs: OrderCosts | undefined,
): Promise<undefined> {
  if (!(await costs?.refuses(order, guard))) await guard.putBack(order);
}

async function forgetUploads(ledger: Ledger | undefined, { test, audios }: PlannedOrder): Promise<void> {
  // After a test the same files are mostly ordered in earnest.
  if (ledger && !test) await new Uploads(ledger).forget(audios.map(({ url }) => url));
}

/** As the ledger keeps it. */
export const keptAudio = ({ url, key, details }: Audio): OrderedAudio => ({
  ...{ url, key, details: detailsText(details, cutSignatures) },
});
