/**
 * Finds secrets in a text in one pass, each character as it is or escaped for a URL, JSON, HTML or CSV.
 * All partial matches advance together, so that no text makes the search go back: anyone's delivery goes
 * through here. A pattern with repeats takes half an hour for a megabyte of backslashes.
 */

const NONE = -1;

interface State {
  /** The characters that lead to the next state. */
  readonly ways: string;
  readonly isEnd: boolean;
  /** Counts only where it stands alone. */
  readonly isAlone: boolean;
  /** A line break may stand here. */
  readonly wraps: boolean;
}

/** Patterns as numbered states: a state for each place of each pattern, and one more for its end. */
class States {
  readonly #all: State[] = [];
  /** By character: the states in which a pattern begins with it. */
  readonly #beginnings = new Map<number, number[]>();

  constructor(patterns: readonly Pattern[]) {
    for (const { places, alone: isAlone, wraps } of patterns) {
      for (const way of (places[0] ?? '').split(''))
        this.#beginnings.set(way.charCodeAt(0), [...this.beginningWith(way.charCodeAt(0)), this.#all.length]);
      this.#all.push(...places.map((ways) => ({ ways, isEnd: false, isAlone, wraps })));
      this.#all.push({ ways: '', isEnd: true, isAlone, wraps: false });
    }
  }

  at(state: number): State {
    return this.#all[state] as State;
  }

  beginningWith(unit: number): readonly number[] {
    return this.#beginnings.get(unit) ?? [];
  }

  /** Whether this character leads from the state to the next one. */
  takes(state: number, unit: number): boolean {
    return this.#all[state]?.ways.includes(String.fromCharCode(unit)) ?? false;
  }
}

/** A set of states, each with the place in the text where its match began: the earliest, if there are several. */
class PartialMatches {
  readonly starts = new Map<number, number>();
  /** Where a match that begins with the next character starts, and the last place where it may. */
  from = NONE;
  lastFrom = NONE;

  add(state: number, start: number): void {
    this.starts.set(state, Math.min(start, this.starts.get(state) ?? start));
  }

  clear(): void {
    this.starts.clear();
    this.from = NONE;
  }
}

// The characters that escapes are made of.

export const BACKSLASH = code('\\');
export const PERCENT = code('%');
const AMPERSAND = code('&');
const PLUS = code('+');
const SPACE = code(' ');
const QUOTE = code('"');
const SLASH = code('/');
const APOSTROPHE = code("'");
const SMALL_U = code('u');
const NUMBER_SIGN = code('#');
const SEMICOLON = code(';');
const SMALL_X = code('x');

/** Entities by name, but for the one that escapes them all. */
const NAMES: ReadonlyArray<readonly [string, number]> = [
  ['lt;', code('<')],
  ['gt;', code('>')],
  ['quot;', QUOTE],
  ['apos;', APOSTROPHE],
];

function code(character: string): number {
  return character.charCodeAt(0);
}

/** The value of this many hexadecimal digits, or -1 where others stand. */
export function hexAt(text: string, at: number, digits: number): number {
  let number = 0;
  for (let each = at; each < at + digits; each += 1) {
    const digit = digitAt(text, each);
    if (digit === -1) return -1;
    number = number * 16 + digit;
  }
  return number;
}

/** The value of a decimal or hexadecimal digit, or -1. */
function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** A letter, a digit, _ or -. */
const isWord = (unit: number): boolean => /[\w-]/.test(String.fromCharCode(unit));

/** How many places of a secret are looked at before the whole search begins. */
const LOOKED_AT = 4;

/** Where a character in the middle of a secret may be written otherwise than it is, or be followed by a filler. */
const SPECIAL = '[\\\\%&"+\\r\\n]';

/** Matches wherever a secret may begin, as it is or escaped, and seldom elsewhere. It repeats nothing. */
const candidates = (patterns: readonly Pattern[]): RegExp =>
  new RegExp(
    ['[\\\\%&]', ...unique(patterns.map(({ places }) => beginningOf(places.slice(0, LOOKED_AT))))].join('|'),
    'g',
  );

