import { withoutNul } from '../lib/kept-text.ts';

/** How JSON writes a NUL and half of a surrogate pair. */
const maybeUnkept = /\\u0000|\\ud[89a-f]/;

/**
 * Texts as a parameter of json_each. No database keeps a NUL or half of a surrogate pair in a text: in a list they are
 * what they become in a column, or Postgres would refuse the list and SQLite find nothing.
 */
export function jsonList(values: readonly string[]): string {
  const list = JSON.stringify(values);
  return maybeUnkept.test(list) ? JSON.stringify(values.map(keptText)) : list;
}

/** A text as it is kept; nearly all texts are kept as they are. */
export const keptText = (text: string): string =>
  /[\0\ud800-\udfff]/.test(text) ? Buffer.from(withoutNul(text)).toString() : text;
