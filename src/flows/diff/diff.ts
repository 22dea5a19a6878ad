/** What differs between two transcripts, word by word: not their lines, cues, numbers, markup, times or speakers. */
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { joined, tidied } from '../../transcripts/fit.ts';
import type { Segment, TranscriptFile, TranscriptText } from '../../transcripts/model.ts';
import { spokenIn } from '../../transcripts/prose.ts';
import { readTranscriptFile } from '../../transcripts/read.ts';
import { unmarked } from '../../transcripts/write.ts';
import { spaceless } from '../search/words.ts';
import { mostPrecise, transcriptsOf } from '../transcripts/on-disk.ts';
import { CHANGED, DELETED, EQUAL, INSERTED, stepsBetween } from './sequence.ts';

/** Where something is said. */
type Place = Pick<Segment, 'line' | 'start' | 'speaker'>;

/** Words of one that stand in the place of words of the other; one of the two may have none. */
export interface Change {
  readonly old: string;
  readonly new: string;
  /** In the first transcript; after a text that only the second has, where it would be. */
  readonly oldPlace: Place | undefined;
  readonly newPlace: Place | undefined;
  /** Some words around it that are equal. */
  readonly before: string;
  readonly after: string;
}

export interface Difference {
  readonly old: TranscriptFile;
  readonly new: TranscriptFile;
  readonly words: number;
  readonly newWords: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly substitutions: number;
  /** Of the words of the first; undefined where it has none. */
  readonly errorRate: number | undefined;
  readonly changes: readonly Change[];
}

/** Of a file in several formats, the one with the most precise times. What can't be read is a mistake of the line. */
export async function differenceOf(
  ledger: Ledger | undefined,
  args: readonly [string, string],
  signal: AbortSignal,
): Promise<Difference> {
  const read: Array<readonly [TranscriptFile, TranscriptText]> = [];
  for (const { value = [], error } of await transcriptsOf(ledger, args)) {
    if (error) throw unreadable(error);
    const [file] = mostPrecise(value);
    if (!file) continue;
    const text = await readTranscriptFile(file, signal).catch((failure: unknown) => {
      throw failure instanceof StenoError && failure.kind === 'failed' ? unreadable(failure) : failure;
    });
    read.push([file, text]);
  }
  const [[old, first], [other, second]] = read as [(typeof read)[0], (typeof read)[0]];
  const [a, b] = [wordsOf(spokenIn(first)), wordsOf(spokenIn(second))];
  return { old, new: other, ...compared(withPreface(first, a, b), withPreface(second, b, a)) };
}

const unreadable = (error: StenoError): StenoError =>
  new StenoError('usage', error.message, { hint: error.hint, cause: error });

interface Word {
  readonly text: string;
  readonly segment: Segment;
}

/** Where a script has no blanks, a character is a word. */
const word = new RegExp(`[${spaceless}]\\p{M}*|[^\\s${spaceless}]+`, 'gu');
const MARK = '\u2060';

/** What stands before the first time of a text counts where the other one has it too. */
function withPreface({ segments }: TranscriptText, spoken: Word[], other: readonly Word[]): Word[] {
  const all = wordsOf(segments.filter(({ isHead }) => !isHead));
  const preface = all.slice(0, all.length - spoken.length);
  return preface.every(({ text }, at) => text === other[at]?.text) ? all : spoken;
}

function wordsOf(segments: readonly Segment[]): Word[] {
  const words: Word[] = [];
  let isOpen = false;
  for (const marked of segments) {
    const segment = unmarked(marked);
    const whole = joined(tidied(segment.text).split('\n'));
    const found =
      whole
        .replace(/[\u2060\u00ad]/g, '')
        .normalize('NFC')
        .match(word) ?? [];
    // A caption may end within a word.
    const last = isOpen && found[0] ? words.pop() : undefined;
    const glued = last ? (`${last.text}${found.shift()}`.match(word) ?? []) : [];
    for (const text of glued) words.push({ text, segment: last?.segment ?? segment });
    for (const text of found) words.push({ text, segment });
    isOpen = whole.endsWith(MARK + MARK);
  }
  return words;
}

/** In words: shown on each side of a change. */
const AROUND = 4;

function compared(a: readonly Word[], b: readonly Word[]): Omit<Difference, 'old' | 'new'> {
  const steps = stepsBetween(
    a.map(({ text }) => text),
    b.map(({ text }) => text),
  );
  const changes: Change[] = [];
  let [i, j, fromA, fromB] = [0, 0, 0, 0];
  for (const step of [...steps, EQUAL]) {
    if (step === EQUAL) {
      if (i > fromA || j > fromB) changes.push(changeAt(a, b, [fromA, i], [fromB, j]));
      [fromA, fromB] = [i + 1, j + 1];
    }
    if (step !== INSERTED) i += 1;
    if (step !== DELETED) j += 1;
  }
  const countOf = (kind: number): number => steps.filter((step) => step === kind).length;
  const [insertions, deletions, substitutions] = [countOf(INSERTED), countOf(DELETED), countOf(CHANGED)];
  const errorRate = a.length ? (insertions + deletions + substitutions) / a.length : undefined;
  return { words: a.length, newWords: b.length, insertions, deletions, substitutions, errorRate, changes };
}

type Range = readonly [from: number, to: number];

function changeAt(a: readonly Word[], b: readonly Word[], [i, toA]: Range, [j, toB]: Range): Change {
  const textOf = (words: readonly Word[]): string => joined(words.map(({ text }) => text));
  return {
    ...{ old: textOf(a.slice(i, toA)), new: textOf(b.slice(j, toB)) },
    ...{ oldPlace: (a[i] ?? a.at(-1))?.segment, newPlace: (b[j] ?? b.at(-1))?.segment },
    before: textOf(a.slice(Math.max(0, i - AROUND), i)),
    after: textOf(a.slice(toA, toA + AROUND)),
  };
}
