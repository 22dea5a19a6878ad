import { differenceOf } from '../flows/diff/diff.ts';
import { StenoError } from '../lib/errors.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { flag } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { withPager } from '../ui/pager.ts';
import { changeLines, diffOutput, diffSummary, diffView, statView } from '../views/diff.ts';

export const diff = command({
  name: 'diff',
  summary: 'Show what differs between two transcripts',
  about:
    'Compares two transcripts word by word, whatever their formats: downloads by audiofile id, or files by path. ' +
    "Exits with 0 if their words are the same, with 1 if not, with 2 if one can't be read or is not on this disk.",
  details: [
    'Line breaks, captions, numbers, markup, times and speakers make no difference; capitals and punctuation do. In ' +
      'scripts without spaces, each character is a word. The error rate is the number of inserted, deleted and changed ' +
      'words for each word of the first transcript. Of a file in several formats, the one with the most precise ' +
      'times is compared.',
    'Two texts that differ in more than 3,000 words are cut into parts first, so the count may be slightly too high.',
    'To see the words of captions in git diff, let git convert them:',
    [
      ['.gitattributes', '*.vtt diff=captions'],
      ['git config', "diff.captions.textconv 'steno convert --to txt -o -'"],
    ],
  ],
  args: [
    { name: '<a>', help: 'audiofile id, or path of a transcript', values: 'audiofile-or-path' },
    { name: '<b>', help: 'the one to compare with it', values: 'audiofile-or-path' },
  ],
  options: { stat: flag('--stat', 'print only numbers: words, changes, error rate') },
  examples: [
    ['steno diff talk.tstxt corrected.txt', 'what an editor changed'],
    ['steno diff talk.tstxt whisper.srt --stat', 'error rate of a machine, against a human transcript'],
    ['steno diff talk.tstxt corrected.txt --markdown', 'for a pull request'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: diffOutput,
  async run(context, { args: [a = '', b = ''], options }) {
    const { out, ledgers, signal } = context;
    const difference = await differenceOf(await ledgers.ifAny(), [a, b], signal);
    if (options.stat) await out.show(statView(difference));
    else if (out.forPeople && out.isBrief)
      await withPager(context, () => showLines(out, changeLines(difference)));
    else await out.show(diffView(difference));
    if (difference.changes.length) throw new StenoError('failed', diffSummary(difference));
    if (out.forPeople && !options.stat) out.note('the words are the same');
  },
});
