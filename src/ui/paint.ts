/** Colours, or plain text where there are none. Loaded on first use, because of chalk. */
import { Chalk, type ChalkInstance } from 'chalk';
import { toneOfState } from '../catalog/states.ts';
import type { Tone } from '../lib/text.ts';
import type { CellKind } from '../lib/view.ts';

/** What is known of the terminal that a text is drawn on. */
export interface Drawing {
  readonly width: number;
  readonly paint: Paint;
  /** Masks secrets, before anything is cut: the beginning of a key must not stay. */
  readonly hide: (text: string) => string;
}

export class Paint {
  readonly isColoured: boolean;
  readonly #chalk: ChalkInstance;

  constructor(isColoured: boolean) {
    this.isColoured = isColoured;
    this.#chalk = new Chalk({ level: isColoured ? 1 : 0 });
  }

  faint = (text: string): string => this.#chalk.dim(text);
  strong = (text: string): string => this.#chalk.bold(text);
  bad = (text: string): string => this.#chalk.red(text);
  warn = (text: string): string => this.#chalk.yellow(text);
  good = (text: string): string => this.#chalk.green(text);
  info = (text: string): string => this.#chalk.cyan(text);

  tone(text: string, tone: Tone | undefined): string {
    return tone === undefined ? text : this[tone](text);
  }

  /** Paints parts of a cell: its whole value alone tells the colour. */
  forCell(kind: CellKind | undefined, value: string): (text: string) => string {
    if (kind === 'id') return this.strong;
    if (kind === 'link') return this.info;
    if (kind !== 'state') return String;
    const tone = toneOfState(value);
    return tone ? this[tone] : (text) => this.#chalk.blue(text);
  }
}
