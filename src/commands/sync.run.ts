import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures } from '../flows/bulk.ts';
import { syncFiles } from '../flows/files/sync.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { whileSpinning } from '../ui/spinner.ts';
import { syncView } from '../views/sync.ts';

interface SyncOptions {
  readonly download: string;
  readonly format: readonly string[];
  readonly jobs: number;
}

export async function run(context: Context, { options }: Input<SyncOptions>): Promise<void> {
  const formats = checkFormats(options.format);
  checkFolder(options.download);
  const ledger = await context.requireLedger('sync works from the ledger');
  const transport = await context.connect();
  const target = { folder: options.download, formats, jobs: options.jobs };
  const synced = await whileSpinning(context.out, 'Synchronising', () =>
    syncFiles(transport, ledger, target),
  );
  await context.out.show(syncView(synced));
  for (const { id, path } of synced.keptDrafts)
    await context.out.warn(
      `${path} is a draft from before the delivery, and was changed: it is left as it is`,
      `replace it with: steno transcript ${id} --force`,
    );
  const { checked, changed, downloaded } = synced;
  context.out.note(`${checked} open, ${changed.length} changed, ${downloaded.length} downloaded`);
  raiseFailures(synced.outcomes);
}
