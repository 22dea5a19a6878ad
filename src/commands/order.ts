import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import { meaningOfOrderSku, orderSkus, transcriptionSkus } from '../catalog/skus.ts';
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
  type OrderResult,
  orderResult,
  placeOrders,
  raiseOrderFailures,
  waitForOrders,
} from '../flows/orders/order-and-wait.ts';
import { type OrderPlan, planOrders } from '../flows/orders/plan.ts';
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
import { checkFolder, checkTemplate } from '../flows/transcripts/name.ts';
import { UPLOAD_TIMEOUT_MS } from '../flows/uploads/upload.ts';
import { prepareForOrders } from '../ledger/accounts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LISTED_URLS_PER_ORDER } from '../lib/defaults.ts';
import { errorMessage, type Failure, StenoError, usage } from '../lib/errors.ts';
import { checkAmount, type Money } from '../lib/money.ts';
import { processAge } from '../lib/processes.ts';
import type { Report } from '../lib/progress.ts';
import { monotonicMs, pollNote } from '../lib/time.ts';
import { command, MONEY_EXITS } from '../spec/command.ts';
import { type Context, publicReading } from '../spec/context.ts';
import {
  count,
  downloadOptions,
  duration,
  flag,
  list,
  type OptionValues,
  repeated,
  text,
} from '../spec/options.ts';
import type { Output } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { fileRecord, fileSchema, waitedTable } from '../views/files.ts';
import {
  orderedView,
  orderLines,
  orderRecord,
  ordersTable,
  placedLine,
  planDocument,
  plannedRecord,
  planPages,
  planSchema,
} from '../views/orders.ts';
import { printed } from '../views/record.ts';
import { anyOf, arrayOf, described } from '../views/schema.ts';
import { savedLine, skippedWarnings } from '../views/transcripts.ts';

const options = {
  sku: list('--sku <SKU…>', 'a transcription and add-ons', {
    values: orderSkus.map((each) => each.sku),
    meaning: meaningOfOrderSku,
    onlyOneOf: transcriptionSkus,
  }),
  from: text('--from <file|->', 'take the URLs from a manifest, or from stdin with -', {
    values: 'file',
    excludes: ['--feed'],
  }),
  feed: text('--feed <url|file>', 'order episodes of a podcast feed (RSS or Atom)', { values: 'file' }),
  dryRun: flag('--dry-run', 'show the orders and what they would cost; send nothing'),
  wait: flag('--wait', 'wait until the files are delivered'),
  download: text('--download <dir>', 'wait, and download the transcripts to this folder', {
    values: 'folder',
  }),
  skipOrdered: flag('--skip-ordered', 'leave out URLs that are on order already', {
    excludes: ['--again', '--no-ledger'],
  }),
  orExisting: flag('--or-existing', 'count what is on order already as ordered', {
    excludes: ['--again', '--no-ledger'],
  }),
  latest: count('--latest <n>', 'with --feed, the newest n episodes', { needs: ['--feed'] }),
  since: text('--since <time>', 'with --feed, episodes from then on: 2026-05-01, or 7d ago', {
    needs: ['--feed'],
  }),
  match: text('--match <text|/regex/>', 'with --feed, episodes whose title has it', { needs: ['--feed'] }),
  hidden: flag('--hidden', 'in folders, include hidden files (.name) and follow links to folders'),
  perOrder: count('--per-order <n>', 'how many URLs go into one order', {
    defaultNote: `${LISTED_URLS_PER_ORDER} of a list, else all`,
  }),
  notes: text('--notes <text>', 'comments for the transcribers', { excludes: ['--notes-file'] }),
  notesFile: text('--notes-file <file>', 'take the comments from a file, or from stdin with -', {
    values: 'file',
  }),
  name: repeated('--name <name>', "a speaker's name; repeat it for each"),
  key: text('--key <text>', 'what tells this audio from others, in place of its URL'),
  tag: repeated('--tag <text>', 'a tag for the audio; repeat it for each'),
  ignoreColumns: flag('--ignore-columns', 'with --from, ignore unknown columns', {
    needs: ['--from'],
  }),
  test: flag('--test', 'place a test order, which is not transcribed', {
    excludes: ['--wait', '--download'],
  }),
  maxCost: text('--max-cost <amount>', 'order nothing if it would cost more, or if that is not known'),
  unpriced: flag('--unpriced', 'under a budget, allow orders of unknown cost'),
  upToBudget: flag('--up-to-budget', 'order rows from the top while they fit the budget'),
  interval: duration('--interval <duration>', 'with --wait or --download, the time between two polls', {
    defaultNote: pollNote,
    needs: ['--wait', '--download'],
  }),
  ...downloadOptions(),
  failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
  retryUnclear: flag('--retry-unclear', 'with --skip-ordered: order again what had no clear answer', {
    needs: ['--skip-ordered'],
  }),
  retryEnded: flag('--retry-ended', 'with --skip-ordered: order again what ended without a transcript', {
    needs: ['--skip-ordered'],
  }),
  again: flag('--again', 'order again what is on order already'),
  anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
  param: repeated('--param <key=value>', 'send one more parameter as it is; repeat it for each'),
};

