import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { knownFiles } from '../flows/files/listed.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import {
  type CostFacts,
  costSettings,
  learnFromService,
  OrderCosts,
  readCostFacts,
} from '../flows/orders/cost.ts';
import { doubtfulText, otherSkusNote } from '../flows/orders/duplicates.ts';
import { orderGoOn, raiseUnplaced } from '../flows/orders/failures.ts';
import { wholeFeedError } from '../flows/orders/feed-rows.ts';
import { type KeptOut, OrderGuard } from '../flows/orders/guard.ts';
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
import {
  countAudios,
  describeAudio,
  describeUrls,
  type PlannedAudio,
  type PlannedOrder,
  requestOf,
} from '../flows/orders/planned-order.ts';
import { leftOutIds, orderedFiles } from '../flows/orders/shown.ts';
import { estimateLines } from '../flows/prices/estimate.ts';
import type { NotCovered } from '../flows/prices/limits.ts';
import { checkFolder, checkNameAs } from '../flows/transcripts/name.ts';
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
  readonly retryEnded: boolean;
  readonly orExisting: boolean;
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
    refreshEnded: isShown || !ledger ? undefined : (ids) => refreshEnded(context, ledger, ids),
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
  const problem = await checkCosts(out, guard, costs, options.upToBudget);
  if (isShown) return showPlan(context, guard, { plan, form, ledger, costs, problem });
  if (problem) throw problem;
  if (guard.unsent > 0 || guard.existing.length > 0)
    return send(context, guard, { options, plan, form, ledger, costs, waits, formats, line });
  await show(context, ledger, nothingSent(guard), { waits, ...leftOutOf(guard, plan) });
  return raiseHeld(guard, form.listsHeld);
}

/** What the service does not know any more has ended. */
async function refreshEnded(context: Context, ledger: Ledger, ids: readonly string[]): Promise<void> {
  const outcomes = await refreshFiles(await context.connect(), ledger, ids);
  const failed = outcomes.find(({ error }) => error && error.kind !== 'missing');
  if (failed?.error) throw failed.error;
}

async function sayLeftOut(out: Output, guard: OrderGuard, plan: OrderPlan): Promise<void> {
  const all = countAudios(plan.orders);
  for (const [why, text] of [
    ['ordered', 'on order already'],
    ['ignored', 'ignored'],
  ])
    await sayRows(
      out,
      `left out because ${text}`,
      namesOf(guard.leftOut.filter((row) => row.why === why && !row.doubt)),
      { of: all },
    );
  const { names, hint } = otherSkusNote(guard.leftOut.filter(({ why }) => why === 'other_skus'));
  await sayRows(out, 'left out because on order with other SKUs', names, {
    of: all,
    hint: `to change one: ${hint}`,
  });
  await sayDoubtful(out, guard.leftOut);
}

