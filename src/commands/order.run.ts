import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { knownFiles } from '../flows/files/known.ts';
import {
  type CostFacts,
  costSettings,
  learnFromService,
  OrderCosts,
  readCostFacts,
} from '../flows/orders/cost.ts';
import { renumberedText } from '../flows/orders/duplicates.ts';
import { raiseUnplaced } from '../flows/orders/failures.ts';
import { wholeFeedError } from '../flows/orders/feed-rows.ts';
import { orderGoOn } from '../flows/orders/go-on.ts';
import { OrderGuard } from '../flows/orders/guard.ts';
import { isLocalPath, type Recording, uploadOrder } from '../flows/orders/local-audio.ts';
import {
  type OrderAndWaitOptions,
  type OrderCallbacks,
  type OrderResult,
  orderAndWait,
  raiseOrderFailures,
} from '../flows/orders/order-and-wait.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import { type OrderInput, type OrderPlan, planOrders } from '../flows/orders/plan.ts';
import { countAudios, type PlannedOrder, requestOf } from '../flows/orders/planned-order.ts';
import { heldFiles, leftOutFiles, leftOutIds, orderedFiles } from '../flows/orders/shown.ts';
import { estimateLines } from '../flows/prices/estimate.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { checkNameAs } from '../flows/transcripts/name.ts';
import { UPLOAD_TIMEOUT_MS } from '../flows/uploads/upload.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { monotonicMs } from '../lib/clock.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { checkAmount, type Money } from '../lib/money.ts';
import { processAge } from '../lib/processes.ts';
import type { Output } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';
import { orderedView, orderLines, ordersTable, placedLine } from '../views/order.ts';
import { planDocument, planPages } from '../views/plan.ts';
import { savedLine } from '../views/saved.ts';
import { waitedTable } from '../views/waited.ts';

interface OrderOptions extends OrderInput {
  readonly retryUnclear: boolean;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly interval: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly nameAs: string | undefined;
  readonly failOnHold: boolean;
  readonly maxCost: string | undefined;
  readonly unpriced: boolean;
  readonly upToBudget: boolean;
}

export async function run(context: Context, { args, options, line }: Input<OrderOptions>): Promise<void> {
  const { out, globals } = context;
  const waits = options.wait || options.download !== undefined;
  if (options.download !== undefined) checkFolder(options.download);
  const maxCost = options.maxCost === undefined ? undefined : checkAmount(options.maxCost, '--max-cost');
  const formats = checkFormats(options.format, options.nameAs);
  checkNameAs(options, formats);
  const plan = await readPlan(context, args, options);
  const ledger = await context.moneyLedger({ what: 'this order', ...options });
  const isShown = options.dryRun || plan.isWholeFeed;
  const keyMark = await context.keyMark(ledger, !isShown);
  const form = formOf(args, options, plan.orders);
  const sorting = OrderGuard.of(plan.orders, ledger, {
    ...options,
    skipOrdered: options.skipOrdered || (plan.isWholeFeed && !options.again),
    manifest: form.manifest,
    begunAgoMs: processAge(),
    timeout: globals.timeout,
  });
  // All of these ask the ledger; what the preparation says comes first.
  sorting.catch(() => {});
  const readCosts = (): Promise<CostFacts> | undefined =>
    ledger && readCostFacts(ledger, costSettings(context.settings), isShown || maxCost !== undefined);
  // A local ledger gains nothing by being asked at once, and would hold up the guard, which compares times.
  const reading = context.sharedLedger === undefined ? sorting.then(readCosts) : readCosts();
  reading?.catch(() => {});
  await ledger?.prepareForOrders(isShown, keyMark);
  const guard = await sorting;
  await sayLeftOut(out, guard, plan);
  const costs = await openCosts(context, ledger, await reading, { ...options, maxCost, isShown });
  const problem = checkCosts(out, guard, costs, options.upToBudget);
  if (isShown) return showPlan(out, guard, { plan, form, costs, problem });
  if (problem) throw problem;
  if (guard.unsent > 0)
    return send(context, guard, { options, plan, form, ledger, costs, waits, formats, line });
  await showHeld(context, guard, { plan, ledger, waits });
  return raiseHeld(guard, form.listsHeld);
}

