/** Tables for a terminal. Loaded on first use, because of string-width. */
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
/** At most this part of the width is left free for terminals that draw joined characters apart. */
const MAX_FREE_PART = 4;
/** No amount or time is longer: it is something else, and must not push out the rest. */
const MAX_UNCUT_WIDTH = 30;

const rightAligned: ReadonlySet<CellKind | undefined> = new Set<CellKind>(['amount', 'bytes', 'minutes']);
const cappedKinds: ReadonlySet<CellKind | undefined> = new Set<CellKind>([
  ...['amount', 'time'],
  'bytes',
  'minutes',
] as CellKind[]);

const mustStay = ({ kind, importance }: Column): boolean =>
  importance === undefined && (kind === 'id' || kind === 'state');

/** A cell of it is shown whole or not at all. */
const isWhole = ({ kind, uncut }: Column): boolean => uncut === true || kind === 'id' || kind === 'state';

export const headerOf = ({ header, name }: Column): string =>
  (header ?? name).toUpperCase().replaceAll('_', ' ');

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

/**
 * One line for each row, none wider than the terminal. Ids and states are never cut: columns are left out instead, and
 * where even they do not fit, each row becomes a block of lines.
 */
export function drawTable(rows: Rows, width: number, paint: Paint, now: number): string {
  const columns = drawnColumns(rows, width, now);
  const widths = columnWidths(
    columns.map(({ size }) => size),
    width - roomForWider(columns, rows.rows.length, width),
  );
  if (!widths) return drawRecords(rows, width, paint, now);
  const shown = columns.flatMap((column, at) => {
    const given = widths[at];
    return given === undefined ? [] : [{ ...column, given }];
  });
  const head = drawLine(
    shown.map((column) => ({ column, text: column.header, paint: paint.faint })),
    width,
  );
  const body = rows.rows.map((_, row) =>
    drawLine(
      shown.map((column) => {
        const { value, text } = column.cells[row] ?? { value: '', text: '' };
        return { column, text, paint: (cut: string) => paint.cell(cut, column.kind, value) };
      }),
      width,
    ),
  );
  return `${[head, ...body].join('\n')}\n`;
}

interface Part {
  readonly column: DrawnColumn & { readonly given: number };
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** Aligned as most terminals draw it; where another one would wrap the line, as that one does. */
function drawLine(parts: readonly Part[], width: number): string {
  const cuts = parts.map(({ column, text }) => cutTo(column, text, widthOf));
  const gaps = (parts.length - 1) * GAP_WIDTH;
  const widest = cuts.reduce((sum, cut, at) => {
    const given = parts[at]?.column.given ?? 0;
    return sum + Math.max(given, given + widestOf(cut) - widthOf(cut));
  }, gaps);
  const measure = widest > width ? widestOf : widthOf;
  return parts
    .map(({ column, text, paint }) => {
      const cut = cutTo(column, text, measure);
      const gap = ' '.repeat(Math.max(0, column.given - measure(cut)));
      return rightAligned.has(column.kind) ? gap + paint(cut) : paint(cut) + gap;
    })
    .join(' '.repeat(GAP_WIDTH))
    .trimEnd();
}

function cutTo({ kind, given }: Part['column'], text: string, measure: (text: string) => number): string {
  for (let room = given; room > 0; room -= 1) {
    const cut = kind === 'link' ? cutLink(text, room) : cutEnd(text, room);
    if (measure(cut) <= given) return cut;
  }
  return '';
}

/** A part of the width is left free where a terminal may draw the cells of a row wider than they are here. */
function roomForWider(columns: readonly DrawnColumn[], rows: number, width: number): number {
  let most = 0;
  for (let row = 0; row < rows; row += 1) {
    const extra = columns.reduce((sum, { cells }) => {
      const text = cells[row]?.text ?? '';
      return sum + widestOf(text) - widthOf(text);
    }, 0);
    most = Math.max(most, extra);
  }
  return Math.min(most, Math.floor(width / MAX_FREE_PART));
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
