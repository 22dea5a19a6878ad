/** What the service sends is data: it must not move a cursor, ring a bell or break a row. */

const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** For a terminal: every control character becomes a visible mark, a line break a space. */
export const forTerminal = (text: string): string =>
  text.replace(/\r\n|[\t\n\r]/g, ' ').replace(controls, '\ufffd');

/** For a tab-separated row: the value as it is, but on one line and in one field. */
export const forRow = (text: string): string =>
  /[\u0000-\u001f\u007f-\u009f]/.test(text)
    ? text.replace(/\r\n/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    : text;

/** RFC 4180: quoted where it must be. */
export function forCsv(text: string): string {
  const safe = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' ');
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A message of any origin as one readable line. */
export function oneLine(text: string, longest = 300): string {
  const line = text.replace(controls, ' ').replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${[...line].slice(0, longest).join('')}…` : line;
}

/** For transcript text shown on a terminal: lines and tabs stay, nothing else that steers. */
export const forTerminalLines = (text: string): string =>
  text.replace(controls, (character) => (/[\n\t\r]/.test(character) ? character : '\ufffd'));
