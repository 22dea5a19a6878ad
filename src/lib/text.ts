/**
 * Text for people. Text of any origin is made safe to print: it must not move the cursor, ring the bell, break a row or
 * hide in it.
 */

/** What stands in the place of a character; undefined keeps it. A line break is one, also where it is two characters. */
interface Replacements {
  readonly control?: string;
  readonly tab?: string;
  readonly lineBreak?: string;
  /** U+2028 and U+2029, which some programs take for a line break. */
  readonly separator?: string;
  readonly hidden: string;
}

const REPLACEMENT = '\ufffd';
const [ZWNJ, ZWJ] = [0x200c, 0x200d];
const [EMOJI_SELECTOR, KEYCAP] = [0xfe0f, 0x20e3];

/** Replaces characters that steer a terminal, break a line, show nothing or turn the text around. */
const visible = (text: string, by: Replacements): string =>
  maybeUnsafe.test(text)
    ? text.replace(unsafe, (found: string, at: number) => shownFor(text, at, by) ?? found)
    : text;

function shownFor(text: string, at: number, by: Replacements): string | undefined {
  const character = text.charAt(at);
  if (character === '\t') return by.tab;
  if (character === '\n' || character === '\r') return by.lineBreak;
  if (character < '\xa0') return by.control;
  if (character === '\u2028' || character === '\u2029') return by.separator;
  return isHidden(text, at) ? by.hidden : undefined;
}

/**
 * Characters that show nothing: soft hyphen, grapheme joiner, fillers of Hangul, vowels of Khmer that are not written,
 * marks of direction and of no width, annotations. Mongolian needs its selectors (U+180B to U+180D), Braille its blank.
 */
const hiddenClass =
  '\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f' +
  '\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff9-\\ufffb';
const hiddenUnit = new RegExp(`[${hiddenClass}]`);

const unsafeClass = `\\0-\\x1f\\x7f-\\x9f\\u200c\\u200d\\u2028\\u2029\\ufe0f${hiddenClass}`;

/** Whether a text may hold a character that is to be replaced: nearly all texts hold none. */
export const maybeUnsafe = new RegExp(`[\\ud834\\udb40${unsafeClass}]`);

/** Each such character. */
export const unsafe = new RegExp(
  `\\r\\n|[${unsafeClass}]|\\ud834[\\udd73-\\udd7a]|\\udb40[\\udc00-\\udc7f\\udd00-\\uddef]`,
  'g',
);

export const isJoiner = (unit: number): boolean => unit === ZWJ || unit === ZWNJ;

