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
import { hasLocalFiles, type Recording, uploadOrder } from '../flows/orders/local-audio.ts';
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
import type { Ledger } from '../ledger/ledger.ts';
import { LISTED_URLS_PER_ORDER } from '../lib/defaults.ts';
import { errorMessage, type Failure, StenoError, usage } from '../lib/errors.ts';
import { checkAmount, type Money } from '../lib/money.ts';
import { processAge } from '../lib/processes.ts';
import type { Report } from '../lib/progress.ts';
import { monotonicMs, pollNote } from '../lib/time.ts';
import { requireAllowed } from '../spec/allow.ts';
import { command, MONEY_EXITS } from '../spec/command.ts';
import { type Context, publicReading } from '../spec/context.ts';
import {
  count,
  downloadOptions,
  duration,
  flag,
  list,
  notifyFlag,
  type OptionValues,
  repeated,
  text,
} from '../spec/options.ts';
import type { Output } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { deliveredText, fileRecord, fileSchema, waitedTable } from '../views/files.ts';
import {
  followLine,
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
  sku: list('--sku <SKU…>', 'one transcription, plus any add-ons', {
    values: orderSkus.map((each) => each.sku),
    meaning: meaningOfOrderSku,
    onlyOneOf: transcriptionSkus,
  }),
  from: text('--from <file|->', 'read the URLs from a manifest, or from stdin with -', {
    values: 'file',
    excludes: ['--feed'],
  }),
  feed: text('--feed <url|file>', 'order episodes of a podcast feed (RSS or Atom)', { values: 'file' }),
  dryRun: flag('--dry-run', 'show the orders and their estimated cost; send nothing'),
  wait: flag('--wait', 'wait until the files are delivered'),
  notify: notifyFlag(['--wait', '--download']),
  download: text('--download <dir>', 'wait, and download the transcripts to this folder', {
    values: 'folder',
    effect: 'local',
  }),
  skipOrdered: flag('--skip-ordered', 'skip audio that is already ordered', {
    excludes: ['--again', '--no-ledger'],
  }),
  orExisting: flag('--or-existing', 'accept an existing order instead of placing a new one', {
    excludes: ['--again', '--no-ledger'],
  }),
  latest: count('--latest <n>', 'with --feed, the newest n episodes', { needs: ['--feed'] }),
  since: text('--since <time>', 'with --feed, episodes since this time: 2026-05-01, yesterday or 7d', {
    needs: ['--feed'],
  }),
  match: text('--match <text|/regex/>', 'with --feed, episodes whose title matches', { needs: ['--feed'] }),
  hidden: flag('--hidden', 'in folders, include hidden files (.name) and follow links to folders'),
  perOrder: count('--per-order <n>', 'put at most this many URLs into one order', {
    defaultNote: `${LISTED_URLS_PER_ORDER} for a list, otherwise all`,
  }),
  notes: text('--notes <text>', 'notes for the transcribers', { excludes: ['--notes-file'] }),
  notesFile: text('--notes-file <file>', 'read the notes from a file, or from stdin with -', {
    values: 'file',
  }),
  name: repeated('--name <name>', 'name of a speaker; repeat for each speaker'),
  key: text('--key <text>', 'identify this audio by a key instead of its URL'),
  minutes: text('--minutes <n>', 'length of each URL here, for estimates', {
    excludes: ['--from', '--feed'],
  }),
  tag: repeated('--tag <text>', 'tag for the audio; repeat for each tag'),
  ignoreColumns: flag('--ignore-columns', 'with --from, ignore unknown columns', {
    needs: ['--from'],
  }),
  test: flag('--test', 'place a test order, which is not transcribed', {
    excludes: ['--wait', '--download'],
  }),
  maxCost: text('--max-cost <amount>', 'order nothing if the cost is higher than this, or unknown'),
  unpriced: flag('--unpriced', 'under a budget, allow orders of unknown cost'),
  upToBudget: flag('--up-to-budget', 'order the first rows that fit the budget, and skip the rest'),
  interval: duration('--interval <duration>', 'with --wait or --download, the time between polls', {
    defaultNote: pollNote,
    needs: ['--wait', '--download'],
  }),
  ...downloadOptions(),
  failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
  retryUnclear: flag('--retry-unclear', 'with --skip-ordered, reorder audio whose last order is uncertain', {
    needs: ['--skip-ordered'],
  }),
  retryEnded: flag('--retry-ended', 'with --skip-ordered, reorder audio that ended without a transcript', {
    needs: ['--skip-ordered'],
  }),
  again: flag('--again', 'order audio even if it was ordered before'),
  anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
  param: repeated('--param <key=value>', 'send an extra parameter unchanged; repeat for each one'),
};

