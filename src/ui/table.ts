/** Tables for a terminal. Loaded on first use, because of cli-table3. */
import Table from 'cli-table3';
import stringWidth from 'string-width';
import { forTerminal } from '../lib/text.ts';
import type { Column, Rows } from '../lib/view.ts';
import type { Paint } from './paint.ts';
import { relativeTime } from './time.ts';

const GAP_WIDTH = 2;
/** Gap included. */
const MIN_COLUMN_WIDTH = 8;

export function drawTable({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const cells = rows.map((row) => row.map((cell, at) => cellText(cell, columns[at], now)));
  const widths = columnWidths(columns, cells, width);
  const table = new Table({
    head: columns.map((column) => paint.faint(column.name.toUpperCase().replaceAll('_', ' '))),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': GAP_WIDTH, head: [], border: [] },
    colWidths: widths,
    colAligns: columns.map((column) => (column.kind === 'amount' ? 'right' : 'left')),
  });
  table.push(
    ...cells.map((row) =>
      row.map((cell, at) => paint.cell(cut(cell, (widths[at] ?? 0) - GAP_WIDTH), columns[at]?.kind)),
    ),
  );
  return `${table.toString().replace(/ +$/gm, '')}\n`;
}

/** Each row as a block, one field a line; an empty field is left out. */
export function drawRecords({ columns, rows }: Rows, paint: Paint, now: number): string {
  const labelWidth = Math.max(...columns.map((column) => column.name.length));
  const records = rows.map((row) =>
    columns
      .map((column, at) => [column, cellText(row[at] ?? '', column, now)] as const)
      .filter(([, cell]) => cell !== '')
      .map(
        ([column, cell]) =>
          `${paint.faint(column.name.replaceAll('_', ' ').padEnd(labelWidth))}  ${paint.cell(cell, column.kind)}\n`,
      )
      .join(''),
  );
  return records.join('\n');
}

function cellText(cell: string, column: Column | undefined, now: number): string {
  const text = forTerminal(cell);
  return column?.kind === 'time' ? relativeTime(text, now) : text;
}

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Column widths that fit the terminal, gaps included; the widest column is narrowed first. */
function columnWidths(columns: readonly Column[], cells: string[][], width: number): number[] {
  const widths = columns.map((column, at) => {
    const widest = Math.max(stringWidth(column.name), ...cells.map((row) => stringWidth(row[at] ?? '')));
    return widest + GAP_WIDTH;
  });
  // The gap after the last column is trimmed later.
  let excess = widths.reduce((sum, each) => sum + each, 0) - GAP_WIDTH - width;
  for (; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= MIN_COLUMN_WIDTH) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => ['', '-mid', '-left', '-right'].map((part) => [side + part, '']))
    .concat([['middle', '']]),
);
