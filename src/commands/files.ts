import { checkStates } from '../catalog/check.ts';
import { fileStates } from '../catalog/states.ts';
import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { count, flag, list, text } from '../cli/options.ts';
import type { Outcome } from '../flows/bulk.ts';
import type { Filter } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { usage } from '../lib/errors.ts';
import { parseSince } from '../lib/since.ts';

export const files = command({
  name: 'files',
  alias: 'ls',
  summary: 'List what the ledger knows of your orders and files',
  about:
    'Lists your files, newest first, as the ledger knows them: what was ordered from here, and what the service ' +
    'last said of it. With --refresh it asks the service again about files that may have changed. On a terminal it ' +
    'shows a page; elsewhere, and with --json or --csv, everything.',
  options: {
    state: list('--state <state…>', 'only files in these states', {
      values: fileStates.map((each) => each.name),
    }),
    order: text('--order <id>', 'only files of this order', { values: 'order' }),
    since: text('--since <time>', 'only files ordered since then: 2026-11-01, or 3d for three days ago'),
    limit: count('--limit <n>', 'at most so many (default: 50 on a terminal, all elsewhere)'),
    refresh: flag('--refresh', 'ask the service about every open file first'),
  },
  examples: [
    ['steno files', 'the latest'],
    ['steno files --state Delivered --since 7d', 'what was delivered lately'],
    ['steno files --refresh --json | jq -r ".[].audiofile"', 'for a script'],
    ['steno ls --csv > files.csv', 'all that is known'],
  ],
  async run(context, { options }) {
    const { out } = context;
    const ledger = await context.ledger();
    if (!ledger) throw usage('files reads the ledger, so --no-ledger makes no sense here');
    const filter = {
      states: options.state.flatMap((state) =>
        // The word in the table for a file that the service was not asked about yet.
        state.toLowerCase() === 'ordered' ? [''] : checkStates([state], () => ledger.files.states()),
      ),
      order: options.order,
      since: options.since === undefined ? undefined : parseSince(options.since, Date.now()),
    };
    const { listFiles } = await import('../flows/files/list.ts');
    const { knownFilesPages } = await import('../views/ledger.ts');
    const refreshed = options.refresh ? await refreshWhileSpinning(context, ledger, filter) : [];
    const forPeople = out.onTerminal && !out.mode.json && !out.mode.csv && !out.mode.quiet;
    const limit = options.limit ?? (forPeople ? 50 : Number.POSITIVE_INFINITY);
    await out.showPages(knownFilesPages(listFiles(ledger, filter, limit, forPeople), forPeople));
    if (forPeople) {
      const all = ledger.files.count(filter);
      if (all === 0) out.note('no files; order one with: steno order <url> --sku TRANS14');
      if (all > limit) out.note(`${limit} of ${all}; more with --limit`);
    }
    for (const { at, urls } of ledger.attempts.unclear()) {
      await out.warn(
        `the outcome of an order at ${at} is unknown: ${urls}`,
        'look at your account; --again orders it',
      );
    }
    const { raiseFailures } = await import('../flows/bulk.ts');
    raiseFailures(refreshed);
  },
});

async function refreshWhileSpinning(
  context: Context,
  ledger: Ledger,
  filter: Filter,
): Promise<ReadonlyArray<Outcome<unknown>>> {
  const [{ refreshFiles }, { whileSpinning }] = await Promise.all([
    import('../flows/files/list.ts'),
    import('../ui/spinner.ts'),
  ]);
  const transport = await context.transport();
  return whileSpinning(context.out, 'Refreshing', () => refreshFiles(transport, ledger, filter));
}
