import { checkTestFile, checkUpgradeSkus } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { changedFiles } from '../flows/files/shown.ts';
import type { OrderCosts } from '../flows/orders/cost.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import {
  type ChangePlan,
  callCosts,
  planAll,
  raiseUnchanged,
  sendChanges,
} from '../flows/orders/money-calls.ts';
import { totalText } from '../flows/prices/estimate.ts';
import { StenoError } from '../lib/errors.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { filesInQuestion } from '../views/file-in-question.ts';
import { changedView } from '../views/ledger-files.ts';

interface UpgradeOptions {
  readonly from: string | undefined;
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly yes: boolean;
  readonly test: boolean;
  readonly again: boolean;
  readonly unpriced: boolean;
}

export async function run(context: Context, { args, options }: Input<UpgradeOptions>): Promise<void> {
  const { out, settings, signal, globals } = context;
  const ids = await givenIds('upgrade', args, options.from, context.stdin);
  const skus = checkUpgradeSkus(options.sku, options.anySku);
  const { test, again, unpriced, from } = options;
  if (test) ids.forEach(checkTestFile);
  const several = args.length > 1 || from !== undefined;
  if (ids.length === 0) return out.show(changedView([], several));
  const ledger = await context.moneyLedger({ what: 'this upgrade', again, test });
  const transport = await context.connect();
  const asks = ids.length > 1 && !options.yes && !test && context.stdin.isTTY && from !== '-';
  const costs = await callCosts(ledger, settings, unpriced, asks);
  const plan = await planAll(ids, { kind: 'upgrade', skus, test }, { ledger, again, costs });
  if (asks && plan.ready.length && !(await isConfirmed(context, plan, skus, costs)))
    throw new StenoError('failed', 'not upgraded: the question was not answered with yes');
  const keyMark = await context.keyMark(ledger, true);
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
}

function isConfirmed(
  context: Context,
  { ready }: ChangePlan,
  skus: readonly string[],
  costs: OrderCosts,
): Promise<boolean> {
  const estimate = costs.estimate(ready.map(({ purchase }) => purchase));
  const what = `${filesInQuestion(ready.map(({ id }) => id))} with ${skus.join(', ')}`;
  const cost = [`estimated cost ${totalText(estimate)}`, ...costs.leftTexts].join(', ');
  return askPerson(context, (questions) => questions.confirm(`Upgrade ${what} (${cost})?`));
}
