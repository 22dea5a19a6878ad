/** Tables for a terminal. Loaded on first use, because of cli-table3 and string-width. */
import Table from 'cli-table3';
import { forTerminal } from '../lib/text.ts';
import type { CellKind, Column, Rows } from '../lib/view.ts';
import { cellText } from './cells.ts';
import { cutEnd, cutLink, visiblePart, widestOf, widthOf } from './fit.ts';
import { type ColumnSize, columnWidths, GAP_WIDTH } from './layout.ts';
import type { Paint } from './paint.ts';
import { drawRecords } from './records.ts';

/** What titles and links should have before a less important column is shown, and the least that is worth showing. */
const TEXT = { wanted: 24, least: 8 };
const LINK = { wanted: 30, least: 20 };
/** The most columns that are left free for terminals that draw joined characters apart; more of them are cut off. */
const MAX_FREE_WIDTH = 4;
/** In a list of blocks, a title or a link has about this many lines: one of a megabyte must not bury the others. */
const MAX_BLOCK_LINES = 3;
/** No amount or time is longer: it is something else, and must not push out the rest. */
const MAX_UNCUT_WIDTH = 30;

const rightAligned: ReadonlySet<CellKind | undefined> = new Set<CellKind>(['amount', 'bytes', 'minutes']);
const cappedKinds: ReadonlySet<CellKind | undefined> = new Set<CellKind>([
  'amount',
  'time',
  'bytes',
  'minutes',
]);

const mustStay = ({ kind, importance }: Column): boolean =>
  importance === undefined && (kind === 'id' || kind === 'state');

/** A cell of it is shown whole or not at all. */
const isWhole = ({ kind, uncut }: Column): boolean => uncut === true || kind === 'id' || kind === 'state';

const headerOf = ({ header, name }: Column): string => (header ?? name).toUpperCase().replaceAll('_', ' ');

interface DrawnColumn extends Column {
  readonly header: string;
  readonly cells: readonly Cell[];
  readonly size: ColumnSize;
}

interface Cell {
  /** As the service gave it, which tells its colour. */
  readonly value: string;
  readonly text: string;
}

/** A table that fits the terminal: each cell as it is shown, and the width of its column. */
export interface TableLayout {
  readonly widths: readonly number[];
  readonly aligns: ReadonlyArray<'left' | 'right'>;
  readonly head: readonly string[];
  readonly rows: ReadonlyArray<readonly ShownCell[]>;
}

interface ShownCell {
  /** Cut to its column. */
  readonly text: string;
  readonly paint: (text: string) => string;
}

/**
 * One line for each row, none wider than the terminal. Ids and states are never cut: columns are left out instead, and
 * where even they do not fit, each row becomes a block of lines.
 */
export function drawTable(rows: Rows, width: number, paint: Paint, now: number): string {
  const layout = layOutTable(rows, width, paint, now);
  if (!layout) return drawRecords(shortened(rows, width), width, paint, now);
  // The build has it measure text with the string-width of ours: its own knows no newer emoji.
  const table = new Table({
    head: layout.head.map(paint.faint),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': GAP_WIDTH, head: [], border: [] },
    colWidths: layout.widths.map((each) => each + GAP_WIDTH),
    colAligns: [...layout.aligns],
  });
  for (const row of layout.rows) table.push(row.map(({ text, paint }) => paint(text)));
  const lines = table.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Ids and states stay whole. */
function shortened({ columns, rows }: Rows, width: number): Rows {
  const longest = width * MAX_BLOCK_LINES;
  const shorten = (value: string, at: number): string => {
    const column = columns[at];
    if (!column || isWhole(column) || value.length <= longest) return value;
    return column.kind === 'link' ? cutLink(value, longest) : cutEnd(visiblePart(value, longest), longest);
  };
  return { columns, rows: rows.map((row) => row.map(shorten)) };
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => ['', '-mid', '-left', '-right'].map((part) => [side + part, '']))
    .concat([['middle', '']]),
);

