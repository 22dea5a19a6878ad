/** What a person searches for: words, phrases, beginnings of words, and words that must not be there. */
import { usage } from '../../lib/errors.ts';
import { MAX_LENGTH } from './sentences.ts';
import { isAscii, type Word, wordsOf } from './words.ts';

/** Words that follow each other; the last may be the beginning of one. */
interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

export interface Query {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
}

/** Where a hit stands in its text. */
export type Mark = readonly [start: number, end: number];

/** A phrase in quotes with a dash before it or a star behind it, or a word. The last quote may be missing. */
const quotedOrWord = /-?"[^"]*"?\*?|[^\s"]+/g;

/** As a shell would hand them over, but with the quotes of a phrase. */
export const partsOfLine = (line: string): readonly string[] => line.match(quotedOrWord) ?? [];

/** A shell takes the quotes off a phrase: what has blanks and neither quotes nor a word to leave out is one. */
const partsOf = (given: string): readonly string[] =>
  given.includes('"') || /\s-\S/.test(given) ? partsOfLine(given) : [given];

export function parseQuery(given: readonly string[]): Query {
  const wanted: Term[] = [];
  const unwanted: Term[] = [];
  for (const part of given.flatMap(partsOf)) {
    const words = wordsOf(part).map(({ text }) => text);
    if (words.length === 0) continue;
    (part.startsWith('-') ? unwanted : wanted).push({ words, isPrefix: /\*"?$/.test(part) });
  }
  if (wanted.length === 0)
    throw usage(
      unwanted.length ? 'the search only excludes words' : 'there is no word to search for',
      'name a word that must be there: steno search budget -draft',
    );
  return { wanted, unwanted };
}

/** Whether it is worth looking closer. Speed: this takes a tenth of splitting a text into words. */
export function mayMatch({ wanted }: Query, text: string): boolean {
  if (!isAscii(text)) return true;
  const lower = text.toLowerCase();
  return wanted.every(({ words }) => words.every((word) => lower.includes(word)));
}

/** Where the words of a query stand, in the order of the text; nothing if it does not match. */
export function marksOf({ wanted, unwanted }: Query, words: readonly Word[]): Mark[] | undefined {
  if (unwanted.some((term) => placesOf(term, words).length > 0)) return undefined;
  const places = wanted.map((term) => placesOf(term, words));
  if (places.some((each) => each.length === 0)) return undefined;
  return joined(places.flat().sort(([one], [other]) => one - other));
}

function placesOf({ words: sought, isPrefix }: Term, words: readonly Word[]): Mark[] {
  const last = sought.length - 1;
  const isAt = (at: number): boolean =>
    sought.every((text, offset) => {
      const word = words[at + offset]?.text;
      return isPrefix && offset === last ? word?.startsWith(text) : word === text;
    });
  return words.flatMap(({ start }, at): Mark[] =>
    isAt(at) ? [[start, words[at + last]?.end ?? start]] : [],
  );
}

/** Marks that overlap or touch become one. */
function joined(marks: readonly Mark[]): Mark[] {
  const all: Mark[] = [];
  for (const [start, end] of marks) {
    const before = all.at(-1);
    if (before && start <= before[1]) all[all.length - 1] = [before[0], Math.max(before[1], end)];
    else all.push([start, end]);
  }
  return all;
}

/** FTS5 takes no more; what is beyond it is found by reading. */
const MAX_TERMS = 32;
const MAX_WORDS = 16;
/** A sentence has fewer words, even where each character is one and some are written out as two. */
const NEAR = 2 * MAX_LENGTH;

/** Finds every file that may match: all words are near each other. What is unwanted may stand in another sentence. */
export function ftsQuery({ wanted }: Query): string {
  const phrases = wanted.slice(0, MAX_TERMS).map(({ words, isPrefix }) => {
    const star = isPrefix && words.length <= MAX_WORDS ? '*' : '';
    return `"${words.slice(0, MAX_WORDS).join(' ')}"${star}`;
  });
  return `NEAR(${phrases.join(' ')}, ${NEAR})`;
}
