import { checkFormats } from '../catalog/check.ts';
import { formats } from '../catalog/formats.ts';
import { command } from '../cli/command-spec.ts';
import { duration, list, text } from '../cli/options.ts';
import { checkFolder } from '../flows/transcripts/folder.ts';
import { usage } from '../lib/errors.ts';
import { warnSkippedFiles } from '../ui/skipped-files.ts';

export const wait = command({
  name: 'wait',
  summary: 'Wait until files are delivered',
  about:
    'Waits until every file is delivered, or can no longer be: then it exits with 8. Without ids it waits for ' +
    'every open file of the ledger. A file on hold moves only when it is released: if nothing else is under way, it ' +
    'exits with 5. With --timeout it gives up after that long and exits with 6.',
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    order: text('--order <id>', 'wait for the files of this order', { values: 'order' }),
    interval: duration(
      '--interval <duration>',
      'a fixed pause between two looks (default: from 1s, growing to 30s)',
    ),
    download: text('--download <dir>', 'download each transcript as it is delivered', { values: 'folder' }),
    format: list('--format <ext…>', 'document types to download', {
      default: 'txt',
      values: formats.map((each) => each.ext),
    }),
  },
  examples: [
    ['steno wait 12345', 'one file'],
    ['steno wait --order 4nX --timeout 2h --download transcripts', 'an order, then fetch it'],
    ['steno wait', 'everything that is under way'],
  ],
  async run(context, { args, options }) {
    const fetching = { download: options.download, formats: checkFormats(options.format) };
    if (options.download !== undefined) checkFolder(options.download);
    if (args.length && options.order !== undefined) throw usage('ids and --order exclude each other');
    const [{ filesToWaitFor }, { waitAndFetch }, { raiseUndelivered }, { waitedView }, { startProgress }] =
      await Promise.all([
        import('../flows/files/select.ts'),
        import('../flows/files/wait-and-fetch.ts'),
        import('../flows/files/wait.ts'),
        import('../views/waited.ts'),
        import('../ui/progress.ts'),
      ]);
    const { out, signal } = context;
    const ledger = args.length ? await context.ledgerIfAny() : await context.ledger();
    const ids = filesToWaitFor(ledger, args, options.order);
    if (ids.length === 0) {
      out.note('nothing is under way');
      return out.show(
        waitedView({ outcomes: [], saved: undefined }, { forPeople: out.onTerminal, several: true }),
      );
    }
    const transport = await context.transport({ ownTimeout: true, endsInTime: true });
    const patience = { interval: options.interval, timeout: context.globals.timeout, signal };
    const progress = await startProgress(out, 'Waiting');
    const onLook = (ended: number): void => progress.update(`Waiting: ${ended} of ${ids.length} done`);
    const waiting = { transport, ledger, patience, onLook };
    const waited = await waitAndFetch(ids, waiting, fetching).finally(() => progress.stop());
    await out.show(waitedView(waited, { forPeople: out.onTerminal, several: args.length !== 1 }));
    await warnSkippedFiles(out, waited.saved);
    raiseUndelivered(waited.outcomes);
  },
});