/** Undefined where not even ids and states fit. */
export function layOutTable(rows: Rows, width: number, paint: Paint, now: number): TableLayout | undefined {
  const columns = drawnColumns(rows, width, now);
  const free = roomForWider(columns, rows.rows.length, width);
  const widths = columnWidths(
    columns.map(({ size }) => size),
    width - free,
  );
  if (!widths) return undefined;
  const shown = columns.flatMap((column, at) => {
    const given = widths[at];
    return given === undefined ? [] : [{ ...column, given }];
  });
  return {
    widths: shown.map(({ given }) => given),
    aligns: shown.map(({ kind }) => (rightAligned.has(kind) ? 'right' : 'left')),
    head: shown.map((column) => cutTo(column, column.header, 0)),
    rows: rows.rows.map((_, row) => layOutRow(shown, row, free, paint)),
  };
}

type ShownColumn = DrawnColumn & { readonly given: number };

/** Aligned as most terminals draw it, with no more characters that another one draws apart than it has room for. */
function layOutRow(columns: readonly ShownColumn[], row: number, free: number, paint: Paint): ShownCell[] {
  const extras = columns.filter(isWhole).reduce((sum, { cells }) => sum + extraOf(cells[row]?.text ?? ''), 0);
  let left = Math.max(0, free - extras);
  return columns.map((column) => {
    const { value, text } = column.cells[row] ?? { value: '', text: '' };
    const cut = isWhole(column) ? text : cutTo(column, text, left);
    if (!isWhole(column)) left -= extraOf(cut);
    return { text: cut, paint: (shown) => paint.cell(shown, column.kind, value) };
  });
}

/** How much wider a terminal may draw a text. */
const extraOf = (text: string): number => widestOf(text) - widthOf(text);

function cutTo({ kind, given }: ShownColumn, text: string, maxExtra: number): string {
  for (let room = given; room > 0; room -= 1) {
    const cut = kind === 'link' ? cutLink(text, room) : cutEnd(text, room);
    if (extraOf(cut) <= maxExtra) return cut;
  }
  return '';
}

/** A part of the width is left free where a terminal may draw the cells of a row wider than they are here. */
function roomForWider(columns: readonly DrawnColumn[], rows: number, width: number): number {
  let most = 0;
  for (let row = 0; row < rows; row += 1) {
    const extra = columns.reduce((sum, { cells }) => {
      const text = cells[row]?.text ?? '';
      return sum + extraOf(text);
    }, 0);
    most = Math.max(most, extra);
  }
  return Math.min(most, MAX_FREE_WIDTH, Math.floor(width / 10));
}

/** Without those that say nothing in any row. */
function drawnColumns({ columns, rows }: Rows, width: number, now: number): DrawnColumn[] {
  const all = columns.map((column, at): DrawnColumn => {
    const header = headerOf(column);
    const cells = rows.map((row) => {
      const value = row[at] ?? '';
      const part = isWhole(column) ? value : visiblePart(value, width);
      return { value, text: cellText(forTerminal(part), column.kind, now) };
    });
    return { ...column, header, cells, size: sizeOf(column, header, cells, columns.length - at) };
  });
  const told = all.filter(({ cells }) => cells.some(({ text }) => text !== ''));
  return told.length ? told : all.slice(0, 1);
}

function sizeOf(column: Column, header: string, cells: readonly Cell[], rank: number): ColumnSize {
  // Not Math.max(...), which fails for a hundred thousand rows.
  const measure = isWhole(column) ? widestOf : widthOf;
  const widest = cells.reduce((most, { text }) => Math.max(most, measure(text)), widthOf(header));
  if (mustStay(column))
    return { natural: widest, wanted: widest, least: widest, importance: Number.POSITIVE_INFINITY };
  const importance = column.importance ?? rank;
  const capped = cappedKinds.has(column.kind) ? Math.min(widest, MAX_UNCUT_WIDTH) : widest;
  if (isWhole(column) || cappedKinds.has(column.kind))
    return { natural: capped, wanted: capped, least: capped, importance };
  const { wanted, least } = column.kind === 'link' ? LINK : TEXT;
  return { natural: widest, wanted: Math.min(widest, wanted), least: Math.min(widest, least), importance };
}
