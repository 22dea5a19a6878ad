/** Places planned orders and, where asked, waits for their files and downloads the transcripts. */
import { type AudioFile, orderedFile } from '../../api/files.ts';
import type { Order } from '../../api/orders.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { BulkError, errorMessage, type Failure, StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { failures, values } from '../bulk.ts';
import type { PollOptions } from '../files/poll.ts';
import { type DownloadTarget, raiseUndelivered, type WaitResult, waitAndDownload } from '../files/wait.ts';
import { type RaiseOptions, raiseUnplaced } from './failures.ts';
import type { OrderGuard } from './guard.ts';
import {
  existingOrders,
  ownFiles,
  type PlacedOrder,
  type PlaceOptions,
  placeOne,
  tagExisting,
} from './place.ts';
import { describeUrls, type PlannedOrder } from './planned-order.ts';
import { type SendingOptions, type SentOrders, sendOrders } from './sending.ts';

export interface OrderAndWaitOptions
  extends Pick<SendingOptions, 'signal' | 'pauseLimitMs' | 'halves'>,
    Pick<PlaceOptions, 'transport' | 'ledger' | 'costs'> {
  /** Gives the files of an order their URLs; what can't be uploaded is left out, and told. */
  readonly upload?:
    | ((order: PlannedOrder, report: Report, onFailure: (failure: Failure) => void) => Promise<PlannedOrder>)
    | undefined;
  /** For what is noted while it waits: an order is written to the ledger itself. */
  readonly notes?: LedgerNotes | undefined;
  /** Absent: the files are not waited for. */
  readonly wait: (PollOptions & DownloadTarget) | undefined;
  /** An order on hold counts as a failure even if nothing is waited for. */
  readonly failOnHold: boolean;
}

export interface OrderCallbacks
  extends Pick<SendingOptions, 'onWaitForOthers'>,
    Pick<PlaceOptions, 'onLedgerError'> {
  /** Runs the sending of the orders, so that the caller can show that it is under way; the work says how far it is. */
  readonly whilePlacing: <T>(work: (report: Report) => Promise<T>) => Promise<T>;
  /** Called with what was placed before the waiting for it begins. */
  readonly onPlaced: (orders: readonly Order[]) => void;
  /** Runs the waiting for files; the work reports their states. */
  readonly whileWaiting: <T>(work: (report: Report) => Promise<T>) => Promise<T>;
}

interface WaitedOrders extends WaitResult {
  /** Files that were not waited for, because their order is on hold. */
  readonly held: readonly AudioFile[];
}

export interface OrderResult {
  readonly sent: SentOrders;
  readonly placed: readonly PlacedOrder[];
  /** Absent where nothing was waited for, or the waiting broke off. */
  readonly waited?: WaitedOrders;
  /** What broke off the waiting; the orders are placed all the same. */
  readonly waitError?: StenoError;
  /** What a budget did not reach for. */
  readonly overBudget: readonly PlannedOrder[];
  /** Says which orders are on hold. */
  readonly hold: StenoError | undefined;
  readonly holdIsFailure: boolean;
}

export async function orderAndWait(
  guard: OrderGuard,
  options: OrderAndWaitOptions,
  callbacks: OrderCallbacks,
): Promise<OrderResult> {
  const { transport, ledger, wait, signal, pauseLimitMs, halves, upload, costs } = options;
  const { onLedgerError, onWaitForOthers } = callbacks;
  const fresh = await callbacks.whilePlacing((report) =>
    sendOrders(
      guard,
      (order, onSending) =>
        placeOne(order, guard, {
          ...{ transport, ledger, costs, onLedgerError },
          upload:
            upload &&
            ((each) =>
              upload(each, report, (failure) => void guard.failures.push(failure)).finally(onSending)),
        }),
      { signal, pauseLimitMs, halves, report, onWaitForOthers },
    ),
  );
  await tagExisting(ledger, guard.existing);
  const existing = existingOrders(guard.existing).map((value) => ({
    ...{ what: describeUrls(value.planned), value, planned: value.planned },
  }));
  const sent = { ...fresh, outcomes: [...existing, ...fresh.outcomes] };
  const placed = values<PlacedOrder>(sent.outcomes);
  const orders = placed.map(({ order }) => order);
  const result = {
    sent,
    placed,
    overBudget: guard.overBudget,
    hold: holdError(orders),
    holdIsFailure: options.failOnHold || wait !== undefined,
  };
  if (!wait || placed.length === 0 || wait.signal.aborted) return result;
  callbacks.onPlaced(orders);
  try {
    return { ...result, waited: await waitForOrders(placed, wait, options, callbacks) };
  } catch (error) {
    return { ...result, waitError: asStenoError(error) };
  }
}

