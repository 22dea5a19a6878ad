/** Places one order, and tells which file belongs to which of its audios. */

import type { BeforeSend } from '../../api/http/call.ts';
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Order, placeOrder } from '../../api/orders.ts';
import type { SpendingLimit } from '../../ledger/budgets.ts';
import type { TakeOver } from '../../ledger/claims.ts';
import { Files } from '../../ledger/files.ts';
import { HEARTBEAT_INTERVAL_MS, recheckTimer } from '../../ledger/lease.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { matchFiles, type OrderedFiles } from '../../ledger/ordered-files.ts';
import type { Begun, NewPurchase } from '../../ledger/purchase.ts';
import { Purchases } from '../../ledger/purchases.ts';
import { StenoError } from '../../lib/errors.ts';
import { groupBy, type Outcome } from '../bulk.ts';
import type { OrderCosts } from './cost.ts';
import type { KeptOut } from './guard.ts';
import { type PlannedOrder, requestOf } from './planned-order.ts';

// A purchase is written to the ledger, sent once, and its outcome is written: nothing is bought twice by accident.

interface SendOnceOptions extends Pick<PlaceOptions, 'ledger' | 'onLedgerError'> {
  /** The purchases whose names it may take. */
  readonly takeOver: TakeOver;
  /** Started before it was prepared; without one, the time begins with its writing. */
  readonly isRecheckDue?: (() => boolean) | undefined;
  /** A test costs nothing, and has none. */
  readonly limits?: readonly SpendingLimit[] | undefined;
}

export interface Sending<Answer, Kept> {
  /** Sends it; `check` is called right before the first byte. */
  readonly send: (check: BeforeSend) => Promise<Answer>;
  /** Writes to the ledger that it was accepted. */
  readonly keep: (purchases: Purchases, begun: Begun, answer: Answer) => Promise<Kept>;
}

export interface Sent<Answer, Kept> {
  readonly answer: Answer;
  /** Absent without a ledger, or where it could not record the outcome. */
  readonly kept: Kept | undefined;
  /** The number of the attempt, where there is a ledger. */
  readonly attempt: number | undefined;
}

/** Not sent: another purchase holds some of it or a limit does not allow it; or another process took it over. */
type NotSent = 'held' | 'taken over';

export async function sendOnce<Answer, Kept>(
  purchase: NewPurchase,
  { ledger, takeOver, limits, onLedgerError, isRecheckDue = recheckTimer() }: SendOnceOptions,
  { send, keep }: Sending<Answer, Kept>,
): Promise<Sent<Answer, Kept> | NotSent> {
  const begun = await (ledger &&
    new Purchases(ledger).begin(purchase, takeOver, purchase.test ? [] : limits));
  if (ledger && begun === undefined) return 'held';
  const stopHeartbeat = startHeartbeat(ledger, begun);
  // It stands, whether or not the ledger can record it: that must not hide it.
  const record = async <T>(
    write: (purchases: Purchases, begun: Begun) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return ledger && begun ? await write(new Purchases(ledger), begun) : undefined;
    } catch (error) {
      await onLedgerError(error);
      return undefined;
    }
  };
  try {
    const answer = await send(() => (isRecheckDue() ? checkStillOurs(ledger, begun, purchase) : undefined));
    const kept = await record((purchases, own) => keep(purchases, own, answer));
    return { answer, kept, attempt: begun?.attempt };
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    const isUnknown = error instanceof CallError && error.outcomeUnknown;
    await record((purchases, own) =>
      isUnknown
        ? purchases.markUncertain(own, purchase, error.message)
        : purchases.markRefused(own, purchase, error.message),
    );
    if (error instanceof TakenOver) return 'taken over';
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** Another process has claimed what this one was about to send. */
class TakenOver extends StenoError {}

/** A process that was stopped, or a machine that slept, may go on after others have settled or taken over its purchase. */
async function checkStillOurs(
  ledger: Ledger | undefined,
  begun: Begun | undefined,
  purchase: NewPurchase,
): Promise<void> {
  if (!ledger || !begun || (await new Purchases(ledger).renew(begun, purchase))) return;
  const found = await new OpenAttempts(ledger).get(begun.attempt);
  if (found?.status !== 'placed' && found?.status !== 'refused')
    throw new TakenOver('duplicate', 'it was not sent: another process took it over');
  const isPlaced = found.status === 'placed';
  const settled = isPlaced ? `placed${found.order ? ` as order ${found.order}` : ''}` : 'not placed';
  throw new StenoError(
    isPlaced ? 'duplicate' : 'failed',
    `it was not sent: attempt ${begun.attempt} was settled as ${settled} while this process was suspended`,
    {
      hint: 'run this again if you still want it; see what is on order: steno files',
      duplicate: isPlaced
        ? { reason: 'ordered', order: found.order, audiofiles: found.files, attempt: begun.attempt }
        : undefined,
    },
  );
}

function startHeartbeat(ledger: Ledger | undefined, begun: Begun | undefined): () => void {
  if (!ledger || !begun) return () => {};
  // A ledger that is locked for a moment: the next one will do.
  const beat = (): void => void new Purchases(ledger).heartbeat(begun).catch(() => {});
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS);
  return () => clearInterval(timer);
}

export interface PlacedOrder {
  readonly planned: PlannedOrder;
  readonly order: Order;
  readonly files: OrderedFiles;
  /** The number of the attempt, where there is a ledger. */
  readonly attempt: number | undefined;
  /** It was placed before, and counts as placed now. */
  readonly isExisting?: true;
}

export type SentOrder = Outcome<PlacedOrder> & { readonly planned: PlannedOrder };

/** What was ordered before, by its order. */
export function existingOrders(rows: readonly KeptOut[]): PlacedOrder[] {
  const byPurchase = groupBy(rows, ({ holder }) => holder?.id ?? '');
  return [...byPurchase.values()].map((ofOne) => {
    const { planned, holder } = ofOne[0] as KeptOut;
    const files = ofOne.flatMap(({ holder }, position) =>
      holder?.file ? [{ id: holder.file, position, known: !holder.assumed }] : [],
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

export const ownFiles = ({ files }: PlacedOrder): string[] => files.files.map(({ id }) => id);

export interface PlaceOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** What it costs, and whether it may; a refund has none. */
  readonly costs?: OrderCosts | undefined;
  /** The ledger could not record what became of it. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
}

/** Undefined if another process has ordered part of it first, or spent the rest of the budget. */
export async function placeOne(
  planned: PlannedOrder,
  { transport, ledger, costs, onLedgerError }: PlaceOptions,
): Promise<PlacedOrder | undefined> {
  const isRecheckDue = recheckTimer();
  const purchase = costs?.priced(planned) ?? planned;
  const sent = await sendOnce(
    purchase,
    { ledger, takeOver: planned.takeOver ?? [], limits: costs?.limits, onLedgerError, isRecheckDue },
    {
      send: (check) => placeOrder(transport, requestOf(planned), check),
      keep: (purchases, begun, order) => purchases.markPlaced(begun, purchase, order),
    },
  );
  if (typeof sent === 'string') return undefined;
  const { answer: order, kept, attempt } = sent;
  return { planned, order, attempt, files: kept ?? matchFiles(planned.audios, order.audiofiles, new Map()) };
}
