import { NAMES } from './mask-characters.ts';
import type { Pattern } from './mask-encodings.ts';

/** How many places of a secret are looked at before the whole search begins. */
const LOOKED_AT = 4;

/** Where a character in the middle of a secret may be written otherwise than it is, or be followed by a filler. */
const SPECIAL = '[\\\\%&"+\\r\\n]';

/**
 * Matches wherever a secret may begin, and seldom elsewhere: most texts need no more than this. Where several
 * backslashes stand before an escape, it matches at the last one.
 * It repeats nothing, so that it takes as long for any text.
 */
export function candidates(patterns: readonly Pattern[]): RegExp {
  const plain = patterns.map(({ places }) => beginningOf(places.slice(0, LOOKED_AT)));
  const first = [...new Set(patterns.flatMap(({ places }) => (places[0] ?? '').split('')))];
  const names = NAMES.filter(([, unit]) => first.includes(String.fromCharCode(unit))).map(([name]) => name);
  const escapes = [
    `%(?:25${first
      .filter(isByte)
      .map((each) => `|${anyCase(hex(each, 2))}`)
      .join('')})`,
    `\\\\(?:u(?:${first.map((each) => anyCase(hex(each, 4))).join('|')})|x(?:${first
      .filter(isByte)
      .map((each) => anyCase(hex(each, 2)))
      .join('|')})${first
      .filter(isSign)
      .map((each) => `|${each}`)
      .join('')})`,
    `&(?:amp;|#${names.map((name) => `|${name}`).join('')})`,
  ];
  return new RegExp([...new Set([...plain, ...escapes])].join('|'), 'g');
}

/** Any other character has no percent escape of one byte. */
const isByte = (character: string): boolean => character <= '\u00ff';
/** JSON writes these as themselves after a backslash. */
const isSign = (character: string): boolean => ['"', "'", '/'].includes(character);

const anyCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

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

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0');