/** Waits for what is under way; the files of a held order are not waited for. */
async function waitForOrders(
  placed: readonly PlacedOrder[],
  wait: PollOptions & DownloadTarget,
  { transport, ledger, notes }: OrderAndWaitOptions,
  { whileWaiting }: OrderCallbacks,
): Promise<WaitedOrders> {
  const ids = [...new Set(placed.flatMap((each) => (each.order.hold ? [] : ownFiles(each))))];
  const waited = await whileWaiting((report) =>
    waitAndDownload(ids, { transport, ledger, notes, poll: wait, report }, wait),
  );
  const held = placed.flatMap((each) =>
    (each.order.hold ? ownFiles(each) : []).map((file) => orderedFile(file, each.order.id, 'On Hold')),
  );
  return { ...waited, held };
}

function holdError(orders: readonly Order[]): StenoError | undefined {
  const held = heldOrders(orders);
  if (held.length === 0) return undefined;
  const text = held.map(({ what, error }) => `${what} ${error.message}`);
  const billing = orders.find(({ hold }) => hold === 'billing');
  const { hint } = heldOrder(billing?.hold ?? '');
  return new StenoError('held', text.join('; '), { hint });
}

const heldOrders = (orders: readonly Order[]): Failure[] =>
  orders.flatMap(({ id, hold }) => (hold ? [{ what: `order ${id}`, error: heldOrder(hold) }] : []));

export function heldOrder(hold: string): StenoError {
  const hint =
    hold === 'billing'
      ? 'billing means a past-due balance: pay it and the order resumes by itself'
      : 'the service says when it is released; look with: steno file';
  return new StenoError('held', `is on hold (${hold}): no work begins until the hold is released`, { hint });
}

/** Raises what went wrong: orders that were not placed, a wait that broke off, files without a transcript, holds. */
export function raiseOrderFailures(
  result: OrderResult,
  options: RaiseOptions & { readonly waitLine: (orders: readonly Order[]) => string },
): void {
  const { waitLine } = options;
  const { sent, placed, waited, waitError, hold, holdIsFailure } = result;
  const orders = placed.map(({ order }) => order);
  const held = holdIsFailure ? heldOrders(orders) : [];
  const files = waited?.outcomes ?? [];
  const brokeOff = waitError === undefined ? [] : [{ what: 'waiting', error: waitError }];
  raiseUnplaced(sent, options, [...held, ...failures(files), ...brokeOff]);
  if (waitError !== undefined) throw orderStands(orders, waitError, waitLine);
  try {
    const holds = held.map(({ what, error }) => ({ what, error, file: undefined }));
    raiseUndelivered([...files, ...(failures(files).length ? holds : [])]);
  } catch (error) {
    throw error instanceof StenoError && !isEnd(error) ? orderStands(orders, error, waitLine) : error;
  }
  if (hold && holdIsFailure) throw hold;
}

/** Waiting on brings nothing for a file that is cancelled or held; after any other error it may. */
const isEnd = ({ kind }: StenoError): boolean => kind === 'unfinished' || kind === 'held';

const asStenoError = (error: unknown): StenoError =>
  error instanceof StenoError ? error : new StenoError('failed', errorMessage(error), { cause: error });

/** The orders are placed, although the waiting for them failed. */
function orderStands(
  orders: readonly Order[],
  error: StenoError,
  waitLine: (orders: readonly Order[]) => string,
): StenoError {
  const [first] = orders;
  const one = orders.length === 1;
  const standing = one ? `order ${first?.id} is placed` : `${orders.length} orders are placed`;
  const message = `${standing}; waiting for ${one ? 'it' : 'them'} broke off: ${error.message}`;
  const hint = `go on waiting with: ${waitLine(orders)}`;
  // An id that can't be asked for is a mistake of the service's here, and exit 2 would say that nothing was sent.
  const kind = error.kind === 'usage' ? 'failed' : error.kind;
  return new BulkError(kind, message, error instanceof BulkError ? error.failures : [], hint);
}
