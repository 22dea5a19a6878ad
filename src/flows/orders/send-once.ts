/** A purchase is written to the ledger, sent once, and its outcome is written: nothing is bought twice by accident. */
import type { BeforeSend } from '../../api/http/call.ts';
import { CallError } from '../../api/http/failures.ts';
import type { SpendingLimit } from '../../ledger/budgets.ts';
import type { TakeOver } from '../../ledger/claims.ts';
import { HEARTBEAT_INTERVAL_MS, recheckTimer } from '../../ledger/lease.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import type { Begun, NewPurchase } from '../../ledger/purchase.ts';
import { Purchases } from '../../ledger/purchases.ts';
import { StenoError } from '../../lib/errors.ts';

export interface SendOnceOptions {
  readonly ledger: Ledger | undefined;
  /** The purchases whose names it may take. */
  readonly takeOver: TakeOver;
  /** Started before it was prepared; without one, the time begins with its writing. */
  readonly isRecheckDue?: (() => boolean) | undefined;
  /** A test costs nothing, and has none. */
  readonly limits?: readonly SpendingLimit[] | undefined;
  /** The ledger could not record what became of it. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
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
export type NotSent = 'held' | 'taken over';

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
      hint: 'if it is still wanted, run this again; what is on order: steno files',
      duplicate: isPlaced
        ? { reason: 'ordered', order: found.order, audiofiles: found.files, attempt: begun.attempt }
        : undefined,
    },
  );
}

/** Tells other processes that this one is still waiting for the answer. */
function startHeartbeat(ledger: Ledger | undefined, begun: Begun | undefined): () => void {
  if (!ledger || !begun) return () => {};
  const beat = async (): Promise<void> => {
    try {
      await new Purchases(ledger).heartbeat(begun);
    } catch {
      // A ledger that is locked for a moment: the next one will do.
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_INTERVAL_MS);
  return () => clearInterval(timer);
}
