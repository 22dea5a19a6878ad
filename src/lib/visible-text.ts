/**
 * Replaces characters that steer a terminal, break a line, show nothing or turn the text around. One pass over the
 * units of the text, because a stranger may send a megabyte of them: with regular expressions it takes ten times as long.
 */

/** What becomes of a control character, as a code unit; 0 keeps it. A line break is `lineBreak`, also where it is two. */
export interface Replacements {
  readonly control: number;
  readonly tab: number;
  readonly lineBreak: number;
  /** U+2028 and U+2029, which some programs take for a line break. */
  readonly separator: number;
  readonly hidden: number;
}

export const KEEP = 0;
export const SPACE = 0x20;
export const REPLACEMENT = 0xfffd;

const [TAB, LF, CR] = [0x09, 0x0a, 0x0d];
const [ZWNJ, ZWJ] = [0x200c, 0x200d];
const [EMOJI_SELECTOR, KEYCAP] = [0xfe0f, 0x20e3];

export function visible(text: string, by: Replacements): string {
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const shown = isPlain(unit) ? KEEP : shownFor(text, at, unit, by);
    units[length] = shown || unit;
    length += 1;
    if (shown && isFirstOfTwo(text, at, unit)) at += 1;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}

/** Nearly all characters that people write. */
export const isPlain = (unit: number): boolean =>
  (unit >= 0x20 && unit < 0x7f) ||
  (unit > 0x9f && unit < 0x61c && unit !== 0xad && unit !== 0x34f) ||
  (unit > 0x206f && unit < 0xd800 && unit !== 0x3164);

/** A line break of two characters, or a hidden character of two units. */
const isFirstOfTwo = (text: string, at: number, unit: number): boolean =>
  unit === 0xdb40 || unit === 0xd834 || (unit === CR && text.charCodeAt(at + 1) === LF);

function shownFor(text: string, at: number, unit: number, by: Replacements): number {
  if (unit < 0xa0) {
    if (unit === TAB) return by.tab;
    return unit === LF || unit === CR ? by.lineBreak : by.control;
  }
  if (unit === 0x2028 || unit === 0x2029) return by.separator;
  return isHidden(text, at, unit) ? by.hidden : KEEP;
}

/**
 * Characters that show nothing: soft hyphen, grapheme joiner, fillers of Hangul, vowels of Khmer that are not written,
 * marks of direction and of no width, annotations. Mongolian needs its selectors (U+180B to U+180D), Braille its blank.
 */
const hiddenRanges: ReadonlyArray<readonly [number, number]> = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180f],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0e],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
];
/** As they stand in the brackets of a regular expression. */
const hiddenClass = hiddenRanges
  .map(([first, last]) => `${String.fromCharCode(first)}-${String.fromCharCode(last)}`)
  .join('');
const hiddenUnit = new RegExp(`[${hiddenClass}]`);

/** Whether a text may hold a character that is to be replaced: nearly all texts hold none. */
export const maybeUnsafe = new RegExp(
  `[\\0-\\x1f\\x7f-\\x9f\\u200c\\u200d\\u2028\\u2029\\ufe0f\\ud834\\udb40${hiddenClass}]`,
);

export const isJoiner = (unit: number): boolean => unit === ZWJ || unit === ZWNJ;

/** Whether the character that begins here shows nothing. Joiners and the selector of emoji stay where writing needs them. */
export function isHidden(text: string, at: number, unit: number): boolean {
  if (isJoiner(unit)) return !isNeededJoiner(text, at, unit);
  if (unit === EMOJI_SELECTOR) return !isNeededSelector(text, at);
  if (unit === 0xd834 || unit === 0xdb40) return isHiddenPair(unit, text.charCodeAt(at + 1));
  return hiddenUnit.test(text.charAt(at));
}

/** Marks of music that show nothing (U+1D173 to U+1D17A), tags, and selectors of a variant (from U+E0100). */
const isHiddenPair = (first: number, second: number): boolean =>
  first === 0xd834
    ? second >= 0xdd73 && second <= 0xdd7a
    : (second >= 0xdc00 && second <= 0xdc7f) || (second >= 0xdd00 && second <= 0xddef);

/** After a pictograph, and in a keycap. */
function isNeededSelector(text: string, at: number): boolean {
  if (at === 0) return false;
  if (text.charCodeAt(at + 1) === KEYCAP) return /[0-9#*]/.test(text.charAt(at - 1));
  return kindOf(codePointBefore(text, at)) === 'pictograph';
}

/** In an emoji, after a combining mark (Sinhala, Malayalam), and ZWNJ between letters (Persian). */
function isNeededJoiner(text: string, at: number, unit: number): boolean {
  const last = text.charCodeAt(at - 1);
  // A joiner after a joiner joins nothing.
  if (at === 0 || isJoiner(last)) return false;
  const before = kindOf(codePointBefore(text, at));
  const after = kindOf(text.codePointAt(at + 1) ?? 0);
  if (unit === ZWNJ) return (before === 'letter' || before === 'mark') && after === 'letter';
  return (
    before === 'mark' ||
    (before === 'emoji' && after === 'pictograph') ||
    (before === 'pictograph' && after === 'pictograph')
  );
}

function codePointBefore(text: string, at: number): number {
  const isPair =
    (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800;
  return text.codePointAt(at - (isPair ? 2 : 1)) ?? 0;
}

type CharacterKind = 'letter' | 'mark' | 'pictograph' | 'emoji' | 'other';

/** The patterns stand here, because V8 takes a third of a millisecond to read them, and few texts need them. */
function kindOf(codePoint: number): CharacterKind {
  const character = String.fromCodePoint(codePoint);
  if (/^\p{L}/u.test(character)) return 'letter';
  if (/^\p{M}/u.test(character)) return 'mark';
  if (/^\p{Extended_Pictographic}/u.test(character)) return 'pictograph';
  return /^\p{Emoji_Modifier}/u.test(character) ? 'emoji' : 'other';
}

const QUOTE = 0x22;

/** With each quote doubled, as CSV writes it. */
export function withDoubledQuotes(text: string): string {
  if (!text.includes('"')) return text;
  const units = new Uint16Array(2 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    units[length] = unit;
    length += 1;
    if (unit !== QUOTE) continue;
    units[length] = QUOTE;
    length += 1;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}
