/** Colours, or plain text where there are none. Loaded on first use, because of chalk. */
import { Chalk, type ChalkInstance } from 'chalk';
import { findFileState } from '../catalog/states.ts';
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
    return kind === 'state' ? this.#stateColour(value)(text) : text;
  }

  #stateColour(name: string): (text: string) => string {
    const state = findFileState(name);
    if (state?.end === 'delivered' || name === 'PAID') return this.good;
    if (state?.end === 'unfinished') return this.bad;
    if (state?.held || /error|difficulty|hold/i.test(name)) return this.warn;
    return this.#chalk.blue;
  }
}
