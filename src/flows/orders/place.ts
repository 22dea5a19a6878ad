/** An order is written to the ledger, sent once, and its outcome is written: nothing is bought twice by accident. */
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Order, placeOrder } from '../../api/orders.ts';
import { HEARTBEAT_INTERVAL_MS } from '../../ledger/lease.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { matchFiles, type OrderedFiles } from '../../ledger/ordered-files.ts';
import { StenoError } from '../../lib/errors.ts';
import type { OrderGuard } from './guard.ts';
import { type PlannedOrder, requestOf } from './plan.ts';

export interface PlacedOrder {
  readonly planned: PlannedOrder;
  readonly order: Order;
  readonly files: OrderedFiles;
  /** The number of the attempt, where there is a ledger. */
  readonly attempt: number | undefined;
}

export interface PlaceOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** The ledger could not record what became of an order. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
}

/** Gives nothing where another process was faster with some of it: then it is back with the guard. */
export async function placeOne(
  planned: PlannedOrder,
  guard: OrderGuard,
  options: PlaceOptions,
): Promise<PlacedOrder | undefined> {
  const { transport, ledger } = options;
  const attempt = ledger?.attempts.begin(planned, guard.takeOver(planned));
  if (ledger && attempt === undefined) {
    guard.putBack(planned);
    return undefined;
  }
  const stopHeartbeat = startHeartbeat(ledger, attempt);
  // The order stands, whether or not the ledger can record it: that must not hide it.
  const record = async <T>(
    write: (attempts: Ledger['attempts'], attempt: number) => T,
  ): Promise<T | undefined> => {
    try {
      return ledger && attempt !== undefined ? write(ledger.attempts, attempt) : undefined;
    } catch (error) {
      await options.onLedgerError(error);
      return undefined;
    }
  };
  try {
    const order = await placeOrder(transport, requestOf(planned));
    const files = await record((attempts, id) => attempts.markPlaced(id, planned, order));
    return {
      planned,
      order,
      attempt,
      files: files ?? matchFiles(planned.audios, order.audiofiles, new Map()),
    };
  } catch (error) {
    if (error instanceof StenoError) {
      const isUnknown = error instanceof CallError && error.outcomeUnknown;
      await record((attempts, id) =>
        isUnknown ? attempts.markUncertain(id, error.message) : attempts.markRefused(id, error.message),
      );
    }
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** Tells other processes that this one is still waiting for the answer. */
function startHeartbeat(ledger: Ledger | undefined, attempt: number | undefined): () => void {
  if (!ledger || attempt === undefined) return () => {};
  const timer = setInterval(() => {
    try {
      ledger.attempts.heartbeat(attempt);
    } catch {
      // A ledger that is locked for a moment: the next one will do.
    }
  }, HEARTBEAT_INTERVAL_MS);
  return () => clearInterval(timer);
}