/** Whether the character that begins here shows nothing. Joiners and the selector of emoji stay where writing needs them. */
export function isHidden(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
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

const onlyHidden = { hidden: REPLACEMENT };
const asLine = { ...onlyHidden, control: REPLACEMENT, tab: ' ', lineBreak: ' ', separator: REPLACEMENT };
const asRow = { ...onlyHidden, control: ' ', tab: ' ', lineBreak: ' ', separator: ' ' };
const asMessage = { ...asRow, hidden: ' ' };
const asLines = { ...onlyHidden, control: REPLACEMENT, separator: REPLACEMENT };

/** Whether a text holds a character that shows nothing or turns the text around. */
export const hasHidden = (text: string): boolean => visible(text, onlyHidden) !== text;

/** For one line of a terminal: a control or hidden character becomes U+FFFD, a line break or tab a space. */
export const forTerminal = (text: string): string => visible(text, asLine);

/** For a tab-separated row: control characters, tabs and line breaks become spaces, hidden characters U+FFFD. */
export const forRow = (text: string): string => visible(text, asRow);

/** A cell that a spreadsheet would run as a formula; a number is none. */
const formula = /^(?:[=@\t\r\n\uff1d\uff20\uff0b\uff0d]|[+-](?!(?:\d+(?:\.\d+)?|\.\d+)?(?:e[+-]?\d+)?$))/i;

/**
 * RFC 4180, quoted where needed, and one line: a line break or tab becomes a space. What a spreadsheet would run begins
 * with an apostrophe, which makes it text.
 */
export function forCsv(text: string): string {
  const safe = forRow(text);
  const cell = formula.test(text) || formula.test(safe) ? `'${safe}` : safe;
  // Unlike split and join, replaceAll takes five times too long for half a megabyte of quotes.
  return /[",]|^\s|\s$/.test(cell) ? `"${cell.split('"').join('""')}"` : cell;
}

/** For a message: one line of visible characters, cut at `maxLength`; mask it first, or the start of a key stays. */
export function oneLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const line = visible(text, asMessage).replace(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const characters = [...line];
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : line;
}

/** For many lines of a terminal: line breaks and tabs stay, other control and hidden characters become U+FFFD. */
export const forTerminalLines = (text: string): string => visible(text, asLines);

/** `1 order`, `3 orders` */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What a text means, which gives its colour. */
export type Tone = 'strong' | 'faint' | 'good' | 'warn' | 'bad' | 'info';

export interface Piece {
  /** For the narrowing of its line. */
  readonly name?: string;
  /** Left out where it is empty. */
  readonly text: string;
  readonly tone?: Tone | undefined;
  /** Of a path or a URL: its end tells more than its middle. */
  readonly keepsEnd?: boolean;
}

/** A line for a person that fits its terminal: it says itself what gives way where there is little room. */
export interface Line {
  readonly pieces: readonly Piece[];
  readonly indent?: number;
  /** How many spaces are between two pieces: one or two. */
  readonly gap?: number;
  /** Nothing is cut: what does not fit of the last piece goes on below where it begins. */
  readonly folds?: true;
  /** `title 14, meaning, title`: which pieces give way, in this order, and to what width; without one, a piece is left out. */
  readonly narrowing?: string;
}

export const lineOf = (...pieces: readonly Piece[]): Line => ({ pieces });

/**
 * Databases keep no NUL in a text: Postgres refuses it, and SQLite ends the text there when it is read again, so that
 * an id would become another one.
 */
export const withoutNul = <Value>(value: Value): Value | string =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;

/** The headings of a help page in bold, for a terminal. A heading is the first line of its block and ends in a colon. */
export const boldTitles = (text: string): string =>
  text.replace(/(?<=^|\n\n)\S.*:(?=\n)|^Usage:/gm, '\x1b[1m$&\x1b[22m');

const sizes = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `512 bytes`, `2.3 kB`, `41 MB`; a text that is no whole number is returned as it is. */
export function sizeText(bytes: string): string {
  if (!/^\d{1,18}$/.test(bytes)) return bytes;
  let value = Number(bytes);
  let unit = 0;
  // What rounds to 1000 is one of the next unit.
  while (value >= (unit === 0 ? 1000 : 999.5) && unit < sizes.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return value === 1 ? '1 byte' : `${value} bytes`;
  const rounded = value < 9.95 ? value.toFixed(1) : String(Math.round(value));
  return `${rounded} ${sizes[unit]}`;
}

/** The same of a number. */
export const bytesText = (bytes: number): string => sizeText(String(Math.round(bytes)));

/** Ten minutes and more are told without seconds. */
const WITH_SECONDS_BELOW = 600;

/** `1 h 04 min`, `12 min`, `4 min 05 s`; a text that is no number of minutes is returned as it is. */
export function lengthText(minutes: string): string {
  if (!/^\d{1,9}(?:\.\d{1,20})?$/.test(minutes)) return minutes;
  const seconds = Math.round(Number(minutes) * 60);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < WITH_SECONDS_BELOW && seconds % 60)
    return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const whole = Math.round(seconds / 60);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${twoDigits(whole % 60)} min`;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** A text as one word of a POSIX shell, for commands that a person can copy. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quotedWord(text));

/** The same in quotes, also where they are not needed: a person may put another text there. */
export const quotedWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The candidate that a mistyped word most likely means, if one is close enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  let best: string | undefined;
  // A third of the letters: of three, `pdf` and `rtf` share only one.
  let bestDistance = Math.max(1, Math.round(word.length * 0.35)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Characters that take two columns, as nearly as can be told without a table of them. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/gu;

const columnsOf = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** Lines that are broken at blanks; a word that is longer than the room stays whole, so that it can be copied. */
export function foldWords(text: string, room: number): string[] {
  if (columnsOf(text) <= room) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word;
    if (line && columnsOf(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The hint for an unknown word: a guess, if there is one, and where the list is. */
export function didYouMean(word: string, candidates: readonly string[], list: string): string {
  const guess = nearest(word, candidates);
  return guess ? `did you mean ${guess}? ${list}` : list;
}

const MAX_LENGTH_DIFFERENCE = 8;

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_LENGTH_DIFFERENCE) return Number.POSITIVE_INFINITY;
  const table = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  const at = (i: number, j: number): number => table[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let j = 0; j <= b.length; j += 1) (table[0] as number[])[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swap =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      (table[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same, swap);
    }
  }
  return at(a.length, b.length);
}
