/** Draws lines that fit a terminal. Loaded on first use, because of string-width. */
import type { Line, Piece } from '../lib/line.ts';
import { forTerminal } from '../lib/text.ts';
import { cutEnd, cutLink, visiblePart, widthOf } from './fit.ts';
import type { Drawing } from './paint.ts';

const GAP = 2;

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

const widthOfAll = (pieces: readonly Measured[], gap: number): number => {
  const shown = pieces.filter(({ width }) => width > 0);
  return shown.reduce((sum, { width }) => sum + width + gap, -gap);
};

function narrow(piece: Measured, to: number, least: number): Measured {
  if (least === 0) return { ...piece, text: '', width: 0 };
  if (piece.width <= to) return piece;
  const text = piece.keepsEnd ? cutLink(piece.text, to) : cutEnd(piece.text, to);
  return { ...piece, text, width: widthOf(text) };
}
