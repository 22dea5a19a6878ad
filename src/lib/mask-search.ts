/**
 * Finds secrets in a text in one pass, each character as it is or escaped for a URL, JSON, HTML or CSV.
 * All partial matches advance together, so that no text makes the search go back: deliveries of unauthenticated
 * clients go through here. A pattern with repeats takes half an hour for a megabyte of backslashes.
 */

// Patterns as numbered states, a state for each place of each pattern and one more for its end.

export const NONE = -1;

/** How many characters may lead from a state to the next one. */
const WAYS = 3;

export class States {
  readonly count: number;
  readonly isEnd: Uint8Array;
  /** Counts only where it stands alone. */
  readonly isAlone: Uint8Array;
  /** A line break may stand here. */
  readonly wraps: Uint8Array;
  /** By character: the states in which a pattern begins with it. */
  readonly beginnings = new Map<number, number[]>();
  readonly #ways: Int32Array;

  constructor(patterns: readonly Pattern[]) {
    this.count = patterns.reduce((sum, { places }) => sum + places.length + 1, 0);
    this.isEnd = new Uint8Array(this.count);
    this.isAlone = new Uint8Array(this.count);
    this.wraps = new Uint8Array(this.count);
    this.#ways = new Int32Array(this.count * WAYS).fill(NONE);
    let first = 0;
    for (const pattern of patterns) first = this.#add(pattern, first);
  }

  /** Gives the number of the next free state. */
  #add({ places, alone, wraps }: Pattern, first: number): number {
    const end = first + places.length;
    this.isEnd[end] = 1;
    this.isAlone.fill(Number(alone), first, end + 1);
    this.wraps.fill(Number(wraps), first, end);
    places.forEach((characters, at) => {
      for (let way = 0; way < characters.length; way += 1)
        this.#ways[(first + at) * WAYS + way] = characters.charCodeAt(way);
    });
    for (const character of (places[0] ?? '').split('')) {
      const unit = character.charCodeAt(0);
      const others = this.beginnings.get(unit);
      if (others) others.push(first);
      else this.beginnings.set(unit, [first]);
    }
    return end + 1;
  }

  /** Whether this character leads to the next state. */
  takes(state: number, unit: number): boolean {
    const ways = this.#ways;
    const at = state * WAYS;
    return ways[at] === unit || ways[at + 1] === unit || ways[at + 2] === unit;
  }
}

/** A set of states, each with the place in the text where its match began: the earliest, if there are several. */
export class PartialMatches {
  readonly states: Int32Array;
  readonly starts: Int32Array;
  size = 0;
  /** Where a match that begins with the next character starts, and the last place where it may. */
  from = NONE;
  lastFrom = NONE;
  readonly #slots: Int32Array;

  constructor(count: number) {
    this.states = new Int32Array(count);
    this.starts = new Int32Array(count);
    this.#slots = new Int32Array(count);
  }

  add(state: number, start: number): void {
    const slot = this.#slots[state] as number;
    // Slots are never reset: one counts only if it leads back to its state.
    if (slot < this.size && this.states[slot] === state) {
      if (start < (this.starts[slot] as number)) this.starts[slot] = start;
      return;
    }
    this.#slots[state] = this.size;
    this.states[this.size] = state;
    this.starts[this.size] = start;
    this.size += 1;
  }

  clear(): void {
    this.size = 0;
    this.from = NONE;
  }
}

// The characters that escapes are made of.

export const BACKSLASH = code('\\');
export const PERCENT = code('%');
export const AMPERSAND = code('&');
export const PLUS = code('+');
export const SPACE = code(' ');
export const QUOTE = code('"');
export const SLASH = code('/');
export const APOSTROPHE = code("'");
export const SMALL_U = code('u');
export const NUMBER_SIGN = code('#');
export const SEMICOLON = code(';');
export const SMALL_X = code('x');