const orderSchema = () =>
  anyOf(
    described(
      'one element per file; `answer` is the one to the order or, with --wait, the latest one about the file',
      arrayOf(fileSchema()),
    ),
    described('with --dry-run', planSchema),
  );

export const order = command({
  name: 'order',
  summary: 'Order transcription of URLs, podcast feeds or local files',
  about:
    'Orders transcription of audio: URLs, a manifest, a podcast feed or local files. An order costs money and is ' +
    'sent only once. Audio that is already ordered is not ordered again (exit 9) unless you add --again.',
  details: [
    'SKUs and notes apply to every URL. If the service gives no clear answer, steno exits with 11 and does not ' +
      'retry; see steno attempts. An order on hold is placed but not started: steno exits with 0, unless you add ' +
      '--fail-on-hold or --wait.',
    'steno recognizes the same audio however its URL is written: spelling, signatures and tracking parameters do ' +
      'not count. With --key, only the key counts: the same URL without that key, or with another, is different ' +
      'audio.',
    'A manifest (--from) is a list of URLs, one per line, or CSV with a header, or JSON lines. Its fields are url ' +
      'or path (a local file), sku, notes, names and tags (separated by |), key and minutes; others are refused ' +
      'unless you add --ignore-columns. Rows with the same SKUs, notes and names share an order.',
    'With a manifest or --skip-ordered, steno waits for rows that another process is ordering, lists rows whose ' +
      'last order is uncertain, and orders the rest. If the service refuses an order of a list, feed or folder, ' +
      'steno sends it again in halves, lists the refused rows and orders the others (exit 10).',
    'With --feed, choose episodes with --latest, --since or --match; without any of them, all episodes are listed ' +
      'and none is ordered (exit 2). Older pages of the feed are fetched as needed, 200 at most; if one fails, ' +
      'nothing is ordered. An episode is also recognized by its guid, so a new token or host in its link does not ' +
      'cause a second order. Episodes with a transcript in the feed are skipped unless you add --again. In notes, ' +
      '{title}, {link}, {date} and {guid} stand for those of the episode.',
    'Local files and folders need the setting upload-command: a command that receives the path as $1 and prints ' +
      'one https URL. If it mentions neither $1 nor STENO_FILE, the path is appended as its last argument. A file ' +
      'is recognized by its content, whatever its name. A file that is still being written is skipped; one that ' +
      'fails to upload does not stop the others. In a folder, files with an audio extension are ordered.',
    'With --or-existing, audio already ordered is printed, waited for and downloaded like the rest; if its order ' +
      'lacks a SKU that you ask for, steno exits with 9. Audio on the ignore list (steno ignore) is left out of ' +
      'manifests, feeds and folders. Everything left out is listed on stderr, or marked left_out in the JSON.',
    '--dry-run estimates the cost as far as prices are known, and exits with 0 even if it is too high. Prices ' +
      'come from your invoices or the setting price.<SKU>; lengths come from --minutes or the column minutes, or ' +
      'else from the feed or the file. --max-cost and budgets (steno budget, setting budget) order nothing if the cost is too ' +
      'high or unknown (exit 2). --unpriced allows unknown costs while there is money left in the budget. ' +
      '--up-to-budget stops at the first row that does not fit or has no known cost, and leaves out the rest.',
  ],
  args: [{ name: '[url…]', help: 'URL of the audio, or a local file or folder', values: 'file' }],
  options,
  examples: [
    ['steno order https://example.com/a.mp3 --sku TRANS14', 'one file'],
    ['steno order https://example.com/b.mp3 --sku TRANS14 --download .', 'order it, wait and download'],
    ['steno order https://example.com/{c,d}.mp3 --sku TRANS2,TSTMP1', 'two files, with timestamps'],
    ['steno order https://example.com/e.mp3 --sku TRANS14 --minutes 35 --dry-run', 'what it will cost'],
    ['steno order --from talks.csv --skip-ordered --dry-run', 'preview the orders of a manifest'],
    ['steno order --from talks.csv --skip-ordered --retry-unclear', 'also retry uncertain orders'],
    ['steno order --from talks.csv --skip-ordered --retry-ended', 'also reorder failed or cancelled files'],
    ['steno order https://example.com/new.mp3 --key "show 41" --sku TRANS14', 'when the URL is not unique'],
    ['steno order --feed https://example.com/feed.xml --latest 3 --sku TRANS14', 'the three newest episodes'],
    ['steno order --feed feed.xml --since 7d --sku TRANS14 --max-cost 20', 'with a limit on the cost'],
    ['steno order recordings --sku TRANS14 --skip-ordered', 'all audio in a folder'],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet)', 'store the id in a variable'],
  ],
  effect: 'money',
  exits: [...MONEY_EXITS, 'held', 'unfinished', 'duplicate', 'partial'],
  output: () => printed(orderSchema(), orderRecord.columnHelp, fileRecord.columnHelp),
  dryRunOutput: () => printed(planSchema, plannedRecord.columnHelp),
  async run(context, { args, options, line }) {
    const { out, globals } = context;
    const waits = options.wait || options.download !== undefined;
    const maxCost = options.maxCost === undefined ? undefined : checkAmount(options.maxCost, '--max-cost');
    const formats = checkTargets(options, out);
    const plan = await readPlan(context, args, options);
    const hasFiles = hasLocalFiles(args, plan.orders);
    const isShown = options.dryRun || plan.isWholeFeed;
    const ledger = await context.ledgers.forMoney({ what: 'this order', ...options, dryRun: isShown });
    const manifest = options.from !== undefined || options.feed !== undefined || hasFiles;
    const sorting = OrderGuard.of(plan.orders, ledger, {
      ...options,
      skipOrdered: options.skipOrdered || (plan.isWholeFeed && !options.again),
      manifest,
      begunAgoMs: processAge(),
      timeout: globals.timeout,
      refresh: isShown || !ledger ? undefined : (ids) => refresh(context, ledger, ids),
    });
    sorting.catch(() => {});
    const readCosts = (): Promise<CostFacts> | undefined =>
      ledger && readCostFacts(ledger, costSettings(context.settings), isShown || maxCost !== undefined);
    // A local ledger gains nothing by being asked at once, and would hold up the guard, which compares times.
    const reading = context.ledgers.sharedUrl === undefined ? sorting.then(readCosts) : readCosts();
    reading?.catch(() => {});
    const guard = await sorting;
    const costs = await openCosts(context, ledger, await reading, { ...options, maxCost, isShown });
    await costs.agreeWith(guard);
    await sayLeftOut(out, guard, countAudios(plan.orders));
    const problem = await checkCosts(out, guard, costs, options.upToBudget);
    const job = { context, options, line, waits, formats, plan, manifest, hasFiles, ledger, guard, costs };
    if (isShown) return showPlan(job, problem);
    if (problem) throw problem;
    if (guard.unsent > 0 || guard.existing.length > 0) return send(job);
    await show(job, nothingSent(guard));
    return raiseHeld(job);
  },
});

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

