import { orderedFile } from '../api/files.ts';
import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { values } from '../flows/bulk.ts';
import { raiseUndelivered, type Waiting } from '../flows/files/wait.ts';
import { type Fetching, type Waited, waitAndFetch } from '../flows/files/wait-and-fetch.ts';
import { type PlacedOrder, placeOrders, raiseUnplaced, withoutOrdered } from '../flows/orders/place.ts';
import { type OrderInput, ordersOf } from '../flows/orders/plan.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { startProgress } from '../ui/progress.ts';
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
  const waits = options.wait || options.download !== undefined;
  if (options.again && options.skipOrdered) throw usage('--again and --skip-ordered exclude each other');
  if (options.test && waits) throw usage('a test order is not transcribed, so there is nothing to wait for');
  const exts = checkFormats(options.format);
  if (options.download !== undefined) checkFolder(options.download);
  const { out } = context;
  const planned = await ordersOf(args, options, context.stdin);
  const ledger = await context.ledger();
  const requests = withoutOrdered(planned, ledger, options);
  const leftOut = countUrls(planned) - countUrls(requests);
  if (leftOut) out.note(`left out, for it is on order already: ${leftOut} of ${countUrls(planned)}`);
  if (options.dryRun) return out.show(planView(requests, requests.map(orderParams)));
  if (requests.length === 0) return out.show(ordersView([], true));
  const transport = await context.transport(waits ? { ownTimeout: true, endsInTime: true } : {});
  const onTrouble = (error: unknown): Promise<void> =>
    out.warn(`the ledger could not take down what became of the order: ${errorMessage(error)}`);
  const outcomes = await whileSpinning(out, 'Ordering', () =>
    placeOrders(requests, transport, ledger, { ...options, onTrouble }),
  );
  const placed = values(outcomes);
  const shown = ordersView(placed, requests.length > 1);
  if (waits && placed.length && !context.signal.aborted) {
    const given = { transport, ledger, interval: options.interval };
    const waited = await waitFor(context, placed, given, { ...options, formats: exts }).catch(
      async (error) => {
        // What was paid for is told, whatever came after it.
        await out.show(shown);
        throw error;
      },
    );
    raiseUnplaced(
      outcomes,
      waited.outcomes.flatMap(({ what, error }) => (error ? [{ what, error }] : [])),
    );
    raiseUndelivered(waited.outcomes);
  } else if (placed.length || requests.length > 1) await out.show(shown);
  await tellHolds(context, placed, options.failOnHold || waits, () => raiseUnplaced(outcomes));
}

const countUrls = (requests: ReadonlyArray<{ readonly urls: readonly string[] }>): number =>
  requests.reduce((sum, { urls }) => sum + urls.length, 0);

/** Waits for what is under way and shows what came of it; a held order is not waited for. */
async function waitFor(
  context: Context,
  placed: readonly PlacedOrder[],
  given: Pick<Waiting, 'transport' | 'ledger'> & { readonly interval: number | undefined },
  fetching: Fetching,
): Promise<Waited> {
  const { out, signal, globals } = context;
  const orders = placed.map(({ order }) => order);
  const ordered = orders.map(({ id, audiofiles }) => `order ${id}: audiofile ${audiofiles.join(', ')}`);
  for (const line of ordered) out.note(line);
  const ids = orders.flatMap(({ hold, audiofiles }) => (hold ? [] : audiofiles));
  const patience = { interval: given.interval, timeout: globals.timeout, signal };
  const progress = await startProgress(out, 'Waiting');
  const onLook = (ended: number): void => progress.update(`Waiting: ${ended} of ${ids.length} done`);
  const waited = await waitAndFetch(ids, { ...given, patience, onLook }, fetching).finally(() =>
    progress.stop(),
  );
  const held = orders.flatMap(({ id, hold, audiofiles }) =>
    (hold ? audiofiles : []).map((file) => orderedFile(file, id, 'On Hold')),
  );
  await out.show(waitedView(waited, { forPeople: out.forPeople, several: true, orders, held }));
  // The names of files are what a script needs next; where there are none, it needs the ids.
  const lacks = held.length > 0 || waited.outcomes.some(({ error }) => error);
  if (out.mode.quiet && waited.saved && lacks) for (const line of ordered) out.announce(line);
  await warnSkippedFiles(out, waited.saved);
  return waited;
}

/** A held order is a success that is not one: it is always said, and raised if so asked. */
async function tellHolds(
  context: Context,
  placed: readonly PlacedOrder[],
  raise: boolean,
  before: () => void,
): Promise<void> {
  const held = placed.filter(({ order }) => order.hold);
  const text = held
    .map(
      ({ order }) =>
        `order ${order.id} is on hold (${order.hold}): no work begins until the hold is released`,
    )
    .join('; ');
  const hint = held.some(({ order }) => order.hold === 'billing')
    ? 'billing means a past-due balance: pay it and the order resumes by itself'
    : 'the service says when it is released; look with: steno file';
  if (held.length && !raise) await context.out.warn(text, hint);
  before();
  if (held.length && raise) throw new StenoError('held', text, { hint });
}