const orderSchema = () =>
  anyOf(
    described(
      'one element a file. `answer` is that to the order; with --wait and --download, that about the file',
      arrayOf(fileSchema()),
    ),
    described('with --dry-run', planSchema),
  );

export const order = command({
  name: 'order',
  summary: 'Order transcription of audio at one or more URLs',
  about:
    'Orders transcription of audio at URLs, of a list, a podcast feed or files of this machine. It costs money, and is ' +
    'sent once. What is on order already is not ordered again (exit 9) unless --again.',
  details: [
    'All SKUs and notes apply to every URL. If no clear answer comes, steno exits with 11 and does not try again; see ' +
      'it with steno attempts. An order on hold is placed but not started: exit 0 unless --fail-on-hold or --wait.',
    'The same audio is known however its link is written: spelling, signatures and tracking ' +
      'parameters do not count. With --key the key alone tells audio apart: the same URL without it, or with another ' +
      'key, is another audio.',
    'A manifest (--from) holds one URL a line, or is CSV with a header, or JSON lines, with the fields url or ' +
      'path (a file of this machine), sku, notes, names and tags (with | between them), key and minutes; others are ' +
      'refused unless --ignore-columns. Rows alike in SKUs, notes and names share an order. With a manifest or ' +
      '--skip-ordered, what another process is ordering is waited for, and what had no clear answer before is listed ' +
      'and holds up no other row. A refused order of a list, a feed or a folder is sent again in halves: the refused ' +
      'rows are listed, the others are ordered (exit 10).',
    'With --feed the audio is that of a podcast: --latest, --since and --match choose episodes; without one of them all ' +
      'are shown and none is ordered (exit 2). Older pages of the feed are fetched only as needed, at most 200; ' +
      'if one of them fails, nothing is ordered. An episode is known by its guid too, so that a new token or host in its ' +
      'link does not order it again. What the feed has a transcript of is left out unless --again. In the notes, ' +
      '{title}, {link}, {date} and {guid} are those of the episode.',
    'A file or folder of this machine needs the setting upload-command: a command that gets the path as $1 (as its last ' +
      'argument, unless it names $1 or STENO_FILE) and prints one https URL. A file is known by its content, whatever it is called; one that is still being written is left ' +
      "out, and one that can't be uploaded holds up no other. In a folder, files with an audio extension are ordered; " +
      'hidden files and linked folders only with --hidden. Everything that is left out is counted and named.',
    'With --or-existing, what is on order already counts as ordered: it is printed, waited for and downloaded like the ' +
      'rest; if the existing order lacks a SKU that you ask for, exit 9. Audio on the ignore list (steno ignore) is left ' +
      'out of lists, feeds and folders. Whatever is left out is named on stderr, or has left_out in the JSON.',
    '--dry-run shows the cost as far as it is known, and exits with 0 even if that is too much. Prices come from your ' +
      'invoices or the setting price.<SKU>; lengths from the feed, the file or the column minutes, which comes first. ' +
      '--max-cost and budgets (steno budget, setting budget) order nothing if the cost is too high or unknown (exit 2). ' +
      '--unpriced allows unknown costs while something is left of the budget. --up-to-budget orders the rows that fit, ' +
      'from the top, and leaves out the rest: what is after a row that does not fit or has no known cost.',
  ],
  args: [{ name: '[url…]', help: 'where the audio is; or a file or folder of this machine', values: 'file' }],
  options,
  examples: [
    ['steno order https://example.com/a.mp3 --sku TRANS14', 'one file'],
    ['steno order https://example.com/b.mp3 --sku TRANS14 --download .', 'and fetch it'],
    ['steno order https://example.com/{c,d}.mp3 --sku TRANS2,TSTMP1', 'two, with timestamps'],
    ['steno order --from talks.csv --skip-ordered --dry-run', 'many: see the orders first'],
    ['steno order --from talks.csv --skip-ordered --retry-unclear', 'also what had no clear answer'],
    ['steno order --from talks.csv --skip-ordered --retry-ended', 'also what ended without a transcript'],
    ['steno order https://example.com/new.mp3 --key "show 41" --sku TRANS14', 'the link is not unique'],
    ['steno order --feed https://example.com/feed.xml --latest 3 --sku TRANS14', 'new episodes'],
    ['steno order --feed feed.xml --since 7d --sku TRANS14 --max-cost 20', 'if they cost at most 20'],
    ['steno order recordings --sku TRANS14 --skip-ordered', 'all audio in a folder'],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet)', 'in a script'],
  ],
  effect: 'money',
  exits: [...MONEY_EXITS, 'held', 'unfinished', 'duplicate', 'partial'],
  output: () => printed(orderSchema(), orderRecord.columnHelp, fileRecord.columnHelp),
  dryRunOutput: () => printed(planSchema, plannedRecord.columnHelp),
  async run(context, { args, options, line }) {
    const { out, globals } = context;
    const waits = options.wait || options.download !== undefined;
    if (options.download !== undefined) checkFolder(options.download);
    const maxCost = checkMaxCost(options.maxCost);
    const formats = checkFormats(options.format, options.nameAs);
    checkTemplate(options.nameAs, formats);
    const plan = await readPlan(context, args, options);
    const ledger = await context.ledgers.forMoney({ what: 'this order', ...options });
    const isShown = options.dryRun || plan.isWholeFeed;
    const keyMark = await context.ledgers.keyMark(ledger, !isShown);
    const hasFiles =
      args.some(isLocalPath) || plan.orders.some(({ audios }) => audios.some(({ path }) => path));
    const manifest = options.from !== undefined || options.feed !== undefined || hasFiles;
    const sorting = OrderGuard.of(plan.orders, ledger, {
      ...options,
      skipOrdered: options.skipOrdered || (plan.isWholeFeed && !options.again),
      manifest,
      begunAgoMs: processAge(),
      timeout: globals.timeout,
      refreshEnded: isShown || !ledger ? undefined : (ids) => refreshEnded(context, ledger, ids),
    });
    // All of these ask the ledger; what the preparation says comes first.
    sorting.catch(() => {});
    const readCosts = (): Promise<CostFacts> | undefined =>
      ledger && readCostFacts(ledger, costSettings(context.settings), isShown || maxCost !== undefined);
    // A local ledger gains nothing by being asked at once, and would hold up the guard, which compares times.
    const reading = context.ledgers.sharedUrl === undefined ? sorting.then(readCosts) : readCosts();
    reading?.catch(() => {});
    if (ledger) await prepareForOrders(ledger, isShown, keyMark);
    const guard = await sorting;
    await sayLeftOut(out, guard, countAudios(plan.orders));
    const costs = await openCosts(context, ledger, await reading, { ...options, maxCost, isShown });
    const problem = await checkCosts(out, guard, costs, options.upToBudget);
    const job = { context, options, line, waits, formats, plan, manifest, hasFiles, ledger, guard, costs };
    if (isShown) return showPlan(job, problem);
    if (problem) throw problem;
    if (guard.unsent > 0 || guard.existing.length > 0) return send(job);
    await show(job, nothingSent(guard));
    return raiseHeld(job);
  },
});