/** Where transcripts go, and in which formats. A dry run writes nothing, not even to try the folder. */
function checkTargets({ download, dryRun, format, nameAs }: Job['options'], out: Output): string[] {
  if (download !== undefined && !dryRun) checkFolder(download, (text) => out.note(text));
  const formats = checkFormats(format, nameAs);
  checkTemplate(nameAs, formats);
  return formats;
}

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
  if (!options.dryRun && hasLocalFiles(args, plan.orders)) requireAllowed(context, 'exec', 'an upload');
  for (const note of plan.notes) out.note(note);
  if (plan.unread) await out.warn(plan.unread.message, plan.unread.hint);
  for (const { because, rows, hint } of plan.counted) {
    const paths = rows.map(({ path }) => path);
    await sayRows(out, because, paths, { hint });
  }
  for (const { path: left, reason } of plan.leftOut) await out.warn(`left out: ${left}: ${reason}`);
  return plan;
}

/** What the service does not know any more has ended. */
async function refresh(context: Context, ledger: Ledger, ids: readonly string[]): Promise<void> {
  const outcomes = await refreshFiles(await context.connect(), ledger, ids);
  for (const { error } of outcomes) if (error && error.kind !== 'missing') throw error;
}

async function sayLeftOut(out: Output, { leftOut }: OrderGuard, of: number): Promise<void> {
  for (const [why, text] of [
    ['ordered', 'already ordered'],
    ['ignored', 'ignored'],
  ] as const) {
    const rows = leftOut.filter((row) => row.why === why && !row.doubt);
    await sayRows(out, text, namesOf(rows), { of });
  }
  const { names, hint } = otherSkusNote(leftOut.filter(({ why }) => why === 'other_skus'));
  await sayRows(out, 'already ordered with other SKUs', names, {
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

/** Says how many were left out, why, and which; with a hint it is a warning. */
async function sayRows(
  out: Output,
  why: string,
  rows: readonly string[],
  { of, hint }: { readonly of?: number; readonly hint?: string | undefined } = {},
): Promise<void> {
  if (rows.length === 0) return;
  const line = `Skipped ${rows.length}${of === undefined ? '' : ` of ${of}`}: ${why} (${someOf(rows)})`;
  if (hint === undefined) out.note(line);
  else await out.warn(line, hint);
}

/** More would fill the screen. */
const MAX_NAMED = 5;

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
  const connect = async () => ((await context.key()) ? context.connect() : undefined);
  try {
    const failed = await whileWorking(context.out, 'Learning prices from invoices', (report) =>
      learnFromService(connect, ledger, facts, report),
    );
    const [first, ...more] = failed ?? [];
    const why = first && `invoice ${first.what} could not be read: ${first.error.message}`;
    if (why) await context.out.warn(more.length ? `${why} (and ${more.length} more)` : why);
    return failed !== undefined;
  } catch (error) {
    if (error instanceof StenoError && error.kind === 'interrupted') throw error;
    await context.out.warn(`could not learn prices from invoices: ${errorMessage(error)}`);
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
  if (!upToBudget) return costs.problemOf(ready, deferred);
  const { why, problem } = costs.keepWhatFits(guard);
  if (!problem) await sayOverBudget(out, guard.overBudget, countAudios(ready), why);
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
  const transport = await context.connect({ timeoutBounds: waits ? 'command' : 'request' });
  const startedAt = monotonicMs();
  // --timeout bounds the whole command if it waits, else each request.
  const pauseLimitMs = (): number =>
    (globals.timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
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
    const poll = { interval: options.interval, timeout: globals.timeout, signal };
    return whileWorking(out, 'Waiting', (report) =>
      waitForOrders(ordered, target, { transport, ledger, notes, poll, report }),
    );
  });
  for (const { order, isExisting } of result.placed) if (!isExisting) out.addDone(placedLine(order));
  const late = guard.leftOut.slice(leftOut);
  const ordered = namesOf(late.filter(({ doubt }) => !doubt));
  await sayRows(out, 'ordered by another process', ordered);
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
  if (waited) out.stderr.notify(job.options.notify, deliveredText(waited));
  else if (out.forPeople && placed.length) out.note(followLine(placed));
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
