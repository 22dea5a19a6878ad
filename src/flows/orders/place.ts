/** An order is written to the ledger, sent once, and its outcome is written: nothing is bought twice by accident. */
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Order, placeOrder } from '../../api/orders.ts';
import type { Audio } from '../../ledger/audio-names.ts';
import { HEARTBEAT_INTERVAL_MS, recheckTimer } from '../../ledger/lease.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from '../../ledger/ordered-files.ts';
import type { Begun, NewPurchase } from '../../ledger/purchase.ts';
import { StenoError } from '../../lib/errors.ts';
import type { OrderCosts } from './cost.ts';
import type { OrderGuard } from './guard.ts';
import { type PlannedOrder, requestOf } from './planned-order.ts';

export interface PlacedOrder {
  readonly planned: PlannedOrder;
  readonly order: Order;
  readonly files: OrderedFiles;
  /** The number of the attempt, where there is a ledger. */
  readonly attempt: number | undefined;
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
  const { transport, ledger, costs } = options;
  const planned = (await options.upload?.(wanted)) ?? wanted;
  if (planned.audios.length === 0) return undefined;
  const isRecheckDue = recheckTimer();
  const purchase = costs?.priced(planned) ?? planned;
  const begun = await ledger?.purchases.begin(purchase, guard.takeOver(wanted), costs?.limits);
  // Not as it was wanted: what was uploaded has its URL, and what could not be is told.
  if (ledger && begun === undefined) return giveBack(planned, guard, costs);
  const stopHeartbeat = startHeartbeat(ledger, begun);
  // The order stands, whether or not the ledger can record it: that must not hide it.
  const record = async <T>(
    write: (purchases: Ledger['purchases'], begun: Begun) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return ledger && begun ? await write(ledger.purchases, begun) : undefined;
    } catch (error) {
      await options.onLedgerError(error);
      return undefined;
    }
  };
  try {
    const check = (): Promise<void> | undefined =>
      isRecheckDue() ? checkStillOurs(ledger, begun, purchase) : undefined;
    const order = await placeOrder(transport, requestOf(planned), check);
    const files = await record((purchases, own) => purchases.markPlaced(own, purchase, order));
    if (planned !== wanted) await record(() => forgetUploads(ledger, planned));
    return {
      planned,
      order,
      attempt: begun?.attempt,
      files: files ?? matchFiles(planned.audios.map(plainAudio), order.audiofiles, new Map()),
    };
  } catch (error) {
    if (error instanceof TakenOver) {
      await record((purchases, own) => purchases.markRefused(own, purchase, error.message));
      await guard.putBack(planned);
      return undefined;
    }
    if (error instanceof StenoError) {
      const isUnknown = error instanceof CallError && error.outcomeUnknown;
      await record((purchases, own) =>
        isUnknown
          ? purchases.markUncertain(own, purchase, error.message)
          : purchases.markRefused(own, purchase, error.message),
      );
    }
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** Another process was faster, or a budget does not reach for it any more. */
async function giveBack(
  order: PlannedOrder,
  guard: OrderGuard,
  costs: OrderCosts | undefined,
): Promise<undefined> {
  if (!(await costs?.refuses(order, guard))) await guard.putBack(order);
}

async function forgetUploads(ledger: Ledger | undefined, { test, audios }: PlannedOrder): Promise<void> {
  // After a test the same files are mostly ordered in earnest.
  if (!test) await ledger?.uploads.forget(audios.map(({ url }) => url));
}

const plainAudio = ({ url, key }: Audio): OrderedAudio => ({ url, key });

/** Another process has claimed what this one was about to send. */
class TakenOver extends StenoError {}

/** A process that was stopped, or a machine that slept, may go on after others have settled or taken over its order. */
async function checkStillOurs(
  ledger: Ledger | undefined,
  begun: Begun | undefined,
  purchase: NewPurchase,
): Promise<void> {
  if (!ledger || !begun || (await ledger.purchases.renew(begun, purchase))) return;
  const found = await ledger.openAttempts.get(begun.attempt);
  if (found?.status !== 'placed' && found?.status !== 'refused')
    throw new TakenOver('duplicate', 'it was not sent: another process took it over');
  const isPlaced = found.status === 'placed';
  const settled = isPlaced ? `placed as order ${found.order}` : 'not placed';
  throw new StenoError(
    isPlaced ? 'duplicate' : 'failed',
    `it was not sent: attempt ${begun.attempt} was settled as ${settled} while this process was suspended`,
    { hint: 'if it is still wanted, order it again; what is on order: steno files' },
  );
}

/** Tells other processes that this one is still waiting for the answer. */
function startHeartbeat(ledger: Ledger | undefined, begun: Begun | undefined): () => void {
  if (!ledger || !begun) return () => {};
  const beat = async (): Promise<void> => {
    try {
      await ledger.purchases.heartbeat(begun);
    } catch {
      // A ledger that is locked for a moment: the next one will do.
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_INTERVAL_MS);
  return () => clearInterval(timer);
}
