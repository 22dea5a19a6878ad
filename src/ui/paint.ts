/** Colours, or plain text where there are none. Loaded on first use, because of chalk. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chalk, type ChalkInstance } from 'chalk';
import { toneOfState } from '../catalog/states.ts';
import type { Tone } from '../lib/text.ts';
import { isUrl } from '../lib/url.ts';
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
  readonly #hasLinks: boolean;
  readonly #chalk: ChalkInstance;

  constructor(isColoured: boolean, hasLinks = false) {
    this.isColoured = isColoured;
    this.#hasLinks = isColoured && hasLinks;
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

  /** Parts of an address or a path, each a link to the whole. */
  #link(value: string): (text: string) => string {
    const target = this.#hasLinks ? linkTarget(value) : undefined;
    if (target === undefined) return this.info;
    return (text) => `\u001b]8;;${target}\u001b\\${this.info(text)}\u001b]8;;\u001b\\`;
  }

  /** Paints parts of a cell: its whole value alone tells the colour. */
  forCell(kind: CellKind | undefined, value: string): (text: string) => string {
    if (kind === 'id') return this.strong;
    if (kind === 'link') return this.#link(value);
    if (kind !== 'state') return String;
    const tone = toneOfState(value);
    return tone ? this[tone] : (text) => this.#chalk.blue(text);
  }
}

/** Terminals ignore longer ones. */
const MAX_TARGET_LENGTH = 2000;

/** Web addresses and files alone: the text is untrusted. Both come out of it percent-encoded. */
function linkTarget(value: string): string | undefined {
  const isWeb = /^https?:\/\//i.test(value);
  if (isWeb ? !isUrl(value) : !isAbsolute(value) && !existsSync(value)) return undefined;
  const url = isWeb ? new URL(value) : pathToFileURL(value);
  if (!isWeb) url.hostname = hostname();
  return url.href.length > MAX_TARGET_LENGTH ? undefined : url.href;
}
