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

  cell(text: string, kind: CellKind | undefined): string {
    if (kind === 'id') return this.strong(text);
    if (kind === 'link') return this.#chalk.cyan(text);
    return kind === 'state' ? this.#state(text) : text;
  }

  #state(name: string): string {
    const state = findFileState(name);
    if (state?.end === 'delivered' || name === 'PAID') return this.good(name);
    if (state?.end === 'unfinished') return this.bad(name);
    if (state?.held || /error|difficulty|hold/i.test(name)) return this.warn(name);
    return this.#chalk.blue(name);
  }
}
