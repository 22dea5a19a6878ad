import { type Order, orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import {
  type OrderCallbacks,
  type OrderResult,
  orderAndWait,
  raiseOrderFailures,
} from '../flows/orders/order-and-wait.ts';
import { withoutOrdered } from '../flows/orders/place.ts';
import { type OrderInput, ordersOf } from '../flows/orders/plan.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { monotonicMs } from '../lib/clock.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import type { Output } from '../ui/output.ts';
import { whileWaiting } from '../ui/progress.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';
import { whileSpinning } from '../ui/spinner.ts';
import { ordersView } from '../views/order.ts';
import { planView } from '../views/plan.ts';
import { waitedView } from '../views/waited.ts';

interface OrderOptions extends OrderInput {
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly interval: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly failOnHold: boolean;
}

export async function run(context: Context, { args, options }: Input<OrderOptions>): Promise<void> {
  const { out, signal, globals } = context;
  const { download, interval, failOnHold, again, skipOrdered } = options;
  const waits = options.wait || download !== undefined;
  if (again && skipOrdered) throw usage("--again and --skip-ordered can't be used together");
  if (options.test && waits) throw usage('a test order is not transcribed, so there is nothing to wait for');
  const formats = checkFormats(options.format);
  if (download !== undefined) checkFolder(download);
  const planned = await ordersOf(args, options, context.stdin);
  const ledger = await context.ledger();
  const requests = withoutOrdered(planned, ledger, options);
  const leftOut = countUrls(planned) - countUrls(requests);
  if (leftOut) out.note(`left out because on order already: ${leftOut} of ${countUrls(planned)}`);
  if (options.dryRun) return out.show(planView(requests, requests.map(orderParams)));
  if (requests.length === 0) return out.show(ordersView([], true));
  const transport = await context.connect({ timeoutBounds: waits ? 'command' : 'request' });
  const startedAt = monotonicMs();
  // --timeout bounds the whole command if it waits, else each request.
  const pauseLimitMs = (): number =>
    (globals.timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
  const wait = waits ? { interval, timeout: globals.timeout, signal, download, formats } : undefined;
  const result = await orderAndWait(
    requests,
    { transport, ledger, wait, signal, pauseLimitMs, failOnHold, again, skipOrdered },
    callbacks(out),
  );
  for (const { order } of result.placed) out.addDone(placedLine(order));
  await show(out, result, requests.length > 1);
  raiseOrderFailures(result);
}

const countUrls = (requests: ReadonlyArray<{ readonly urls: readonly string[] }>): number =>
  requests.reduce((sum, { urls }) => sum + urls.length, 0);

const callbacks = (out: Output): OrderCallbacks => ({
  whilePlacing: (work) => whileSpinning(out, 'Ordering', work),
  onLedgerError: (error) =>
    out.warn(`the ledger could not record the outcome of the order: ${errorMessage(error)}`),
  onPlaced: (orders) => {
    for (const line of orderLines(orders)) out.note(line);
  },
  whileWaiting: (files, work) => whileWaiting(out, files, work),
});

const placedLine = ({ id, audiofiles }: Order): string =>
  `order ${id} is placed: audiofile ${audiofiles.join(', ')}`;

const orderLines = (orders: readonly Order[]): string[] =>
  orders.map(({ id, audiofiles }) => `order ${id}: audiofile ${audiofiles.join(', ')}`);

/** Shows what was placed, also where the waiting failed: it was paid for. */
async function show(out: Output, result: OrderResult, several: boolean): Promise<void> {
  const { placed, waited, hold, holdIsFailure } = result;
  const orders = placed.map(({ order }) => order);
  if (waited) {
    const { held } = waited;
    await out.show(waitedView(waited, { forPeople: out.forPeople, several: true, orders, held }));
    // With --quiet and --download a script reads file names; where some are missing, it needs the ids.
    const lacks = held.length > 0 || waited.outcomes.some(({ error }) => error);
    if (out.mode.quiet && waited.saved && lacks) for (const line of orderLines(orders)) out.announce(line);
    await warnSkippedFiles(out, waited.saved);
  } else if (placed.length || several) {
    await out.show(ordersView(placed, several));
  }
  if (hold && !holdIsFailure) await out.warn(hold.message, hold.hint);
}
