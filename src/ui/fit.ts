/**
 * Makes text fit into columns of a terminal. A character is what a person sees as one: an emoji, a letter with marks.
 * Loaded on first use, because of string-width.
 */
import stringWidth from 'string-width';
import { forTerminal, type Line, type Piece } from '../lib/text.ts';
import type { Drawing } from './paint.ts';

const ELLIPSIS = '…';
/** No character that people write takes more units of a text for each column of the screen. */
const MAX_UNITS_PER_COLUMN = 8;
/** What stays of the end of a file name that must be cut: its extension, and what tells parts from each other. */
const NAME_END_WIDTH = 10;
/** With less left of its beginning, a query is not worth its room. */
const MIN_LINK_START = 10;

/** Long enough for any character that people write. */
const MIN_SEGMENTED = 256;
const MAX_MEASURED = 1024;

/** Speed: Latin letters and the quotes and dashes around them take one column each, and need no look into tables. */
const plain = /^[\x20-\x7e\u00ae-\u02ff\u2010-\u2015\u2018-\u201f\u2026]*$/;
const segmenter = new Intl.Segmenter();

/** In columns of the screen. A long text is measured in parts: all at once takes time with the square of its length. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  if (text.length <= MAX_MEASURED) return stringWidth(text);
  let width = 0;
  for (let start = 0; start < text.length; ) {
    const part = startOf(text.slice(start), MAX_MEASURED) || text.slice(start, start + 1);
    width += stringWidth(part);
    start += part.length;
  }
  return width;
}

const mayBeWider = /[\p{M}\p{Emoji_Modifier}\u200d]/u;
const noWidth = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** The width in a terminal that draws each part of a joined emoji or syllable for itself, as tmux and xterm do. */
export function widestOf(text: string): number {
  const width = widthOf(text);
  if (!mayBeWider.test(text)) return width;
  let apart = 0;
  for (const part of text) apart += partWidth(part);
  return Math.max(width, apart);
}

const MAX_REMEMBERED = 10_000;

/** Speed: to measure a character takes ten microseconds, and an untrusted text may have a hundred thousand. */
function remembered(measure: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const width = known.get(text) ?? measure(text);
    if (known.size < MAX_REMEMBERED) known.set(text, width);
    return width;
  };
}

const partWidth = remembered((part) => (noWidth.test(part) ? 0 : Math.max(1, widthOf(part))));
const characterWidth = remembered((each) => (each.length === 1 ? partWidth(each) : widestOf(each)));

/** Of a megabyte only the beginning can be seen in a table: to measure all of it takes seconds. */
export function visiblePart(text: string, width: number): string {
  const longest = (width + 1) * MAX_UNITS_PER_COLUMN;
  return text.length > longest ? `${startOf(text, longest)}${ELLIPSIS}` : text;
}

/** Not half a character of two units. */
const startOf = (text: string, units: number): string => text.slice(0, units).replace(/[\ud800-\udbff]$/, '');
const endOf = (text: string, units: number): string => text.slice(-units).replace(/^[\udc00-\udfff]/, '');

/** The beginning of a text, with an ellipsis in place of the rest. */
export function cutEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? '' : `${takeStart(text, width - 1)}${ELLIPSIS}`;
}

