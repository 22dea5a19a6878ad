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
const MAX_CAPPED_WIDTH = 30;

const cappedKinds: ReadonlySet<CellKind> = new Set(['amount', 'time', 'bytes', 'minutes']);
const isCapped = ({ kind = 'text' }: Column): boolean => cappedKinds.has(kind);

const isIdOrState = ({ kind }: Column): boolean => kind === 'id' || kind === 'state';

/** A cell of it is shown whole or not at all. */
const isWhole = (column: Column): boolean =>
  isIdOrState(column) || (column.uncut === true && !isCapped(column));

interface Cell {
  /** As the service gave it, which tells its colour. */
  readonly value: string;
  readonly text: string;
}

interface DrawnColumn extends Omit<Column, 'importance'>, ColumnSize {
  readonly header: string;
  readonly cells: readonly Cell[];
}

/**
 * One line for each row, none wider than the terminal. Ids and states are never cut: columns are left out instead, and
 * where even they do not fit, each row becomes a block of lines.
 */
export function drawTable(rows: Rows, width: number, paint: Paint, now: number): string {
  const columns = drawnColumns(rows, width, now);
  const free = roomForWider(columns, rows.rows.length, width);
  const widths = columnWidths(columns, width - free);
  if (!widths) return drawRecords(shortened(rows, width), width, paint, now);
  const shown = columns.flatMap((column, at) => {
    const given = widths[at];
    return given === undefined ? [] : [{ ...column, given }];
  });
  const table = new Table({
    head: shown.map((column) => paint.faint(cutTo(column, column.header, 0))),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': GAP_WIDTH, head: [], border: [] },
    colWidths: shown.map(({ given }) => given + GAP_WIDTH),
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

/** With no more characters that another terminal draws apart than it has room for. */
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
    const header = labelOf(column).toUpperCase();
    const cells = rows.map((row) => {
      const value = row[at] ?? '';
      const readable = column.kind === 'link' ? readableUrl(value) : value;
      const part = isWhole(column) ? readable : visiblePart(readable, width);
      return { value, text: cellText(forTerminal(part), column.kind, now) };
    });
    const measure = isWhole(column) ? widestOf : widthOf;
    // Not Math.max(...), which fails for a hundred thousand rows.
    const widest = cells.reduce((most, { text }) => Math.max(most, measure(text)), widthOf(header));
    return { ...column, header, cells, ...sizeOf(column, widest, columns.length - at) };
  });
  const told = all.filter(({ cells }) => cells.some(({ text }) => text !== ''));
  return told.length ? told : all.slice(0, 1);
}

function sizeOf(column: Column, widest: number, rank: number): ColumnSize {
  const mustStay = isIdOrState(column) && column.importance === undefined;
  const importance = mustStay ? Number.POSITIVE_INFINITY : (column.importance ?? rank);
  if (isWhole(column) || isCapped(column)) {
    const all = isCapped(column) ? Math.min(widest, MAX_CAPPED_WIDTH) : widest;
    return { natural: all, wanted: all, least: all, importance };
  }
  const { wanted, least } = column.kind === 'link' ? LINK : TEXT;
  const { enough = wanted } = column;
  return { natural: widest, wanted: Math.min(widest, enough), least: Math.min(widest, least), importance };
}

const GAP = '  ';
export const GAP_WIDTH = GAP.length;

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

type Widths = Array<number | undefined>;

/** The width of each column, undefined for one that is left out; undefined if not even those fit that must stay. */
export function columnWidths(sizes: readonly ColumnSize[], width: number): Widths | undefined {
  const widths: Widths = sizes.map(() => undefined);
  let left = width + GAP_WIDTH;
  const byImportance = sizes
    .map((size, at) => ({ ...size, at }))
    // The difference of two infinities is NaN, which leads on to their places.
    .sort((one, other) => other.importance - one.importance || one.at - other.at);
  for (const { wanted, least, importance, at } of byImportance) {
    const room = left - GAP_WIDTH;
    if (least <= room) {
      const given = Math.min(wanted, room);
      widths[at] = given;
      left -= given + GAP_WIDTH;
    } else if (importance === Number.POSITIVE_INFINITY) return undefined;
  }
  return widths.every((each) => each === undefined) ? undefined : share(widths, sizes, left);
}

/** Gives out what is left: each gets the same share, and no more than it can use. */
function share(widths: Widths, sizes: readonly ColumnSize[], room: number): Widths {
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

/** Beside longer names, or with less room for values, each value stands below its name. */
const MAX_LABEL_WIDTH = 30;
const MIN_VALUE_WIDTH = 16;

interface Field {
  readonly label: string;
  readonly value: string;
  readonly kind?: CellKind | undefined;
}

const labelOf = ({ header, name }: Column): string => (header ?? name).replaceAll('_', ' ');

/** Each row as a block; an empty field is left out. */
export function drawRecords({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const fieldsOf = (row: readonly string[]): Field[] =>
    columns.map((column, at) => ({
      label: labelOf(column).toLowerCase(),
      value: row[at] ?? '',
      kind: column.kind,
    }));
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
  const isStacked = width - labelWidth - GAP_WIDTH < MIN_VALUE_WIDTH;
  const indent = isStacked ? GAP : ' '.repeat(labelWidth) + GAP;
  const room = Math.max(1, width - indent.length);
  return fields
    .map(({ label, value, kind }) => {
      const text = detailText(forTerminal(value), kind, now);
      if (text === '') return '';
      // Once for all lines: a value may have a megabyte.
      const painted = paint.forCell(kind, value);
      const isBelow = isStacked || widthOf(label) > labelWidth;
      const after = isBelow ? `\n${indent}` : ' '.repeat(labelWidth - widthOf(label)) + GAP;
      return `${paint.faint(label)}${after}${wrap(text, room).map(painted).join(`\n${indent}`)}\n`;
    })
    .join('');
}

function cellText(value: string, kind: CellKind | undefined, now: number): string {
  if (kind === 'time') return relativeTime(value, now);
  if (kind === 'bytes') return sizeText(value);
  return kind === 'minutes' ? lengthText(value) : value;
}

const exactUnits: Partial<Record<CellKind, string>> = { bytes: ' bytes', minutes: ' minutes' };

/** `3h ago (2026-01-31T09:30:00Z)`, `2.3 kB (2345 bytes)`; `512 bytes` and `12 min` say it all. */
function detailText(value: string, kind: CellKind | undefined, now: number): string {
  const text = cellText(value, kind, now);
  const isExact = /^\d+ (?:bytes?|min)$/.test(text) && text.startsWith(`${value} `);
  return text === value || isExact ? text : `${text} (${value}${exactUnits[kind ?? 'text'] ?? ''})`;
}
