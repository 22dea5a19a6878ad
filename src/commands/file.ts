import { checkId } from '../api/decode.ts';
import { raiseFailures, values } from '../flows/bulk.ts';
import { withFileHints } from '../flows/files/ids.ts';
import { knownFiles } from '../flows/files/listed.ts';
import { watchFiles } from '../flows/files/poll.ts';
import { refreshFiles } from '../flows/files/refresh.ts';
import { type ShownFile, waitedFiles } from '../flows/files/shown.ts';
import type { WaitOutcome } from '../flows/files/wait.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs, pollNote } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { duration, flag } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { askedFiles, askedView, reopenedNotes } from '../views/files.ts';
import { watchedLine } from '../views/lines.ts';

export const file = command({
  name: 'file',
  summary: 'Show the details and state of files',
  about:
    'Asks the service for the details and state of files, and shows them. With --watch, prints a file whenever ' +
    'its state changes, until every state is final.',
  args: [{ name: '<id…>', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    watch: flag('--watch', 'keep running and print each change of state'),
    interval: duration('--interval <duration>', 'with --watch, the time between polls', {
      defaultNote: pollNote,
      needs: ['--watch'],
    }),
  },
  examples: [
    ['steno file 12345', 'one file, in full'],
    ['steno file 12345 12346 --csv', 'several, for a spreadsheet'],
    ['steno file 12345 --quiet', 'only the state, for a script'],
    ['steno file 12345 --watch --json', 'one object per line, at each change'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: () => askedFiles(),
  async run(context, { args, options }) {
    const ids = args.map(checkId);
    if (options.watch) return watch(context, [...new Set(ids)], options.interval);
    const { out } = context;
    const transport = await context.connect();
    const ledger = await context.ledgers.ifAny();
    const outcomes = await whileWorking(out, 'Asking', (report) =>
      context.ledgers.whileNoting(ledger, (notes) => refreshFiles(transport, ledger, ids, { notes, report })),
    );
    const found = values(outcomes);
    const files = await shownFiles(
      context,
      ledger,
      outcomes.map(({ what, value, error }) => ({ what, file: value?.file, error })),
    );
    if (found.length || ids.length > 1)
      await withPager(context, () => out.show(viewOf(context, files, ids.length > 1)));
    noteReopened(context, files);
    raiseFailures(await withFileHints(outcomes, ledger));
  },
});

async function watch(context: Context, ids: readonly string[], interval: number | undefined): Promise<void> {
  const { signal, globals } = context;
  const transport = await context.connect({ timeoutBounds: 'command' });
  const ledger = await context.ledgers.ifAny();
  const poll = { interval, timeout: globals.timeout, signal };
  const { out } = context;
  await watchFiles(transport, ledger, ids, poll, async (what, file) => {
    const files = await shownFiles(context, ledger, [{ what, file, error: undefined }]);
    if (out.forPeople && out.isBrief)
      await showLines(out, [watchedLine(file, new Date(nowMs()).toISOString(), ids)]);
    else await out.showNext(viewOf(context, files, false));
    noteReopened(context, files);
  });
}

async function shownFiles(
  { out, settings: { currency } }: Context,
  ledger: Ledger | undefined,
  outcomes: readonly WaitOutcome[],
): Promise<ShownFile[]> {
  const known = await knownFiles(
    out.isBare ? undefined : ledger,
    outcomes.map(({ what }) => what),
  );
  return waitedFiles({ outcomes, saved: undefined }, known, currency);
}

/** With --quiet: the bare states. */
function viewOf({ out, settings }: Context, files: readonly ShownFile[], several: boolean): View {
  const quiet = files.flatMap(({ answer, row }) => (answer ? row.state : []));
  return askedView(files, several, { isBrief: out.isBrief, currency: settings.currency }, quiet);
}

function noteReopened({ out }: Context, files: readonly ShownFile[]): void {
  const reopened = files.flatMap(({ row }) => (row.isReopened ? row.id : []));
  for (const each of reopenedNotes(reopened)) out.note(each);
}
