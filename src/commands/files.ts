import { checkStates } from '../catalog/check.ts';
import { fileStates, meaningOfStateName } from '../catalog/states.ts';
import { raiseTallies } from '../flows/bulk.ts';
import { fileHint } from '../flows/files/ids.ts';
import { listFiles, refreshNewest, refreshOpenFiles } from '../flows/files/listed.ts';
import { type FileFilter, Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { LIST_ROWS } from '../lib/defaults.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { nowMs, parseSince, timeAgo } from '../lib/time.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, flag, list, type OptionValues, text } from '../spec/options.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { filePages, fileRecord, fileSchema, reopenedNotes } from '../views/files.ts';
import { printed } from '../views/record.ts';
import { arrayOf } from '../views/schema.ts';

const options = {
  since: text('--since <time>', 'only files ordered or added since this time: 2026-11-01, yesterday or 3d'),
  order: text('--order <id>', 'only files of this order', { values: 'order' }),
  key: text('--key <text>', 'only the file with this key'),
  tag: text('--tag <text>', 'only files with this tag'),
  feed: text('--feed <title|url>', 'only episodes of this feed'),
  refresh: flag('--refresh', 'ask the service about every open file first'),
  limit: count('--limit <n>', 'show at most this many', {
    defaultNote: `all; ${LIST_ROWS} on a terminal without a pager`,
  }),
  state: list('--state <state…>', 'only files in these states', {
    values: fileStates.map((each) => each.name),
    meaning: meaningOfStateName,
  }),
};

type FilesOptions = OptionValues<typeof options>;

export const files = command({
  name: 'files',
  alias: 'ls',
  summary: 'List your files and their states',
  about:
    'Lists your files from the ledger, newest first, each with the state that the service last reported. As a table ' +
    'on a terminal, it first refreshes the newest 50 open files for up to two seconds, and says how old the rest is. ' +
    'With --refresh, it first asks the service about every open file.',
  options,
  examples: [
    ['steno files', 'the latest'],
    ['steno files --state Delivered --since 7d', 'ordered in the last week and delivered'],
    ['steno files --refresh --json | jq -r ".[].audiofile"', 'all ids, for a script'],
    ['steno files --feed https://example.com/feed.xml', 'the episodes of a podcast'],
    ['steno files --key "show 41" --json | jq -r ".[].state"', 'the state of one file, by its key'],
    ['steno ls --csv > files.csv', 'everything, for a spreadsheet'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: () => printed(arrayOf(fileSchema()), fileRecord.columnHelp),
  async run(context, { options, line }) {
    const { out } = context;
    const ledger = await context.ledgers.required('files reads the ledger');
    const filter = await filterOf(options, ledger);
    const refreshed = options.refresh ? [await refresh(context, ledger, filter, line)] : [];
    const { forPeople, isBrief } = out;
    const age = options.refresh ? undefined : await freshen(context, ledger, filter);
    const pager = findPager(context);
    const limit = options.limit ?? (forPeople && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
    const withDownloads = !out.hasTableColumns && !out.isBare;
    const pages = listFiles(ledger, filter, { limit, asTable: isBrief, withDownloads });
    const shown = filePages(pages, { isBrief, currency: context.settings.currency });
    await withPager(context, () => out.showPages(shown), pager);
    const all = forPeople ? await new Files(ledger).count(filter) : undefined;
    const mistake = all ? undefined : await mistaken(options, ledger);
    const notes = [mistake ?? (all === 0 && (await noneText(ledger))), shortText(limit, all), age];
    // Over a network they share a round trip.
    const [reopened, unclear] = await Promise.all([
      reopenedFiles(ledger, filter),
      new OpenAttempts(ledger).countUnclear(),
    ]);
    for (const text of [...notes, ...reopenedNotes(reopened)]) if (text) out.note(text);
    if (unclear) await out.warn(unclearText(unclear));
    raiseTallies(refreshed);
  },
});

const shortText = (limit: number, all = 0): string | false =>
  all > limit && `${limit} of ${all}; show more with --limit`;

const FRESH_MS = 2000;

/** A file that is Delivered is open only if it was upgraded since. */
async function reopenedFiles(ledger: Ledger, filter: FileFilter): Promise<string[]> {
  const { states = [] } = filter;
  if (states.length && !states.includes('Delivered')) return [];
  return new Files(ledger).open({ ...filter, states: ['Delivered'] });
}

/** Refreshes what a person is about to see in a table, as far as that is quick; says how old the rest is. */
async function freshen(context: Context, ledger: Ledger, filter: FileFilter): Promise<string | undefined> {
  if (!context.out.forPeople || !context.out.isBrief) return;
  const files = new Files(ledger);
  const since = new Date(nowMs()).toISOString();
  const unchecked = () => files.uncheckedSince(since, { ...filter, states: [] });
  if ((await unchecked()).count === 0) return;
  const failure = await askQuickly(context, ledger, filter);
  const { count, oldest } = await unchecked();
  if (count === 0) return;
  const subject = `${plural(count, 'open file')} ${count === 1 ? 'was' : 'were'} not refreshed`;
  const how = failure ? `: ${failure}` : '; refresh all with: steno files --refresh';
  return `${subject} (last checked ${oldest ? timeAgo(oldest) : 'never'})${how}`;
}

/** Why it could not ask; undefined where it did, as far as the time allowed. */
async function askQuickly(context: Context, ledger: Ledger, filter: FileFilter): Promise<string | undefined> {
  const timeUp = AbortSignal.timeout(FRESH_MS);
  try {
    const signal = AbortSignal.any([context.signal, timeUp]);
    const transport = await context.connect({ signal });
    const { failed } = await whileWorking(context.out, 'Refreshing', () =>
      refreshNewest(transport, ledger, filter),
    );
    return failed[0] && errorMessage(failed[0].error);
  } catch (error) {
    if (context.signal.aborted || !(error instanceof StenoError)) throw error;
    return timeUp.aborted ? undefined : error.message;
  }
}

async function noneText(ledger: Ledger): Promise<string> {
  const inAll = await new Files(ledger).count({});
  return inAll
    ? `no files match (${inAll} in all)`
    : 'no files yet; order one: steno order <url> --sku TRANS14';
}

const mistaken = async ({ order }: FilesOptions, ledger: Ledger): Promise<string | undefined> =>
  order === undefined ? undefined : fileHint(ledger, order);

const unclearText = (count: number): string =>
  `${count === 1 ? '1 order has' : `${count} orders have`} no known outcome; see: steno attempts`;

async function filterOf(
  { state, order, key, tag, feed, since }: FilesOptions,
  ledger: Ledger,
): Promise<FileFilter> {
  const kept = state.length ? await new Files(ledger).states() : [];
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
    done: `${latest.done} of ${plural(latest.of, 'open file')} refreshed`,
    hint: goOnHint('resume with', line),
  });
  return untilInterrupted(context.signal, summary, () =>
    whileWorking(context.out, 'Refreshing', (report) =>
      refreshOpenFiles(transport, ledger, filter, latest.through(report)),
    ),
  );
}
