/** What a person searches for: words, phrases, beginnings of words, and words that must not be there. */
import { usage } from '../../lib/errors.ts';
import { type Word, wordsOf } from './words.ts';

/** Words that follow each other; the last may be the beginning of one. */
export interface Term {
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
      'give at least one word to find: steno search budget -draft',
    );
  return { wanted, unwanted };
}

/** Where the words of a query stand, in the order of the text; nothing if it does not match. `end`: each begins before it. */
export function marksOf(
  query: Query,
  words: readonly Word[],
  end = Number.POSITIVE_INFINITY,
): Mark[] | undefined {
  const placesIn = (term: Term): Mark[] => placesOf(term, words).filter(([start]) => start < end);
  if (query.unwanted.some((term) => placesIn(term).length > 0)) return undefined;
  const places = query.wanted.map(placesIn);
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

/** The index has this many words of what follows a sentence, so that a phrase is found that goes on there. */
export const WORDS_BEYOND = 4;

/** FTS5 takes no more; what is beyond it is found by looking closer. */
const MAX_TERMS = 32;

/** Finds every sentence that may match: the index has these words of a phrase that begins in it. */
export const ftsQuery = (terms: readonly Term[]): string =>
  terms
    .slice(0, MAX_TERMS)
    .map(({ words, isPrefix }) => {
      const begin = words.slice(0, WORDS_BEYOND + 1);
      return `"${begin.join(' ')}"${isPrefix && begin.length === words.length ? '*' : ''}`;
    })
    .join(' AND ');
