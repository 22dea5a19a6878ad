/** Draws screens as SVG: real text in its columns, no script, no font of its own. */
import type { Run, Screen, Style } from './screen.ts';

export interface Picture {
  readonly title: string;
  readonly description: string;
  readonly columns: number;
  /** Shown one after the other, where there are several; the last one stays longest. */
  readonly frames: readonly Screen[];
}

export type Theme = 'light' | 'dark';

interface Colors {
  readonly background: string;
  readonly border: string;
  readonly text: string;
  /** Black, red, green, yellow, blue, magenta, cyan and white, and the same bright. */
  readonly palette: readonly string[];
}

const brightAndNot = (...colors: string[]): string[] => [...colors, ...colors];

// Each has a contrast of at least 4.5 to its background.
export const themes: Readonly<Record<Theme, Colors>> = {
  light: {
    background: '#ffffff',
    border: '#d0d7de',
    text: '#1f2328',
    palette: brightAndNot(
      ...['#59636e', '#c91b24', '#116329', '#7d4e00'],
      ...['#0550ae', '#8250df', '#0b6580', '#59636e'],
    ),
  },
  dark: {
    background: '#0d1117',
    border: '#30363d',
    text: '#e6edf3',
    palette: brightAndNot(
      ...['#9198a1', '#ff7b72', '#56d364', '#e3b341'],
      ...['#79c0ff', '#d2a8ff', '#56d4dd', '#b1bac4'],
    ),
  },
};

const CELL_WIDTH = 8.4;
const ROW_HEIGHT = 20;
const MARGIN = 16;
/** Who looks at a page sees the result at once. */
const FRAME_SECONDS = 0.9;
const LAST_FRAME_SECONDS = 6;
const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

export function drawSvg({ title, description, columns, frames }: Picture, theme: Theme): string {
  const colors = themes[theme];
  const rows = Math.max(...frames.map((frame) => frame.length));
  const [width, height] = [Math.ceil(columns * CELL_WIDTH) + 2 * MARGIN, rows * ROW_HEIGHT + 2 * MARGIN];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="desc">${escaped(description)}</desc>`,
    `<style>text{font:14px ${FONT};fill:${colors.text};white-space:pre}.b{font-weight:600}.d{opacity:.75}.i{font-style:italic}.u{text-decoration:underline}${usedColors(frames, colors)}${motion(frames.length)}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colors.background}" stroke="${colors.border}"/>`,
    ...frames.map(drawFrame),
    '</svg>',
  ].join('\n')}\n`;
}

function usedColors(frames: readonly Screen[], { palette }: Colors): string {
  const used = frames.flat(2).flatMap(({ style }) => style.color ?? []);
  return [...new Set(used)]
    .sort((a, b) => a - b)
    .map((color) => `.c${color}{fill:${palette[color] ?? palette[7]}}`)
    .join('');
}

/** Each frame is shown in its turn; without motion, the last one alone. */
function motion(count: number): string {
  if (count < 2) return '';
  const seconds = (count - 1) * FRAME_SECONDS + LAST_FRAME_SECONDS;
  const percent = (at: number): string => short((100 * at * FRAME_SECONDS) / seconds);
  const hidden = (at: number): string => `${percent(at)}%{visibility:hidden}`;
  const rules = Array.from({ length: count }, (_, at) => {
    const isLast = at === count - 1;
    const before = at === 0 ? '' : '0%{visibility:hidden}';
    const shown = `${percent(at)}%{visibility:visible}`;
    return `@keyframes f${at}{${before}${shown}${isLast ? '' : hidden(at + 1)}${isLast ? '' : '100%{visibility:hidden}'}}.f${at}{visibility:hidden;animation:f${at} ${seconds}s step-end infinite}`;
  });
  const still = `.f${count - 1}{animation:none;visibility:visible}`;
  return `${rules.join('')}@media (prefers-reduced-motion:reduce){[class^=f]{animation:none}${still}}`;
}

function drawFrame(screen: Screen, at: number, frames: readonly Screen[]): string {
  const lines = screen.flatMap((row, line) => {
    const y = MARGIN + line * ROW_HEIGHT + 14;
    return row.filter(({ text }) => text.trim()).map((run) => drawRun(trimmed(run), y));
  });
  return `<g${frames.length > 1 ? ` class="f${at}"` : ''}>\n${lines.join('\n')}\n</g>`;
}

/** Without the blanks at its ends, which some viewers drop. */
function trimmed({ column, columns, text, style }: Run): Run {
  const [before, after] = [text.length - text.trimStart().length, text.length - text.trimEnd().length];
  return { column: column + before, columns: columns - before - after, text: text.trim(), style };
}

/** Its length is said, so that columns hold whatever font there is. */
function drawRun({ column, columns, text, style }: Run, y: number): string {
  const [x, length] = [short(MARGIN + column * CELL_WIDTH), short(columns * CELL_WIDTH)];
  const names = classesOf(style);
  const styled = names ? ` class="${names}"` : '';
  return `<text x="${x}" y="${y}" textLength="${length}"${styled}>${escaped(text)}</text>`;
}

function classesOf({ color, bold, dim, italic, underline }: Style): string {
  const names = [
    color !== undefined && `c${color}`,
    bold && 'b',
    dim && 'd',
    italic && 'i',
    underline && 'u',
  ];
  return names.filter(Boolean).join(' ');
}

const short = (length: number): string => String(Math.round(length * 100) / 100);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
