import { upgradeFile } from '../api/files.ts';
import { checkId } from '../api/ids.ts';
import { checkTestFile, checkUpgradeSkus } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError } from '../lib/errors.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { doneView } from '../views/simple.ts';

interface UpgradeOptions {
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly test: boolean;
}

export async function run(
  context: Context,
  { args: [id = ''], options }: Input<UpgradeOptions>,
): Promise<void> {
  checkId(id);
  const skus = checkUpgradeSkus(options.sku, options.anySku);
  if (options.test) checkTestFile(id);
  const transport = await context.connect();
  const done = await whileWorking(context.out, `Upgrading: ${WAITING}`, () =>
    upgradeFile(transport, id, skus, options.test),
  );
  context.out.addDone(`audiofile ${id} is upgraded`);
  await context.out.show(doneView(done));
  if (context.signal.aborted)
    throw new StenoError('interrupted', `interrupted, but audiofile ${id} is upgraded`);
}
