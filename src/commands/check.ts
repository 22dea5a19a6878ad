import { failures, type Outcome, raiseFailures, values } from '../flows/bulk.ts';
import { type CaptionRules, captionRules } from '../flows/check/captions.ts';
import { type CheckOptions, checkGiven, checkNew, type Found, LastCheck } from '../flows/check/check.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { didYouMean, plural } from '../lib/text.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { text } from '../spec/options.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { checkOutput, findingsView } from '../views/check.ts';

const guides: Readonly<Record<CaptionRules, string>> = {
  netflix: '42 characters a line, 2 lines, 20 characters a second, 5/6 to 7 seconds, a gap of 2 frames',
  bbc: '180 words a minute, 2 lines',
  podcast: 'SRT: 32 characters a line, 2 lines; VTT: 65 characters a line',
};

export const check = command({
  name: 'check',
  summary: 'List what to look at in transcripts and captions',
  about:
    'Lists gaps and doubts that the transcriber marked, speakers without a name, names that change, and wrong times. ' +
    'Exits with 1 if there is an error. Without arguments, checks everything downloaded since the last check.',
  details: [
    'Errors:',
    [
      ['gap', 'words are missing: [xx], [inaudible 00:12:03], [crosstalk]'],
      ['doubt', 'the transcriber was not sure: [?], [Colman?], [ph]'],
      ['unnamed-speaker', 'Man 2, Speaker 1'],
      ['broken-cue', "a part of the captions that can't be read"],
      ['time-order', 'a time goes backwards'],
      ['outside-audio', 'a time is past the end of the audio'],
      ['overlap', 'a caption begins before the previous one ends'],
      ['empty-cue', 'a caption has no text'],
    ],
    'Warnings: name-change (Jerry, Jerry Coleman) and, with --rules, reading-speed, line-length, line-count, too-short, ' +
      'too-long and cue-gap. The rules:',
    Object.entries(guides),
    'Of a file in several formats, check reads the one with the most precise times. To check another, give its path.',
  ],
  args: [{ name: '[id|path…]', help: 'audiofile ids, or paths of transcripts', values: 'audiofile-or-path' }],
  options: {
    rules: text('--rules <name>', 'also check captions against a style guide: netflix, bbc or podcast', {
      values: captionRules,
      meaning: (name) => guides[name as CaptionRules],
    }),
  },
  examples: [
    ['steno check', 'everything downloaded since the last check'],
    ['steno check 12345', 'one file'],
    ['steno check talk.vtt --rules netflix', 'captions, with reading speed and line length'],
    ['steno check transcripts/*.srt --markdown', 'a task list for a pull request'],
  ],
  effect: 'local',
  effectsOf: ({ args }) => [args.length ? 'read' : 'local'],
  exits: [...LEDGER_EXITS, 'partial'],
  output: checkOutput,
  async run(context, { args, options }) {
    const { out, signal } = context;
    const rules = rulesOf(options.rules);
    const outcomes = await whileWorking(out, 'Checking', (report) =>
      args.length === 0
        ? checkSinceLast(context, { rules, signal, report })
        : context.ledgers.ifAny().then((ledger) => checkGiven(ledger, args, { rules, signal, report })),
    );
    await withPager(context, () => out.show(findingsView(outcomes, out.isBrief)));
    raiseFailures(outcomes);
    sumUp(context, values(outcomes));
  },
});

function rulesOf(given: string | undefined): CaptionRules | undefined {
  const rules = captionRules.find((each) => each === given?.toLowerCase());
  if (given === undefined || rules) return rules;
  throw usage(
    `--rules: there are no rules '${given}'`,
    didYouMean(given, captionRules, `choose one of ${captionRules.join(', ')}`),
  );
}

/** What can't be read is checked again the next time. */
async function checkSinceLast(
  { ledgers, env, settings }: Context,
  options: CheckOptions,
): Promise<Outcome<readonly Found[]>[]> {
  const ledger = await ledgers.required('check without arguments reads the ledger');
  const last = new LastCheck(makeStateFolder(env), settings.profileName);
  const outcomes = await checkNew(ledger, last.at, options);
  if (failures(outcomes).length === 0) await last.keep();
  return outcomes;
}

function sumUp({ out }: Context, files: ReadonlyArray<readonly Found[]>): void {
  const found = files.flat();
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const counts = `${plural(errors, 'error')} and ${plural(found.length - errors, 'warning')}`;
  const text = `${counts} in ${plural(files.length, 'transcript')}`;
  if (errors) throw new StenoError('failed', text);
  if (out.forPeople) out.note(files.length ? text : 'nothing was downloaded since the last check');
}
