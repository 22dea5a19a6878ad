import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import { meaningOfOrderSku, orderSkus, transcriptionSkus } from '../catalog/skus.ts';
import { holdError, raiseOrderFailures } from '../flows/orders/failures.ts';
import {
  nothingSent,
  type OrderJob,
  type OrderMeans,
  type OrderResult,
  planProblem,
  prepareOrder,
  sendOrder,
} from '../flows/orders/order-flow.ts';
import { countAudios, type PlannedOrder, requestOf } from '../flows/orders/planned-order.ts';
import { orderedFiles } from '../flows/orders/shown.ts';
import { estimateLines } from '../flows/prices/estimate.ts';
import { checkFolder, checkTemplate } from '../flows/transcripts/name.ts';
import { LISTED_URLS_PER_ORDER } from '../lib/defaults.ts';
import { checkAmount } from '../lib/money.ts';
import { pollNote } from '../lib/time.ts';
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
import { deliveredText, fileSchema, waitedRecord } from '../views/files.ts';
import {
  followLine,
  orderedPages,
  orderedView,
  orderLines,
  orderRecord,
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
    described('with --dry-run', planSchema()),
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
  output: () => printed(orderSchema(), orderRecord.columnHelp, waitedRecord.columnHelp),
  dryRunOutput: () => printed(planSchema(), plannedRecord.columnHelp),
  async run(context, { args, options, line }) {
    const { globals } = context;
    const formats = checkTargets(context, options);
    const maxCost = options.maxCost === undefined ? undefined : checkAmount(options.maxCost, '--max-cost');
    // `sample` is the feed of the sandbox.
    const origin = options.feed === 'sample' ? context.sandbox?.baseUrl : undefined;
    const feed = origin ? new URL('/feed.xml', origin).href : options.feed;
    const job = await prepareOrder(args, { ...options, feed, maxCost }, meansOf(context, options));
    if (job.isShown) await showPlan(context, job);
    const noteOrders = (orders: Parameters<typeof orderLines>[0]): void => {
      for (const each of orderLines(orders)) context.out.note(each);
    };
    const result = job.isShown ? nothingSent(job) : await sendOrder(job, formats, noteOrders);
    if (!job.isShown) await show(context, job, result, options.notify);
    const waitFlags = waitFlagsOf(context, options);
    raiseOrderFailures(result, job, { ...options, line, waitFlags, hasLedger: globals.ledger });
  },
});

type Values = OptionValues<typeof options>;

/** Where transcripts go, and in which formats. A dry run writes nothing, not even to try the folder. */
function checkTargets({ out }: Context, { download, dryRun, format, nameAs }: Values): string[] {
  if (download !== undefined && !dryRun) checkFolder(download, (text) => out.note(text));
  const formats = checkFormats(format, nameAs);
  checkTemplate(nameAs, formats);
  return formats;
}

function meansOf(context: Context, options: Values): OrderMeans {
  const { out, settings, env, stdin, signal, sandbox, ledgers, globals } = context;
  return {
    ...{ settings, env, stdin, signal, sandbox, timeout: globals.timeout },
    reading: { ...publicReading(context), timeoutMs: globals.timeout },
    hasKey: async () => (await context.key()) !== undefined,
    connect: (timeoutBounds) => context.connect({ timeoutBounds }),
    openLedger: (dryRun) => ledgers.openForMoney({ what: 'this order', ...options, dryRun }),
    noting: (ledger, work) => ledgers.whileNoting(ledger, work),
    allowUpload: () => requireAllowed(context, 'exec', 'an upload'),
    during: (what, work) => whileWorking(out, what, work),
    tell: async ({ text, hint, isWarning, isProgress }) => {
      if (isWarning) await out.warn(text, hint);
      else if (!isProgress || out.stderr.progressForm !== 'line') out.note(text);
    },
    passOn: (lines) => out.stderr.passOn(lines),
    onLedgerError: (error) => out.warnOf('the ledger could not record the outcome of the order', error),
  };
}

/** Shows what would be ordered, and what would prevent it. */
async function showPlan({ out }: Context, job: OrderJob): Promise<void> {
  const { run, costs } = job;
  const { ready } = run;
  const toRow = (order: PlannedOrder) => ({
    order,
    document: orderParams(requestOf(order)),
    estimate: costs.estimate([order]),
  });
  const estimate = costs.estimate(ready);
  if (out.mode.json)
    await out.show(
      planDocument({
        orders: ready.map(toRow),
        estimate,
        leftOut: await allOf(orderedFiles(job, nothingSent(job))),
      }),
    );
  else await out.showPages(planPages(ready, out.isBrief));
  if (run.deferred.length) out.note(`being ordered by another process: ${countAudios(run.deferred)}`);
  if (ready.length) for (const each of estimateLines(estimate)) out.note(each);
  for (const { text, hint } of planProblem(job)) await out.warn(text, hint);
}

/** Shows what was placed, also where the waiting failed: it was paid for. */
async function show(
  { out, settings }: Context,
  job: OrderJob,
  result: OrderResult,
  notify: boolean,
): Promise<void> {
  const { placed, waited } = result;
  const isNew = placed.filter(({ isExisting }) => !isExisting);
  out.addDone(...isNew.map(({ order }) => placedLine(order)), ...savedLine(waited?.saved));
  // Rows of an order have nothing that only the ledger knows.
  const showsFiles = (job.waits || out.mode.columns.length > 0) && !out.mode.quiet;
  const pages = orderedFiles(job, result);
  const form = { isBrief: out.isBrief, currency: settings.currency };
  if (out.mode.json) await out.showPages(orderedPages(pages));
  else await out.show(orderedView(showsFiles ? await allOf(pages) : undefined, result, form));
  if (out.mode.quiet) announceLacking(out, result);
  if (waited) out.stderr.notify(notify, deliveredText(waited));
  else if (out.forPeople && placed.length) out.note(followLine(placed));
  for (const each of skippedWarnings(waited?.saved)) await out.warn(...each);
  const hold = result.holdIsFailure ? undefined : holdError(placed);
  if (hold) await out.warn(hold.message, hold.hint);
}

async function allOf<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) for (const item of page) all.push(item);
  return all;
}

/** With --quiet and --download a script reads file names; where some are missing, it needs the ids. */
function announceLacking({ stderr }: Output, { waited, placed }: OrderResult): void {
  const lacksSome = waited?.saved && (waited.held.length || waited.outcomes.some(({ error }) => error));
  if (lacksSome) for (const each of orderLines(placed.map(({ order }) => order))) stderr.writeLine(each);
}

/** What `wait` has to be told to go on as this command would have. */
function waitFlagsOf({ globals }: Context, { download, format, nameAs }: Values): string[] {
  const given: ReadonlyArray<readonly [string, string | undefined]> = [
    ['--download', download],
    ['--format', download && format.join(',')],
    ['--name-as', nameAs],
    ['--profile', globals.profile],
    ['--base-url', globals.baseUrl],
  ];
  const flags = given.flatMap(([name, value]) => (value ? [name, value] : []));
  return globals.sandbox ? [...flags, '--sandbox'] : flags;
}
