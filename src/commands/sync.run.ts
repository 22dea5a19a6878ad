import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures } from '../flows/bulk.ts';
import { syncFiles } from '../flows/files/sync.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { usage } from '../lib/errors.ts';
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
  const ledger = await context.ledger();
  if (!ledger) throw usage('sync works from the ledger, so --no-ledger makes no sense here');
  const transport = await context.transport();
  const target = { folder: options.download, formats, jobs: options.jobs };
  const synced = await whileSpinning(context.out, 'Synchronising', () =>
    syncFiles(transport, ledger, target),
  );
  await context.out.show(syncView(synced));
  const { checked, changed, downloaded } = synced;
  context.out.note(`${checked} open, ${changed.length} changed, ${downloaded.length} downloaded`);
  raiseFailures(synced.outcomes);
}
