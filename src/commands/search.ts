import { raiseTallies } from '../flows/bulk.ts';
import { parseQuery } from '../flows/search/query.ts';
import { type FileHits, filterOf, findHits, prepareSearch } from '../flows/search/search.ts';
import { forgetIndex } from '../flows/search/text-index.ts';
import { LIST_ROWS } from '../lib/defaults.ts';
import { usage } from '../lib/errors.ts';
import { searchIndexPath } from '../settings/paths.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { count, flag } from '../spec/options.ts';
import { filterOptions, searchPlaceOf } from '../spec/searching.ts';
import { type Output, showLines } from '../ui/output.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { viewPages } from '../views/record.ts';
import { hitLines, hitsOutput, hitsView } from '../views/search.ts';

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
      ['-draft', 'only sentences without this word'],
    ],
    'If a word to leave out has only one letter or is also a flag, put it after --: steno search budget -- -x',
    'A sentence may run over several captions; its time is that of the first. In languages written without spaces, any ' +
      'run of characters matches.',
    'A phrase may begin in one sentence and end in the next.',
    'The first search makes an index in the state folder, readable by you alone, and every search brings it up to ' +
      'date. It holds the text of your transcripts, so it is as confidential as they are. --forget deletes it.',
  ],
  args: [{ name: '[words…]', help: 'words and phrases to find' }],
  dashWords: true,
  options: {
    ...filterOptions(),
    limit: count('--limit <n>', 'show at most this many sentences', {
      defaultNote: `all; ${LIST_ROWS} on a terminal without a pager`,
    }),
    context: count(
      '--context <n>',
      'also show this many sentences before and after, on a terminal and with --json',
    ),
    forget: flag('--forget', 'delete the index of all profiles; the next search makes a new one', {
      effect: 'local',
    }),
  },
  examples: [
    ['steno search "annual report"', 'where was that said?'],
    ['steno search "budget*" -draft --speaker Ada --since 30d', 'what Ada said about budgets last month'],
    ['steno search invoice --context 2', 'with two sentences before and after'],
    ['steno search invoice --json | jq -r ".[].path"', 'for a script'],
  ],
  effect: 'read',
  exits: [...LEDGER_EXITS, 'partial'],
  output: () => hitsOutput(),
  async run(context, { args, options }) {
    const { out, signal, env } = context;
    if (options.forget) return forget(context, searchIndexPath(makeStateFolder(env)), args);
    const { speaker, context: around = 0 } = options;
    const { filter, isFiltered } = filterOf(options);
    const pager = findPager(context);
    const isForPerson = out.forPeople && out.isBrief;
    const limit = options.limit ?? (isForPerson && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
    const request = { ...filter, query: parseQuery(args), speaker, limit };
    const place = await searchPlaceOf(context, 'search');
    const searched = await whileWorking(out, 'Indexing', (report) => prepareSearch(place, request, report));
    const { withoutIndex, tally } = searched.texts;
    if (withoutIndex !== undefined)
      await out.warn(`searching without an index, which takes longer: ${withoutIndex}`);
    const isCut = { value: false };
    const pages = findHits(searched, request, isCut, signal);
    const views = () => viewPages<FileHits | undefined>(pages, (page) => hitsView(page, around), undefined);
    const shown = isForPerson
      ? await withPager(context, () => showToPerson(out, pages, around), pager)
      : await out.showPages(views());
    if (shown === 0) out.note(nothingFoundIn(tally.total, isFiltered));
    if (isCut.value && options.limit === undefined) out.note(`the first ${limit}; show more with --limit`);
    raiseTallies([tally]);
  },
});

const nothingFoundIn = (total: number, isFiltered: boolean): string =>
  total || isFiltered
    ? 'No matches in your downloaded transcripts.'
    : 'there is no transcript to search on this disk; download some as vtt, srt, tstxt, docx, html or txt: ' +
      'steno sync --download transcripts --format vtt';

/** Gives the number of files with a hit. */
async function showToPerson(out: Output, pages: AsyncIterable<FileHits>, context: number): Promise<number> {
  let count = 0;
  for await (const page of pages) {
    count += 1;
    await showLines(out, hitLines(page, context));
    if (!(await out.stdout.drain())) break;
  }
  return count;
}

async function forget({ out }: Context, path: string, words: readonly string[]): Promise<void> {
  if (words.length) throw usage("--forget deletes the index, so it can't be used with words to find");
  const isDeleted = await forgetIndex(path);
  out.done(
    isDeleted ? 'the index is deleted; the next search makes a new one' : 'there is no index to delete',
    { path },
  );
}
