/** Places planned orders and, where asked, waits for their files and downloads the transcripts. */
import { type AudioFile, orderedFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { Order, OrderRequest } from '../../api/orders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { failures, type Outcome, values } from '../bulk.ts';
import type { PollOptions } from '../files/poll.ts';
import { raiseUndelivered } from '../files/wait.ts';
import { type DownloadTarget, type WaitResult, waitAndDownload } from '../files/wait-and-download.ts';
import { type DuplicateOptions, type PlacedOrder, placeOrders, raiseUnplaced } from './place.ts';

export interface OrderAndWaitOptions extends DuplicateOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** Absent: the files are not waited for. */
  readonly wait: (PollOptions & DownloadTarget) | undefined;
  /** An order on hold counts as a failure even if nothing is waited for. */
  readonly failOnHold: boolean;
}

export interface OrderCallbacks {
  /** Runs the sending of the orders, so that the caller can show that it is under way. */
  readonly whilePlacing: <T>(work: () => Promise<T>) => Promise<T>;
  /** The ledger could not record what became of an order. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
  /** Called with what was placed before the waiting for it begins. */
  readonly onPlaced: (orders: readonly Order[]) => void;
  /** Runs the waiting for a number of files; the work reports how many have come to an end. */
  readonly whileWaiting: <T>(
    files: number,
    work: (onProgress: (ended: number) => void) => Promise<T>,
  ) => Promise<T>;
}

export interface WaitedOrders extends WaitResult {
  /** Files that were not waited for, because their order is on hold. */
  readonly held: readonly AudioFile[];
}

export interface OrderResult {
  readonly outcomes: readonly Outcome<PlacedOrder>[];
  readonly placed: readonly PlacedOrder[];
  /** Absent where nothing was waited for, or the waiting broke off. */
  readonly waited?: WaitedOrders;
  /** What broke off the waiting; the orders are placed all the same. */
  readonly waitError?: unknown;
  /** Says which orders are on hold. */
  readonly hold: StenoError | undefined;
  readonly holdIsFailure: boolean;
}

export async function orderAndWait(
  requests: readonly OrderRequest[],
  options: OrderAndWaitOptions,
  callbacks: OrderCallbacks,
): Promise<OrderResult> {
  const { transport, ledger, wait, again, skipOrdered } = options;
  const guard = { again, skipOrdered, onLedgerError: callbacks.onLedgerError };
  const outcomes = await callbacks.whilePlacing(() => placeOrders(requests, transport, ledger, guard));
  const placed = values(outcomes);
  const orders = placed.map(({ order }) => order);
  const result = {
    outcomes,
    placed,
    hold: holdError(orders),
    holdIsFailure: options.failOnHold || wait !== undefined,
  };
  if (!wait || placed.length === 0 || wait.signal.aborted) return result;
  callbacks.onPlaced(orders);
  try {
    return { ...result, waited: await waitForOrders(orders, wait, options, callbacks) };
  } catch (waitError) {
    return { ...result, waitError };
  }
}

/** Waits for what is under way; the files of a held order are not waited for. */
async function waitForOrders(
  orders: readonly Order[],
  wait: PollOptions & DownloadTarget,
  { transport, ledger }: OrderAndWaitOptions,
  { whileWaiting }: OrderCallbacks,
): Promise<WaitedOrders> {
  const ids = orders.flatMap(({ hold, audiofiles }) => (hold ? [] : audiofiles));
  const waited = await whileWaiting(ids.length, (onProgress) =>
    waitAndDownload(ids, { transport, ledger, poll: wait, onProgress }, wait),
  );
  const held = orders.flatMap(({ id, hold, audiofiles }) =>
    (hold ? audiofiles : []).map((file) => orderedFile(file, id, 'On Hold')),
  );
  return { ...waited, held };
}

function holdError(orders: readonly Order[]): StenoError | undefined {
  const held = orders.filter(({ hold }) => hold);
  if (held.length === 0) return undefined;
  const text = held.map(
    ({ id, hold }) => `order ${id} is on hold (${hold}): no work begins until the hold is released`,
  );
  const hint = held.some(({ hold }) => hold === 'billing')
    ? 'billing means a past-due balance: pay it and the order resumes by itself'
    : 'the service says when it is released; look with: steno file';
  return new StenoError('held', text.join('; '), { hint });
}

/** Raises what went wrong: first orders that were not placed, then files without a transcript, then holds. */
export function raiseOrderFailures(result: OrderResult): void {
  const { outcomes, waited, waitError, hold, holdIsFailure } = result;
  if (waitError !== undefined) throw waitError;
  const files = waited?.outcomes ?? [];
  raiseUnplaced(outcomes, failures(files));
  raiseUndelivered(files);
  if (hold && holdIsFailure) throw hold;
}
