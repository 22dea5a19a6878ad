/** Makes text of any origin safe to print: it must not move the cursor, ring the bell, break a row or hide in it. */

/** Control characters, and the two separators of Unicode that some programs take for a line break. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/**
 * Characters that show nothing or turn the text around: marks of direction, of no width, and tags. Joiners stay where
 * writing needs them: in an emoji, after a combining mark (Sinhala, Malayalam), and ZWNJ between letters (Persian).
 */
const hidden =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}])\u200d|(?<!\p{M})\u200d(?!\p{Extended_Pictographic})|(?<![\p{L}\p{M}])\u200c|\u200c(?!\p{L})|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Whether a text may hold any of these: without look-around, because nearly all texts hold none. */
const maybeUnsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\udb40]/;

const REPLACEMENT = '\ufffd';
const showHidden = (text: string): string => text.replace(hidden, REPLACEMENT);

/** Whether a text holds a character that shows nothing or turns the text around. */
export const hasHidden = (text: string): boolean => showHidden(text) !== text;

/** For one line of a terminal: a control or hidden character becomes U+FFFD, a line break or tab a space. */
export const forTerminal = (text: string): string =>
  maybeUnsafe.test(text)
    ? showHidden(text.replace(/\r\n|[\t\n\r]/g, ' ').replace(controls, REPLACEMENT))
    : text;

/** For a tab-separated row: control characters, tabs and line breaks become spaces, hidden characters U+FFFD. */
export const forRow = (text: string): string =>
  maybeUnsafe.test(text) ? showHidden(text.replace(/\r\n/g, ' ').replace(controls, ' ')) : text;

/** A cell that a spreadsheet would run as a formula; a number is none. */
const formula = /^(?:[=@\t\r\n\uff1d\uff20\uff0b\uff0d]|[+-](?!(?:\d+(?:\.\d+)?|\.\d+)?(?:e[+-]?\d+)?$))/i;

/** RFC 4180, quoted where needed. What a spreadsheet would run begins with an apostrophe, which makes it text. */
export function forCsv(text: string): string {
  const safe = maybeUnsafe.test(text)
    ? showHidden(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' '))
    : text;
  const cell = formula.test(safe) ? `'${safe}` : safe;
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** For a message: one line of visible characters, cut at `maxLength`; mask it first, or the start of a key stays. */
export function oneLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const line = text.replace(controls, ' ').replace(hidden, ' ').replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${[...line].slice(0, maxLength).join('')}…` : line;
}

/** For many lines of a terminal: line breaks and tabs stay, other control and hidden characters become U+FFFD. */
export const forTerminalLines = (text: string): string =>
  showHidden(text.replace(controls, (character) => (/[\n\t\r]/.test(character) ? character : REPLACEMENT)));

/** `1 order`, `3 orders` */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
