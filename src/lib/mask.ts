/** Takes secrets out of a text, in whatever encoding they stand there. */
import { patternsOf } from './mask-encodings.ts';
import { decodeLayer, joinSpans } from './mask-layers.ts';
import { SecretSearch, type Span } from './mask-search.ts';

const STARS = '****';
/** How often a text is decoded that holds percent escapes of other escapes. */
const MAX_LAYERS = 3;

/** One mask hides any number of secrets, in one pass over the text and over each of its layers. */
export class Mask {
  readonly #secrets = new Set<string>();
  #search: SecretSearch | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#search = undefined;
  }

  readonly hide = (text: string): string => {
    if (this.#secrets.size === 0) return text;
    this.#search ??= new SecretSearch([...this.#secrets].flatMap(patternsOf));
    return hideFound(this.#search, text);
  };
}

/** Hides one secret alone, where others are to stay. */
export function hiderOf(secret: string): (text: string) => string {
  let search: SecretSearch | undefined;
  return (text) => {
    search ??= new SecretSearch(patternsOf(secret));
    return hideFound(search, text);
  };
}

function hideFound(search: SecretSearch, text: string): string {
  const spans = spansIn(search, text, MAX_LAYERS);
  if (spans.length === 0) return text;
  let shown = '';
  let from = 0;
  for (const { start, end } of spans) {
    shown += text.slice(from, start) + STARS;
    from = end;
  }
  return shown + text.slice(from);
}

function spansIn(search: SecretSearch, text: string, layers: number): readonly Span[] {
  const { spans } = search.find(text);
  const decoded = layers > 0 ? decodeLayer(text) : undefined;
  if (!decoded) return spans;
  const inner = spansIn(search, decoded.text, layers - 1);
  return inner.length === 0 ? spans : joinSpans([...spans, ...inner.map(decoded.origin)]);
}

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');
