/** The characters that escapes are made of. */

export const BACKSLASH = code('\\');
export const PERCENT = code('%');
export const AMPERSAND = code('&');
export const PLUS = code('+');
export const SPACE = code(' ');
export const QUOTE = code('"');
export const SLASH = code('/');
export const APOSTROPHE = code("'");
export const SMALL_U = code('u');
export const NUMBER_SIGN = code('#');
export const SEMICOLON = code(';');
export const SMALL_X = code('x');

/** Entities by name, but for the one that escapes them all. */
export const NAMES: ReadonlyArray<readonly [string, number]> = [
  ['lt;', code('<')],
  ['gt;', code('>')],
  ['quot;', QUOTE],
  ['apos;', APOSTROPHE],
];

function code(character: string): number {
  return character.charCodeAt(0);
}

/** The value of this many hexadecimal digits, or -1 where others stand. */
export function hexAt(text: string, at: number, digits: number): number {
  let number = 0;
  for (let each = at; each < at + digits; each += 1) {
    const digit = digitAt(text, each);
    if (digit === -1) return -1;
    number = number * 16 + digit;
  }
  return number;
}

/** The value of a decimal or hexadecimal digit, or -1. */
export function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** A letter, a digit, _ or -. */
export const isWord = (unit: number): boolean => /[\w-]/.test(String.fromCharCode(unit));
