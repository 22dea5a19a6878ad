import { failures, type Outcome, raiseFailures, values } from '../flows/bulk.ts';
import { type CaptionRules, captionRules } from '../flows/check/captions.ts';
import { type Checked, checkGiven, checkNew, LastCheck } from '../flows/check/check.ts';
import type { Severity } from '../flows/check/finding.ts';
import { unreadableFiles } from '../flows/transcripts/on-disk.ts';
import { StenoError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { choiceOf, text } from '../spec/options.ts';
import { reportOption } from '../spec/searching.ts';
import { nextTurn } from '../transcripts/read.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { checkOutput, findingPages, reportedFiles } from '../views/check.ts';
import { reportForms, reportOf } from '../views/reports.ts';

const guides: Readonly<Record<CaptionRules, string>> = {
  netflix: '42 characters a line, 2 lines, 20 characters a second, 5/6 to 7 seconds, 2 frames apart',
  bbc: '180 words a minute, 2 lines',
  podcast: 'SRT: 32 characters a line, 2 lines; VTT: 65 characters a line',
};

export const check = command({
  name: 'check',
  summary: 'List problems in transcripts and captions',
  about:
    'Lists gaps and doubtful words that the transcriber marked, unnamed speakers, inconsistent names and wrong times. ' +
    "Exits with 1 if it finds an error, with 2 if it can't read a file, with 0 if there are only warnings. Without " +
    'arguments, checks everything downloaded since the last check.',
  details: [
    'Errors:',
    [
      ['gap', 'missing words: [xx], [inaudible 00:12:03], [crosstalk]'],
      ['doubt', 'words the transcriber was unsure of: [?], [Colman?], [ph]'],
      ['unnamed-speaker', 'a speaker with no name: Man 2, Speaker 1'],
      ['broken-cue', "a caption that can't be read, or a transcript without words"],
      ['time-order', 'a time that goes backwards, or a caption that lasts no time'],
      ['outside-audio', 'a time past the end of the audio'],
      ['overlap', 'a caption that starts before an earlier one ends'],
      ['empty-cue', 'a caption with no words'],
    ],
    'Warnings: name-change (Jerry, Jerry Coleman), repeated-lines (rolling captions, as on YouTube) and, with --rules, reading-speed, line-length, line-count, too-short, ' +
      'too-long and cue-gap. The rules:',
    Object.entries(guides),
    'If a file was downloaded in several formats, check reads the one with the most precise times; to check another, ' +
      "give its path. It can't read doc or rtf.",
  ],
  args: [{ name: '[id|path…]', help: 'audiofile ids, or paths of transcripts', values: 'audiofile-or-path' }],
  options: {
    rules: text('--rules <name>', 'also check captions against a style guide: netflix, bbc or podcast', {
      values: captionRules,
      meaning: (name) => guides[name as CaptionRules],
    }),
    report: reportOption(),
  },
  examples: [
    ['steno check', 'everything downloaded since the last check'],
    ['steno check 12345', 'one file'],
    ['steno check talk.vtt --rules netflix', 'captions, with reading speed and line length'],
    ['steno check transcripts/*.srt --markdown', 'a task list for a pull request'],
    ['steno check captions/*.vtt --report github', 'annotations on the lines of a pull request'],
  ],
  effect: 'local',
  effectsOf: ({ args }) => [args.length ? 'read' : 'local'],
  exits: LEDGER_EXITS,
  output: checkOutput,
  async run(context, { args, options }) {
    const { out, signal } = context;
    const rules = choiceOf('--rules', options.rules, captionRules);
    const form = choiceOf('--report', options.report, reportForms);
    const news = args.length === 0 ? await newTranscripts(context) : undefined;
    const outcomes = await whileWorking(out, 'Checking', async (report) => {
      const how = { rules, signal, report };
      if (news) return checkNew(news.ledger, news.last.at, how);
      return checkGiven(await context.ledgers.ifAny(), args, how);
    });
    const shown = {
      ...{ isBrief: out.isBrief, width: out.forPeople ? out.stdout.columns : undefined },
      folder: process.cwd(),
    };
    const show = async (): Promise<void> => {
      if (form) await out.stdout.writePart(reportOf(form, 'steno check', reportedFiles(outcomes)));
      else await withPager(context, () => out.showPages(inTurns(findingPages(outcomes, shown), signal)));
    };
    if (news) await news.end(outcomes, await out.stdout.isTaken(show, signal));
    else await show();
    raiseFailures(outcomes, 'usage');
    sumUp(context, values(outcomes));
  },
});

async function* inTurns<Page>(pages: Iterable<Page>, signal: AbortSignal): AsyncGenerator<Page> {
  for (const page of pages) {
    await nextTurn(signal);
    yield page;
  }
}

/** What was downloaded since the last check. */
async function newTranscripts({ ledgers, env, settings, out }: Context) {
  const ledger = await ledgers.required('check without arguments reads the ledger');
  const last = new LastCheck(makeStateFolder(env), settings.profileName);
  /** What could not be read or shown is checked again the next time. */
  const end = async (outcomes: readonly Outcome<Checked>[], isShown: boolean): Promise<void> => {
    const unreadable = await unreadableFiles(ledger, { since: last.at });
    if (unreadable.length)
      await out.warn(
        `check can't read doc or rtf, the only formats downloaded of ${unreadable.join(', ')}`,
        `download another format: steno transcript ${unreadable[0]} --format vtt`,
      );
    if (failures(outcomes).length === 0 && isShown) await last.keep();
  };
  return { ledger, last, end };
}

function sumUp({ out }: Context, files: readonly Checked[]): void {
  const [errors, warnings] = (['error', 'warning'] as const).map((severity) => countOf(files, severity));
  const text = `${plural(errors ?? 0, 'error')} and ${plural(warnings ?? 0, 'warning')} in ${plural(files.length, 'transcript')}`;
  if (errors) throw new StenoError('failed', text);
  if (out.forPeople) out.note(files.length ? text : 'no new transcripts to check');
}

function countOf(files: readonly Checked[], severity: Severity): number {
  let sum = 0;
  for (const { found } of files)
    for (const each of found) if (each.severity === severity) sum += each.count ?? 1;
  return sum;
}
