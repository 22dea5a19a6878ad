import { checkFormats } from '../catalog/check.ts';
import { filesToWaitFor, missingFilesError, withFileHints } from '../flows/files/ids.ts';
import { knownFiles } from '../flows/files/listed.ts';
import { waitedFiles } from '../flows/files/shown.ts';
import { raiseUndelivered, waitAndDownload } from '../flows/files/wait.ts';
import { checkFolder, checkTemplate } from '../flows/transcripts/name.ts';
import { Files } from '../ledger/files.ts';
import { usage } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { pollNote } from '../lib/time.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import { downloadOptions, duration, notifyFlag, text } from '../spec/options.ts';
import { whileWorking } from '../ui/progress.ts';
import {
  askedFiles,
  askedView,
  deliveredText,
  reopenedNotes,
  waitedRecord,
  waitedView,
} from '../views/files.ts';
import { savedLine, skippedWarnings } from '../views/transcripts.ts';

export const wait = command({
  name: 'wait',
  summary: 'Wait until files are delivered',
  about:
    'Waits until every file is delivered. Without ids, waits for every open file in the ledger. Exits with 8 if a ' +
    'file can no longer be delivered, and with 6 when --timeout runs out.',
  details: [
    'A file on hold continues only after it is released. If no other file is in progress, steno exits with 5.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    order: text('--order <id>', 'wait for the files of this order', { values: 'order' }),
    interval: duration('--interval <duration>', 'time between polls', {
      defaultNote: pollNote,
    }),
    download: text('--download <dir>', 'download each transcript to this folder as it is delivered', {
      values: 'folder',
      effect: 'local',
    }),
    notify: notifyFlag(),
    ...downloadOptions(),
  },
  examples: [
    ['steno wait 12345', 'one file'],
    ['steno wait --order 4nX --timeout 2h --download transcripts', 'wait for an order and download it'],
    ['steno wait', 'all open files'],
  ],
  effect: 'read',
  exits: [...SEVERAL_EXITS, 'held', 'unfinished', 'uncertain'],
  output: () => askedFiles(waitedRecord),
  async run(context, { args, options, line }) {
    const { download, nameAs: template } = options;
    const target = { download, template, formats: checkFormats(options.format, options.nameAs) };
    const { out, signal } = context;
    const form = { isBrief: out.isBrief, currency: context.settings.currency };
    if (download !== undefined) checkFolder(download, (text) => out.note(text));
    checkTemplate(options.nameAs, target.formats);
    if (args.length && options.order !== undefined) throw usage("ids and --order can't be used together");
    const ledger = args.length ? await context.ledgers.ifAny() : await context.ledgers.open();
    const ids = await filesToWaitFor(ledger, args, options.order);
    if (ids.length === 0) {
      out.note('no files are in progress');
      return out.show(askedView([], true, form));
    }
    const transport = await context.connect({ timeoutBounds: 'command' });
    const reopened = ledger ? await new Files(ledger).awaitingRework(ids) : [];
    for (const each of reopenedNotes([...reopened])) out.note(each);
    const poll = { interval: options.interval, timeout: context.globals.timeout, signal };
    const waitOn = waitOnHint(args, line);
    const latest = new LatestProgress();
    const summary = () => ({
      done: `${latest.done} of ${plural(ids.length, 'file')} ${ids.length === 1 ? 'is' : 'are'} delivered`,
      hint: goOnHint('resume with', line),
    });
    const waited = await untilInterrupted(signal, summary, () =>
      whileWorking(out, 'Waiting', (report) =>
        context.ledgers.whileNoting(ledger, (notes) =>
          waitAndDownload(ids, { transport, ledger, notes, poll, report: latest.through(report) }, target),
        ),
      ),
    );
    out.addDone(...savedLine(waited.saved));
    const known = await knownFiles(out.isBare ? undefined : ledger, ids);
    const files = waitedFiles(waited, known, form.currency);
    const delivered = waited.outcomes.flatMap(({ what, error }) => (error ? [] : [what]));
    await out.show(waitedView(files, waited.saved, args.length !== 1, form, delivered));
    out.stderr.notify(options.notify, deliveredText(waited));
    for (const each of skippedWarnings(waited.saved)) await out.warn(...each);
    const { order } = options;
    const missing = ledger && order !== undefined ? await missingFilesError(ledger, order) : undefined;
    try {
      raiseUndelivered(await withFileHints(waited.outcomes, ledger), waitOn);
    } catch (error) {
      if (missing) await out.warn(missing.message, missing.hint);
      throw error;
    }
    if (missing) throw missing;
  },
});

/** After a time-out. What is not in the ledger is unknown to sync. */
const waitOnHint = (ids: readonly string[], line: readonly string[]): string =>
  goOnHint('resume with', line) + (ids.length ? '' : '; or check later with: steno sync');
