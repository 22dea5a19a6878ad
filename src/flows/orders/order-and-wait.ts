/** Places planned orders and, where asked, waits for their files and downloads the transcripts. */
import { type AudioFile, orderedFile } from '../../api/files.ts';
import type { Order } from '../../api/orders.ts';
import { BulkError, errorMessage, type Failure, StenoError } from '../../lib/errors.ts';
import { failures, values } from '../bulk.ts';
import {
  type DownloadTarget,
  raiseUndelivered,
  type WaitOptions,
  type WaitResult,
  waitAndDownload,
} from '../files/wait.ts';
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

interface PlacingOptions extends SendingOptions, Omit<PlaceOptions, 'upload'> {
  /** Gives the files of an order their URLs; what can't be uploaded is left out, and told. */
  readonly upload?:
    | ((order: PlannedOrder, onFailure: (failure: Failure) => void) => Promise<PlannedOrder>)
    | undefined;
}

export interface OrderResult {
  readonly sent: SentOrders;
  readonly placed: readonly PlacedOrder[];
  /** Absent where nothing was waited for, or the waiting broke off. `held`: files whose order is on hold. */
  readonly waited?: WaitResult & { readonly held: readonly AudioFile[] };
  /** What broke off the waiting; the orders are placed all the same. */
  readonly waitError?: StenoError;
  /** What a budget did not reach for. */
  readonly overBudget: readonly PlannedOrder[];
  /** Says which orders are on hold. */
  readonly hold: StenoError | undefined;
  readonly holdIsFailure: boolean;
}

/** Sends what the guard lets through; what was ordered before, and counts as ordered now, comes first. */
export async function placeOrders(
  guard: OrderGuard,
  { upload, ...options }: PlacingOptions,
): Promise<SentOrders> {
  const onFailure = (failure: Failure): void => void guard.failures.push(failure);
  const fresh = await sendOrders(
    guard,
    (order, onSending) =>
      placeOne(order, guard, {
        ...options,
        upload: upload && ((each) => upload(each, onFailure).finally(onSending)),
      }),
    options,
  );
  await tagExisting(options.ledger, guard.existing);
  const existing = existingOrders(guard.existing).map((value) => ({
    ...{ what: describeUrls(value.planned), value, planned: value.planned },
  }));
  return { ...fresh, outcomes: [...existing, ...fresh.outcomes] };
}

export function orderResult(sent: SentOrders, guard: OrderGuard, holdIsFailure: boolean): OrderResult {
  const placed = values<PlacedOrder>(sent.outcomes);
  const hold = holdError(placed.map(({ order }) => order));
  return { sent, placed, overBudget: guard.overBudget, hold, holdIsFailure };
}

/** Waits for what is under way; the files of a held order are not waited for. */
export async function waitForOrders(
  result: OrderResult,
  target: DownloadTarget,
  waiting: WaitOptions,
): Promise<OrderResult> {
  const { placed } = result;
  const ids = [...new Set(placed.flatMap((each) => (each.order.hold ? [] : ownFiles(each))))];
  const held = placed.flatMap((each) =>
    (each.order.hold ? ownFiles(each) : []).map((file) => orderedFile(file, each.order.id, 'On Hold')),
  );
  try {
    return { ...result, waited: { ...(await waitAndDownload(ids, waiting, target)), held } };
  } catch (error) {
    return { ...result, waitError: asStenoError(error) };
  }
}

function holdError(orders: readonly Order[]): StenoError | undefined {
  const held = heldOrders(orders);
  if (held.length === 0) return undefined;
  const text = held.map(({ what, error }) => `${what} is ${error.message}`);
  const billing = orders.find(({ hold }) => hold === 'billing');
  const { hint } = heldOrder(billing?.hold ?? '');
  return new StenoError('held', text.join('; '), { hint });
}

const heldOrders = (orders: readonly Order[]): Failure[] =>
  orders.flatMap(({ id, hold }) => (hold ? [{ what: `order ${id}`, error: heldOrder(hold) }] : []));

export function heldOrder(hold: string): StenoError {
  const hint =
    hold === 'billing'
      ? 'billing means a past-due balance: pay it, and the order resumes automatically'
      : 'the service decides when to release it; check with: steno file <id>';
  return new StenoError('held', `on hold (${hold}): work starts once the hold is released`, { hint });
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
  const stopped = error.kind === 'interrupted' ? 'Stopped waiting.' : `Stopped waiting: ${error.message}.`;
  const standing = one
    ? `Order ${first?.id} is placed and continues.`
    : `${orders.length} orders are placed and continue.`;
  const message = `${stopped} ${standing}`;
  const hint = `resume with: ${waitLine(orders)}`;
  // An id that can't be asked for is a mistake of the service's here, and exit 2 would say that nothing was sent.
  const kind = error.kind === 'usage' ? 'failed' : error.kind;
  return new BulkError(kind, message, error instanceof BulkError ? error.failures : [], hint);
}
