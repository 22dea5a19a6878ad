import { checkOrderSkus } from '../catalog/check.ts';
import { orderSkus } from '../catalog/skus.ts';
import { StenoError, usage } from '../errors.ts';
import { command, flag, list, repeated, text } from '../options.ts';
import { checkUrl } from '../urls.ts';

export const order = command({
  name: 'order',
  summary: 'Order transcription of audio at one or more URLs',
  about:
    'Orders transcription of audio at one or more URLs. All SKUs and notes apply to every URL. ' +
    'It is sent once: if no clear answer comes, steno exits with 11 and does not try again. ' +
    'An order on hold is placed but not started; it exits with 0 unless --fail-on-hold.',
  args: [{ name: '<url…>', help: 'where the audio is, preferably an mp3' }],
  options: {
    sku: list('--sku <SKU…>', 'what to order: a transcription and add-ons', {
      values: orderSkus.map((each) => each.sku),
    }),
    notes: text('--notes <text>', 'comments for the transcribers'),
    notesFile: text('--notes-file <file>', 'take the comments from a file, or from stdin with -', {
      values: 'file',
    }),
    name: repeated('--name <name>', "a speaker's name; repeat it for each"),
    test: flag('--test', 'place a test order, which is not transcribed'),
    dryRun: flag('--dry-run', 'show what would be ordered and send nothing'),
    failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
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
      'steno order https://example.com/talk.mp3 --sku EMSR02 --name "Ada" --name "Grace" --dry-run',
      'see it first',
    ],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet --fail-on-hold)', 'in a script'],
  ],
  async run(context, { args, options }) {
    const { parseParams, readNotes } = await import('../flows/order-input.ts');
    const request = {
      urls: args.map(checkUrl),
      skus: checkOrderSkus(options.sku, options.anySku),
      names: options.name,
      notes: await readNotes(options.notes, options.notesFile, context.stdin),
      test: options.test,
      extra: parseParams(options.param),
    };
    const twice = args.find((url, at) => args.indexOf(url) !== at);
    if (twice) throw usage(`${twice} is given twice`, 'each URL is ordered once; leave one out');
    if (options.dryRun) {
      const { planView } = await import('../views/plan.ts');
      return context.out.show(planView([request]));
    }
    const [{ placeOrder }, { orderView }, { whileSpinning }] = await Promise.all([
      import('../api/orders.ts'),
      import('../views/order.ts'),
      import('../ui/spinner.ts'),
    ]);
    const transport = await context.transport();
    const placed = await whileSpinning(context.out, 'Ordering', () => placeOrder(transport, request));
    await context.out.show(orderView(placed, request));
    if (!placed.hold) return;
    const held = `order ${placed.id} is on hold (${placed.hold}): no work begins until the hold is released`;
    const hint =
      placed.hold === 'billing'
        ? 'the account has a past-due balance: pay it and the order resumes'
        : undefined;
    if (options.failOnHold) throw new StenoError('held', held, { hint });
    await context.out.warn(held, hint);
  },
});