/** Where nothing is to be sent. */
async function showHeld(
  { out, settings: { currency } }: Context,
  guard: OrderGuard,
  { plan, ledger, waits }: Pick<Sending, 'plan' | 'ledger' | 'waits'>,
): Promise<void> {
  const known = await knownFiles(out.mode.json ? ledger : undefined, leftOutIds(guard));
  const options = { waits, currency, known };
  const leftOut = leftOutFiles(guard, plan.leftOutEpisodes, options);
  const files = [...heldFiles(guard.failures, options), ...leftOut];
  await out.show(orderedView(files, { placed: [] }, waits));
}

async function sayLeftOut(out: Output, guard: OrderGuard, plan: OrderPlan): Promise<void> {
  if (guard.leftOut)
    out.note(`left out because on order already: ${guard.leftOut} of ${countAudios(plan.orders)}`);
  for (const held of guard.renumbered) {
    const { text, hint } = renumberedText(held);
    await out.warn(text, hint);
  }
}

/** What follows from the command line for what is shown. */
interface Form {
  /** The orders come from a list: what can't be ordered holds up nothing else. */
  readonly manifest: boolean;
  readonly listsHeld: boolean;
  readonly hasFiles: boolean;
}

function formOf(
  args: readonly string[],
  { from, feed }: OrderOptions,
  planned: readonly PlannedOrder[],
): Form {
  const hasFiles = args.some(isLocalPath);
  const manifest = from !== undefined || feed !== undefined || hasFiles;
  const listsHeld = manifest || countAudios(planned) > 1;
  return { manifest, listsHeld, hasFiles };
}

interface Sending {
  readonly line: readonly string[];
  readonly options: OrderOptions;
  readonly plan: OrderPlan;
  readonly form: Form;
  readonly ledger: Ledger | undefined;
  readonly costs: OrderCosts;
  readonly waits: boolean;
  readonly formats: readonly string[];
}