function beginningOf([first = '', ...others]: readonly string[]): string {
  const rest = others.reduceRight<string>((after, place) => `(?:${SPECIAL}|${oneOf(place)}${after})`, '');
  return oneOf(first.includes(' ') ? `${first}+` : first) + rest;
}

const oneOf = (characters: string): string =>
  `[${characters.replace(/./gs, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)}]`;

export interface Span {
  readonly start: number;
  readonly end: number;
}

const LAST_CODE_POINT = 0x10ffff;

export class SecretSearch {
  readonly #states: States;
  readonly #candidates: RegExp;
  #now = new PartialMatches();
  #next = new PartialMatches();
  /** What was matched before the backslashes that stand right before here. */
  readonly #escaped = new PartialMatches();
  /** By place: what goes on there after an escape. */
  readonly #later = new Map<number, PartialMatches>();
  #text = '';
  #spans: Span[] = [];
  #work = 0;

  constructor(patterns: readonly Pattern[]) {
    this.#states = new States(patterns);
    this.#candidates = candidates(patterns);
  }

  /** Where secrets stand, in order and apart from each other; `work` counts all steps that it took. */
  find(text: string): { readonly spans: readonly Span[]; readonly work: number } {
    this.#text = text;
    this.#spans = [];
    this.#work = text.length;
    for (let at = this.#nextCandidate(0); at < text.length; ) {
      this.#visit(at, text.charCodeAt(at));
      at = this.#isUnderWay ? at + 1 : this.#nextCandidate(at + 1);
    }
    this.#arrive(text.length);
    this.#now.clear();
    this.#escaped.clear();
    this.#text = '';
    return { spans: this.#spans, work: this.#work };
  }

  /** Where the next secret may begin; nothing is under way before it. */
  #nextCandidate(from: number): number {
    this.#candidates.lastIndex = from;
    return this.#candidates.exec(this.#text)?.index ?? this.#text.length;
  }

