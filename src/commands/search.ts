import { raiseTallies } from '../flows/bulk.ts';
import { parseQuery } from '../flows/search/query.ts';
import { findHits, prepareSearch, type Searched, type SearchPlace } from '../flows/search/search.ts';
import { forgetIndex } from '../flows/search/text-index.ts';
import { LIST_ROWS } from '../lib/defaults.ts';
import { usage } from '../lib/errors.ts';
import { accountName } from '../lib/names.ts';
import { nowMs, parseSince } from '../lib/time.ts';
import { searchIndexPath } from '../settings/paths.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { count, flag, list, text } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { viewPages } from '../views/record.ts';
import { hitLines, hitsOutput, hitsView, noHits } from '../views/search.ts';

export const search = command({
  name: 'search',
  summary: 'Search your transcripts',
  about:
    'Finds the sentences that contain every word, in all transcripts that steno downloaded and that are still on ' +
    'this disk, newest first. Of a file in several formats, it searches the one with the most precise times.',
  details: [
    'What to search for:',
    [
      ['budget review', 'sentences with both words, in any order; case and accents are ignored'],
      ['"budget review"', 'this phrase; within single quotes, several: \'"budget review" "next year"\''],
      ['budget*', 'words that begin like this'],
      [
        '-draft',
        'only sentences without this word; after --, a word of one letter, or one that is also a flag',
      ],
    ],
    'A sentence may run over several captions; its time is that of the first. Languages without spaces are searched ' +
      'for the characters as they follow each other.',
    'The first search makes an index in the state folder, readable by you alone, and every search brings it up to ' +
      'date. It contains no texts, but the words and their places. --forget deletes it.',
  ],
  args: [{ name: '[words…]', help: 'words and phrases to find' }],
  dashWords: true,
  options: {
    file: list('--file <id…>', 'only transcripts of these files', { values: 'audiofile' }),
    order: text('--order <id>', 'only files of this order', { values: 'order' }),
    tag: text('--tag <text>', 'only files with this tag'),
    feed: text('--feed <title|url>', 'only episodes of this feed'),
    speaker: text('--speaker <name>', 'only what this speaker says; a part of the name is enough'),
    since: text(
      '--since <time>',
      'only transcripts downloaded since this time: 2026-11-01, yesterday or 30d',
    ),
    limit: count('--limit <n>', 'show at most this many sentences', {
      defaultNote: `all; ${LIST_ROWS} on a terminal without a pager`,
    }),
    context: count('--context <n>', 'also show this many sentences before and after'),
    forget: flag('--forget', 'delete the index of all profiles; the next search makes a new one', {
      effect: 'local',
    }),
  },
  examples: [
    ['steno search "annual report"', 'where was that said?'],
    ['steno search budget* -draft --speaker Ada --since 30d', 'what Ada said of budgets last month'],
    ['steno search invoice --context 2', 'with two sentences before and after'],
    ['steno search invoice --json | jq -r ".[].path"', 'for a script'],
  ],
  effect: 'read',
  exits: [...LEDGER_EXITS, 'partial'],
  output: () => hitsOutput(),
  async run(context, { args, options }) {
    const { out, signal } = context;
    if (options.forget) return forget(context, args);
    const { file: files, order, tag, feed, speaker, context: around = 0 } = options;
    const since = options.since === undefined ? undefined : Date.parse(parseSince(options.since, nowMs()));
    const query = parseQuery(args);
    const place = await placeOf(context);
    const searched = await whileWorking(out, 'Indexing', (report) =>
      prepareSearch(place, { files, order, tag, feed, since }, report),
    );
    context.onExit(searched.close);
    if (searched.withoutIndex !== undefined)
      await out.warn(`searching without an index, which takes longer: ${searched.withoutIndex}`);
    const pager = findPager(context);
    const isForPerson = out.forPeople && out.isBrief;
    const limit = options.limit ?? (isForPerson && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
    const isCut = { value: false };
    const pages = findHits(searched, { query, speaker, limit }, isCut, signal);
    let isEmpty = true;
    await withPager(
      context,
      async () => {
        if (!isForPerson)
          return out.showPages(
            viewPages(pages, (page) => (page ? hitsView(page, around) : noHits()), undefined),
          );
        for await (const page of pages) {
          isEmpty = false;
          await showLines(out, hitLines(page, around, out.stdout.columns));
          if (!(await out.stdout.drain())) return;
        }
      },
      pager,
    );
    if (isForPerson && isEmpty) out.note(noneText(searched));
    if (isCut.value && options.limit === undefined) out.note(`the first ${limit}; show more with --limit`);
    raiseTallies([searched.tally]);
  },
});

const noneText = ({ tally }: Searched): string =>
  tally.total === 0
    ? 'there is no transcript to search; download one: steno transcript <id> --format vtt'
    : `nothing found in ${tally.total === 1 ? 'one transcript' : `${tally.total} transcripts`}`;

/** A shared ledger is always asked: it tells of no change by itself. */
async function placeOf(context: Context): Promise<SearchPlace> {
  const { ledgers, env, settings, signal, globals } = context;
  const openLedger = () => ledgers.required('search reads the ledger');
  const shared = ledgers.sharedUrl === undefined && globals.ledger ? undefined : await openLedger();
  return {
    path: searchIndexPath(makeStateFolder(env)),
    ledgerPath: shared ? undefined : ledgers.localPath,
    profile: shared ? `${shared.profile} ${shared.db.identity}` : accountName(settings.profileName),
    openLedger,
    signal,
  };
}

async function forget({ out, env, signal }: Context, words: readonly string[]): Promise<void> {
  if (words.length) throw usage("--forget deletes the index, so it can't be used with words to find");
  const path = searchIndexPath(makeStateFolder(env));
  await forgetIndex(path, signal);
  out.done('the index is deleted; the next search makes a new one', { path });
}
