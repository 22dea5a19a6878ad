/** What a secret looks like as text, as bytes, in hexadecimal and in base64. Escapes are left to the search. */

export interface Pattern {
  /** For each place the characters that may stand there, at most three. */
  readonly places: readonly string[];
  /** Counts only where no letter, digit or dash stands beside it. */
  readonly alone: boolean;
  /** May be broken into lines. */
  readonly wraps: boolean;
}

/** A shorter secret is hidden only where it stands alone, or it would take words apart. */
const SHORTEST_ANYWHERE = 5;

export function patternsOf(secret: string): Pattern[] {
  const texts = unique([secret, secret.normalize('NFC'), secret.normalize('NFD')]);
  // Bytes as a text of one character a byte: a percent escape names such a character.
  const bytes = unique([...texts.map(utf8), ...texts.filter(isLatin1)]);
  const alone = secret.length < SHORTEST_ANYWHERE;
  const plain = unique([...texts, ...bytes]).map((text) => ({ places: text.split(''), alone, wraps: false }));
  if (alone) return plain;
  const encoded = bytes.flatMap((each) => [hexadecimal(each), ...base64Forms(each)]);
  return [...plain, ...encoded.map((places) => ({ places, alone, wraps: true }))];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const isLatin1 = (text: string): boolean => /^[\u0000-\u00ff]*$/.test(text);

/** In capitals or not. */
const hexadecimal = (bytes: string): string[] =>
  Buffer.from(bytes, 'latin1')
    .toString('hex')
    .split('')
    .map((digit) => (digit >= 'a' ? digit + digit.toUpperCase() : digit));

/** Base64 of a text that holds the secret shows it in one of three shapes, by where in the text it stands. */
function base64Forms(bytes: string): string[][] {
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.from('\0'.repeat(offset) + bytes, 'latin1');
    const exact = Math.floor((whole.length * 8) / 6);
    const form = whole.toString('base64').slice(Math.ceil((offset * 8) / 6), exact);
    return form.split('').map((character) => otherAlphabets[character] ?? character);
  });
}

/** The URL-safe alphabet writes two characters otherwise, and a form that is decoded once too often has a space. */
const otherAlphabets: Readonly<Record<string, string>> = { '+': '+- ', '/': '/_' };