const checkMaxCost = (given: string | undefined): Money | undefined =>
  given === undefined ? undefined : checkAmount(given, '--max-cost');

/** What the line asks for, and what is known before anything is sent. */
interface Job {
  readonly context: Context;
  readonly options: OptionValues<typeof options>;
  readonly line: readonly string[];
  readonly waits: boolean;
  readonly formats: readonly string[];
  readonly plan: OrderPlan;
  /** The orders come from a list: what can't be ordered holds up nothing else. */
  readonly manifest: boolean;
  readonly hasFiles: boolean;
  readonly ledger: Ledger | undefined;
  readonly guard: OrderGuard;
  readonly costs: OrderCosts;
}

const listsHeld = ({ manifest, plan }: Job): boolean => manifest || countAudios(plan.orders) > 1;

/** `sample` is the feed of the sandbox. */
const feedSource = ({ sandbox }: Context, given: string): string =>
  sandbox && given === 'sample' ? new URL('/feed.xml', sandbox.baseUrl).href : given;

/** Says what a feed or a folder holds that is not ordered. */
async function readPlan(
  context: Context,
  args: readonly string[],
  options: Job['options'],
): Promise<OrderPlan> {
  const { out, stdin, signal } = context;
  const feed = options.feed === undefined ? undefined : feedSource(context, options.feed);
  const reading = { ...publicReading(context), timeoutMs: context.globals.timeout };
  const uploadCommand = context.settings.get('upload-command').value;
  const what = feed === undefined ? 'Reading' : 'Fetching the feed';
  const plan = await whileWorking(out, what, (report) =>
    planOrders(args, { ...options, feed }, { stdin, signal, uploadCommand, reading, report }),
  );
  for (const note of plan.notes) out.note(note);
  if (plan.unread) await out.warn(plan.unread.message, plan.unread.hint);
  for (const { because, rows, hint } of plan.counted) {
    const paths = rows.map(({ path }) => path);
    await sayRows(out, `left out because ${because}`, paths, { hint });
  }
  for (const { path: left, reason } of plan.leftOut) await out.warn(`left out: ${left}: ${reason}`);
  return plan;
}