/** Entities by name, but for the one that escapes them all. */
export const NAMES: ReadonlyArray<readonly [string, number]> = [
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
export function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** A letter, a digit, _ or -. */
export const isWord = (unit: number): boolean => /[\w-]/.test(String.fromCharCode(unit));

/** How many places of a secret are looked at before the whole search begins. */
const LOOKED_AT = 4;

/** Where a character in the middle of a secret may be written otherwise than it is, or be followed by a filler. */
const SPECIAL = '[\\\\%&"+\\r\\n]';

/**
 * Matches wherever a secret may begin, and seldom elsewhere: most texts need no more than this. Where several
 * backslashes stand before an escape, it matches at the last one.
 * It repeats nothing, so that it takes as long for any text.
 */
export function candidates(patterns: readonly Pattern[]): RegExp {
  const plain = patterns.map(({ places }) => beginningOf(places.slice(0, LOOKED_AT)));
  const first = [...new Set(patterns.flatMap(({ places }) => (places[0] ?? '').split('')))];
  const names = NAMES.filter(([, unit]) => first.includes(String.fromCharCode(unit))).map(([name]) => name);
  const escapes = [
    `%(?:25${first
      .filter(isByte)
      .map((each) => `|${anyCase(hex(each, 2))}`)
      .join('')})`,
    `\\\\(?:u(?:${first.map((each) => anyCase(hex(each, 4))).join('|')})|x(?:${first
      .filter(isByte)
      .map((each) => anyCase(hex(each, 2)))
      .join('|')})${first
      .filter(isSign)
      .map((each) => `|${each}`)
      .join('')})`,
    `&(?:amp;|#${names.map((name) => `|${name}`).join('')})`,
  ];
  return new RegExp([...new Set([...plain, ...escapes])].join('|'), 'g');
}

/** Any other character has no percent escape of one byte. */
const isByte = (character: string): boolean => character <= '\u00ff';
/** JSON writes these as themselves after a backslash. */
const isSign = (character: string): boolean => ['"', "'", '/'].includes(character);

const anyCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

function beginningOf([first = '', ...others]: readonly string[]): string {
  const isSpace = first.includes(' ') && !first.includes('+');
  const rest = others.reduceRight<string>((after, place) => `(?:${SPECIAL}|${oneOf(place)}${after})`, '');
  return oneOf(isSpace ? `${first}+` : first) + rest;
}

const oneOf = (characters: string): string =>
  `[${characters
    .split('')
    .map((each) => `\\u${hex(each, 4)}`)
    .join('')}]`;

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0');

export interface Span {
  readonly start: number;
  readonly end: number;
}

const LAST_CODE_POINT = 0x10ffff;

export class SecretSearch {
  readonly #states: States;
  readonly #candidates: RegExp;
  #now: PartialMatches;
  #next: PartialMatches;
  /** What was matched before the backslashes that stand right before here. */
  readonly #escaped: PartialMatches;
  /** By place: state and start, in turn, of what goes on there after an escape. */
  readonly #later = new Map<number, number[]>();
  #text = '';
  #spans: Span[] = [];
  #work = 0;

  constructor(patterns: readonly Pattern[]) {
    const states = new States(patterns);
    this.#states = states;
    this.#now = new PartialMatches(states.count);
    this.#next = new PartialMatches(states.count);
    this.#escaped = new PartialMatches(states.count);
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
    const text = this.#text;
    const candidates = this.#candidates;
    candidates.lastIndex = from;
    for (let match = candidates.exec(text); match; match = candidates.exec(text)) {
      let at = match.index;
      if (!this.#isVainEscape(at)) {
        // Each of several backslashes may be where the escape begins.
        while (at > from && text.charCodeAt(at) === BACKSLASH && text.charCodeAt(at - 1) === BACKSLASH)
          at -= 1;
        return at;
      }
      candidates.lastIndex = at + 1;
    }
    return text.length;
  }

  /**
   * Whether no secret begins with the character that is escaped here, however often.
   * Speed: a megabyte of escapes takes a quarter of the time that the search itself takes for it.
   */
  #isVainEscape(at: number): boolean {
    const text = this.#text;
    const { beginnings } = this.#states;
    const unit = text.charCodeAt(at);
    if ((unit !== PERCENT && unit !== AMPERSAND) || beginnings.has(unit)) return false;
    let next = at + 1;
    if (unit === PERCENT) {
      while (text.startsWith('25', next)) next += 2;
      return !beginnings.has(hexAt(text, next, 2));
    }
    while (text.startsWith('amp;', next)) next += 4;
    if (text.charCodeAt(next) === NUMBER_SIGN) {
      const { number } = this.#numberAt(next + 1);
      return !beginnings.has(number > 0xffff ? String.fromCodePoint(number).charCodeAt(0) : number);
    }
    return !NAMES.some(([name, meant]) => beginnings.has(meant) && text.startsWith(name, next));
  }

  get #isUnderWay(): boolean {
    return this.#now.size > 0 || this.#later.size > 0 || this.#escaped.from !== NONE;
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
    const later = this.#later.get(at);
    if (later) {
      this.#later.delete(at);
      for (let each = 0; each < later.length; each += 2)
        now.add(later[each] as number, later[each + 1] as number);
    }
    for (let each = 0; each < now.size; each += 1) {
      const state = now.states[each] as number;
      if (this.#states.isEnd[state]) this.#note(state, now.starts[each] as number, at);
    }
  }

  /** Spans come in the order of their ends; those that overlap become one. */
  #note(state: number, from: number, end: number): void {
    if (this.#states.isAlone[state] && isWord(this.#text.charCodeAt(end))) return;
    let start = from;
    for (let last = this.#spans.at(-1); last && last.end > start; last = this.#spans.at(-1)) {
      start = Math.min(start, last.start);
      this.#spans.pop();
    }
    this.#spans.push({ start, end });
  }

  /** Advances all that expects this character, and begins what begins with it. */
  #step(matches: PartialMatches, unit: number, to: number, mayEnd = true): void {
    const { size, states, starts } = matches;
    this.#work += size + 1;
    for (let each = 0; each < size; each += 1) {
      const state = states[each] as number;
      if (this.#states.takes(state, unit)) this.#go(state + 1, starts[each] as number, to, mayEnd);
      if (unit === QUOTE && this.#isWithinQuotes(state)) this.#go(state, starts[each] as number, to);
    }
    for (const state of this.#states.beginnings.get(unit) ?? nothing) {
      const start = this.#startOf(state, matches);
      if (start <= matches.lastFrom) this.#go(state + 1, start, to, mayEnd);
    }
  }

  /** CSV writes a quote as two, and each of them may then be escaped for JSON or HTML. */
  #isWithinQuotes(state: number): boolean {
    return this.#states.takes(state - 1, QUOTE) && !this.#states.isEnd[state];
  }

  /** What counts only alone can't begin right after a letter, but at the next of several backslashes. */
  #startOf(state: number, { from }: PartialMatches): number {
    return this.#states.isAlone[state] && isWord(this.#text.charCodeAt(from - 1)) ? from + 1 : from;
  }

  #go(state: number, start: number, to: number, mayEnd = true): void {
    if (!mayEnd && this.#states.isEnd[state]) return;
    if (to === this.#now.from + 1) {
      this.#next.add(state, start);
      return;
    }
    const later = this.#later.get(to);
    if (later) later.push(state, start);
    else this.#later.set(to, [state, start]);
  }

  /** One backslash may be written as many, and base64 may be broken into lines. */
  #stay(unit: number): void {
    const isBreak = unit === 0x0a || unit === 0x0d;
    if (unit !== BACKSLASH && !isBreak) return;
    const { size, states, starts } = this.#now;
    this.#work += size;
    for (let each = 0; each < size; each += 1) {
      const state = states[each] as number;
      if (isBreak ? this.#states.wraps[state] : this.#states.takes(state - 1, BACKSLASH))
        this.#next.add(state, starts[each] as number);
    }
  }

  /** At one of any number of backslashes: each of them may be where an escape begins. */
  #escape(at: number): void {
    const escaped = this.#escaped;
    const { size, states, starts } = this.#now;
    if (escaped.from === NONE) escaped.from = at;
    escaped.lastFrom = at;
    this.#work += size;
    for (let each = 0; each < size; each += 1) escaped.add(states[each] as number, starts[each] as number);
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
    this.#work += now.size + 1;
    for (let each = 0; each < now.size; each += 1) {
      const state = now.states[each] as number;
      if (takesBoth(state)) this.#go(state + 2, now.starts[each] as number, to);
    }
    for (const state of states.beginnings.get(first) ?? nothing)
      if (takesBoth(state) && this.#startOf(state, now) === now.from) this.#go(state + 2, now.from, to);
  }
}

const nothing: readonly number[] = [];

// What a secret looks like as text, as bytes, in hexadecimal and in base64. Escapes are left to the search.

export interface Pattern {
  /** For each place the characters that may stand there, at most three. */
  readonly places: readonly string[];
  /** Counts only where no letter, digit or dash stands beside it. */
  readonly alone: boolean;
  /** May be broken into lines. */
  readonly wraps: boolean;
}

/** A shorter secret is hidden only where it stands alone, or it would take words apart. */
const SHORTEST_ANYWHERE = 5;

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
