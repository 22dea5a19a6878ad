/**
 * Makes text fit into columns of a terminal. A character is what a person sees as one: an emoji, a letter with marks.
 * Loaded on first use, because of string-width.
 */
import stringWidth from 'string-width';
import { foldWords, forTerminal, type Line, type Piece } from '../lib/text.ts';
import type { Drawing } from './paint.ts';

const ELLIPSIS = '…';
/** No character that people write takes more units of a text for each column of the screen. */
const MAX_UNITS_PER_COLUMN = 8;
/** What stays of the end of a file name that must be cut: its extension, and what tells parts from each other. */
const NAME_END_WIDTH = 10;
/** With less left of its beginning, a query is not worth its room. */
const MIN_LINK_START = 10;
/** To measure or segment a text takes time with the square of its length, so that is done part by part. */
const MAX_PART = 1024;

/** Speed: Latin letters and the quotes and dashes around them take one column each, and need no look into tables. */
const plain = /^[\x20-\x7e\u00ae-\u02ff\u2010-\u2015\u2018-\u201f\u2026]*$/;
const segmenter = new Intl.Segmenter();

/** In columns of the screen. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  if (text.length <= MAX_PART) return stringWidth(text);
  const part = startOf(text, MAX_PART);
  let width = stringWidth(part);
  for (let at = part.length; at < text.length; at += MAX_PART)
    width += stringWidth(text.slice(at, at + MAX_PART));
  return width;
}

const mayBeWider = /[\p{M}\p{Emoji_Modifier}\u200d]/u;
const noWidth = /^[\p{Mn}\p{Me}\p{Cf}]/u;

/** The width in a terminal that draws each part of a joined emoji or syllable for itself, as tmux and xterm do. */
export function widestOf(text: string): number {
  const width = widthOf(text);
  if (!mayBeWider.test(text)) return width;
  let apart = 0;
  for (const part of text) apart += noWidth.test(part) ? 0 : Math.max(1, widthOf(part));
  return Math.max(width, apart);
}

const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, number>();

/** Speed: to measure a character takes ten microseconds, and an untrusted text may have a hundred thousand. */
function characterWidth(character: string): number {
  const width = remembered.get(character) ?? widestOf(character);
  if (remembered.size < MAX_REMEMBERED) remembered.set(character, width);
  return width;
}

/** A table shows only the start of a long text. */
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

function* charactersOf(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** As many characters as fit. */
function take(characters: Iterable<string>, width: number, measure = widthOf): string[] {
  const kept: string[] = [];
  let taken = 0;
  for (const each of characters) {
    taken += measure(each);
    if (taken > width) break;
    kept.push(each);
  }
  return kept;
}

function takeStart(text: string, width: number): string {
  if (plain.test(text)) return text.slice(0, Math.max(0, width));
  return take(charactersOf(startOf(text, width * MAX_UNITS_PER_COLUMN)), width).join('');
}

function takeEnd(text: string, width: number): string {
  if (width < 1) return '';
  const characters = [...charactersOf(endOf(text, width * MAX_UNITS_PER_COLUMN))];
  return take(characters.reverse(), width).reverse().join('');
}

/** Lines of at most this width, broken between words, and within a word that is longer than a line. */
export function wrap(text: string, width: number): string[] {
  if (text.length <= width && plain.test(text)) return [text];
  const lines: string[] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const word of text.split(' ').flatMap((each) => broken(each, width))) {
    const more = widestOf(word);
    if (taken + 1 + more <= width) {
      lines.push(`${lines.pop()} ${word}`);
      taken += 1 + more;
    } else {
      lines.push(word);
      taken = more;
    }
  }
  return lines;
}

/** The word, or its parts where it is longer than a line: each as many characters as fit, but at least one. */
function broken(word: string, width: number): string[] {
  if (word.length <= MAX_PART && widestOf(word) <= width) return [word];
  const parts: string[] = [];
  for (let start = 0; start < word.length; ) {
    const rest = word.slice(start, start + Math.max(256, width * MAX_UNITS_PER_COLUMN));
    const isPlain = plain.test(rest.slice(0, width));
    const fits = isPlain ? rest.slice(0, width) : take(charactersOf(rest), width, characterWidth).join('');
    const [first = ''] = fits ? [fits] : charactersOf(rest);
    parts.push(first);
    start += first.length;
  }
  return parts;
}

const GAP = 2;

interface ShownPiece extends Piece {
  text: string;
  width: number;
}

export const drawLines = (lines: readonly Line[], drawing: Drawing): string =>
  lines.map((line) => `${drawLine(line, drawing)}\n`).join('');

function drawLine(
  { pieces, narrowing, folds, indent = 0, gap = GAP }: Line,
  { width, paint, hide }: Drawing,
): string {
  const room = Math.max(1, width - indent);
  const shown = pieces.map((piece): ShownPiece => {
    const whole = forTerminal(hide(piece.text));
    const text = piece.keepsEnd || folds ? whole : visiblePart(whole, room);
    return { ...piece, text, width: widthOf(text) };
  });
  const last = shown.at(-1);
  if (folds && last) {
    const start = indent + widthOfAll(shown, gap) - last.width;
    const below = `\n${' '.repeat(start)}`;
    last.text = foldWords(last.text, Math.max(20, width - start)).join(below);
  }
  for (const step of narrowing ? narrowing.split(', ') : []) {
    const [name, least = '0'] = step.split(' ');
    const excess = widthOfAll(shown, gap) - room;
    const piece = shown.find((each) => each.name === name);
    if (excess > 0 && piece) narrow(piece, piece.width - excess, Number(least));
  }
  const text = shown
    .filter((piece) => piece.width > 0)
    .map(({ text, tone }, at, all) => paint.tone(at === all.length - 1 ? text.trimEnd() : text, tone))
    .join(' '.repeat(gap));
  return ' '.repeat(indent) + text;
}

const widthOfAll = (pieces: readonly ShownPiece[], gap: number): number =>
  pieces.reduce((sum, { width }) => (width > 0 ? sum + width + gap : sum), -gap);

function narrow(piece: ShownPiece, wanted: number, least: number): void {
  const to = Math.max(wanted, least);
  if (least > 0 && piece.width <= to) return;
  const cut = piece.keepsEnd ? cutLink : cutEnd;
  piece.text = least === 0 ? '' : cut(piece.text, to);
  piece.width = widthOf(piece.text);
}