/** What the service does not know any more has ended. */
async function refreshEnded(context: Context, ledger: Ledger, ids: readonly string[]): Promise<void> {
  const outcomes = await refreshFiles(await context.connect(), ledger, ids);
  const failed = outcomes.find(({ error }) => error && error.kind !== 'missing');
  if (failed?.error) throw failed.error;
}

async function sayLeftOut(out: Output, { leftOut }: OrderGuard, of: number): Promise<void> {
  for (const [why, text] of [
    ['ordered', 'already ordered'],
    ['ignored', 'ignored'],
  ]) {
    const rows = leftOut.filter((row) => row.why === why && !row.doubt);
    await sayRows(out, `left out because ${text}`, namesOf(rows), { of });
  }
  const { names, hint } = otherSkusNote(leftOut.filter(({ why }) => why === 'other_skus'));
  await sayRows(out, 'left out because already ordered with other SKUs', names, {
    of,
    hint: `to change its SKUs: ${hint}`,
  });
  await sayDoubtful(out, leftOut);
}

async function sayDoubtful(out: Output, rows: readonly KeptOut[]): Promise<void> {
  for (const { doubt } of rows) {
    if (!doubt) continue;
    const { text, hint } = doubtfulText(doubt);
    await out.warn(text, hint);
  }
}

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

interface CostOptions extends Pick<Job['options'], 'unpriced' | 'upToBudget'> {
  readonly maxCost: Money | undefined;
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
  const hasBudget = settings.budget !== undefined || read?.budget !== undefined;
  if ((unpriced || upToBudget) && !hasBudget)
    throw usage(
      `${unpriced ? '--unpriced' : '--up-to-budget'} requires a budget`,
      'set one with: steno budget set 200/month   (or leave out the flag)',
    );
  const counts = isShown || maxCost !== undefined || hasBudget;
  const learned = counts && ledger && read && (await learnPrices(context, ledger, read));
  const facts = learned ? await readCostFacts(ledger, settings, true) : read;
  return OrderCosts.open(ledger, facts, settings, {
    maxCost: maxCost && { ...maxCost, currency: maxCost.currency || settings.currency || '' },
    allowsUnpriced: unpriced,
    upToBudget,
  });
}

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
    await out.warn(`could not learn prices from invoices: ${errorMessage(error)}`);
    return false;
  }
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
  why?: ReturnType<OrderCosts['upToBudget']>['why'],
): Promise<void> {
  const rows = orders.flatMap(({ audios }) => audios.map(describeAudio));
  if (rows.length === 0) return;
  const none = rows.length === of ? ', which covers none of them' : '';
  const text = `left out because of the budget${none}: ${rows.length} of ${of}${why ? ` (${why.message})` : ''}: ${someOf(rows)}`;
  if (none || why?.isUnknown) await out.warn(text, why?.hint);
  else out.note(text);
}

