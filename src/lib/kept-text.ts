/**
 * Databases keep no NUL in a text: Postgres refuses it, and SQLite ends the text there when it is read again, so that
 * an id would become another one.
 */
export const withoutNul = <Value>(value: Value): Value | string =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
