/** Draws lines that fit a terminal. Loaded on first use, because of string-width. */
import stringWidth from 'string-width';
import type { Line, Piece } from '../lib/line.ts';
import { forTerminal } from '../lib/text.ts';
import type { Drawing } from './paint.ts';

const GAP = 2;
/** No character that people write takes more units of a text for each column of the screen. */
const MAX_UNITS_PER_COLUMN = 8;

interface Measured extends Piece {
  readonly width: number;
}

export const drawLines = (lines: readonly Line[], drawing: Drawing): string =>
  lines.map((line) => `${drawLine(line, drawing)}\n`).join('');

function drawLine(
  { pieces, narrowing, indent = 0, gap = GAP }: Line,
  { width, paint, hide }: Drawing,
): string {
  const room = Math.max(1, width - indent);
  const longest = room * MAX_UNITS_PER_COLUMN;
  const shown = pieces.map((piece) => {
    const text = shorten(forTerminal(hide(piece.text)), longest, piece.keepsEnd);
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

/** Of a text that is longer than any screen only its ends are measured. */
function shorten(text: string, longest: number, keepsEnd = false): string {
  if (text.length <= longest) return text;
  return keepsEnd
    ? `${text.slice(0, longest / 2)}…${text.slice(-longest / 2)}`
    : `${text.slice(0, longest)}…`;
}

const widthOfAll = (pieces: readonly Measured[], gap: number): number => {
  const shown = pieces.filter(({ width }) => width > 0);
  return shown.reduce((sum, { width }) => sum + width + gap, -gap);
};

function narrow(piece: Measured, to: number, least: number): Measured {
  if (least === 0) return { ...piece, text: '', width: 0 };
  if (piece.width <= to) return piece;
  const text = piece.keepsEnd ? cutMiddle(piece.text, to) : cut(piece.text, to);
  return { ...piece, text, width: widthOf(text) };
}

/** Speed: most texts are ASCII, whose width is their length. */
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text));

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${firstColumns([...segments(text)], width - 1).join('')}…`;
}

function cutMiddle(text: string, width: number): string {
  const all = [...segments(text)];
  const end = firstColumns([...all].reverse(), Math.ceil((width - 1) * (2 / 3))).reverse();
  const start = firstColumns(all, width - 1 - widthOf(end.join('')));
  return `${start.join('')}…${end.join('')}`;
}

function firstColumns(parts: readonly string[], width: number): string[] {
  let taken = 0;
  const end = parts.findIndex((part) => {
    taken += widthOf(part);
    return taken > width;
  });
  return end === -1 ? [...parts] : parts.slice(0, end);
}

const segmenter = new Intl.Segmenter();

function* segments(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}