/** Shows what would be ordered, and what would prevent it; nothing is sent. */
async function showPlan(job: Job, problem: StenoError | undefined): Promise<void> {
  const { context, plan, guard, costs } = job;
  const { out } = context;
  const { ready, deferred } = guard;
  const toRow = (order: PlannedOrder) => ({
    order,
    document: orderParams(requestOf(order)),
    estimate: costs.estimate([order]),
  });
  if (out.mode.json) {
    const leftOut = [...guard.leftOut, ...guard.existing];
    const files = await filesOf({ ...job, waits: false }, nothingSent(guard), leftOut, true);
    await out.show(planDocument(ready.map(toRow), costs.estimate(ready), files));
  } else await out.showPages(planPages(ready, out.isBrief));
  if (deferred.length) out.note(`being ordered by another process: ${countAudios(deferred)}`);
  if (ready.length) for (const line of estimateLines(costs.estimate(ready))) out.note(line);
  if (plan.isWholeFeed) throw wholeFeedError(countAudios(plan.orders));
  if (problem) await out.warn(problem.message, problem.hint);
  raiseHeld(job);
}

const nothingSent = (guard: OrderGuard): OrderResult =>
  orderResult(
    { outcomes: [], held: guard.failures, notSent: [], unsent: 0, interrupted: false },
    guard,
    false,
  );

const raiseHeld = (job: Job): void =>
  raiseUnplaced(nothingSent(job.guard).sent, { listsHeld: listsHeld(job), isRecorded: true });

