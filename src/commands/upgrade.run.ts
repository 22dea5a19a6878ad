import { checkId } from '../api/ids.ts';
import { checkTestFile, checkUpgradeSkus } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { changedFile } from '../flows/files/shown.ts';
import { callCosts, upgradeOnce } from '../flows/orders/money-calls.ts';
import { StenoError } from '../lib/errors.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { changedView } from '../views/ledger-files.ts';

interface UpgradeOptions {
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly test: boolean;
  readonly again: boolean;
  readonly unpriced: boolean;
}

export async function run(
  context: Context,
  { args: [id = ''], options }: Input<UpgradeOptions>,
): Promise<void> {
  checkId(id);
  const skus = checkUpgradeSkus(options.sku, options.anySku);
  const { test, again, unpriced } = options;
  if (test) checkTestFile(id);
  const ledger = await context.moneyLedger({ what: 'this upgrade', again, test });
  const { out, settings } = context;
  const transport = await context.connect();
  const costs = await callCosts(ledger, settings, unpriced);
  const keyMark = await context.keyMark(ledger, true);
  const onLedgerError = (error: unknown) =>
    out.warnOf('the ledger could not record the outcome of the upgrade', error);
  const done = await whileWorking(out, `Upgrading: ${WAITING}`, () =>
    upgradeOnce(id, skus, test, { transport, ledger, keyMark, again, costs, onLedgerError }),
  );
  out.addDone(`audiofile ${id} is upgraded`);
  await out.show(changedView(await changedFile(out.mode.json ? ledger : undefined, done, settings.currency)));
  if (context.signal.aborted)
    throw new StenoError('interrupted', `interrupted, but audiofile ${id} is upgraded`);
}
