/** Words as quotations are compared: without case, punctuation, hyphens and white space. */
import { spaceless } from '../search/words.ts';

export interface Token {
  /** What is compared. */
  readonly text: string;
  /** As it is written. */
  readonly raw: string;
  /** Where it stands. */
  readonly start: number;
  readonly end: number;
  /** People cut it from quotations: `um`, `[crosstalk]`. */
  readonly isFiller: boolean;
}

const hidden = '\\u00ad\\u200b-\\u200d\\u2060\\ufeff';
const letter = `(?![${spaceless}])[\\p{L}\\p{N}\\p{M}${hidden}]`;
/** A mark in brackets, a number, a character of a script without blanks, or a word with its apostrophes. */
const pieces = new RegExp(
  `[[(（［【]([^[\\](){}（）［］【】]{0,80})[\\])）］】]|\\p{Nd}+(?:[.,]\\p{Nd}+)+(?!${letter})|[${spaceless}]|` +
    `(?:${letter})+(?:['’ʼ](?:${letter})+)*`,
  'gu',
);
/** What transcribers write in brackets for what is not a word. */
const mark =
  /(?:^|\b)(?:inaud\w*|unintell?\w*|indisc\w*|incompreh\w*|(?:in|un)deciph\w*|cross[ -]?talk\w*|over[ -]?(?:talk|lap)\w*|x{2,}|laugh\w*|applau\w*|music|paused?|silence|unclear|indistinct|blank|gap|sic|ph|phonetic|sp|noise|cough\w*|sighs?\w*|chuckl\w*|beep\w*|redacted|break in audio)\b/i;
const filler = /^(?:u+h*m+|u+h+|erm+|h+m+|m{2,}h*m*|a+h+m*|euh+|äh+m?|öh+m?)$/;

export function tokensOf(text: string, from = 0): Token[] {
  const found: Token[] = [];
  for (const { 0: piece, 1: inside, index } of text.matchAll(pieces)) {
    const start = from + index;
    const end = start + piece.length;
    if (inside === undefined) {
      const word = folded(piece);
      if (word) found.push({ text: word, raw: piece, start, end, isFiller: filler.test(word) });
    } else if (isMark(piece, inside))
      found.push({ text: folded(piece), raw: piece, start, end, isFiller: true });
    else found.push(...tokensOf(inside, start + 1));
  }
  return found;
}

/** In round brackets a number may be what was said. */
const isMark = (piece: string, inside: string): boolean =>
  mark.test(inside) || (!/\p{L}/u.test(inside) && (!/^[(（]/.test(piece) || !/\p{N}/u.test(inside)));

/** Upper case first, for letters that have no other. A comma in a number only separates thousands. */
const folded = (word: string): string =>
  word
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(new RegExp(`[${hidden}'’ʼ]`, 'g'), '')
    .replaceAll('ς', 'σ')
    .replace(/,(?=\p{Nd}{3}(?!\p{Nd}))/gu, '');