async function send(job: Job): Promise<void> {
  const { context, options, plan, guard, ledger, costs, waits, formats } = job;
  const { out, signal, globals } = context;
  const { timeout } = globals;
  const transport = await context.connect({ timeoutBounds: waits ? 'command' : 'request' });
  const startedAt = monotonicMs();
  // --timeout bounds the whole command if it waits, else each request.
  const pauseLimitMs = (): number =>
    (timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
  for (const { audios } of [...guard.ready, ...guard.deferred]) context.sandbox?.setLengths(audios);
  const leftOut = guard.leftOut.length;
  const [overBudget, wanted] = [guard.overBudget.length, countAudios(guard.ready)];
  const sending = {
    ...{ transport, ledger, signal, pauseLimitMs, costs, halves: job.manifest },
    onWaitForOthers: waitNoter(out),
    onLedgerError: (error: unknown) =>
      out.warnOf('the ledger could not record the outcome of the order', error),
  };
  const result = await context.ledgers.whileNoting(ledger, async (notes) => {
    const sent = await whileWorking(out, 'Ordering', (report) => {
      const upload = job.hasFiles ? uploader(context, ledger, report) : undefined;
      return placeOrders(guard, { ...sending, report, upload });
    });
    const ordered = orderResult(sent, guard, options.failOnHold || waits);
    if (!waits || ordered.placed.length === 0 || signal.aborted) return ordered;
    for (const line of orderLines(ordered.placed.map(({ order }) => order))) out.note(line);
    const target = { download: options.download, formats, template: options.nameAs };
    const poll = { interval: options.interval, timeout, signal };
    return whileWorking(out, 'Waiting', (report) =>
      waitForOrders(ordered, target, { transport, ledger, notes, poll, report }),
    );
  });
  for (const { order, isExisting } of result.placed) if (!isExisting) out.addDone(placedLine(order));
  const late = guard.leftOut.slice(leftOut);
  const ordered = namesOf(late.filter(({ doubt }) => !doubt));
  await sayRows(out, 'left out because ordered by another process', ordered);
  await sayDoubtful(out, late);
  await sayOverBudget(out, guard.overBudget.slice(overBudget), wanted);
  await show(job, result);
  raiseOrderFailures(result, {
    listsHeld: listsHeld(job),
    isRecorded: ledger !== undefined && !options.test,
    placeOf: plan.placeOf,
    ...orderGoOn(job.line, options, globals),
  });
  // Others were faster, and nobody knows what theirs cost.
  const { problem } = result.placed.length ? {} : costs.upToBudget(guard.overBudget);
  if (problem) throw problem;
}

const uploader = (context: Context, ledger: Ledger | undefined, report: Report) => {
  const used = new Map<string, Recording>();
  const urls = new Map<PlannedAudio, string | undefined>();
  return async (order: PlannedOrder, onFailure: (failure: Failure) => void): Promise<PlannedOrder> => {
    const { env, signal, globals, settings, out } = context;
    const uploading = {
      ...{ env, signal, ledger, report, used, urls },
      command: settings.get('upload-command').value,
      timeoutMs: globals.timeout ?? UPLOAD_TIMEOUT_MS,
      onMessage: (lines: string) => out.stderr.passOn(lines),
    };
    const uploaded = await uploadOrder(order, uploading, onFailure);
    context.sandbox?.setLengths(uploaded.audios);
    return uploaded;
  };
};

/** Says once that another process is waited for; a line that moves says so itself. */
function waitNoter(out: Output): (text: string) => void {
  let isSaid = false;
  return (text) => {
    if (out.stderr.progressForm !== 'line' && !isSaid) out.note(text);
    isSaid = true;
  };
}

/** Shows what was placed, also where the waiting failed: it was paid for. */
async function show(job: Job, result: OrderResult): Promise<void> {
  const { context, waits, guard } = job;
  const { out, settings } = context;
  const { placed, waited, hold, holdIsFailure } = result;
  out.addDone(...savedLine(waited?.saved));
  if (out.isBrief)
    await out.show(waited ? waitedTable(waited, settings.currency, waited.held) : ordersTable(placed, true));
  else {
    // Rows of an order have nothing that only the ledger knows.
    const showsFiles = (waits || out.mode.columns.length > 0) && !out.mode.quiet;
    const files = await filesOf(job, result, guard.leftOut, out.mode.json || showsFiles);
    await out.show(orderedView(files, result, showsFiles));
  }
  if (out.mode.quiet) announceLacking(out, result);
  for (const each of skippedWarnings(waited?.saved)) await out.warn(...each);
  await warnRemarks(out, placed);
  if (hold && !holdIsFailure) await out.warn(hold.message, hold.hint);
}

/** Every row as a file, those that were left out too. */
async function filesOf(
  { context, waits, plan, ledger }: Job,
  result: OrderResult,
  leftOut: readonly KeptOut[],
  asksLedger: boolean,
) {
  const { currency } = context.settings;
  const ids = [
    ...result.placed.flatMap(({ order }) => order.audiofiles),
    ...leftOutIds(result.sent, leftOut),
  ];
  const known = await knownFiles(asksLedger ? ledger : undefined, ids);
  const unplanned = [...plan.leftOut, ...plan.counted.flatMap(({ rows, isOther }) => (isOther ? [] : rows))];
  return orderedFiles(result, { waits, currency, known, leftOut, unplanned });
}

/** With --quiet and --download a script reads file names; where some are missing, it needs the ids. */
function announceLacking(out: Output, { waited, placed }: OrderResult): void {
  if (!waited?.saved) return;
  const lacks = waited.held.length > 0 || waited.outcomes.some(({ error }) => error);
  if (lacks) for (const line of orderLines(placed.map(({ order }) => order))) out.stderr.writeLine(line);
}

async function warnRemarks(out: Output, placed: OrderResult['placed']): Promise<void> {
  for (const { order, files, planned } of placed) {
    // Of an order that costs something, a problem is an error.
    const text = files.remark ?? (planned.test ? files.problem : undefined);
    if (text) await out.warn(`order ${order.id}: ${text}`);
    if (order.error) await out.warn(`order ${order.id} is placed, but the service says: ${order.error}`);
  }
}
