/** Makes text of any origin safe to print: it must not move the cursor, ring the bell or break a row. */

const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** For one line of a terminal: a control character becomes U+FFFD, a line break or tab a space. */
export const forTerminal = (text: string): string =>
  text.replace(/\r\n|[\t\n\r]/g, ' ').replace(controls, '\ufffd');

/** For a tab-separated row: control characters, tabs and line breaks become spaces. */
export const forRow = (text: string): string =>
  /[\u0000-\u001f\u007f-\u009f]/.test(text)
    ? text.replace(/\r\n/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    : text;

/** RFC 4180, quoted where needed. */
export function forCsv(text: string): string {
  const safe = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' ');
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** For a message: one line, cut at `maxLength`. */
export function oneLine(text: string, maxLength = 300): string {
  const line = text.replace(controls, ' ').replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${[...line].slice(0, maxLength).join('')}…` : line;
}

/** For many lines of a terminal: line breaks and tabs stay, other control characters become U+FFFD. */
export const forTerminalLines = (text: string): string =>
  text.replace(controls, (character) => (/[\n\t\r]/.test(character) ? character : '\ufffd'));

/** `1 order`, `3 orders` */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
