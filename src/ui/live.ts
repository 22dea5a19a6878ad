/**
 * Lines at the bottom of a terminal that change in place, below all that is printed meanwhile. What is printed on stdout
 * or stderr takes them away first, and they are drawn again below it.
 */
import { stripVTControlCharacters } from 'node:util';
import { onSuspend } from '../lib/interruption.ts';
import type { Line } from '../lib/text.ts';
import { drawLines, widthOf } from './fit.ts';
import type { Drawing } from './paint.ts';

/** Changes within this time are drawn together. */
const REDRAW_MS = 40;

/** Where stdout and stderr find what they have to take away. */
export interface LiveSlot {
  live?: LiveLines | undefined;
}

interface LiveOptions {
  readonly slot: LiveSlot;
  readonly stream: NodeJS.WriteStream;
  readonly drawing: Drawing;
  /** What is to be seen now, made anew for each drawing. */
  readonly lines: () => readonly Line[];
}

export class LiveLines {
  readonly #options: LiveOptions;
  /** The widths of the lines on the screen. */
  #drawn: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #endSuspend: () => void;

  constructor(options: LiveOptions) {
    this.#options = options;
    options.slot.live = this;
    options.stream.on('resize', this.#redraw);
    process.on('exit', this.clear);
    this.#endSuspend = onSuspend(this.clear, this.#redraw);
    this.update();
  }

  /** Draws them soon. */
  update(): void {
    this.#timer ??= setTimeout(this.#redraw, REDRAW_MS).unref();
  }

  stop(): void {
    const { slot, stream } = this.#options;
    clearTimeout(this.#timer);
    stream.off('resize', this.#redraw);
    process.off('exit', this.clear);
    this.#endSuspend();
    this.clear();
    slot.live = undefined;
  }

  /** Takes them off the screen, with a ^C that was echoed; a terminal that has become narrower has wrapped them. */
  readonly clear = (): void => {
    const rows = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / this.#columns)), 0);
    this.#drawn = [];
    this.#options.stream.write(`\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`);
  };

  get #columns(): number {
    return this.#options.stream.columns || 80;
  }

  readonly #redraw = (): void => {
    const { stream, drawing, lines } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // After Ctrl-S nothing is read: drawings must not pile up.
    if (stream.writableLength > 0) {
      this.update();
      return;
    }
    this.clear();
    // Some terminals wrap in the last column.
    const text = drawLines(lines(), { ...drawing, width: this.#columns - 1 }).trimEnd();
    if (!text) return;
    this.#drawn = text.split('\n').map((line) => widthOf(stripVTControlCharacters(line)));
    // Terminals disagree about the width of some emoji: what is too long must not go on in the next row.
    stream.write(`\x1b[?7l${text}\x1b[?7h`);
  };
}
