import {
  findAttempt,
  reopen,
  type Settled,
  settleChange,
  settleNotPlaced,
  settlePlaced,
} from '../flows/orders/settle.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Attempt } from '../ledger/open-attempts.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { usage } from '../lib/errors.ts';
import { command, LEDGER_EXITS, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { flag, list, type OptionValues, optionalText } from '../spec/options.ts';
import { withPager } from '../ui/pager.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { attemptRecord, attemptsView, settledRecord, settledView } from '../views/purchases.ts';

const settleOptions = {
  placed: optionalText('--placed [order]', 'it went through; for an order, give the order id', {
    values: 'order',
    excludes: ['--not-placed', '--reopen'],
  }),
  file: list('--file <id…>', 'with --placed, the audiofile ids of the order', { needs: ['--placed'] }),
  notPlaced: flag('--not-placed', 'it did not go through', { excludes: ['--reopen'] }),
  reopen: flag('--reopen', 'undo a settlement; the outcome is unknown again'),
};

type SettleOptions = OptionValues<typeof settleOptions>;

const settle = command({
  name: 'settle',
  summary: 'Record the outcome of an order, upgrade or refund',
  about:
    'Records how an attempt ended, after you have checked your account. With --placed it counts as bought (or ' +
    'refunded); with --not-placed it may be sent again. --reopen undoes a mistaken settlement.',
  details: [
    '--file adds the files of the order to the ledger. steno asks the service about each file, and checks that ' +
      'its link is one of the URLs of the attempt.',
    'An upgrade or refund has no order id of its own: use --placed alone.',
  ],
  args: [{ name: '<n>', help: 'number of the attempt', values: 'attempt' }],
  options: settleOptions,
  examples: [
    ['steno attempts settle 3 --placed 4nX --file 12345', 'the order went through'],
    ['steno attempts settle 3 --not-placed', 'the order did not go through'],
    ['steno attempts settle 3 --placed 4nX', 'it went through, but its files are not known yet'],
    ['steno attempts settle 4 --placed', 'an upgrade or refund went through'],
    ['steno attempts settle 3 --reopen', 'undo a mistaken settlement'],
  ],
  effect: 'local',
  exits: SEVERAL_EXITS,
  output: () => settledRecord.printed,
  async run(context, { args, options }) {
    const { placed, notPlaced } = options;
    if (placed === undefined && !notPlaced && !options.reopen)
      throw usage(
        'settle requires --placed <order>, --not-placed or --reopen',
        'see: steno attempts settle --help',
      );
    const { out } = context;
    const ledger = await context.ledgers.required('attempts reads the ledger');
    const attempt = await findAttempt(ledger, args[0] ?? '');
    const settled = await whileWorking(out, WAITING, () => settleAs(context, ledger, attempt, options));
    await out.show(settledView(settled));
    if (settled.missing !== undefined)
      await out.warn(
        `order ${settled.order}: ${settled.missing}`,
        'look for them in your account and add them: steno track <id>',
      );
  },
});

export const attempts = command({
  name: 'attempts',
  summary: 'List and resolve uncertain orders, upgrades and refunds',
  about:
    'Lists orders, upgrades and refunds whose outcome is unknown, newest first. Check your account, then settle ' +
    'each one. Until then, the same call is sent again only with --again.',
  details: [
    'The status of an attempt:',
    [
      [
        'unclear',
        'the service gave no clear answer, or named no files; settle the attempt even if you have ordered its URLs ' +
          'again',
      ],
      ['being sent', 'a process is waiting for the answer; let it finish'],
    ],
  ],
  children: [settle],
  examples: [
    ['steno attempts', 'list them'],
    ['steno attempts --json | jq -r ".[].urls[]"', 'their URLs, for a script'],
    ['steno attempts settle 3 --not-placed', 'it did not go through'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () => attemptRecord.printedList,
  async run(context) {
    const { out } = context;
    const ledger = await context.ledgers.required('attempts reads the ledger');
    const attempts = await new OpenAttempts(ledger).list();
    await withPager(context, () => out.show(attemptsView(attempts, out.isBrief)));
    if (out.forPeople && attempts.length === 0)
      out.note('every order, upgrade and refund has a known outcome');
  },
});

function settleAs(
  context: Context,
  ledger: Ledger,
  attempt: Attempt,
  { placed, file, reopen: undoes }: SettleOptions,
): Promise<Settled> {
  if (undoes) return reopen(ledger, attempt);
  if (placed === undefined) return settleNotPlaced(ledger, attempt);
  if (attempt.kind !== 'order')
    return settleChange(ledger, attempt, placed === true ? undefined : placed, file);
  if (placed !== true) return settlePlaced(ledger, attempt, placed, file, () => context.connect());
  throw usage(
    `attempt ${attempt.attempt} is an order, so its order id is needed`,
    `give it: steno attempts settle ${attempt.attempt} --placed <order>`,
  );
}
