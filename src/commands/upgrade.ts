import { checkTestFile, checkUpgradeSkus } from '../catalog/check.ts';
import { meaningOfUpgradeSku, speedUpgradeSkus, upgradeSkus } from '../catalog/skus.ts';
import { changedFiles } from '../flows/files/shown.ts';
import { type ChangePlan, planAll, raiseUnchanged, sendChanges } from '../flows/orders/changes.ts';
import type { OrderCosts } from '../flows/orders/cost.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import { asOrder, callCosts } from '../flows/orders/money-calls.ts';
import { totalText } from '../flows/prices/estimate.ts';
import { StenoError } from '../lib/errors.ts';
import { command, MONEY_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { flag, idsFrom, list } from '../spec/options.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { filesInQuestion } from '../views/file-in-question.ts';
import { changedView, changeRecord } from '../views/ledger-files.ts';
import { printedOneOrSeveral } from '../views/outputs.ts';

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade files',
  about:
    'Upgrades files: faster, with timestamps, and so on. Each upgrade costs money, is sent once, and is in the ledger ' +
    'before it is sent. A delivered file is then open again until it is delivered again.',
  details: [
    'Where an earlier try had no clear answer, or another process is sending the same, it exits 9: see steno attempts.',
    'Several files are upgraded one after the other, if a budget covers all of them; on a terminal it asks first. One that ' +
      'is refused is listed, and the others go on; one without a clear answer ends the run, which names what was not sent.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    from: idsFrom(),
    sku: list('--sku <SKU…>', 'the upgrades', {
      values: upgradeSkus.map((each) => each.sku),
      meaning: meaningOfUpgradeSku,
      onlyOneOf: speedUpgradeSkus,
    }),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    yes: flag('-y, --yes', 'do not ask before several are upgraded'),
    test: flag('--test', 'ask for a fake success; only for audiofiles 100 and 101'),
    again: flag('--again', 'send it though an earlier try had no clear answer'),
    unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
  },
  examples: [
    ['steno upgrade 12345 --sku UPGRD2', 'from TRANS14 to TRANS2'],
    ['steno upgrade 12345 --sku TSTMP1,CAPTION1', 'add timestamps and captions'],
    ['steno ls --order 4nX --quiet | steno upgrade --from - --sku TSTMP1', 'all files of an order'],
    ['steno upgrade 100 --sku TSTMP1 --test', 'try it'],
  ],
  effect: 'money',
  exits: [...MONEY_EXITS, 'duplicate', 'partial'],
  output: printedOneOrSeveral(changeRecord, 'audiofile'),
  async run(context, { args, options }) {
    const { out, settings, signal, globals } = context;
    const ids = await givenIds('upgrade', args, options.from, context.stdin);
    const skus = checkUpgradeSkus(options.sku, options.anySku);
    const { test, again, unpriced, from } = options;
    if (test) ids.forEach(checkTestFile);
    const several = args.length > 1 || from !== undefined;
    if (ids.length === 0) return out.show(changedView([], several));
    const ledger = await context.ledgers.forMoney({ what: 'this upgrade', again, test });
    const transport = await context.connect();
    const asks = ids.length > 1 && !options.yes && !test && context.stdin.isTTY && from !== '-';
    const costs = await callCosts(ledger, settings, unpriced, asks);
    const plan = await planAll(ids, { kind: 'upgrade', skus, test }, { ledger, again, costs });
    if (asks && plan.ready.length && !(await isConfirmed(context, plan, skus, costs)))
      throw new StenoError('failed', 'not upgraded: the question was not answered with yes');
    const keyMark = await context.ledgers.keyMark(ledger, true);
    const onLedgerError = (error: unknown) =>
      out.warnOf('the ledger could not record the outcome of the upgrade', error);
    const pauseLimitMs = () => globals.timeout ?? Number.POSITIVE_INFINITY;
    const sent = await whileWorking(out, ids.length > 1 ? 'Upgrading' : `Upgrading: ${WAITING}`, (report) =>
      sendChanges(plan, {
        ...{ transport, ledger, keyMark, again, costs, onLedgerError, signal, pauseLimitMs, report },
      }),
    );
    for (const { what, error } of sent.outcomes) if (!error) out.addDone(`audiofile ${what} is upgraded`);
    const known = out.mode.json ? ledger : undefined;
    if (several || !sent.outcomes[0]?.error)
      await out.show(changedView(await changedFiles(known, sent.outcomes, settings.currency), several));
    raiseUnchanged(sent, 'upgraded');
  },
});

function isConfirmed(
  context: Context,
  { ready }: ChangePlan,
  skus: readonly string[],
  costs: OrderCosts,
): Promise<boolean> {
  const estimate = costs.estimate(ready.map(({ purchase }) => asOrder(purchase)));
  const what = `${filesInQuestion(ready.map(({ id }) => id))} with ${skus.join(', ')}`;
  const cost = [`estimated cost ${totalText(estimate)}`, ...costs.leftTexts].join(', ');
  return askPerson(context, (questions) => questions.confirm(`Upgrade ${what} (${cost})?`));
}
