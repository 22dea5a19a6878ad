/** Results for people: tables, and pages about one thing. Loaded on first use, with what draws and measures text. */
import Table from 'cli-table3';
import { forTerminal, lengthText, sizeText } from '../lib/text.ts';
import { nowMs, relativeTime } from '../lib/time.ts';
import { readableUrl } from '../lib/url.ts';
import { type CellKind, type Column, type Rows, rightAligned, type View } from '../lib/view.ts';
import { cutEnd, cutLink, visiblePart, widestOf, widthOf, wrap } from './fit.ts';
import type { Drawing, Paint } from './paint.ts';

export function drawView(view: Rows & Partial<View>, { width, paint, hide }: Drawing): string {
  // Masked before it is cut, or the beginning of a key would stay.
  const shown = { columns: view.columns, rows: view.rows.map((row) => row.map(hide)) };
  if (view.asRecord) return drawRecords(shown, width, paint, nowMs());
  return (view.asPairs ? drawPairs : drawTable)(shown, width, paint, nowMs());
}

/** What titles and links should have before a less important column is shown, and the least that is worth showing. */
const TEXT = { wanted: 24, least: 8 };
const LINK = { wanted: 30, least: 20 };
/** The most columns that are left free for terminals that draw joined characters apart; more of them are cut off. */
const MAX_FREE_WIDTH = 4;
/** In a list of blocks, a title or a link has about this many lines: one of a megabyte must not bury the others. */
const MAX_BLOCK_LINES = 3;
/** No amount or time is longer: it is something else, and must not push out the rest. */
const MAX_UNCUT_WIDTH = 30;

const cappedKinds: ReadonlySet<CellKind | undefined> = new Set<CellKind>([
  'amount',
  'time',
  'bytes',
  'minutes',
]);

const mustStay = ({ kind, importance }: Column): boolean =>
  importance === undefined && (kind === 'id' || kind === 'state');

/** A cell of it is shown whole or not at all. */
const isWhole = ({ kind, uncut }: Column): boolean =>
  kind === 'id' || kind === 'state' || (uncut === true && !cappedKinds.has(kind));

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

/**
 * One line for each row, none wider than the terminal. Ids and states are never cut: columns are left out instead, and
 * where even they do not fit, each row becomes a block of lines.
 */
export function drawTable(rows: Rows, width: number, paint: Paint, now: number): string {
  const columns = drawnColumns(rows, width, now);
  const free = roomForWider(columns, rows.rows.length, width);
  const sizes = columns.map(({ size }) => size);
  const widths = columnWidths(sizes, width - free);
  if (!widths) return drawRecords(shortened(rows, width), width, paint, now);
  const shown = columns.flatMap((column, at) => {
    const given = widths[at];
    return given === undefined ? [] : [{ ...column, given }];
  });
  // The build has it measure text with the string-width of ours: its own knows no newer emoji.
  const table = new Table({
    head: shown.map((column) => paint.faint(cutTo(column, column.header, 0))),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': GAP_WIDTH, head: [], border: [] },
    colWidths: widths.flatMap((given) => (given === undefined ? [] : [given + GAP_WIDTH])),
    colAligns: shown.map(({ kind }) => (rightAligned.has(kind) ? 'right' : 'left')),
  });
  for (const row of rows.rows.keys()) table.push(drawRow(shown, row, free, paint));
  const lines = table.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => ['', '-mid', '-left', '-right'].map((part) => [side + part, '']))
    .concat([['middle', '']]),
);

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

type ShownColumn = DrawnColumn & { readonly given: number };