async function sayDoubtful(out: Output, rows: readonly KeptOut[]): Promise<void> {
  for (const { doubt } of rows) {
    if (!doubt) continue;
    const { text, hint } = doubtfulText(doubt);
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
  const hasFiles = args.some(isLocalPath) || planned.some(({ audios }) => audios.some(({ path }) => path));
  const manifest = from !== undefined || feed !== undefined || hasFiles;
  const listsHeld = manifest || countAudios(planned) > 1;
  return { manifest, listsHeld, hasFiles };
}

interface Sending {
  readonly line: readonly string[];
  readonly options: OrderOptions;
  readonly form: Form;
  readonly ledger: Ledger | undefined;
  readonly costs: OrderCosts;
  readonly waits: boolean;
  readonly formats: readonly string[];
  readonly plan: OrderPlan;
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
  const leftOut = guard.leftOut.length;
  const [overBudget, wanted] = [guard.overBudget.length, countAudios(guard.ready)];
  const result = await context.whileNoting(ledger, (notes) =>
    orderAndWait(
      guard,
      {
        transport,
        ledger,
        notes,
        wait,
        signal,
        pauseLimitMs,
        halves: form.manifest,
        failOnHold,
        costs,
        upload,
      },
      callbacks(out),
    ),
  );
  for (const { order, isExisting } of result.placed) if (!isExisting) out.addDone(placedLine(order));
  const late = guard.leftOut.slice(leftOut);
  await sayRows(
    out,
    'left out because another process has ordered it',
    namesOf(late.filter(({ doubt }) => !doubt)),
  );
  await sayDoubtful(out, late);
  await sayOverBudget(out, guard.overBudget.slice(overBudget), wanted);
  await show(context, ledger, result, { waits, ...leftOutOf(guard, plan) });
  raiseOrderFailures(result, {
    listsHeld: form.listsHeld,
    isRecorded: ledger !== undefined && !options.test,
    placeOf: plan.placeOf,
    ...orderGoOn(line, options, globals),
  });
  // Others were faster, and nobody knows what theirs cost.
  const { problem } = result.placed.length ? {} : costs.upToBudget(guard.overBudget);
  if (problem) throw problem;
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
  if (plan.unread) await out.warn(plan.unread.message, plan.unread.hint);
  for (const { because, rows, hint } of plan.counted)
    await sayRows(
      out,
      `left out because ${because}`,
      rows.map(({ path }) => path),
      { hint },
    );
  for (const { path: left, reason } of plan.leftOut) await out.warn(`left out: ${left}: ${reason}`);
  return plan;
}

/** Why nothing may be ordered, if so; with --up-to-budget the rows that fit are kept, and only these count. */
async function checkCosts(
  out: Output,
  guard: OrderGuard,
  costs: OrderCosts,
  upToBudget: boolean,
): Promise<StenoError | undefined> {
  const { ready, deferred } = guard;
  if (!upToBudget) return costs.problemOf([...ready, ...deferred]);
  const { firstLeftOut, why, problem } = costs.upToBudget(ready);
  if (firstLeftOut !== undefined) {
    guard.keepRows(ready, firstLeftOut);
    if (!problem) await sayOverBudget(out, guard.overBudget, countAudios(ready), why);
  }
  // What another process is sending may be left for this one; the ledger holds it to the budget then.
  return deferred.length && problem ? undefined : (problem ?? costs.problemOf(guard.ready));
}

/** What a person should know with --json too is a warning: that nothing is ordered, or that a cost is not known. */
async function sayOverBudget(
  out: Output,
  orders: readonly PlannedOrder[],
  of: number,
  why?: NotCovered,
): Promise<void> {
  const rows = orders.flatMap(({ audios }) => audios.map(describeAudio));
  if (rows.length === 0) return;
  const none = rows.length === of ? ', which covers none of them' : '';
  const text = `left out because of the budget${none}: ${rows.length} of ${of}${why ? ` (${why.message})` : ''}: ${someOf(rows)}`;
  if (none || why?.isUnknown) await out.warn(text, why?.hint);
  else out.note(text);
}

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
  const urls = new Map<PlannedAudio, string | undefined>();
  return async (order, report, onFailure) => {
    const { env, signal, globals, settings, out: output } = context;
    const uploaded = await uploadOrder(
      order,
      {
        ...{ env, signal, ledger, report, used, urls },
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
  readonly ledger: Ledger | undefined;
  readonly costs: OrderCosts;
  /** Why nothing of it would be ordered. */
  readonly problem: StenoError | undefined;
}

/** Shows what would be ordered, and what would prevent it; nothing is sent. */
async function showPlan(
  context: Context,
  guard: OrderGuard,
  { plan, form, ledger, costs, problem }: Shown,
): Promise<void> {
  const { out } = context;
  const { ready, deferred } = guard;
  const toRow = (order: PlannedOrder) => ({
    order,
    document: orderParams(requestOf(order)),
    estimate: costs.estimate([order]),
  });
  if (out.mode.json) {
    const result = nothingSent(guard);
    const { leftOut: rows, unplanned } = leftOutOf(guard, plan);
    const leftOut = [...rows, ...guard.existing];
    const known = await knownFiles(ledger, leftOutIds(result.sent, leftOut));
    const { currency } = context.settings;
    const files = orderedFiles(result, { waits: false, currency, known, leftOut, unplanned });
    await out.show(planDocument(ready.map(toRow), costs.estimate(ready), files));
  } else await out.showPages(planPages(ready, toRow, { forPeople: out.forPeople }));
  if (deferred.length) out.note(`being ordered by another process: ${countAudios(deferred)}`);
  if (ready.length) for (const line of estimateLines(costs.estimate(ready))) out.note(line);
  if (plan.isWholeFeed) throw wholeFeedError(countAudios(plan.orders));
  if (problem) await out.warn(problem.message, problem.hint);
  raiseHeld(guard, form.listsHeld);
}

const nothingSent = ({ failures, overBudget }: OrderGuard): OrderResult => ({
  sent: { outcomes: [], held: failures, notSent: [], unsent: 0, interrupted: false },
  ...{ placed: [], overBudget, hold: undefined, holdIsFailure: false },
});

/** More would fill the screen. */
const MAX_NAMED = 5;

/** Says how many were left out, and which; with a hint it is a warning. */
async function sayRows(
  out: Output,
  text: string,
  rows: readonly string[],
  { of, hint }: { readonly of?: number; readonly hint?: string | undefined } = {},
): Promise<void> {
  if (rows.length === 0) return;
  const line = `${text}: ${rows.length}${of === undefined ? '' : ` of ${of}`} (${someOf(rows)})`;
  if (hint === undefined) out.note(line);
  else await out.warn(line, hint);
}

function someOf(rows: readonly string[]): string {
  const more = rows.length > MAX_NAMED ? [`and ${rows.length - MAX_NAMED} more`] : [];
  return [...rows.slice(0, MAX_NAMED), ...more].join(', ');
}

const namesOf = (rows: readonly KeptOut[]): string[] => rows.map(({ planned }) => describeUrls(planned));

const leftOutOf = ({ leftOut }: OrderGuard, plan: OrderPlan): Pick<ShownList, 'leftOut' | 'unplanned'> => ({
  leftOut,
  unplanned: [...plan.leftOut, ...plan.counted.flatMap(({ rows, isOther }) => (isOther ? [] : rows))],
});

/** What is shown beside what was placed. */
interface ShownList {
  readonly waits: boolean;
  readonly leftOut: readonly KeptOut[];
  readonly unplanned: OrderPlan['leftOut'];
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
    onLedgerError: (error: unknown) =>
      out.warnOf('the ledger could not record the outcome of the order', error),
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
  { waits, leftOut, unplanned }: ShownList,
): Promise<void> {
  const { out, settings } = context;
  const { placed, waited, hold, holdIsFailure } = result;
  out.addDone(...savedLine(waited?.saved ?? []));
  if (out.forPeople)
    await out.show(waited ? waitedTable(waited, settings.currency, waited.held) : ordersTable(placed, true));
  else {
    const ids = [...placed.flatMap(({ order }) => order.audiofiles), ...leftOutIds(result.sent, leftOut)];
    // Rows of an order have nothing that only the ledger knows.
    const known = await knownFiles(out.mode.json || (waits && !out.mode.quiet) ? ledger : undefined, ids);
    const files = orderedFiles(result, { waits, currency: settings.currency, known, leftOut, unplanned });
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
