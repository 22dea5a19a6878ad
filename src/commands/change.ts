/** `upgrade` and `refund`: calls that change ordered files, for money. */
import { getFile } from '../api/files.ts';
import { checkTestFile, checkUpgradeSkus } from '../catalog/check.ts';
import {
  findOrderSku,
  findUpgradeSku,
  meaningOfUpgradeSku,
  speedUpgradeSkus,
  upgradeSkus,
} from '../catalog/skus.ts';
import { refuseOrders } from '../flows/files/ids.ts';
import { changedFiles } from '../flows/files/shown.ts';
import type { OrderCosts } from '../flows/orders/cost.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import {
  type ChangePlan,
  callCosts,
  fileOf,
  planAll,
  raiseUnchanged,
  sendChanges,
} from '../flows/orders/money-calls.ts';
import { totalText } from '../flows/prices/estimate.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { goOnHint } from '../lib/interruption.ts';
import { command, MONEY_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { flag, idsFrom, list } from '../spec/options.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { changedView, changeRecord, fileInQuestion, filesInQuestion } from '../views/files.ts';

const againFlag = flag('--again', 'send it again after an uncertain attempt');

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade files: faster, with timestamps or captions',
  about:
    'Upgrades files to a faster turnaround, or adds timestamps and captions. Each upgrade costs money, is ' +
    'recorded in the ledger first, and is sent only once. A delivered file reopens until it is delivered again.',
  details: [
    'If an earlier attempt is uncertain, or another process is sending the same one, steno exits with 9; see ' +
      'steno attempts.',
    'Several files are upgraded one by one, if the budget covers all of them; on a terminal, steno asks first. A ' +
      'refused upgrade is listed and the others continue. An uncertain upgrade stops the run, and steno lists the ' +
      'files that it did not send.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    sku: list('--sku <SKU…>', 'upgrade SKUs', {
      values: upgradeSkus.map((each) => each.sku),
      meaning: meaningOfUpgradeSku,
      onlyOneOf: speedUpgradeSkus,
    }),
    from: idsFrom(),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    yes: flag('-y, --yes', 'do not ask before upgrading several files'),
    test: flag('--test', 'simulate a success; only for audiofiles 100 and 101'),
    again: againFlag,
    unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
  },
  examples: [
    ['steno upgrade 12345 --sku UPGRD2', 'from TRANS14 to TRANS2'],
    ['steno upgrade 12345 --sku TSTMP1,CAPTION1', 'add timestamps and captions'],
    ['steno ls --order 4nX --quiet | steno upgrade --from - --sku TSTMP1', 'all files of an order'],
    ['steno upgrade 100 --sku TSTMP1 --test', 'try it with a test file'],
  ],
  effect: 'money',
  exits: [...MONEY_EXITS, 'duplicate', 'partial'],
  output: () => changeRecord.printedOneOrSeveral('audiofile'),
  async run(context, { args, options }) {
    const { stdin } = context;
    const { test, again, unpriced, from } = options;
    const sku = args.find((arg) => findUpgradeSku(arg) ?? findOrderSku(arg));
    if (sku) throw usage(`'${sku}' is a SKU, not an id`, `write --sku before it: --sku ${sku}`);
    const asks = !options.yes && !test && stdin.isTTY && from !== '-';
    await change(context, {
      ...{ what: 'upgrade', args, from, test, again, unpriced },
      skus: () => checkUpgradeSkus(options.sku, options.anySku),
      confirm: (ready, costs) =>
        asks && costs && ready.length > 1 ? isUpgradeConfirmed(context, ready, costs) : Promise.resolve(true),
      showsCost: asks,
    });
  },
});

function isUpgradeConfirmed(
  context: Context,
  ready: ChangePlan['ready'],
  costs: OrderCosts,
): Promise<boolean> {
  const what = `${filesInQuestion(ready.map(fileOf))} with ${ready[0]?.skus.join(', ')}`;
  const cost = [`estimated cost ${totalText(costs.estimate(ready))}`, ...costs.leftTexts].join(', ');
  return askPerson(context, (questions) => questions.confirm(`Upgrade ${what} (${cost})?`));
}

