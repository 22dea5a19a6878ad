import { checkFormats } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { filesToWaitFor, missingFilesError } from '../flows/files/ids.ts';
import { knownFiles } from '../flows/files/listed.ts';
import { waitedFiles } from '../flows/files/shown.ts';
import { raiseUndelivered, waitAndDownload } from '../flows/files/wait.ts';
import { checkFolder, checkNameAs } from '../flows/transcripts/name.ts';
import { usage } from '../lib/errors.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { whileWorking } from '../ui/progress.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';
import { savedLine } from '../views/saved.ts';
import { waitedTable, waitedView } from '../views/waited.ts';

interface WaitOptions {
  readonly order: string | undefined;
  readonly interval: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly nameAs: string | undefined;
}

export async function run(context: Context, { args, options, line }: Input<WaitOptions>): Promise<void> {
  const { download, nameAs: template } = options;
  const target = { download, template, formats: checkFormats(options.format, options.nameAs) };
  if (download !== undefined) checkFolder(download);
  checkNameAs(options, target.formats);
  if (args.length && options.order !== undefined) throw usage("ids and --order can't be used together");
  const { out, signal } = context;
  const ledger = args.length ? await context.ledgerIfAny() : await context.ledger();
  const ids = await filesToWaitFor(ledger, args, options.order);
  if (ids.length === 0) {
    out.note('nothing is under way');
    return out.show(waitedView([], { outcomes: [], saved: undefined }, true));
  }
  const transport = await context.connect({ timeoutBounds: 'command' });
  const poll = { interval: options.interval, timeout: context.globals.timeout, signal };
  const waitOn = waitOnHint(args, line);
  const latest = new LatestProgress();
  const summary = () => ({
    done: `${latest.done} of ${plural(ids.length, 'file')} ${ids.length === 1 ? 'is' : 'are'} delivered`,
    hint: goOnHint('wait on with', line),
  });
  const waited = await untilInterrupted(signal, summary, () =>
    whileWorking(out, 'Waiting', (report) =>
      context.whileNoting(ledger, (notes) =>
        waitAndDownload(ids, { transport, ledger, notes, poll, report: latest.through(report) }, target),
      ),
    ),
  );
  out.addDone(...savedLine(waited.saved ?? []));
  const { currency } = context.settings;
  const known = await knownFiles(out.mode.quiet || out.forPeople ? undefined : ledger, ids);
  const files = waitedFiles(waited, known, currency);
  const view = out.forPeople ? waitedTable(waited, currency) : waitedView(files, waited, args.length !== 1);
  await out.show(view);
  await warnSkippedFiles(out, waited.saved);
  const { order } = options;
  const missing = ledger && order !== undefined ? await missingFilesError(ledger, order) : undefined;
  try {
    raiseUndelivered(waited.outcomes, waitOn);
  } catch (error) {
    if (missing) await out.warn(missing.message, missing.hint);
    throw error;
  }
  if (missing) throw missing;
}

/** After a time-out. What is not in the ledger is unknown to sync. */
const waitOnHint = (ids: readonly string[], line: readonly string[]): string =>
  goOnHint('wait on with', line) + (ids.length ? '' : '; or look again later with: steno sync');
