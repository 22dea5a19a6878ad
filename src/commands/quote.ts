import { extname } from 'node:path';
import { tokensOf } from '../flows/quote/tokens.ts';
import { readDocument, verify } from '../flows/quote/verify.ts';
import { filterOf } from '../flows/search/search.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { findStats } from '../lib/fs.ts';
import { plural, shellWord } from '../lib/text.ts';
import { checkUrl } from '../lib/url.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { choiceOf, count, flag, text } from '../spec/options.ts';
import { filterOptions, reportOption, searchPlaceOf } from '../spec/searching.ts';
import { whileWorking } from '../ui/progress.ts';
import { faultOf, quotesOutput, quotesView, reportedQuotes } from '../views/quote.ts';
import { reportForms, reportOf } from '../views/reports.ts';

const MIN_WORDS = 4;

export const quote = command({
  name: 'quote',
  summary: 'Check whether a quotation was really said',
  about:
    'Looks for a quotation, or with --verify for every quotation of a document, in the transcripts on this disk, and ' +
    'says who said it, where and when. Exits with 0 if all quotations are true, with 1 if not.',
  details: [
    'What it finds:',
    [
      ['exact', 'these words, by one speaker; true'],
      ['altered', 'nearly these words; the ones that differ are listed'],
      ['spliced', 'parts joined by … or […]; true if one speaker said them in this order'],
      [
        'other_speaker',
        'these words, but the sentence around the quotation, or --speaker, names someone else',
      ],
      ['missing', 'nothing like it; the nearest passage is shown'],
    ],
    'Case, punctuation, hyphens, white space and the kind of quotation marks never count. Fillers (um, uh), words said ' +
      'twice and marks such as [?] or [crosstalk] may be left out, unless --strict.',
    'In documents (Markdown, HTML, text, docx), a quotation is text in quotation marks of any language, or a ' +
      'block quote. Code and straight single quotes are ignored.',
  ],
  args: [{ name: '[text…]', help: 'the quotation, or with --verify the documents', values: 'file' }],
  options: {
    verify: flag('--verify', 'check every quotation of these documents'),
    strict: flag('--strict', 'count fillers, repeated words and marks too'),
    minWords: count('--min-words <n>', `with --verify, ignore shorter quotations`, {
      ...{ needs: ['--verify'], defaultNote: String(MIN_WORDS) },
    }),
    link: text('--link <template>', 'link to each passage: https://host/{id}?t={seconds}'),
    report: reportOption('with --verify, ', ['--verify']),
    ...filterOptions(),
  },
  examples: [
    ['steno quote "we had more thyme than we could carry"', 'who said that, and when?'],
    ['steno quote --verify article.md', 'every quotation of an article'],
    ['steno quote --verify posts/*.md --report github', 'annotations on the lines of a pull request'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: quotesOutput,
  async run(context, { args, options }) {
    const { out } = context;
    const { filter, isFiltered, isSpokenBy } = filterOf(options);
    const form = choiceOf('--report', options.report, reportForms);
    const link = options.link === undefined ? undefined : checkLink(options.link);
    const quotations = options.verify
      ? documentsOf(args).flatMap((path) => readDocument(path, options.minWords ?? MIN_WORDS))
      : [{ text: textOf(args) }];
    const place = await searchPlaceOf(context, 'quote');
    const request = { quotations, filter, isStrict: options.strict, isSpokenBy };
    const { verdicts, tally, withoutIndex } = await whileWorking(out, 'Looking', (report) =>
      verify(place, request, report),
    );
    if (withoutIndex !== undefined)
      await out.warn(`searching without an index, which takes longer: ${withoutIndex}`);
    if (tally.total === tally.failed.length)
      throw usage(
        isFiltered
          ? 'no transcript on this disk matches these filters'
          : 'there are no transcripts on this disk to look in',
        'download some: steno sync --download transcripts --format vtt',
      );
    for (const { what, error } of tally.failed) await out.warnOf(what, error);
    if (form) await out.stdout.writePart(reportOf(form, 'steno quote', reportedQuotes(args, verdicts)));
    else await out.show(quotesView(verdicts, link));
    const wrong = verdicts.filter(({ isTrue }) => !isTrue);
    const [first] = wrong;
    if (!first) {
      if (options.verify && out.forPeople) out.note(`${plural(verdicts.length, 'quotation')}: all true`);
    } else if (options.verify)
      throw new StenoError(
        'failed',
        `${wrong.length} of ${plural(verdicts.length, 'quotation')} not confirmed`,
      );
    else throw new StenoError('failed', faultOf(first));
  },
});

function textOf(args: readonly string[]): string {
  const given = args.join(' ');
  if (args.length && args.every((each) => extname(each) && findStats(each)?.isFile()))
    throw usage(
      `${given} is a document, not a quotation`,
      `check its quotations: steno quote --verify ${args.map(shellWord).join(' ')}`,
    );
  if (tokensOf(given).length) return given;
  throw usage('quote requires a quotation', 'give its words: steno quote "we had more thyme"');
}

function documentsOf(args: readonly string[]): readonly string[] {
  if (args.length) return [...new Set(args)];
  throw usage('quote --verify requires a document', 'name one: steno quote --verify article.md');
}

function checkLink(template: string): string {
  checkUrl(template.replaceAll('{seconds}', '0').replaceAll('{id}', '0'), 'folder');
  return template;
}
