import { type Order, orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseUnplaced } from '../flows/orders/failures.ts';
import { OrderGuard } from '../flows/orders/guard.ts';
import {
  type OrderCallbacks,
  type OrderResult,
  orderAndWait,
  raiseOrderFailures,
} from '../flows/orders/order-and-wait.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import { type OrderInput, ordersOf, type PlannedOrder, requestOf } from '../flows/orders/plan.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { monotonicMs } from '../lib/clock.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { processAge } from '../lib/processes.ts';
import type { Output } from '../ui/output.ts';
import { whileWaiting } from '../ui/progress.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';
import { whileSpinning } from '../ui/spinner.ts';
import { ordersView } from '../views/order.ts';
import { planView } from '../views/plan.ts';
import { savedLine } from '../views/saved.ts';
import { orderedDocuments, waitedView } from '../views/waited.ts';

interface OrderOptions extends OrderInput {
  readonly retryUnclear: boolean;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly interval: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly failOnHold: boolean;
}

export async function run(context: Context, { args, options }: Input<OrderOptions>): Promise<void> {
  const { out, signal, globals } = context;
  const { download, interval, failOnHold, again, skipOrdered, retryUnclear } = options;
  const waits = options.wait || download !== undefined;
  checkFlags(options, waits);
  const formats = checkFormats(options.format);
  const planned = await ordersOf(args, options, context.stdin);
  if (!globals.ledger) checkWithoutLedger(context, options);
  checkNamedLedger(context);
  const ledger = await context.ledger();
  await context.warnOfLittleRoom();
  const manifest = options.from !== undefined;
  const sorting = OrderGuard.of(planned, ledger, {
    ...{ again, skipOrdered, retryUnclear, manifest },
    begunAgoMs: processAge(),
    timeout: globals.timeout,
  });
  // Both ask the ledger; what the preparation says comes first.
  sorting.catch(() => {});
  await ledger?.prepareForOrders(options.dryRun);
  const guard = await sorting;
  // The shape of the JSON follows from the command line: how many orders there are does not count.
  const isList = manifest || skipOrdered || options.perOrder !== undefined;
  const listsHeld = manifest || countUrls(planned) > 1;
  const isRecorded = ledger !== undefined && !options.test;
  if (guard.leftOut) out.note(`left out because on order already: ${guard.leftOut} of ${countUrls(planned)}`);
  if (options.dryRun) return showPlan(out, guard, listsHeld, isList);
  if (guard.unsent === 0) {
    if (isList) await out.show(ordersView([], true));
    return raiseHeld(guard, listsHeld);
  }
  const transport = await context.connect({ timeoutBounds: waits ? 'command' : 'request' });
  const startedAt = monotonicMs();
  // --timeout bounds the whole command if it waits, else each request.
  const pauseLimitMs = (): number =>
    (globals.timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
  const wait = waits ? { interval, timeout: globals.timeout, signal, download, formats } : undefined;
  const { leftOut } = guard;
  const result = await context.whileNoting(ledger, (notes) =>
    orderAndWait(guard, { transport, ledger, notes, wait, signal, pauseLimitMs, failOnHold }, callbacks(out)),
  );
  for (const { order } of result.placed) out.addDone(placedLine(order));
  if (guard.leftOut > leftOut)
    out.note(`left out because another process has ordered it: ${guard.leftOut - leftOut}`);
  await show(out, result, { isList, waits });
  raiseOrderFailures(result, { listsHeld, isRecorded });
}

/** Without a ledger nothing is known to be on order, and others are not told of what is ordered. */
function checkWithoutLedger(context: Context, { skipOrdered, again }: OrderOptions): void {
  if (skipOrdered) throw usage("--skip-ordered asks the ledger, so it can't be used with --no-ledger");
  if (context.sharedLedger === undefined || again) return;
  throw usage(
    '--no-ledger would hide this order from the others of the shared ledger',
    'leave it out; --again orders without looking at the ledger',
  );
}

/** In CI a variable that is missing is often an empty one: the job would order with an empty ledger of its own. */
function checkNamedLedger({ env, sharedLedger, inSandbox }: Context): void {
  if (inSandbox || sharedLedger !== undefined || env.STENO_LEDGER !== '') return;
  throw usage(
    'STENO_LEDGER is set, but empty: nothing says which ledger knows what is on order',
    'set it to the URL of the shared ledger, or unset it to use the ledger of this machine',
  );
}

function checkFlags(
  { again, skipOrdered, retryUnclear, test, download }: OrderOptions,
  waits: boolean,
): void {
  if (again && skipOrdered) throw usage("--again and --skip-ordered can't be used together");
  if (retryUnclear && !skipOrdered) throw usage('--retry-unclear requires --skip-ordered');
  if (test && waits) throw usage('a test order is not transcribed, so there is nothing to wait for');
  if (download !== undefined) checkFolder(download);
}

async function showPlan(out: Output, guard: OrderGuard, listsHeld: boolean, isList: boolean): Promise<void> {
  const requests = guard.ready.map(requestOf);
  if (isList || requests.length) await out.show(planView(requests, requests.map(orderParams), isList));
  if (guard.deferred.length) out.note(`being ordered by another process: ${countUrls(guard.deferred)}`);
  raiseHeld(guard, listsHeld);
}

/** Nothing was sent. */
const raiseHeld = ({ failures: held }: OrderGuard, listsHeld: boolean): void =>
  raiseUnplaced({ outcomes: [], held, unsent: 0, interrupted: false }, { listsHeld, isRecorded: true });

const countUrls = (orders: readonly PlannedOrder[]): number =>
  orders.reduce((sum, { audios }) => sum + audios.length, 0);

function callbacks(out: Output): OrderCallbacks {
  let saidThatItWaits = false;
  return {
    whilePlacing: (work) => whileSpinning(out, 'Ordering', work),
    // On a terminal the spinner says so.
    onWaitForOthers: (text) => {
      if (!out.showsProgress && !saidThatItWaits) out.note(text);
      saidThatItWaits = true;
    },
    onLedgerError: (error) =>
      out.warn(`the ledger could not record the outcome of the order: ${errorMessage(error)}`),
    onPlaced: (orders) => {
      for (const line of orderLines(orders)) out.note(line);
    },
    whileWaiting: (files, work) => whileWaiting(out, files, work),
  };
}

const placedLine = ({ id, audiofiles }: Order): string =>
  `order ${id} is placed: audiofile ${audiofiles.join(', ')}`;

const orderLines = (orders: readonly Order[]): string[] =>
  orders.map(({ id, audiofiles }) => `order ${id}: audiofile ${audiofiles.join(', ')}`);

/** Shows what was placed, also where the waiting failed: it was paid for. */
async function show(
  out: Output,
  result: OrderResult,
  { isList, waits }: { isList: boolean; waits: boolean },
): Promise<void> {
  const { placed, waited, hold, holdIsFailure } = result;
  const orders = placed.map(({ order }) => order);
  if (waited) {
    const { held } = waited;
    out.addDone(...savedLine(waited.saved ?? []));
    const json = orderedDocuments(orders, waited, isList);
    await out.show({
      ...waitedView(waited, { forPeople: out.forPeople, several: true, orders, held }),
      json,
    });
    // With --quiet and --download a script reads file names; where some are missing, it needs the ids.
    const lacks = held.length > 0 || waited.outcomes.some(({ error }) => error);
    if (out.mode.quiet && waited.saved && lacks) for (const line of orderLines(orders)) out.announce(line);
    await warnSkippedFiles(out, waited.saved);
  } else if (placed.length || isList) {
    const view = ordersView(placed, isList);
    await out.show(waits ? { ...view, json: orderedDocuments(orders, undefined, isList) } : view);
  }
  await warnRemarks(out, placed);
  if (hold && !holdIsFailure) await out.warn(hold.message, hold.hint);
}

async function warnRemarks(out: Output, placed: readonly PlacedOrder[]): Promise<void> {
  for (const { order, files, planned } of placed) {
    // Of an order that costs something, a problem is an error.
    const text = files.remark ?? (planned.test ? files.problem : undefined);
    if (text) await out.warn(`order ${order.id}: ${text}`);
    if (order.error) await out.warn(`order ${order.id} is placed, but the service says: ${order.error}`);
  }
}