/** A URL or path shortened in its middle, so that its file name stays; where even that is too long, the name's middle goes. */
export function cutLink(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const pathEnd = text.search(/[?#]/);
  const path = (pathEnd < 0 ? text : text.slice(0, pathEnd)).replace(/(?<=[^/\\])[/\\]$/, '');
  const slash = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  const [start, name, query] = [path.slice(0, slash + 1), path.slice(slash + 1), text.slice(path.length)];
  const whole = width - widthOf(name + query) - 1;
  if (whole >= MIN_LINK_START) return withStart(start, whole, name + query);
  const end = query.length > 1 ? name + ELLIPSIS : name;
  const room = width - widthOf(end) - 1;
  return start && room >= 0 ? withStart(start, room, end) : cutName(name, width);
}

/** The beginning of a folder, an ellipsis, and the name with the slash before it where there is room. */
function withStart(start: string, room: number, end: string): string {
  if (widthOf(start) <= room + 1) return start + end;
  return room > 1 ? `${takeStart(start, room - 1)}${ELLIPSIS}/${end}` : `${ELLIPSIS}${end}`;
}

function cutName(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  const end = takeEnd(name, Math.min(NAME_END_WIDTH, Math.floor((width - 1) / 2)));
  return width < 1 ? '' : `${takeStart(name, width - 1 - widthOf(end))}${ELLIPSIS}${end}`;
}

/** As many characters as fit. */
function takeStart(text: string, width: number): string {
  if (plain.test(text)) return text.slice(0, Math.max(0, width));
  let end = 0;
  let taken = 0;
  for (const { segment, index } of segmenter.segment(startOf(text, width * MAX_UNITS_PER_COLUMN))) {
    taken += widthOf(segment);
    if (taken > width) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

function takeEnd(text: string, width: number): string {
  if (plain.test(text)) return width > 0 ? text.slice(-width) : '';
  const last = endOf(text, width * MAX_UNITS_PER_COLUMN);
  const characters = [...segmenter.segment(last)].map(({ segment }) => segment).reverse();
  let kept = '';
  let taken = 0;
  for (const each of characters) {
    taken += widthOf(each);
    if (taken > width) break;
    kept = each + kept;
  }
  return kept;
}

/** A part of a text that stands on one line, with its width. */
interface Measured {
  readonly text: string;
  readonly width: number;
}

/** Lines of at most this width, broken between words, and within a word that is longer than a line. */
export function wrap(text: string, width: number): string[] {
  if (text.length <= width && plain.test(text)) return [text];
  const words = text.split(' ').flatMap((word) => fitting(word, width));
  const lines: string[] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const word of words) {
    if (taken + 1 + word.width <= width) {
      lines.push(`${lines.pop()} ${word.text}`);
      taken += 1 + word.width;
    } else {
      lines.push(word.text);
      taken = word.width;
    }
  }
  return lines;
}

/** The word, or its parts where it is longer than a line. To measure a megabyte takes long, and says only that it is. */
function fitting(word: string, width: number): Measured[] {
  if (word.length > width * MAX_UNITS_PER_COLUMN) return broken(word, width);
  const whole = { text: word, width: widestOf(word) };
  return whole.width > width ? broken(word, width) : [whole];
}

/** A bounded part at a time: to segment a text takes time with the square of its length. */
function broken(word: string, width: number): Measured[] {
  const lines: Measured[] = [];
  const longest = Math.max(MIN_SEGMENTED, width * MAX_UNITS_PER_COLUMN);
  for (let start = 0; start < word.length; ) {
    const part = word.slice(start, start + longest);
    const line = firstLine(part, width);
    lines.push(line);
    start += line.text.length;
  }
  return lines;
}

/** As many characters as fit, but at least one. */
function firstLine(text: string, width: number): Measured {
  if (plain.test(text)) return { text: text.slice(0, width), width: Math.min(text.length, width) };
  let end = 0;
  let taken = 0;
  for (const { segment, index } of segmenter.segment(text)) {
    const next = taken + characterWidth(segment);
    if (next > width && index > 0) break;
    taken = next;
    end = index + segment.length;
  }
  return { text: text.slice(0, end), width: taken };
}

const GAP = 2;

interface ShownPiece extends Piece {
  readonly width: number;
}

export const drawLines = (lines: readonly Line[], drawing: Drawing): string =>
  lines.map((line) => `${drawLine(line, drawing)}\n`).join('');

function drawLine(
  { pieces, narrowing, indent = 0, gap = GAP }: Line,
  { width, paint, hide }: Drawing,
): string {
  const room = Math.max(1, width - indent);
  const shown = pieces.map((piece) => {
    const whole = forTerminal(hide(piece.text));
    const text = piece.keepsEnd ? whole : visiblePart(whole, room);
    return { ...piece, text, width: widthOf(text) };
  });
  for (const [at, least] of narrowing) {
    const excess = widthOfAll(shown, gap) - room;
    if (excess <= 0) break;
    const piece = shown[at];
    if (piece) shown[at] = narrow(piece, Math.max(piece.width - excess, least), least);
  }
  const text = shown
    .filter((piece) => piece.width > 0)
    .map((piece, at, all) =>
      paint.tone(at === all.length - 1 ? piece.text.trimEnd() : piece.text, piece.tone),
    )
    .join(' '.repeat(gap));
  return ' '.repeat(indent) + text;
}

const widthOfAll = (pieces: readonly ShownPiece[], gap: number): number => {
  const shown = pieces.filter(({ width }) => width > 0);
  return shown.reduce((sum, { width }) => sum + width + gap, -gap);
};

function narrow(piece: ShownPiece, to: number, least: number): ShownPiece {
  if (least === 0) return { ...piece, text: '', width: 0 };
  if (piece.width <= to) return piece;
  const text = piece.keepsEnd ? cutLink(piece.text, to) : cutEnd(piece.text, to);
  return { ...piece, text, width: widthOf(text) };
}
