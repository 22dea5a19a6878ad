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
/** No character that people write takes more units of a text for each column of the screen. */
const MAX_UNITS_PER_COLUMN = 8;
/** A longer cell moves the rest of its own row, not that of all rows. */
const MAX_ALIGNED_WIDTH = 40;

export function drawTable({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  // Of a megabyte only the beginning can be seen: to measure all of it takes seconds.
  const longest = width * MAX_UNITS_PER_COLUMN;
  const cells = rows.map((row) => row.map((cell, at) => cellText(truncate(cell, longest), columns[at], now)));
  const widths = columnWidths(columns, cells, width);
  const table = new Table({
    head: columns.map((column) => paint.faint(headerOf(column))),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': GAP_WIDTH, head: [], border: [] },
    colWidths: widths,
    colAligns: columns.map((column) => (column.kind === 'amount' ? 'right' : 'left')),
  });
  for (const row of cells)
    table.push(
      row.map((cell, at) => paint.cell(cut(cell, (widths[at] ?? 0) - GAP_WIDTH), columns[at]?.kind)),
    );
  const lines = table.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** A table that is cut nowhere. cli-table3 would pad each cell to the longest one, which may have a megabyte. */
export function drawWhole({ columns, rows }: Rows, paint: Paint, now: number): string {
  const cells = rows.map((row) => row.map((cell, at) => cellText(cell, columns[at], now)));
  const widths = columns.map((column, at) =>
    Math.min(
      MAX_ALIGNED_WIDTH,
      widest([headerOf(column), ...cells.map((row) => row[at] ?? '')], alignedWidth),
    ),
  );
  const line = (row: readonly string[], painted: (cell: string, at: number) => string): string =>
    row
      .map((cell, at) => {
        const gap =
          at === columns.length - 1 ? 0 : Math.max(0, (widths[at] ?? 0) - alignedWidth(cell)) + GAP_WIDTH;
        return painted(cell, at) + ' '.repeat(gap);
      })
      .join('');
  const head = line(columns.map(headerOf), (cell) => paint.faint(cell));
  const body = cells.map((row) => line(row, (cell, at) => paint.cell(cell, columns[at]?.kind)));
  return [head, ...body].map((each) => `${each.trimEnd()}\n`).join('');
}

/** Not Math.max(...), which fails for a hundred thousand rows. */
const widest = (cells: readonly string[], measure: (cell: string) => number): number =>
  cells.reduce((most, cell) => Math.max(most, measure(cell)), 0);

const alignedWidth = (cell: string): number =>
  stringWidth(truncate(cell, MAX_ALIGNED_WIDTH * MAX_UNITS_PER_COLUMN));

const headerOf = ({ name }: Column): string => name.toUpperCase().replaceAll('_', ' ');

const truncate = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

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
  let taken = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Column widths that fit the terminal, gaps included; the widest column is narrowed first. */
function columnWidths(columns: readonly Column[], cells: string[][], width: number): number[] {
  const widths = columns.map(
    ({ name }, at) => widest([name, ...cells.map((row) => row[at] ?? '')], stringWidth) + GAP_WIDTH,
  );
  // The gap after the last column is trimmed later.
  let excess = widths.reduce((sum, each) => sum + each, 0) - GAP_WIDTH - width;
  for (; excess > 0; excess -= 1) {
    const first = widths.indexOf(Math.max(...widths));
    if ((widths[first] ?? 0) <= MIN_COLUMN_WIDTH) break;
    widths[first] = (widths[first] ?? 0) - 1;
  }
  return widths;
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => ['', '-mid', '-left', '-right'].map((part) => [side + part, '']))
    .concat([['middle', '']]),
);
