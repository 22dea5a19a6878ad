import { NAMES } from './mask-characters.ts';
import type { Pattern } from './mask-encodings.ts';

/** How many places of a secret are looked at before the whole search begins. */
const LOOKED_AT = 4;

/** Where a character in the middle of a secret may be written otherwise than it is, or be followed by a filler. */
const SPECIAL = '[\\\\%&"+\\r\\n]';

/**
 * Matches wherever a secret may begin, and seldom elsewhere: most texts need no more than this.
 * It repeats nothing, so that it takes as long for any text.
 */
export function candidates(patterns: readonly Pattern[]): RegExp {
  const plain = patterns.map(({ places }) => beginningOf(places.slice(0, LOOKED_AT)));
  const bytes = patterns.flatMap(({ places }) => (places[0] ?? '').split('').map(percentOf));
  const names = NAMES.map(([name]) => name).join('|');
  const escapes = [`%(?:25${bytes.join('')})`, `\\\\[\\\\u"'/]`, `&(?:amp;|#|${names})`];
  return new RegExp([...new Set([...plain, ...escapes])].join('|'), 'g');
}

function beginningOf([first = '', ...others]: readonly string[]): string {
  const isSpace = first.includes(' ') && !first.includes('+');
  const rest = others.reduceRight<string>((after, place) => `(?:${SPECIAL}|${oneOf(place)}${after})`, '');
  return oneOf(isSpace ? `${first}+` : first) + rest;
}

const oneOf = (characters: string): string =>
  `[${characters
    .split('')
    .map((each) => `\\u${hex(each, 4)}`)
    .join('')}]`;

/** Any other character has no percent escape of one byte. */
const percentOf = (character: string): string =>
  character > '\u00ff'
    ? ''
    : `|${hex(character, 2).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0');
