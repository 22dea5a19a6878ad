import { checkId } from '../api/ids.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures, values } from '../flows/bulk.ts';
import { withOrderHints } from '../flows/files/mistaken-ids.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import { watchFiles } from '../flows/files/watch.ts';
import { nowMs } from '../lib/clock.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { showLines } from '../ui/show-lines.ts';
import { documents } from '../views/documents.ts';
import { filesView } from '../views/file.ts';
import { watchedLine } from '../views/watched.ts';

interface FileOptions {
  readonly watch: boolean;
  readonly interval: number | undefined;
}

export async function run(context: Context, { args, options }: Input<FileOptions>): Promise<void> {
  const ids = args.map(checkId);
  if (options.watch) return watch(context, [...new Set(ids)], options.interval);
  const { out } = context;
  const transport = await context.connect();
  const ledger = await context.ledgerIfAny();
  const outcomes = await whileWorking(out, 'Asking', (report) =>
    context.whileNoting(ledger, (notes) => refreshFiles(transport, ledger, ids, { notes, report })),
  );
  const found = values(outcomes).map(({ file }) => file);
  // As an answer has it, so that `.audiofile.id` finds it in each.
  const subject = (at: number) => ({ audiofile: new Map([['id', ids[at] ?? '']]) });
  const json = documents(outcomes, ({ file }) => file.json, { name: subject });
  const view = filesView(found, json, { forPeople: out.forPeople, currency: context.settings.currency });
  if (found.length || ids.length > 1) await withPager(context, () => out.show(view));
  raiseFailures(await withOrderHints(outcomes, ledger));
}

async function watch(context: Context, ids: readonly string[], interval: number | undefined): Promise<void> {
  const { signal, globals } = context;
  const transport = await context.connect({ timeoutBounds: 'command' });
  const ledger = await context.ledgerIfAny();
  const poll = { interval, timeout: globals.timeout, signal };
  const { out } = context;
  await watchFiles(transport, ledger, ids, poll, (file) =>
    out.forPeople
      ? showLines(out, [watchedLine(file, new Date(nowMs()).toISOString(), ids.length > 1)])
      : out.showNext(filesView([file], file.json)),
  );
}
