/**
 * JSON without loss: numbers keep their digits, objects the order of their keys.
 * JSON.parse would round an id beyond 2^53 and turn 1.00 into 1.
 */
import { isHidden, isJoiner, maybeUnsafe, unsafe } from './text.ts';

export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonObject = Map<string, Json>;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

const MAX_DEPTH = 256;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const blanks = ' \t\n\r';
const literals: ReadonlyArray<readonly [string, null | boolean]> = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Parses a JSON text, or throws a SyntaxError. */
export function parseJson(text: string, onRepeatedKey?: (key: string) => void): Json {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  function fail(): never {
    throw new SyntaxError(`not JSON at character ${at}`);
  }

  function takeNumber(): JsonNumber {
    number.lastIndex = at;
    const match = number.exec(text);
    if (!match) fail();
    at += match[0].length;
    return new JsonNumber(match[0]);
  }

  /** Reads a string; a regular expression would overflow the stack on a long one. */
  function takeString(): string {
    const start = at;
    do {
      at = text.indexOf('"', at + 1);
      if (at < 0) throw new SyntaxError('not JSON: a string has no end');
    } while (isEscaped(text, at));
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  }

  /** Skips blanks and returns the next character, without taking it. */
  function peek(): string | undefined {
    while (at < text.length && blanks.includes(text.charAt(at))) at += 1;
    return text[at];
  }

  function expect(character: string): void {
    if (peek() !== character) fail();
    at += 1;
  }

  /** Reads items separated by commas, up to the closing character. */
  function items(close: string, readItem: () => void): void {
    at += 1;
    if (peek() === close) {
      at += 1;
      return;
    }
    for (;;) {
      readItem();
      const next = peek();
      at += 1;
      if (next === close) return;
      if (next !== ',') fail();
    }
  }

  function value(depth: number): Json {
    if (depth > MAX_DEPTH) fail();
    const first = peek();
    if (first === '"') return takeString();
    if (first === '{') {
      const object: JsonObject = new Map();
      items('}', () => {
        if (peek() !== '"') fail();
        const key = takeString();
        expect(':');
        if (onRepeatedKey && object.has(key)) onRepeatedKey(key);
        object.set(key, value(depth + 1));
      });
      return object;
    }
    if (first === '[') {
      const array: Json[] = [];
      items(']', () => array.push(value(depth + 1)));
      return array;
    }
    for (const [word, literal] of literals) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return literal;
      }
    }
    return takeNumber();
  }

  const result = value(0);
  if (peek() !== undefined) fail();
  return result;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** Writes a value as JSON; `indent` 0 gives one line. Control characters are always escaped. */
export function formatJson(value: Json, indent = 2, margin = ''): string {
  if (value instanceof JsonNumber) return value.text;
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quote(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const inner = margin + ' '.repeat(indent);
  const colon = indent ? ': ' : ':';
  const parts = Array.isArray(value)
    ? value.map((each) => formatJson(each, indent, inner))
    : [...value].map(([key, each]) => quote(key) + colon + formatJson(each, indent, inner));
  if (parts.length === 0) return open + close;
  return indent
    ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`
    : open + parts.join(',') + close;
}

/** Escapes also control characters and those that show nothing or turn the text around, which a reader must see. */
function quote(text: string): string {
  if (!maybeUnsafe.test(text)) return JSON.stringify(text);
  const parts: string[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(unsafe)) {
    if (!isEscapedHere(text, index, index === end && index > 0)) continue;
    if (end < index) parts.push(inJson(text.slice(end, index)));
    for (const unit of found.split('')) parts.push(`\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    end = index + found.length;
  }
  return `"${parts.join('')}${inJson(text.slice(end))}"`;
}

/** C0 controls are left to JSON.stringify. */
function isEscapedHere(text: string, at: number, isAfterEscape: boolean): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 0xa0) return unit >= 0x7f;
  if (unit === 0x2028 || unit === 0x2029 || isHidden(text, at)) return true;
  // Next to an escape a joiner has nothing to join.
  return isJoiner(unit) && (isAfterEscape || isHidden(text, at + 1));
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Data that can be written as JSON. */
export type PlainJson =
  | null
  | undefined
  | boolean
  | number
  | string
  | JsonNumber
  | JsonObject
  | readonly PlainJson[]
  | PlainObject;
interface PlainObject {
  readonly [key: string]: PlainJson;
}

/** Converts plain data to JSON; a key whose value is undefined is left out. */
export function toJson(value: PlainJson): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (typeof value !== 'object' || value instanceof JsonNumber || value instanceof Map) return value;
  if (Array.isArray(value)) return value.map((each: PlainJson) => toJson(each));
  return new Map(
    Object.entries(value as PlainObject).flatMap(([key, each]) =>
      each === undefined ? [] : [[key, toJson(each)] as const],
    ),
  );
}

export const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map;

/** Adds a value to an object; a repeated key makes an array. */
export function append(object: JsonObject, key: string, value: Json): void {
  const before = object.get(key);
  object.set(key, before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]);
}
