/** What differs between two transcripts: words in their place, with times and speakers. */
import type { Change, Difference } from '../flows/diff/diff.ts';
import type { Json } from '../lib/json.ts';
import type { Line, Piece } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { View } from '../lib/view.ts';
import {
  type CommandOutput,
  countField,
  numberField,
  printed,
  RecordType,
  textField,
  wordField,
} from './record.ts';
import * as is from './schema.ts';

/** As `git diff --word-diff` marks them. */
const marked = ({ old, new: other }: Change): string =>
  `${old ? `[-${old}-]` : ''}${other ? `{+${other}+}` : ''}`;

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

/** What is said only in the second has its time and speaker. */
const placeOf = ({ old, oldPlace, newPlace }: Change) =>
  old ? { ...newPlace, ...withoutGaps(oldPlace) } : { ...oldPlace, ...withoutGaps(newPlace) };

const withoutGaps = (place: Change['oldPlace']): Change['oldPlace'] =>
  place &&
  (Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined)) as typeof place);

const timeOf = (change: Change): string => {
  const { start } = placeOf(change);
  return start === undefined ? '' : audioClock(start, '');
};

const changeRecord = new RecordType<Change>([
  {
    ...{ name: 'time', help: 'position in the audio, as hh:mm:ss', schema: is.maybeText },
    ...{ uncut: true, importance: 80, cell: timeOf },
  },
  numberField(
    'start',
    'position in the audio, in seconds; null if unknown',
    (each) => seconds(placeOf(each).start),
    {
      cell: false,
    },
  ),
  textField('speaker', 'who says it, if known', (each) => placeOf(each).speaker, { importance: 50 }),
  textField('new_speaker', 'who says it in the second transcript', ({ newPlace }) => newPlace?.speaker, {
    cell: false,
  }),
  numberField('line', 'line of the first transcript', ({ oldPlace }) => oldPlace?.line, { importance: 20 }),
  numberField('new_line', 'line of the second transcript', ({ newPlace }) => newPlace?.line, {
    importance: 10,
  }),
  {
    ...{ name: 'text', help: 'the change as [-old-]{+new+}, with some words around it', importance: 90 },
    schema: is.text,
    cell: (change) => [change.before, marked(change), change.after].filter(Boolean).join(' '),
  },
  wordField('old', 'words of the first transcript', 'old', { importance: 30 }),
  wordField('new', 'words of the second transcript', 'new', { importance: 30 }),
]);

const statRecord = new RecordType<Difference>([
  wordField('old', 'path of the first transcript', ({ old }) => old.path, { kind: 'link' }),
  wordField('new', 'path of the second transcript', (each) => each.new.path, { kind: 'link' }),
  countField('words', 'words of the first transcript', 'words'),
  countField('new_words', 'words of the second transcript', 'newWords'),
  countField('insertions', 'words that only the second has', 'insertions'),
  countField('deletions', 'words that only the first has', 'deletions'),
  countField('substitutions', 'words that others stand for', 'substitutions'),
  numberField(
    'error_rate',
    'insertions, deletions and substitutions for each word of the first',
    'errorRate',
  ),
]);

export const diffOutput = (): CommandOutput => {
  const all = { ...(statRecord.schema.properties as Record<string, is.Schema>) };
  const whole = is.object({ ...all, changes: is.arrayOf(changeRecord.schema) });
  const shown = [
    ...changeRecord.columnHelp,
    ...statRecord.columnHelp.map((each) => ({ ...each, help: `with --stat: ${each.help}` })),
  ];
  const names = new Set<string>();
  const once = shown.filter(({ name }) => !names.has(name) && names.add(name));
  return printed(is.anyOf(whole, is.described('with --stat', statRecord.schema)), once);
};

export const statView = (difference: Difference): View => statRecord.page(difference);

export function diffView(difference: Difference): View {
  const json: Json = new Map([
    ...statRecord.json(difference),
    ['changes', difference.changes.map((each) => changeRecord.json(each))],
  ]);
  return Object.defineProperties(changeRecord.view(difference.changes, marked), { json: { value: json } });
}

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
    return { gap: 1, pieces, narrowing: [] };
  });

/** `3 of 120 words differ: 1 inserted, 1 deleted, 1 changed; error rate 2.5%` */
export function diffSummary({ words, insertions, deletions, substitutions, errorRate }: Difference): string {
  const rate = errorRate === undefined ? '' : `; error rate ${(100 * errorRate).toFixed(1)}%`;
  return `words inserted: ${insertions}, deleted: ${deletions}, changed: ${substitutions}, of ${words}${rate}`;
}