/** With no more characters that another one draws apart than it has room for. */
function drawRow(columns: readonly ShownColumn[], row: number, free: number, paint: Paint): string[] {
  const extras = columns.filter(isWhole).reduce((sum, { cells }) => sum + extraOf(cells[row]?.text ?? ''), 0);
  let left = Math.max(0, free - extras);
  return columns.map((column) => {
    const { value, text } = column.cells[row] ?? { value: '', text: '' };
    const cut = isWhole(column) ? text : cutTo(column, text, left);
    if (!isWhole(column)) left -= extraOf(cut);
    return paint.forCell(column.kind, value)(cut);
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
    const extra = columns.reduce((sum, { cells }) => sum + extraOf(cells[row]?.text ?? ''), 0);
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
      const readable = column.kind === 'link' ? readableUrl(value) : value;
      const part = isWhole(column) ? readable : visiblePart(readable, width);
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
  const { enough = wanted } = column;
  return { natural: widest, wanted: Math.min(widest, enough), least: Math.min(widest, least), importance };
}

export const GAP_WIDTH = 2;

export interface ColumnSize {
  /** Of the widest cell, header included. */
  readonly natural: number;
  /** What it should have before a less important column gets any room. */
  readonly wanted: number;
  /** With less, it is left out. */
  readonly least: number;
  /** The column with the lowest is left out first; one with infinity never is. */
  readonly importance: number;
}

/** The width of each column, undefined for one that is left out; undefined if not even those fit that must stay. */
export function columnWidths(
  sizes: readonly ColumnSize[],
  width: number,
): Array<number | undefined> | undefined {
  const widths: Array<number | undefined> = sizes.map(() => undefined);
  let left = width + GAP_WIDTH;
  const byImportance = sizes
    .map((size, at) => ({ size, at }))
    // The difference of two infinities is NaN, which leads on to their places.
    .sort((one, other) => other.size.importance - one.size.importance || one.at - other.at);
  for (const { size, at } of byImportance) {
    const given = roomFor(size, left - GAP_WIDTH);
    if (given !== undefined) {
      widths[at] = given;
      left -= given + GAP_WIDTH;
    } else if (size.importance === Number.POSITIVE_INFINITY) return undefined;
  }
  return widths.every((each) => each === undefined) ? undefined : share(widths, sizes, left);
}

function roomFor({ wanted, least }: ColumnSize, room: number): number | undefined {
  if (wanted <= room) return wanted;
  return least <= room ? room : undefined;
}

/** Gives out what is left: each gets the same share, and no more than it can use. */
function share(
  widths: Array<number | undefined>,
  sizes: readonly ColumnSize[],
  room: number,
): Array<number | undefined> {
  const missing = (at: number): number =>
    (sizes[at]?.natural ?? 0) - (widths[at] ?? Number.POSITIVE_INFINITY);
  let open = widths.flatMap((_, at) => (missing(at) > 0 ? [at] : []));
  for (let left = room; left > 0 && open.length > 0; ) {
    const each = Math.max(1, Math.floor(left / open.length));
    for (const at of open) {
      const more = Math.min(each, missing(at), left);
      widths[at] = (widths[at] ?? 0) + more;
      left -= more;
    }
    open = open.filter((at) => missing(at) > 0);
  }
  return widths;
}

const GAP = '  ';
/** Beside longer names, or with less room for values, each value stands below its name. */
const MAX_LABEL_WIDTH = 30;
const MIN_VALUE_WIDTH = 16;

interface Field {
  readonly label: string;
  readonly value: string;
  readonly kind?: CellKind | undefined;
}

/** Each row as a block; an empty field is left out. */
export function drawRecords({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const labels = columns.map(({ header, name }) => (header ?? name).replaceAll('_', ' ').toLowerCase());
  const fieldsOf = (row: readonly string[]): Field[] =>
    columns.map(({ kind }, at) => ({ label: labels[at] ?? '', value: row[at] ?? '', kind }));
  return rows.map((row) => drawFields(fieldsOf(row), width, paint, now)).join('\n');
}

/** Rows of a name and a value. */
export function drawPairs({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const kind = columns[1]?.kind;
  const fields = rows.map(([label = '', value = '']) => ({ label: forTerminal(label), value, kind }));
  return drawFields(fields, width, paint, now);
}

/** One field a line; what is longer than the terminal goes on below, indented. */
function drawFields(fields: readonly Field[], width: number, paint: Paint, now: number): string {
  const widest = fields.reduce((most, { label }) => Math.max(most, widthOf(label)), 0);
  const labelWidth = Math.min(widest, MAX_LABEL_WIDTH);
  const valueWidth = width - labelWidth - GAP.length;
  const isStacked = valueWidth < MIN_VALUE_WIDTH;
  const indent = isStacked ? GAP : ' '.repeat(labelWidth) + GAP;
  const room = Math.max(1, isStacked ? width - GAP.length : valueWidth);
  return fields
    .map(({ label, value, kind }) => {
      const text = detailText(forTerminal(value), kind, now);
      if (text === '') return '';
      // Once for all lines: a value may have a megabyte.
      const painted = paint.forCell(kind, value);
      const [first = '', ...rest] = wrap(text, room).map((line) => painted(line));
      const below = isStacked || widthOf(label) > labelWidth;
      const name = paint.faint(label);
      const head = below
        ? `${name}\n${indent}${first}\n`
        : `${name}${' '.repeat(labelWidth - widthOf(label))}${GAP}${first}\n`;
      return head + rest.map((line) => `${indent}${line}\n`).join('');
    })
    .join('');
}

function cellText(value: string, kind: CellKind | undefined, now: number): string {
  switch (kind) {
    case 'time':
      return relativeTime(value, now);
    case 'bytes':
      return sizeText(value);
    case 'minutes':
      return lengthText(value);
    default:
      return value;
  }
}

const exactUnits: Partial<Record<CellKind, string>> = { bytes: ' bytes', minutes: ' minutes' };

/** `3h ago (2026-01-31T09:30:00Z)`, `2.3 kB (2345 bytes)` */
function detailText(value: string, kind: CellKind | undefined, now: number): string {
  const text = cellText(value, kind, now);
  if (text === value) return value;
  const exact = value + (exactUnits[kind ?? 'text'] ?? '');
  return isExact(text, value) ? text : `${text} (${exact})`;
}

/** `512 bytes` and `12 min` say it all. */
const isExact = (text: string, value: string): boolean =>
  /^\d+ (?:bytes?|min)$/.test(text) && text.startsWith(`${value} `);
