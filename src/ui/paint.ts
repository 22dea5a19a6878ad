/** Colours, or plain text where there are none. Loaded on first use, because of chalk. */
import { Chalk, type ChalkInstance } from 'chalk';
import { toneOfState } from '../catalog/states.ts';
import type { Tone } from '../lib/line.ts';
import type { CellKind } from '../lib/view.ts';

/** What is known of the terminal that lines are drawn on. */
export interface Drawing {
  readonly width: number;
  readonly paint: Paint;
  /** Masks secrets, before anything is cut: the beginning of a key must not stay. */
  readonly hide: (text: string) => string;
}

export class Paint {
  readonly #chalk: ChalkInstance;

  constructor(coloured: boolean) {
    this.#chalk = new Chalk({ level: coloured ? 1 : 0 });
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

  /** `value` is the whole of which the text may be a part: it alone tells the colour. */
  cell(text: string, kind: CellKind | undefined, value = text): string {
    if (kind === 'id') return this.strong(text);
    if (kind === 'link') return this.#chalk.cyan(text);
    if (kind !== 'state') return text;
    const tone = toneOfState(value);
    return tone ? this.tone(text, tone) : this.#chalk.blue(text);
  }
}
