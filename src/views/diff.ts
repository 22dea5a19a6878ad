/** What differs between two transcripts: words in their place, with times and speakers. */
import type { Change, Difference } from '../flows/diff/diff.ts';
import type { Line, Piece } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { type CommandOutput, printed, RecordType, ranked } from './record.ts';
import * as is from './schema.ts';

const more = { more: true } as const;

/** As `git diff --word-diff` marks them. */
const marked = ({ old, new: other }: Change): string =>
  `${old ? `[-${old}-]` : ''}${other ? `{+${other}+}` : ''}`;

/** What is said only in the second has its time and speaker; what one does not know is taken from the other. */
function placeOf({ old, oldPlace, newPlace }: Change) {
  const [own, other] = old ? [oldPlace, newPlace] : [newPlace, oldPlace];
  return { start: own?.start ?? other?.start, speaker: own?.speaker ?? other?.speaker };
}

const timeOf = (change: Change): string => {
  const { start } = placeOf(change);
  return start === undefined ? '' : audioClock(start, '');
};

const changeRecord = ranked<Change>('text time speaker old new line new_line', [
  a.text('time', 'position in the audio, as hh:mm:ss', timeOf, { uncut: true }),
  a.seconds('start', 'the same in seconds; null if unknown', (each) => placeOf(each).start, more),
  a.text('speaker', 'who says it, if known', (each) => placeOf(each).speaker),
  a.text('new_speaker', 'who says it in the second transcript', ({ newPlace }) => newPlace?.speaker, more),
  a.number('line', 'line of the first transcript', ({ oldPlace }) => oldPlace?.line),
  a.number('new_line', 'line of the second transcript', ({ newPlace }) => newPlace?.line),
  a.column('text', 'the change as [-old-]{+new+}, with some words around it', (change) =>
    [change.before, marked(change), change.after].filter(Boolean).join(' '),
  ),
  a.word('old', 'words of the first transcript', 'old'),
  a.word('new', 'words of the second transcript', 'new'),
]);

const statRecord = new RecordType<Difference>([
  a.word('old', 'path of the first transcript', ({ old }) => old.path, { kind: 'link' }),
  a.word('new', 'path of the second transcript', (each) => each.new.path, { kind: 'link' }),
  a.count('words', 'words of the first transcript', 'words'),
  a.count('new_words', 'words of the second transcript', 'newWords'),
  a.count('insertions', 'words that only the second has', 'insertions'),
  a.count('deletions', 'words that only the first has', 'deletions'),
  a.count('substitutions', 'words that others stand for', 'substitutions'),
  a.number('error_rate', 'insertions, deletions and substitutions for each word of the first', 'errorRate'),
]);

const wholeRecord = new RecordType<Difference>([
  ...statRecord.fields,
  a.records('changes', 'each change, in order', changeRecord, 'changes'),
]);

export const diffOutput = (): CommandOutput => {
  const names = new Set(changeRecord.columns.map(({ name }) => name));
  const ofStat = statRecord.columnHelp.filter(({ name }) => !names.has(name));
  return printed(is.anyOf(wholeRecord.schema, is.described('with --stat', statRecord.schema)), [
    ...changeRecord.columnHelp,
    ...ofStat.map((each) => ({ ...each, help: `with --stat: ${each.help}` })),
  ]);
};

export const statView = (difference: Difference): View => statRecord.page(difference);

export const diffView = (difference: Difference): View =>
  changeRecord.view(difference.changes, { quiet: marked, json: () => wholeRecord.json(difference) });

/** For a terminal. */
export const changeLines = ({ changes }: Difference): Line[] =>
  changes.map((change): Line => {
    const { speaker } = placeOf(change);
    const pieces: Piece[] = [
      { text: timeOf(change), tone: 'faint' },
      { text: speaker ? `${speaker}:` : '', tone: 'strong' },
      { text: change.before },
      { text: change.old && `[-${change.old}-]`, tone: 'bad' },
      { text: change.new && `{+${change.new}+}`, tone: 'good' },
      { text: change.after },
    ];
    return { gap: 1, pieces };
  });

/** `3 of 120 words differ: 1 inserted, 1 deleted, 1 changed; error rate 2.5%` */
export function diffSummary({ words, insertions, deletions, substitutions, errorRate }: Difference): string {
  const rate = errorRate === undefined ? '' : `; error rate ${(100 * errorRate).toFixed(1)}%`;
  return `words inserted: ${insertions}, deleted: ${deletions}, changed: ${substitutions}, of ${words}${rate}`;
}
