/**
 * Words as search compares them: without case and accents. In scripts without spaces each character is a word, and what
 * is searched for is a phrase of them: unlike trigrams, that also finds words of one and two characters.
 */

/** A word, and where it stands in its text. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const ascii = /^[\x01-\x7f]*$/;

export const isAscii = (text: string): boolean => ascii.test(text);

const asciiWord = /[A-Za-z0-9]+/g;
/** A soft hyphen is a part of its word, which folding takes out. */
const anyWord = /[\p{L}\p{N}\p{M}\u00ad]+/gu;
export const spaceless =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const part = new RegExp(`[${spaceless}]|[^${spaceless}]+`, 'gu');
/** Of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic. Other marks are part of the writing. */
const accents = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]+/g;
const notInWords = /[^\p{L}\p{N}\p{M}]+/gu;

/** Letters that Unicode does not take for others with accents, though people do. */
const letters: Readonly<Record<string, string>> = {
  ...{ ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ŧ: 't', æ: 'ae', œ: 'oe', þ: 'th', ß: 'ss', ς: 'σ' },
};

/** Upper case first, for letters that have no other; a sigma is the same at the end of a word. */
const folded = (run: string): string =>
  run
    .normalize('NFKD')
    .replace(accents, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replace(accents, '')
    .replace(/[łøđðħıŧæœþßς]/g, (letter) => letters[letter] ?? letter)
    .replace(notInWords, '');

const partsOf = (run: string): readonly string[] => folded(run).match(part) ?? [];

export function wordsOf(text: string): Word[] {
  if (isAscii(text))
    return Array.from(text.matchAll(asciiWord), ({ 0: word, index }) => ({
      ...{ text: word.toLowerCase(), start: index, end: index + word.length },
    }));
  return Array.from(text.matchAll(anyWord), ({ 0: run, index }) => placed(run, index)).flat();
}

/** Where folding changed the length, a word stands where the whole run does. */
function placed(run: string, start: number): Word[] {
  const parts = partsOf(run);
  if (parts.join('').length !== run.length)
    return parts.map((text) => ({ text, start, end: start + run.length }));
  let at = start;
  return parts.map((text) => {
    at += text.length;
    return { text, start: at - text.length, end: at };
  });
}

const signs = /[^\x01-\x7f\p{L}\p{N}\p{M}\u00ad]+/gu;
/** A run of letters with one beyond ASCII. */
const foreignRun = /(?<![A-Za-z0-9])[A-Za-z0-9]*[^\0-\x7f][A-Za-z0-9\x80-\uffff]*/g;

/** A text from which the tokenizer `ascii` of FTS5 makes the same words. Speed: most texts are left as they are. */
export function forIndex(text: string): string {
  if (isAscii(text)) return text;
  const plain = text.replace(signs, ' ');
  if (isAscii(plain)) return plain;
  return plain.replace(foreignRun, (run) => ` ${partsOf(run).join(' ')} `);
}