async function send(
  context: Context,
  guard: OrderGuard,
  { options, plan, form, ledger, costs, waits, formats, line }: Sending,
): Promise<void> {
  const { out, signal, globals } = context;
  const { interval, download, nameAs: template, failOnHold } = options;
  const { timeout } = globals;
  const transport = await context.connect({ timeoutBounds: waits ? 'command' : 'request' });
  const startedAt = monotonicMs();
  // --timeout bounds the whole command if it waits, else each request.
  const pauseLimitMs = (): number =>
    (timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
  const wait = waits ? { interval, timeout, signal, download, formats, template } : undefined;
  const upload = form.hasFiles ? uploader(context, ledger) : undefined;
  for (const { audios } of [...guard.ready, ...guard.deferred]) context.sandbox?.setLengths(audios);
  const { leftOut } = guard;
  const [overBudget, wanted] = [countAudios(guard.overBudget), countAudios(guard.ready)];
  const result = await context.whileNoting(ledger, (notes) =>
    orderAndWait(
      guard,
      { transport, ledger, notes, wait, signal, pauseLimitMs, failOnHold, costs, upload },
      callbacks(out),
    ),
  );
  for (const { order } of result.placed) out.addDone(placedLine(order));
  if (guard.leftOut > leftOut)
    out.note(`left out because another process has ordered it: ${guard.leftOut - leftOut}`);
  const late = countAudios(guard.overBudget) - overBudget;
  if (late > 0) sayOverBudget(out, late, wanted);
  await show(context, ledger, result, { guard, plan, waits });
  raiseOrderFailures(result, {
    listsHeld: form.listsHeld,
    isRecorded: ledger !== undefined && !options.test,
    ...orderGoOn(line, options, globals),
  });
  // Others were faster: not even the first row fits any more.
  if (result.placed.length === 0) costs.check(guard.overBudget);
}

/** Says what a feed or a folder holds that is not ordered. */
async function readPlan(
  context: Context,
  args: readonly string[],
  options: OrderOptions,
): Promise<OrderPlan> {
  const { out, stdin, signal } = context;
  const feed = options.feed === undefined ? undefined : context.feedSource(options.feed);
  const reading = { ...context.publicReading, timeoutMs: context.globals.timeout };
  const uploadCommand = context.settings.get('upload-command').value;
  const sources = { stdin, signal, uploadCommand, reading };
  const what = feed === undefined ? 'Reading' : 'Fetching the feed';
  const plan = await whileWorking(out, what, (report) =>
    planOrders(args, { ...options, feed }, { ...sources, report }),
  );
  for (const note of plan.notes) out.note(note);
  for (const { path: left, reason } of plan.leftOut) await out.warn(`left out: ${left}: ${reason}`);
  return plan;
}

/** Why nothing may be ordered, if so; with --up-to-budget the rows that fit are kept, and only these count. */
function checkCosts(
  out: Output,
  guard: OrderGuard,
  costs: OrderCosts,
  upToBudget: boolean,
): StenoError | undefined {
  const { ready, deferred } = guard;
  if (!upToBudget) return costs.problemOf([...ready, ...deferred]);
  const { firstLeftOut, problem } = costs.upToBudget(ready);
  if (firstLeftOut !== undefined) {
    guard.keepRows(ready, firstLeftOut);
    if (!problem) sayOverBudget(out, countAudios(guard.overBudget), countAudios(ready));
  }
  // What another process is sending may be left for this one; the ledger holds it to the budget then.
  return deferred.length && problem ? undefined : (problem ?? costs.problemOf(guard.ready));
}

const sayOverBudget = (out: Output, rows: number, of: number): void =>
  out.note(`left out because of the budget: ${rows} of ${of}`);

interface CostOptions {
  readonly maxCost: Money | undefined;
  readonly unpriced: boolean;
  readonly upToBudget: boolean;
  /** The plan is shown, with an estimate. */
  readonly isShown: boolean;
}

/** Prices are learned from invoices where they count: each is a call, made once. */
async function openCosts(
  context: Context,
  ledger: Ledger | undefined,
  read: CostFacts | undefined,
  { maxCost, unpriced, upToBudget, isShown }: CostOptions,
): Promise<OrderCosts> {
  const settings = costSettings(context.settings);
  if ((unpriced || upToBudget) && !settings.budget && !read?.budget) throw noBudget(unpriced);
  const counts =
    isShown || maxCost !== undefined || settings.budget !== undefined || read?.budget !== undefined;
  const learned = counts && ledger && read && (await learnPrices(context, ledger, read));
  const facts = learned ? await readCostFacts(ledger, settings, true) : read;
  const currency = maxCost && (maxCost.currency || settings.currency);
  return OrderCosts.open(ledger, facts, settings, {
    maxCost: maxCost && { ...maxCost, currency: currency ?? '' },
    allowsUnpriced: unpriced,
    upToBudget,
  });
}

const noBudget = (unpriced: boolean): StenoError =>
  usage(
    `${unpriced ? '--unpriced' : '--up-to-budget'} requires a budget`,
    'set one with: steno budget set 200/month   (or leave the flag out)',
  );

/** What is not learned is not known: that is said, and stops nothing that does not ask for the cost. Gives whether something was. */
async function learnPrices(context: Context, ledger: Ledger, facts: CostFacts): Promise<boolean> {
  const { out } = context;
  const connect = async () => ((await context.key()) ? context.connect() : undefined);
  try {
    const failed = await whileWorking(out, 'Learning prices from invoices', (report) =>
      learnFromService(connect, ledger, facts, report),
    );
    const [first, ...more] = failed ?? [];
    const others = more.length ? ` (and ${more.length} more)` : '';
    if (first) await out.warn(`invoice ${first.what} could not be read: ${first.error.message}${others}`);
    return failed !== undefined;
  } catch (error) {
    if (error instanceof StenoError && error.kind === 'interrupted') throw error;
    await out.warn(`no prices were learned from invoices: ${errorMessage(error)}`);
    return false;
  }
}

const uploader = (
  context: Context,
  ledger: Ledger | undefined,
): NonNullable<OrderAndWaitOptions['upload']> => {
  const used = new Map<string, Recording>();
  return async (order, report, onFailure) => {
    const { env, signal, globals, settings, out: output } = context;
    const uploaded = await uploadOrder(
      order,
      {
        ...{ env, signal, ledger, report, used },
        command: settings.get('upload-command').value,
        timeoutMs: globals.timeout ?? UPLOAD_TIMEOUT_MS,
        onMessage: (lines) => output.passOn(lines),
      },
      onFailure,
    );
    context.sandbox?.setLengths(uploaded.audios);
    return uploaded;
  };
};

interface Shown {
  readonly plan: OrderPlan;
  readonly form: Form;
  readonly costs: OrderCosts;
  /** Why nothing of it would be ordered. */
  readonly problem: StenoError | undefined;
}

/** Shows what would be ordered, and what speaks against it; nothing is sent. */
async function showPlan(
  out: Output,
  guard: OrderGuard,
  { plan, form, costs, problem }: Shown,
): Promise<void> {
  const { ready, deferred } = guard;
  const toRow = (order: PlannedOrder) => ({
    order,
    document: orderParams(requestOf(order)),
    estimate: costs.estimate([order]),
  });
  if (out.mode.json) await out.show(planDocument(ready.map(toRow), costs.estimate(ready)));
  else await out.showPages(planPages(ready, toRow, { forPeople: out.forPeople }));
  if (deferred.length) out.note(`being ordered by another process: ${countAudios(deferred)}`);
  if (ready.length) for (const line of estimateLines(costs.estimate(ready))) out.note(line);
  if (plan.isWholeFeed) throw wholeFeedError(countAudios(plan.orders));
  if (problem) await out.warn(problem.message, problem.hint);
  raiseHeld(guard, form.listsHeld);
}

const raiseHeld = ({ failures: held }: OrderGuard, listsHeld: boolean): void =>
  raiseUnplaced(
    { outcomes: [], held, notSent: [], unsent: 0, interrupted: false },
    { listsHeld, isRecorded: true },
  );

function callbacks(out: Output): OrderCallbacks {
  let saidThatItWaits = false;
  return {
    whilePlacing: (work) => whileWorking(out, 'Ordering', work),
    // A line that moves says so.
    onWaitForOthers: (text) => {
      if (out.progressForm !== 'line' && !saidThatItWaits) out.note(text);
      saidThatItWaits = true;
    },
    onLedgerError: (error) =>
      out.warn(
        `the ledger could not record the outcome of the order: ${errorMessage(error)}`,
        error instanceof StenoError ? error.hint : undefined,
      ),
    onPlaced: (orders) => {
      for (const line of orderLines(orders)) out.note(line);
    },
    whileWaiting: (work) => whileWorking(out, 'Waiting', work),
  };
}

/** Shows what was placed, also where the waiting failed: it was paid for. */
async function show(
  context: Context,
  ledger: Ledger | undefined,
  result: OrderResult,
  { guard, plan, waits }: { guard: OrderGuard; plan: OrderPlan; waits: boolean },
): Promise<void> {
  const { out, settings } = context;
  const { placed, waited, hold, holdIsFailure } = result;
  out.addDone(...savedLine(waited?.saved ?? []));
  if (out.forPeople)
    await out.show(waited ? waitedTable(waited, settings.currency, waited.held) : ordersTable(placed, true));
  else {
    const ids = [...placed.flatMap(({ order }) => order.audiofiles), ...leftOutIds(guard)];
    // Rows of an order have nothing that only the ledger knows.
    const known = await knownFiles(out.mode.json || (waits && !out.mode.quiet) ? ledger : undefined, ids);
    const options = { waits, currency: settings.currency, known };
    const leftOut = leftOutFiles(guard, plan.leftOutEpisodes, options);
    const files = [...orderedFiles(result, options), ...leftOut];
    await out.show(orderedView(files, result, waits));
  }
  if (out.mode.quiet) announceLacking(out, result);
  await warnSkippedFiles(out, waited?.saved);
  await warnRemarks(out, placed);
  if (hold && !holdIsFailure) await out.warn(hold.message, hold.hint);
}

/** With --quiet and --download a script reads file names; where some are missing, it needs the ids. */
function announceLacking(out: Output, { waited, placed }: OrderResult): void {
  if (!waited?.saved) return;
  const lacks = waited.held.length > 0 || waited.outcomes.some(({ error }) => error);
  if (lacks) for (const line of orderLines(placed.map(({ order }) => order))) out.announce(line);
}

async function warnRemarks(out: Output, placed: readonly PlacedOrder[]): Promise<void> {
  for (const { order, files, planned } of placed) {
    // Of an order that costs something, a problem is an error.
    const text = files.remark ?? (planned.test ? files.problem : undefined);
    if (text) await out.warn(`order ${order.id}: ${text}`);
    if (order.error) await out.warn(`order ${order.id} is placed, but the service says: ${order.error}`);
  }
}
