import { checkStates } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseTallies } from '../flows/bulk.ts';
import { fileHint } from '../flows/files/ids.ts';
import { listFiles, refreshOpenFiles } from '../flows/files/listed.ts';
import type { FileFilter } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs } from '../lib/clock.ts';
import { LIST_ROWS } from '../lib/defaults.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { parseSince } from '../lib/since.ts';
import { plural } from '../lib/text.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { filePages } from '../views/ledger-files.ts';

interface FilesOptions {
  readonly state: readonly string[];
  readonly order: string | undefined;
  readonly key: string | undefined;
  readonly feed: string | undefined;
  readonly since: string | undefined;
  readonly tag: string | undefined;
  readonly limit: number | undefined;
  readonly refresh: boolean;
}

export async function run(context: Context, { options, line }: Input<FilesOptions>): Promise<void> {
  const { out } = context;
  const ledger = await context.requireLedger('files reads the ledger');
  const filter = await filterOf(options, ledger);
  const refreshed = options.refresh ? [await refresh(context, ledger, filter, line)] : [];
  const { forPeople } = out;
  const pager = findPager(context);
  const limit = options.limit ?? (forPeople && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
  const withDownloads = !forPeople && !out.mode.quiet;
  const pages = listFiles(ledger, filter, { limit, asTable: forPeople, withDownloads });
  const shown = filePages(pages, { forPeople, currency: context.settings.currency });
  await withPager(context, () => out.showPages(shown), pager);
  if (forPeople) {
    const all = await ledger.files.count(filter);
    if (all === 0)
      out.note(
        (await mistaken(options, ledger)) ?? 'no files; order one with: steno order <url> --sku TRANS14',
      );
    if (all > limit) out.note(`${limit} of ${all}; more with --limit`);
  }
  const unclear = await ledger.openAttempts.countUnclear();
  if (unclear) await out.warn(unclearText(unclear));
  raiseTallies(refreshed);
}

const mistaken = async ({ order }: FilesOptions, ledger: Ledger): Promise<string | undefined> =>
  order === undefined ? undefined : fileHint(ledger, order);

const unclearText = (count: number): string =>
  `${count === 1 ? '1 order has' : `${count} orders have`} no known end; see: steno attempts`;

async function filterOf(
  { state, order, key, tag, feed, since }: FilesOptions,
  ledger: Ledger,
): Promise<FileFilter> {
  const kept = state.length ? await ledger.files.states() : [];
  return {
    states: state.flatMap((each) =>
      // The table says so of a file that the service was not asked about yet.
      each.toLowerCase() === 'ordered' ? [''] : checkStates([each], () => kept),
    ),
    order,
    key,
    tag,
    feed,
    since: since === undefined ? undefined : parseSince(since, nowMs()),
  };
}

async function refresh(context: Context, ledger: Ledger, filter: FileFilter, line: readonly string[]) {
  const transport = await context.connect();
  const latest = new LatestProgress();
  const summary = () => ({
    done: `${latest.done} of ${plural(latest.of, 'open file')} are refreshed`,
    hint: goOnHint('the rest with', line),
  });
  return untilInterrupted(context.signal, summary, () =>
    whileWorking(context.out, 'Refreshing', (report) =>
      refreshOpenFiles(transport, ledger, filter, latest.through(report)),
    ),
  );
}
