import { orderedFile } from '../api/files.ts';
import { orderParams } from '../api/orders.ts';
import { checkFormats } from '../catalog/check.ts';
import { formats } from '../catalog/formats.ts';
import { orderSkus } from '../catalog/skus.ts';
import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { count, duration, flag, list, repeated, text } from '../cli/options.ts';
import type { Waiting } from '../flows/files/wait.ts';
import type { Fetching, Waited } from '../flows/files/wait-and-fetch.ts';
import type { PlacedOrder } from '../flows/orders/place.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';

export const order = command({
  name: 'order',
  summary: 'Order transcription of audio at one or more URLs',
  about:
    'Orders transcription of audio at one or more URLs. All SKUs and notes apply to every URL. It is sent once: if ' +
    'no clear answer comes, steno exits with 11 and does not try again. What is on order already is not ordered ' +
    'again (exit 9) unless --again. An order on hold is placed but not started; it exits with 0 unless ' +
    '--fail-on-hold or --wait.\n\n' +
    'A manifest holds one URL a line, or is CSV with a header, or JSON lines, with the fields url, sku, notes and ' +
    'names (names with | between them). Rows alike in SKUs, notes and names share an order.',
  args: [{ name: '[url…]', help: 'where the audio is, preferably an mp3' }],
  options: {
    sku: list('--sku <SKU…>', 'what to order: a transcription and add-ons', {
      values: orderSkus.map((each) => each.sku),
    }),
    from: text('--from <file|->', 'take the URLs from a manifest, or from stdin with -', { values: 'file' }),
    perOrder: count(
      '--per-order <n>',
      'how many URLs go into one order (default: 50 of a manifest, all that are named)',
    ),
    notes: text('--notes <text>', 'comments for the transcribers'),
    notesFile: text('--notes-file <file>', 'take the comments from a file, or from stdin with -', {
      values: 'file',
    }),
    name: repeated('--name <name>', "a speaker's name; repeat it for each"),
    test: flag('--test', 'place a test order, which is not transcribed'),
    dryRun: flag('--dry-run', 'show what would be ordered and send nothing'),
    wait: flag('--wait', 'wait until the files are delivered'),
    interval: duration('--interval <duration>', 'with --wait, a fixed pause between two looks'),
    download: text('--download <dir>', 'wait, and download the transcripts to this folder', {
      values: 'folder',
    }),
    format: list('--format <ext…>', 'with --download, the document types', {
      default: 'txt',
      values: formats.map((each) => each.ext),
    }),
    failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
    skipOrdered: flag('--skip-ordered', 'leave out URLs that are on order already'),
    again: flag('--again', 'order even what is on order already'),
    anySku: flag('--any-sku', 'let SKUs pass that the API document does not list'),
    param: repeated('--param <key=value>', 'send one more parameter as it is; repeat it for each'),
  },
  examples: [
    ['steno order https://example.com/talk.mp3 --sku TRANS14', 'one file, at the lowest price'],
    [
      'steno order https://example.com/a.mp3 https://example.com/b.mp3 --sku TRANS2,TSTMP1',
      'two, with timestamps',
    ],
    [
      'steno order https://example.com/talk.mp3 --sku EMSR02 --wait --download transcripts',
      'order, wait, fetch',
    ],
    ['steno order --from talks.csv --sku TRANS14 --skip-ordered --dry-run', 'many: see the orders first'],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet --fail-on-hold)', 'in a script'],
  ],
  async run(context, { args, options }) {
    const waits = options.wait || options.download !== undefined;
    if (options.again && options.skipOrdered) throw usage('--again and --skip-ordered exclude each other');
    if (options.test && waits)
      throw usage('a test order is not transcribed, so there is nothing to wait for');
    const exts = checkFormats(options.format);
    if (options.download !== undefined) checkFolder(options.download);
    const [{ ordersOf }, { placeOrders, raiseUnplaced, withoutOrdered }, { values }, { ordersView }] =
      await Promise.all([
        import('../flows/orders/plan.ts'),
        import('../flows/orders/place.ts'),
        import('../flows/bulk.ts'),
        import('../views/order.ts'),
      ]);
    const { out } = context;
    const planned = await ordersOf(args, options, context.stdin);
    const ledger = await context.ledger();
    const requests = withoutOrdered(planned, ledger, options);
    const leftOut = countUrls(planned) - countUrls(requests);
    if (leftOut) out.note(`left out, for it is on order already: ${leftOut} of ${countUrls(planned)}`);
    if (options.dryRun) {
      const { planView } = await import('../views/plan.ts');
      return out.show(planView(requests, requests.map(orderParams)));
    }
    if (requests.length === 0) return out.show(ordersView([], true));
    const transport = await context.transport(waits ? { ownTimeout: true, endsInTime: true } : {});
    const { whileSpinning } = await import('../ui/spinner.ts');
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
      const { raiseUndelivered } = await import('../flows/files/wait.ts');
      raiseUnplaced(
        outcomes,
        waited.outcomes.flatMap(({ what, error }) => (error ? [{ what, error }] : [])),
      );
      raiseUndelivered(waited.outcomes);
    } else if (placed.length || requests.length > 1) await out.show(shown);
    await tellHolds(context, placed, options.failOnHold || waits, () => raiseUnplaced(outcomes));
  },
});

const countUrls = (requests: ReadonlyArray<{ readonly urls: readonly string[] }>): number =>
  requests.reduce((sum, { urls }) => sum + urls.length, 0);

/** Waits for what is under way and shows what came of it; a held order is not waited for. */
async function waitFor(
  context: Context,
  placed: readonly PlacedOrder[],
  given: Pick<Waiting, 'transport' | 'ledger'> & { readonly interval: number | undefined },
  fetching: Fetching,
): Promise<Waited> {
  const [{ waitAndFetch }, { waitedView }, { startProgress }] = await Promise.all([
    import('../flows/files/wait-and-fetch.ts'),
    import('../views/waited.ts'),
    import('../ui/progress.ts'),
  ]);
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
  await out.show(waitedView(waited, { forPeople: out.onTerminal, several: true, orders, held }));
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
