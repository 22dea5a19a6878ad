import { checkId } from '../api/ids.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures, values } from '../flows/bulk.ts';
import { withOrderHints } from '../flows/files/ids.ts';
import { knownFiles } from '../flows/files/listed.ts';
import { watchFiles } from '../flows/files/poll.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import { waitedFiles } from '../flows/files/shown.ts';
import type { WaitOutcome } from '../flows/files/wait.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs } from '../lib/clock.ts';
import type { View } from '../lib/view.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { showLines } from '../ui/show-lines.ts';
import { filesTable } from '../views/file.ts';
import { askedView } from '../views/ledger-files.ts';
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
  const view = await viewOf(
    context,
    ledger,
    outcomes.map(({ what, value, error }) => ({ what, file: value?.file, error })),
    ids.length > 1,
  );
  if (found.length || ids.length > 1)
    await withPager(context, () =>
      out.show(out.forPeople ? filesTable(found, context.settings.currency) : view),
    );
  raiseFailures(await withOrderHints(outcomes, ledger));
}

async function watch(context: Context, ids: readonly string[], interval: number | undefined): Promise<void> {
  const { signal, globals } = context;
  const transport = await context.connect({ timeoutBounds: 'command' });
  const ledger = await context.ledgerIfAny();
  const poll = { interval, timeout: globals.timeout, signal };
  const { out } = context;
  await watchFiles(transport, ledger, ids, poll, async (what, file) =>
    out.forPeople
      ? showLines(out, [watchedLine(file, new Date(nowMs()).toISOString(), ids.length > 1)])
      : out.showNext(await viewOf(context, ledger, [{ what, file, error: undefined }], false)),
  );
}

/** For programs. With --quiet: the bare states. */
async function viewOf(
  { out, settings: { currency } }: Context,
  ledger: Ledger | undefined,
  outcomes: readonly WaitOutcome[],
  several: boolean,
): Promise<View> {
  const isShort = out.mode.quiet || out.forPeople;
  const known = await knownFiles(
    isShort ? undefined : ledger,
    outcomes.map(({ what }) => what),
  );
  const files = waitedFiles({ outcomes, saved: undefined }, known, currency);
  const quiet = outcomes.flatMap(({ file }) => file?.state ?? []);
  return { ...askedView(files, several, { forPeople: false, currency }), quiet };
}
