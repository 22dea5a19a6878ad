/**
 * Takes secrets out of a text, in each form in which programs write one: as it is, percent-encoded, escaped for JSON or
 * HTML, in base64 and base64url. Deliveries of unauthenticated clients go through here, so no text makes the search go back
 * far: nothing is repeated without a bound.
 */
import { type Json, JsonNumber } from './json.ts';

const STARS = '****';
/** A shorter secret is hidden only where it stands alone, or it would take words apart. */
const SHORTEST_ANYWHERE = 5;

/** One mask hides any number of secrets, in one pass over the text. */
export class Mask {
  readonly #secrets = new Set<string>();
  #search: Search | undefined;

  /** From now on nothing that goes through `hide` shows this secret. */
  add(secret: string): void {
    if (!secret || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#search = undefined;
  }

  readonly hide = (text: string): string => {
    if (this.#secrets.size === 0) return text;
    this.#search ??= new Search([...this.#secrets]);
    return this.#search.hide(text);
  };
}

/** What an escape begins with, and what stands for a blank in a form. */
const ESCAPE = /[%\\&+]/;

/**
 * Speed: to compile the pattern takes a quarter of a bare start of Node, and most texts show without it that they hold no
 * secret: where there is no escape, only the secret itself or its base64 can stand.
 */
class Search {
  readonly #secrets: readonly string[];
  readonly #plain: readonly string[];
  readonly #inBase64: readonly string[];
  #pattern: RegExp | undefined;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    const found = secrets.map(spellings);
    this.#plain = found.flatMap(({ texts, bytes }) => [...texts, ...bytes]);
    this.#inBase64 = found.flatMap(({ bytes }) => bytes.flatMap(inBase64));
  }

  hide(text: string): string {
    if (!this.#pattern && !this.#mayStandIn(text)) return text;
    this.#pattern ??= patternFor(this.#secrets);
    return hideFound(text, this.#pattern);
  }

  #mayStandIn(text: string): boolean {
    if (ESCAPE.test(text) || this.#plain.some((each) => text.includes(each))) return true;
    // Lines may be broken; a blank stands for a plus in a form.
    const unbroken = text.replace(/[\r\n]/g, '');
    const standard = unbroken.replace(/[- ]/g, '+').replace(/_/g, '/');
    return this.#inBase64.some((each) => standard.includes(each));
  }
}

/** What begins an escape, percent-encoded itself: a field of a form may hold JSON or HTML. */
const ESCAPED_ESCAPE = /%(?:25|26|5c)/i;

function hideFound(text: string, search: RegExp): string {
  const shown = text.replace(search, STARS);
  return ESCAPED_ESCAPE.test(shown) ? hideEncoded(shown, search) : shown;
}

/** Hides what the search finds in the text without its percent-encoding, of up to four layers; all else stays as it is. */
function hideEncoded(text: string, search: RegExp): string {
  const starts = new Int32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  for (const { 0: part, index } of text.matchAll(/%(?:25){0,3}[0-9a-f]{2}|[^%]+|%/gi)) {
    const isEscape = part.length > 1 && part.startsWith('%');
    parts.push(isEscape ? String.fromCharCode(Number.parseInt(part.slice(-2), 16)) : part);
    for (let at = 0; at < (isEscape ? 1 : part.length); at += 1) starts[length++] = index + at;
  }
  starts[length] = text.length;
  let shown = '';
  let from = 0;
  for (const { 0: found, index } of parts.join('').matchAll(search)) {
    shown += text.slice(from, starts[index]) + STARS;
    from = starts[index + found.length] ?? text.length;
  }
  return shown + text.slice(from);
}

/** Hides one secret alone, where others are to stay. */
export function hiderOf(secret: string): (text: string) => string {
  let search: Search | undefined;
  return (text) => {
    search ??= new Search([secret]);
    return search.hide(text);
  };
}

/** The longest first: one may begin with another. */
function patternFor(secrets: readonly string[]): RegExp {
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map(patternOf).join('|'), 'g');
}

function patternOf(secret: string): string {
  const { texts, bytes } = spellings(secret);
  const forms = unique([...texts.flatMap(textForms), ...bytes.map(literals)]);
  if (secret.length < SHORTEST_ANYWHERE) return `(?<![\\w-])${anyOf(forms)}(?![\\w-])`;
  return anyOf([...forms, ...bytes.flatMap(inBase64).map(base64Pattern)]);
}

/** As characters, and as bytes: bodies of deliveries are read with one character a byte. */
function spellings(secret: string): { readonly texts: string[]; readonly bytes: string[] } {
  const texts = unique([secret, secret.normalize('NFC'), secret.normalize('NFD')]);
  return { texts, bytes: unique(texts.map((text) => Buffer.from(text, 'utf8').toString('latin1'))) };
}

/**
 * In each form every character has alternatives that differ in what they begin with, so that none is tried twice; what is
 * escaped twice, as in JSON within JSON, is a form of its own.
 */
function textForms(text: string): string[] {
  const twice = (write: (character: string, level: number) => string): string[] =>
    [1, 2].map((level) => [...text].map((character) => write(character, level)).join(''));
  return [literals(text), ...twice(percentEncoded), ...twice(jsonEscaped), ...twice(htmlEscaped)];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

/** The escape of a regular expression, of one unit. */
const literal = (unit: string): string => `\\u${hex(unit.charCodeAt(0), 4)}`;
const literals = (character: string): string => character.split('').map(literal).join('');

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** Hexadecimal digits in capitals or not. */
const anyCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

const anyOf = (forms: readonly string[]): string => `(?:${forms.join('|')})`;

/** Encoders differ in which characters they leave as they are. */
function percentEncoded(character: string, level: number): string {
  const percent = `%${'25'.repeat(level - 1)}`;
  const bytes = [...Buffer.from(character, 'utf8')];
  const encoded = bytes.map((byte) => percent + anyCase(hex(byte, 2))).join('');
  if (character === '%') return encoded;
  return anyOf([literals(character), encoded, ...(character === ' ' ? ['\\+'] : [])]);
}

const controls: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/** `\xNN` is what programs write that print their texts as code. */
function jsonEscaped(character: string, level: number): string {
  const slashes = '\\\\'.repeat(2 * level - 1);
  const numbered = character.split('').map((unit) => `${slashes}u${anyCase(hex(unit.charCodeAt(0), 4))}`);
  const code = character.charCodeAt(0);
  const escapes = [numbered.join(''), ...(code <= 0xff ? [`${slashes}x${anyCase(hex(code, 2))}`] : [])];
  if (character === '\\') return anyOf(['\\\\'.repeat(2 * level), ...escapes]);
  const control = controls[character];
  const signs = `"'/`.includes(character) ? [slashes + literal(character)] : [];
  if (character !== '"') signs.push(literals(character));
  return anyOf([...signs, ...(control ? [slashes + control] : []), ...escapes]);
}

const entities: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

function htmlEscaped(character: string, level: number): string {
  const code = character.codePointAt(0) ?? 0;
  const named = entities[character];
  const names = [`#0{0,6}${code}`, `#[xX]0{0,6}${anyCase(code.toString(16))}`, ...(named ? [named] : [])];
  const encoded = `&${'amp;'.repeat(level - 1)}${anyOf(names)};`;
  return character === '&' ? encoded : anyOf([literals(character), encoded]);
}

/** Both alphabets, as they are and in a form; lines may be broken. */
const base64Forms: Readonly<Record<string, string>> = {
  '+': '(?:[+\\- ]|%2[bB])',
  '/': '(?:[/_]|\\\\/|%2[fF])',
};

const base64Pattern = (form: string): string =>
  form
    .split('')
    .map((character) => base64Forms[character] ?? character)
    .join('(?:\\r?\\n)?');

/** Base64 of a text that holds the secret shows it in one of three shapes, by where in the text it stands. */
const inBase64 = (bytes: string): string[] =>
  [0, 1, 2].map((offset) => {
    const whole = Buffer.from('\0'.repeat(offset) + bytes, 'latin1');
    const exact = Math.floor((whole.length * 8) / 6);
    return whole.toString('base64').slice(Math.ceil((offset * 8) / 6), exact);
  });

/** A secret as people may see it: enough to tell two long ones apart. */
export const masked = (secret: string): string => STARS + (secret.length >= 16 ? secret.slice(-4) : '');

/** Takes a secret out of the texts, numbers and names of a JSON value. */
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
