/** Tables for a terminal. Loaded on first use, because of string-width. */
import { forTerminal } from '../lib/text.ts';
import type { CellKind, Column, Rows } from '../lib/view.ts';
import { cellText } from './cells.ts';
import { cutEnd, cutLink, visiblePart, widthOf } from './fit.ts';
import { type ColumnSize, columnWidths, GAP_WIDTH } from './layout.ts';
import type { Paint } from './paint.ts';
import { drawRecords } from './records.ts';

/** What titles and links should have before a less important column is shown, and the least that is worth showing. */
const TEXT = { wanted: 24, least: 8 };
const LINK = { wanted: 30, least: 20 };
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
    width,
  );
  if (!widths) return drawRecords(rows, width, paint, now);
  const shown = columns.flatMap((column, at) => {
    const given = widths[at];
    return given === undefined ? [] : [{ column, given }];
  });
  const line = (
    cellAt: (column: DrawnColumn) => { text: string; painted: (text: string) => string },
  ): string =>
    shown
      .map(({ column, given }, at) => {
        const { text, painted } = cellAt(column);
        const cut = column.kind === 'link' ? cutLink(text, given) : cutEnd(text, given);
        const gap = ' '.repeat(Math.max(0, given - widthOf(cut)));
        const isLast = at === shown.length - 1;
        if (rightAligned.has(column.kind)) return gap + painted(cut);
        return painted(cut) + (isLast ? '' : gap);
      })
      .join(' '.repeat(GAP_WIDTH))
      .trimEnd();
  const head = line(({ header }) => ({ text: header, painted: paint.faint }));
  const body = rows.rows.map((_, row) =>
    line(({ cells, kind }) => {
      const { value, text } = cells[row] ?? { value: '', text: '' };
      return { text, painted: (cut) => paint.cell(cut, kind, value) };
    }),
  );
  return `${[head, ...body].join('\n')}\n`;
}

/** Without those that say nothing in any row. */
function drawnColumns({ columns, rows }: Rows, width: number, now: number): DrawnColumn[] {
  const all = columns.map((column, at): DrawnColumn => {
    const header = headerOf(column);
    const isUncut = mustStay(column) || column.uncut === true;
    const cells = rows.map((row) => {
      const value = row[at] ?? '';
      const part = isUncut ? value : visiblePart(value, width);
      return { value, text: cellText(forTerminal(part), column.kind, now) };
    });
    return { ...column, header, cells, size: sizeOf(column, header, cells, columns.length - at) };
  });
  const told = all.filter(({ cells }) => cells.some(({ text }) => text !== ''));
  return told.length ? told : all.slice(0, 1);
}

function sizeOf(column: Column, header: string, cells: readonly Cell[], rank: number): ColumnSize {
  // Not Math.max(...), which fails for a hundred thousand rows.
  const widest = cells.reduce((most, { text }) => Math.max(most, widthOf(text)), widthOf(header));
  if (mustStay(column))
    return { natural: widest, wanted: widest, least: widest, importance: Number.POSITIVE_INFINITY };
  const importance = column.importance ?? rank;
  const capped = cappedKinds.has(column.kind) ? Math.min(widest, MAX_UNCUT_WIDTH) : widest;
  if (column.uncut || column.kind === 'id' || column.kind === 'state' || cappedKinds.has(column.kind))
    return { natural: capped, wanted: capped, least: capped, importance };
  const { wanted, least } = column.kind === 'link' ? LINK : TEXT;
  return { natural: widest, wanted: Math.min(widest, wanted), least: Math.min(widest, least), importance };
}
