import { raiseFailures } from '../flows/bulk.ts';
import { withFileHints } from '../flows/files/ids.ts';
import { trackedFiles, trackFiles } from '../flows/files/shown.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import { checkTags } from '../flows/orders/manifest-formats.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import { idsFrom, repeated } from '../spec/options.ts';
import { whileWorking } from '../ui/progress.ts';
import { askedFiles, askedView } from '../views/files.ts';

export const track = command({
  name: 'track',
  summary: 'Add files that were ordered elsewhere',
  about:
    'Asks the service about each file and adds it to the ledger, with its order, link, state and title. From then ' +
    'on, files, wait and sync include it, and its link counts as ordered. Files that the ledger has are refreshed ' +
    'and tagged too. Who ordered a file elsewhere, and when, stays empty.',
  args: [{ name: '[id…]', help: 'audiofile ids' }],
  options: {
    from: idsFrom(),
    tag: repeated('--tag <text>', 'tag for the audio of each file; repeat for each tag'),
  },
  examples: [
    ['steno track 12345', 'one file'],
    ['steno track --from ids.txt --quiet', 'all ids in a file'],
    ['steno track --from files.csv --tag podcast', 'all ids in the column audiofile, with a tag'],
  ],
  effect: 'local',
  exits: SEVERAL_EXITS,
  output: askedFiles,
  async run(context, { args, options, line }) {
    const { out } = context;
    const ids = await givenIds('track', args, options.from, context.stdin);
    const tags = checkTags(options.tag);
    const ledger = await context.ledgers.required('track writes to the ledger');
    const form = { isBrief: out.isBrief, currency: context.settings.currency };
    if (ids.length === 0) return out.show(askedView([], true, form));
    const transport = await context.connect();
    const latest = new LatestProgress();
    const summary = () => ({
      done: `${latest.done} of ${plural(ids.length, 'file')} added to the ledger`,
      hint: goOnHint('resume with', line),
    });
    const outcomes = await untilInterrupted(context.signal, summary, () =>
      whileWorking(out, 'Asking', (report) =>
        trackFiles(transport, ledger, ids, tags, latest.through(report)),
      ),
    );
    const tracked = outcomes.flatMap(({ what, error }) => (error ? [] : [what]));
    if (tracked.length) out.addDone(`added to the ledger: audiofile ${tracked.join(', ')}`);
    const several = args.length > 1 || options.from !== undefined;
    if (several || !outcomes[0]?.error)
      await out.show(askedView(trackedFiles(outcomes, form.currency), several, form));
    raiseFailures(await withFileHints(outcomes, ledger));
  },
});
