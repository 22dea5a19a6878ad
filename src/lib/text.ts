/** Makes text of any origin safe to print: it must not move the cursor, ring the bell, break a row or hide in it. */

import { KEEP, maybeUnsafe, REPLACEMENT, SPACE, visible, withDoubledQuotes } from './visible-text.ts';

const onlyHidden = { control: KEEP, tab: KEEP, lineBreak: KEEP, separator: KEEP, hidden: REPLACEMENT };
const asLine = { ...onlyHidden, control: REPLACEMENT, tab: SPACE, lineBreak: SPACE, separator: REPLACEMENT };
const asRow = { ...onlyHidden, control: SPACE, tab: SPACE, lineBreak: SPACE, separator: SPACE };
const asMessage = { ...asRow, hidden: SPACE };
const asLines = { ...onlyHidden, control: REPLACEMENT, separator: REPLACEMENT };

/** Whether a text holds a character that shows nothing or turns the text around. */
export const hasHidden = (text: string): boolean =>
  maybeUnsafe.test(text) && visible(text, onlyHidden) !== text;

/** For one line of a terminal: a control or hidden character becomes U+FFFD, a line break or tab a space. */
export const forTerminal = (text: string): string => (maybeUnsafe.test(text) ? visible(text, asLine) : text);

/** For a tab-separated row: control characters, tabs and line breaks become spaces, hidden characters U+FFFD. */
export const forRow = (text: string): string => (maybeUnsafe.test(text) ? visible(text, asRow) : text);

/** A cell that a spreadsheet would run as a formula; a number is none. */
const formula = /^(?:[=@\t\r\n\uff1d\uff20\uff0b\uff0d]|[+-](?!(?:\d+(?:\.\d+)?|\.\d+)?(?:e[+-]?\d+)?$))/i;

/**
 * RFC 4180, quoted where needed, and one line: a line break or tab becomes a space. What a spreadsheet would run begins
 * with an apostrophe, which makes it text.
 */
export function forCsv(text: string): string {
  const safe = forRow(text);
  const cell = formula.test(text) || formula.test(safe) ? `'${safe}` : safe;
  return /[",]|^\s|\s$/.test(cell) ? `"${withDoubledQuotes(cell)}"` : cell;
}

/** For a message: one line of visible characters, cut at `maxLength`; mask it first, or the start of a key stays. */
export function oneLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const line = (maybeUnsafe.test(text) ? visible(text, asMessage) : text).replace(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const characters = [...line];
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : line;
}

/** For many lines of a terminal: line breaks and tabs stay, other control and hidden characters become U+FFFD. */
export const forTerminalLines = (text: string): string =>
  maybeUnsafe.test(text) ? visible(text, asLines) : text;

/** `1 order`, `3 orders` */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