export const refund = command({
  name: 'refund',
  summary: 'Refund files before work on them starts',
  about:
    'Refunds files ordered with prepay or on an invoice, as long as no transcription work has been done. Asks ' +
    'first on a terminal; elsewhere it requires --yes. Each refund is recorded in the ledger first, and is sent ' +
    'only once.',
  details: [
    'If an earlier attempt is uncertain, or another process is sending the same one, steno exits with 9; see ' +
      'steno attempts.',
    'Several files are refunded one by one. A refused refund is listed and the others continue. An uncertain ' +
      'refund stops the run, and steno lists the files that it did not send.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    from: idsFrom(),
    yes: flag('-y, --yes', 'do not ask for confirmation'),
    test: flag('--test', 'simulate an approval; only for audiofiles 100 and 101'),
    again: againFlag,
  },
  examples: [
    ['steno refund 12345', 'asks first'],
    ['steno refund 12345 --yes', 'in a script'],
    ['steno refund --from ids.txt --yes', 'all ids in a file'],
    ['steno refund 100 --test --yes', 'try it with a test file'],
  ],
  effect: 'money',
  exits: [...MONEY_EXITS, 'duplicate', 'partial'],
  output: () => changeRecord.printedOneOrSeveral('audiofile'),
  async run(context, { args, options, line }) {
    const { test, again, from, yes } = options;
    // The list has taken what a person could answer.
    if (!yes && (!context.stdin.isTTY || from === '-'))
      throw usage(
        'refund requires --yes when not run in a terminal',
        goOnHint('confirm with', line, '--yes'),
      );
    await change(context, {
      ...{ what: 'refund', args, from, test, again, unpriced: false, showsCost: false, skus: () => [] },
      confirm: (ready) => yes || isRefundConfirmed(context, ready.map(fileOf)),
    });
  },
});

/** How long the question waits for what the service knows of the file. */
const QUESTION_LIMIT_MS = 5_000;

async function isRefundConfirmed(context: Context, ids: readonly string[]): Promise<boolean> {
  const [id = '', ...more] = ids;
  const what = more.length
    ? filesInQuestion(ids)
    : await whileWorking(context.out, 'Asking', () => describe(context, id));
  return askPerson(context, (questions) => questions.confirm(`Refund ${what}?`));
}

/** The file as far as it is known: it is asked about all the same where the service does not tell. */
async function describe(context: Context, id: string): Promise<string> {
  const { signal, settings } = context;
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_LIMIT_MS)]);
    const file = await getFile(await context.connect({ signal: limited }), id);
    return fileInQuestion(file, settings.currency);
  } catch (error) {
    if (signal.aborted) throw error;
    return `audiofile ${id}`;
  }
}

interface Asked {
  readonly what: 'upgrade' | 'refund';
  readonly args: readonly string[];
  readonly from: string | undefined;
  readonly test: boolean;
  readonly again: boolean;
  readonly unpriced: boolean;
  /** The question names what it costs. */
  readonly showsCost: boolean;
  readonly skus: () => readonly string[];
  readonly confirm: (
    ready: ChangePlan['ready'],
    costs: OrderCosts | undefined,
    count: number,
  ) => Promise<boolean> | boolean;
}

async function change(context: Context, asked: Asked): Promise<void> {
  const { out, settings, signal, globals, ledgers } = context;
  const { what, args, from, test, again } = asked;
  const ids = await givenIds(what, args, from, context.stdin);
  const [doing, done] =
    what === 'upgrade' ? (['Upgrading', 'upgraded'] as const) : (['Refunding', 'refunded'] as const);
  const skus = asked.skus();
  if (test) ids.forEach(checkTestFile);
  // Several files were asked for: the answer is a list. That of a pipe may be empty.
  const several = args.length > 1 || from !== undefined;
  if (ids.length === 0) {
    out.note(`the list contains no ids: nothing was ${done}`);
    return out.show(changedView([], several));
  }
  const isFree = what === 'refund';
  const ledger = await ledgers.forMoney({ what: `this ${what}`, again, test, isFree });
  await refuseOrders(ledger, ids);
  const transport = await context.connect();
  const showsCost = asked.showsCost && ids.length > 1;
  const costs = isFree ? undefined : await callCosts(ledger, settings, asked.unpriced, showsCost);
  const plan = await planAll(ids, { kind: what, skus, test }, { ledger, again, costs });
  if (plan.ready.length && !(await asked.confirm(plan.ready, costs, ids.length)))
    throw new StenoError('failed', `Cancelled. Nothing was ${done}.`);
  const onLedgerError = (error: unknown) =>
    out.warnOf(`the ledger could not record the outcome of the ${what}`, error);
  const pauseLimitMs = () => globals.timeout ?? Number.POSITIVE_INFINITY;
  // Of one file, the line that moves says what is waited for.
  const text = plan.ids.length === 1 ? `${doing}: ${WAITING}` : doing;
  const sent = await whileWorking(out, text, (report) =>
    sendChanges(plan, { transport, ledger, again, costs, onLedgerError, signal, pauseLimitMs, report }),
  );
  for (const { what: id, error } of sent.outcomes) if (!error) out.addDone(`audiofile ${id} was ${done}`);
  const known = out.mode.json ? ledger : undefined;
  if (several || !sent.outcomes[0]?.error)
    await out.show(changedView(await changedFiles(known, sent.outcomes, settings.currency), several));
  raiseUnchanged(sent, done);
}