  get #isUnderWay(): boolean {
    return this.#now.starts.size > 0 || this.#later.size > 0 || this.#escaped.from !== NONE;
  }

  #visit(at: number, unit: number): void {
    this.#arrive(at);
    const now = this.#now;
    now.from = at;
    now.lastFrom = at;
    this.#step(now, unit, at + 1);
    if (unit === PLUS) this.#step(now, SPACE, at + 1);
    else if (unit === PERCENT) this.#readPercent(at);
    else if (unit === AMPERSAND) this.#readEntity(now, at);
    else if (unit === QUOTE) this.#readDoubled(now, at);
    this.#stay(unit);
    if (unit === BACKSLASH) this.#escape(at);
    else if (this.#escaped.from !== NONE) this.#readEscaped(at, unit);
    this.#now = this.#next;
    this.#next = now;
    now.clear();
  }

  /** Joins what goes on here after an escape, and notes what ends here. */
  #arrive(at: number): void {
    const now = this.#now;
    for (const [state, start] of this.#later.get(at)?.starts ?? []) now.add(state, start);
    this.#later.delete(at);
    for (const [state, start] of now.starts) if (this.#states.at(state).isEnd) this.#note(state, start, at);
  }

  /** Spans come in the order of their ends; those that overlap become one. */
  #note(state: number, from: number, end: number): void {
    if (this.#states.at(state).isAlone && isWord(this.#text.charCodeAt(end))) return;
    let start = from;
    for (let last = this.#spans.at(-1); last && last.end > start; last = this.#spans.at(-1)) {
      start = Math.min(start, last.start);
      this.#spans.pop();
    }
    this.#spans.push({ start, end });
  }

  /** Advances all that expects this character, and begins what begins with it. */
  #step(matches: PartialMatches, unit: number, to: number, mayEnd = true): void {
    this.#work += matches.starts.size + 1;
    for (const [state, start] of matches.starts) {
      if (this.#states.takes(state, unit)) this.#go(state + 1, start, to, mayEnd);
      if (unit === QUOTE && this.#isWithinQuotes(state)) this.#go(state, start, to);
    }
    for (const state of this.#states.beginningWith(unit)) {
      const start = this.#startOf(state, matches);
      if (start <= matches.lastFrom) this.#go(state + 1, start, to, mayEnd);
    }
  }

  /** CSV writes a quote as two, and each of them may then be escaped for JSON or HTML. */
  #isWithinQuotes(state: number): boolean {
    return this.#states.takes(state - 1, QUOTE) && !this.#states.at(state).isEnd;
  }

  /** What counts only alone can't begin right after a letter, but at the next of several backslashes. */
  #startOf(state: number, { from }: PartialMatches): number {
    return this.#states.at(state).isAlone && isWord(this.#text.charCodeAt(from - 1)) ? from + 1 : from;
  }

  #go(state: number, start: number, to: number, mayEnd = true): void {
    if (!mayEnd && this.#states.at(state).isEnd) return;
    const isNext = to === this.#now.from + 1;
    const matches = isNext ? this.#next : (this.#later.get(to) ?? new PartialMatches());
    matches.add(state, start);
    if (!isNext) this.#later.set(to, matches);
  }

  /** One backslash may be written as many, and base64 may be broken into lines. */
  #stay(unit: number): void {
    const isBreak = unit === 0x0a || unit === 0x0d;
    if (unit !== BACKSLASH && !isBreak) return;
    this.#work += this.#now.starts.size;
    for (const [state, start] of this.#now.starts)
      if (isBreak ? this.#states.at(state).wraps : this.#states.takes(state - 1, BACKSLASH))
        this.#next.add(state, start);
  }

  /** At one of any number of backslashes: each of them may be where an escape begins. */
  #escape(at: number): void {
    const escaped = this.#escaped;
    if (escaped.from === NONE) escaped.from = at;
    escaped.lastFrom = at;
    this.#work += this.#now.starts.size;
    for (const [state, start] of this.#now.starts) escaped.add(state, start);
  }

  /** After backslashes: JSON's \uXXXX, the \xNN of many languages, or a sign that is escaped as itself. */
  #readEscaped(at: number, unit: number): void {
    const escaped = this.#escaped;
    if (unit === SMALL_U) {
      const number = hexAt(this.#text, at + 1, 4);
      if (number !== NONE) this.#step(escaped, number, at + 5);
    } else if (unit === SMALL_X) {
      const byte = hexAt(this.#text, at + 1, 2);
      if (byte !== NONE) this.#step(escaped, byte, at + 3);
    } else if (unit === QUOTE || unit === SLASH || unit === APOSTROPHE) {
      this.#step(escaped, unit, at + 1);
      if (unit === QUOTE) this.#readDoubled(escaped, at);
    } else if (unit === AMPERSAND) {
      // JSON in a web page: \&quot;
      this.#readEntity(escaped, at);
    }
    escaped.clear();
  }

  /** The same at the end of a secret. After a backslash the second one may be what ends a JSON string: it must stay. */
  #readDoubled(matches: PartialMatches, at: number): void {
    if (this.#text.charCodeAt(at + 1) !== QUOTE) return;
    this.#step(matches, QUOTE, at + 2, this.#text.charCodeAt(at - 1) !== BACKSLASH);
  }

  /** %41, and as often as it was escaped again: %2541, %252541. */
  #readPercent(at: number): void {
    let digits = at + 1;
    for (; this.#text.startsWith('25', digits); digits += 2) this.#step(this.#now, PERCENT, digits + 2);
    const byte = hexAt(this.#text, digits, 2);
    if (byte !== NONE) this.#step(this.#now, byte, digits + 2);
  }

  /** &lt; &#60; &#x3c; and as often as it was escaped again: &amp;lt; &amp;amp;lt; */
  #readEntity(matches: PartialMatches, at: number): void {
    const text = this.#text;
    let name = at + 1;
    for (; text.startsWith('amp;', name); name += 4) this.#step(matches, AMPERSAND, name + 4);
    if (text.charCodeAt(name) === NUMBER_SIGN) this.#readNumber(matches, name + 1);
    for (const [each, unit] of NAMES)
      if (text.startsWith(each, name)) this.#step(matches, unit, name + each.length);
  }

  #readNumber(matches: PartialMatches, first: number): void {
    const { number, end } = this.#numberAt(first);
    if (number === NONE) return;
    if (number > 0xffff) this.#stepPair(String.fromCodePoint(number), end);
    else this.#step(matches, number, end);
  }

  /** The character that an entity names by its number, -1 for none, and where the entity ends. */
  #numberAt(first: number): { readonly number: number; readonly end: number } {
    const isHex = (this.#text.charCodeAt(first) | 0x20) === SMALL_X;
    const base = isHex ? 16 : 10;
    let at = isHex ? first + 1 : first;
    let number = 0;
    for (let digit = digitAt(this.#text, at); digit >= 0 && digit < base; digit = digitAt(this.#text, at)) {
      number = Math.min(number * base + digit, LAST_CODE_POINT + 1);
      at += 1;
    }
    this.#work += at - first;
    const isWhole = this.#text.charCodeAt(at) === SEMICOLON && number <= LAST_CODE_POINT;
    return { number: isWhole ? number : NONE, end: at + 1 };
  }

  /** Beyond 0xffff a character is two units of a text, which one entity writes together. */
  #stepPair(pair: string, to: number): void {
    const now = this.#now;
    const states = this.#states;
    const [first, second] = [pair.charCodeAt(0), pair.charCodeAt(1)];
    const takesBoth = (state: number): boolean =>
      states.takes(state, first) && states.takes(state + 1, second);
    this.#work += now.starts.size + 1;
    for (const [state, start] of now.starts) if (takesBoth(state)) this.#go(state + 2, start, to);
    for (const state of states.beginningWith(first))
      if (takesBoth(state) && this.#startOf(state, now) === now.from) this.#go(state + 2, now.from, to);
  }
}

interface Pattern {
  /** For each place the characters that may stand there, at most three. */
  readonly places: readonly string[];
  /** Counts only where no letter, digit or dash stands beside it. */
  readonly alone: boolean;
  /** May be broken into lines. */
  readonly wraps: boolean;
}

/** A shorter secret is hidden only where it stands alone, or it would take words apart. */
const SHORTEST_ANYWHERE = 5;

/** What a secret looks like as text, as bytes, in hexadecimal and in base64. Escapes are left to the search. */
export function patternsOf(secret: string): Pattern[] {
  const texts = unique([secret, secret.normalize('NFC'), secret.normalize('NFD')]);
  // Bytes as a text of one character a byte: a percent escape names such a character.
  const bytes = unique([...texts.map(utf8), ...texts.filter(isLatin1)]);
  const alone = secret.length < SHORTEST_ANYWHERE;
  const plain = unique([...texts, ...bytes]).map((text) => ({ places: text.split(''), alone, wraps: false }));
  if (alone) return plain;
  const encoded = bytes.flatMap((each) => [hexadecimal(each), ...base64Forms(each)]);
  return [...plain, ...encoded.map((places) => ({ places, alone, wraps: true }))];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const isLatin1 = (text: string): boolean => /^[\u0000-\u00ff]*$/.test(text);

/** In capitals or not. */
const hexadecimal = (bytes: string): string[] =>
  Buffer.from(bytes, 'latin1')
    .toString('hex')
    .split('')
    .map((digit) => (digit >= 'a' ? digit + digit.toUpperCase() : digit));

/** Base64 of a text that holds the secret shows it in one of three shapes, by where in the text it stands. */
function base64Forms(bytes: string): string[][] {
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.from('\0'.repeat(offset) + bytes, 'latin1');
    const exact = Math.floor((whole.length * 8) / 6);
    const form = whole.toString('base64').slice(Math.ceil((offset * 8) / 6), exact);
    return form.split('').map((character) => otherAlphabets[character] ?? character);
  });
}

/** The URL-safe alphabet writes two characters otherwise, and a form that is decoded once too often has a space. */
const otherAlphabets: Readonly<Record<string, string>> = { '+': '+- ', '/': '/_' };
