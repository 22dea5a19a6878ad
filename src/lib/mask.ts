/** Takes secrets out of a text, in whatever encoding they stand there. */

import { type Json, JsonNumber } from './json.ts';
import { BACKSLASH, hexAt, PERCENT, patternsOf, SecretSearch, type Span } from './mask-search.ts';

// Percent escapes around other escapes: JSON, HTML or CSV in a field of a form. A text is decoded whole, and each
// character knows where it came from, so that what is found there can be taken out of the text as it was.

export interface DecodedLayer {
  readonly text: string;
  /** Where a span of the decoded text stands in the text that was decoded. */
  readonly origin: (span: Span) => Span;
}

/**
 * What begins an escape, itself as a percent escape; a line break; a NUL. Most texts have none of these: the search
 * reads percent escapes of all other characters by itself.
 */
const escapedEscape = /%(?:%|25|5c|26|22|2b|0[0ad])|\0/i;

const isLayered = (text: string): boolean =>
  escapedEscape.test(text) || (text.includes(String.fromCharCode(BACKSLASH)) && text.includes('%'));

/**
 * One layer of percent escapes less, without NULs, because a variable of a command can't hold them; undefined where
 * the search needs none of that. A plus sign stays: the search takes it for a space too.
 */
export function decodeLayer(text: string): DecodedLayer | undefined {
  if (!isLayered(text)) return undefined;
  const units = new Uint16Array(text.length);
  const starts = new Int32Array(text.length);
  let length = 0;
  let isChanged = false;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    const byte = unit === PERCENT ? hexAt(text, at + 1, 2) : -1;
    const decoded = byte < 0 ? unit : byte;
    if (byte >= 0 || decoded === 0) isChanged = true;
    if (decoded !== 0) {
      units[length] = decoded;
      starts[length] = at;
      length += 1;
    }
    at += byte < 0 ? 1 : 3;
  }
  if (!isChanged) return undefined;
  const endOf = (index: number): number => {
    const start = starts[index] as number;
    return start + (text.charCodeAt(start) === PERCENT && hexAt(text, start + 1, 2) >= 0 ? 3 : 1);
  };
  return {
    text: Buffer.from(units.buffer, 0, 2 * length).toString('utf16le'),
    origin: ({ start, end }) => ({ start: starts[start] as number, end: endOf(end - 1) }),
  };
}

/** In order and apart from each other. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last && span.start < last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else joined.push(span);
  }
  return joined;
}

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

// Takes a secret out of the texts, numbers and names of a JSON value.

export function maskJson(value: Json, hide: (text: string) => string): Json {
  if (typeof value === 'string') return hide(value);
  if (value instanceof JsonNumber) {
    const shown = hide(value.text);
    return shown === value.text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((each) => maskJson(each, hide));
  if (!(value instanceof Map)) return value;
  return new Map([...value].map(([name, each]) => [hide(name), maskJson(each, hide)]));
}
