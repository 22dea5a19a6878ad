/**
 * Captions from what a transcript says: two lines of so many characters, one cue after the other. A cue that fits and is
 * long enough stays as it is, so that what was fitted once is not changed again.
 */
import { StenoError } from '../lib/errors.ts';
import { shellWord } from '../lib/text.ts';
import { areCaptions, type Segment, type TranscriptText } from './model.ts';
import { spokenIn } from './prose.ts';

export interface Cue {
  /** In milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly speaker?: string | undefined;
  /** Its lines, separated by `\n`. */
  readonly text: string;
}

const MAX_LINES = 2;
/** 5/6 s is the shortest that can be read: 20 frames of 24 a second, which many programs write as 833 ms. */
const MIN_CUE_MS = 834;
const isShort = ({ start, end }: Cue): boolean => end - start < MIN_CUE_MS - 1;

/** About 180 words a minute: for a turn of a tstxt whose end nothing tells. */
const CHARACTERS_PER_SECOND = 15;
/** A turn of a tstxt may last this long, however little is said. */
const LONGEST_CAPTION_MS = 7000;
/** What is left of a longer one, with a pause after it. */
const SHORTEST_TURN_MS = 2000;
/** In characters: nobody speaks for 18 hours, and to share out more takes gigabytes. */
const MAX_TURN = 1_000_000;

// Times.

type Timed = Segment & { readonly start: number };

interface Timing {
  readonly path: string;
  /** Of the audio, in milliseconds. */
  readonly duration?: number | undefined;
  /** The names of speakers are read too. */
  readonly showsNames?: boolean | undefined;
}

/** The cues of a transcript with times, one after the other. */
export function cuesOf(transcript: TranscriptText, timing: Timing): Cue[] {
  const { path } = timing;
  const [fault] = areCaptions(transcript.format) ? [] : transcript.faults;
  if (fault) throw unusable(path, fault.line, `${fault.message}; correct it`);
  const spoken = timedIn(transcript, path);
  const cues: Cue[] = [];
  for (let at = 0; at < spoken.length; ) {
    const from = at;
    const { start } = spoken[from] as Timed;
    while (spoken[at]?.start === start) at += 1;
    const next = spoken[at]?.start;
    if (next !== undefined && next < start)
      throw unusable(path, spoken[at]?.line, 'this caption starts before the one above it; correct its time');
    for (const cue of timesShared(spoken.slice(from, at), start, next, timing)) cues.push(cue);
  }
  return cues;
}

/** A turn without a time goes on where the last one began. */
function timedIn(transcript: TranscriptText, path: string): Timed[] {
  const { format } = transcript;
  const spoken = spokenIn(transcript);
  if (!spoken.some(({ start }) => start !== undefined)) throw timeless(path, format);
  const timed: Timed[] = [];
  for (const segment of spoken) {
    const text = tidied(segment.text);
    const start = segment.start ?? (areCaptions(format) ? undefined : timed.at(-1)?.start);
    if (text.length > MAX_TURN)
      throw unusable(path, segment.line, 'this caption has more than a million characters; split it');
    if (text && start !== undefined) timed.push({ ...segment, start, text });
    else if (text) throw unusable(path, segment.line, 'this caption has no time; give it one');
  }
  return timed;
}

const timeless = (path: string, format: string): StenoError =>
  new StenoError('failed', `${path} has no times, so it can't become captions`, {
    hint: `convert it to md or txt, or download the transcript as vtt${format === 'tstxt' ? ' or srt' : ', srt or tstxt'}`,
  });

const unusable = (path: string, line: number | undefined, why: string): StenoError =>
  new StenoError('failed', `${path}, line ${line}: ${why}, then convert again`, {
    hint: `list everything to correct: steno check ${shellWord(path)}`,
  });

/** Without blanks that say nothing, and without control characters; the lines stay. */
export const tidied = (text: string): string =>
  text
    .replace(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/g, ' ')
    .split('\n')
    .map((line) => line.replace(/ {2,}/g, ' ').trim())
    .filter(Boolean)
    .join('\n');

/** What starts at the same time is said one after the other. */
function timesShared(
  together: readonly Segment[],
  start: number,
  next: number | undefined,
  { path, duration = 0, showsNames = false }: Timing,
): Cue[] {
  const lengths = together.map(
    ({ speaker, text }) => lengthOf(text) + (showsNames ? nameLength(speaker) : 0),
  );
  const said = together.reduce((latest, { end }) => Math.max(latest, end ?? -1), -1);
  const end =
    said < 0
      ? start + turnLength(sumOf(lengths), (next ?? (duration > start ? duration : Number.NaN)) - start)
      : Math.min(said, next ?? said);
  const line = together.at(-1)?.line;
  if (end <= start) throw unusable(path, line, 'this caption ends before it starts; correct its time');
  if (end - start < together.length)
    throw unusable(path, line, 'too many captions start at the same time; correct their times');
  const times = sharedOut(lengths, start, end);
  return together.map(({ speaker, text }, at) => ({
    ...{ start: times[at] as number, end: times[at + 1] as number, speaker, text },
  }));
}

/** How long a turn of a tstxt lasts: up to the next one, unless a pause must be before that. `most` may be unknown. */
function turnLength(characters: number, most: number): number {
  const reading = Math.ceil((characters * 1000) / CHARACTERS_PER_SECOND);
  if (Number.isNaN(most)) return reading;
  // Twice the time of reading is slow speech.
  return most <= Math.max(2 * reading, LONGEST_CAPTION_MS) ? most : Math.max(reading, SHORTEST_TURN_MS);
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** Where each part begins and the last one ends: by their lengths, none under 5/6 s if there is time for that. */
function sharedOut(lengths: readonly number[], start: number, end: number): number[] {
  const least = Math.min(MIN_CUE_MS, Math.floor((end - start) / lengths.length));
  let open = lengths;
  let pace = Number.POSITIVE_INFINITY;
  for (let before = -1; before !== open.length && open.length > 0; ) {
    before = open.length;
    const left = end - start - (lengths.length - open.length) * least;
    pace = left / sumOf(open);
    open = open.filter((each) => each * pace >= least);
  }
  const times = [start];
  let at = start;
  for (const length of lengths) {
    at += open.length === 0 || length * pace < least ? least : length * pace;
    times.push(Math.round(at));
  }
  times[lengths.length] = end;
  return times;
}

// Lines.

/**
 * One that fits and is at least 5/6 s long stays as it is. `showsNames`: the first line begins with the name, which has
 * room there where that needs no other cues. `audioEnd`: none is lengthened past it. One by one: a day of speech takes
 * seconds.
 */
export function* fitCues(
  cues: readonly Cue[],
  lineLength: number,
  showsNames = false,
  audioEnd = Number.POSITIVE_INFINITY,
): Generator<Cue> {
  const indentOf = ({ speaker }: Cue): number => (showsNames ? nameLength(speaker) : 0);
  // Each may still be merged with the one after it.
  let last: Cue | undefined;
  for (const cue of lengthened(piecesOf(cues, lineLength, indentOf, audioEnd), audioEnd)) {
    const merged = last && mergedWith(last, cue, lineLength, indentOf(cue));
    if (last && !merged) yield last;
    last = merged ?? cue;
  }
  if (last) yield last;
}

function* piecesOf(
  cues: readonly Cue[],
  lineLength: number,
  indentOf: (cue: Cue) => number,
  audioEnd: number,
): Generator<Cue> {
  for (const [at, cue] of cues.entries()) {
    const indent = indentOf(cue);
    const most = Math.min(cues[at + 1]?.start ?? audioEnd, audioEnd);
    const pieces = fits(cue, lineLength) ? [cue] : split(cue, most, lineLength, indent);
    for (const piece of pieces) yield rewrapped(piece, lineLength, indent);
  }
}

function fits({ text }: Cue, lineLength: number): boolean {
  const lines = text.split('\n', MAX_LINES + 1);
  return lines.length <= MAX_LINES && lines.every((line) => lengthOf(line) <= lineLength);
}

/** Broken elsewhere, if only so there is room for its name. */
function rewrapped(cue: Cue, lineLength: number, indent: number): Cue {
  if (indent === 0 || indent + lengthOf(cue.text.split('\n', 1)[0] ?? '') <= lineLength) return cue;
  const lines = new Lines(wordsOf(cue.text), lineLength, indent);
  return lines.isCaption() ? { ...cue, text: lines.wrap() } : cue;
}

/** Those that are too short, into the silence after them. */
function* lengthened(cues: Iterable<Cue>, audioEnd: number): Generator<Cue> {
  const longer = (cue: Cue, next: number): Cue => {
    const end = Math.min(cue.start + MIN_CUE_MS, next, audioEnd);
    return isShort(cue) && end > cue.end ? { ...cue, end } : cue;
  };
  let last: Cue | undefined;
  for (const cue of cues) {
    if (last) yield longer(last, cue.start);
    last = cue;
  }
  if (last) yield longer(last, audioEnd);
}

/** Where one of the two is too short, and both fit into one. */
function mergedWith(one: Cue, other: Cue, lineLength: number, indent: number): Cue | undefined {
  const isWanted =
    (isShort(one) || isShort(other)) &&
    one.speaker === other.speaker &&
    other.start - one.end < MIN_CUE_MS &&
    lengthOf(one.text) + lengthOf(other.text) <= MAX_LINES * (lineLength + 1);
  const lines = isWanted ? new Lines(wordsOf(`${one.text}\n${other.text}`), lineLength, indent) : undefined;
  return lines?.isCaption() ? { ...one, end: other.end, text: lines.wrap() } : undefined;
}

/** What is said in two lines at a time. A word that is longer than a line stays whole. */
function split(cue: Cue, most: number, lineLength: number, indent: number): Cue[] {
  // A longer name leaves too little room for what is said.
  const lines = new Lines(wordsOf(cue.text), lineLength, Math.min(indent, Math.floor(lineLength / 2)));
  const captions = lines.captions((cue.end - cue.start) / lines.length());
  const end = Math.max(cue.end, Math.min(cue.start + captions.length * MIN_CUE_MS, most));
  if (end - cue.start < captions.length) return [cue];
  const lengths = captions.map(([from, to]) => indent + lines.length(from, to));
  const times = sharedOut(lengths, cue.start, end);
  return captions.map(([from, to], at) => ({
    ...{ ...cue, start: times[at] as number, end: times[at + 1] as number, text: lines.wrap(from, to) },
  }));
}

/** What a break costs: after a sentence, after a clause, before a word that begins one, elsewhere, after `Mr.`. */
const [SENTENCE, CLAUSE, CONJUNCTION, ELSEWHERE, ABBREVIATION] = [0, 4, 8, 12, 20];
/** So that there are no more cues than are needed. */
const CAPTION = 10;
const TOO_SHORT = 30;
const UNEVEN = 6;

/** Words from one place up to another, as lines and captions. */
class Lines {
  readonly #words: readonly Word[];
  readonly #lineLength: number;
  /** What is before the first word of the first line. */
  readonly #indent: number;
  /** Where each word begins and ends in the whole text. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** Up to where the words from each fit into a first line. */
  readonly #reach: number[] = [];
  /** What a break before each word costs. */
  readonly #breakCosts: number[];

  constructor(words: readonly Word[], lineLength: number, indent: number) {
    this.#words = words;
    this.#lineLength = lineLength;
    this.#indent = indent;
    let at = 0;
    for (const { text, isApart } of words) {
      this.#from.push(isApart ? at + 1 : at);
      at = (this.#from.at(-1) ?? 0) + lengthOf(text);
      this.#to.push(at);
    }
    for (let from = 0, to = 0; from < words.length; from += 1) {
      while (to < words.length && indent + this.length(from, to + 1) <= lineLength) to += 1;
      this.#reach.push(to);
      to = Math.max(to, from + 1);
    }
    this.#breakCosts = words.map((word, at) => (at > 0 ? breakCost(words[at - 1]?.text ?? '', word) : 0));
  }

  length(from = 0, to = this.#words.length): number {
    return (this.#to[to - 1] ?? 0) - (this.#from[from] ?? 0);
  }

  isCaption(from = 0, to = this.#words.length): boolean {
    const second = this.#reach[from] ?? to;
    if (second >= to) return true;
    return second > from && this.length(second, to) <= this.#lineLength;
  }

  /** The places of the captions that cost least; `pace` is how many milliseconds a character lasts. */
  captions(pace: number): Array<[from: number, to: number]> {
    const count = this.#words.length;
    const best = [{ cost: 0, from: 0 }];
    for (let to = 1; to <= count; to += 1) {
      let found = { cost: Number.POSITIVE_INFINITY, from: to - 1 };
      for (let from = to - 1; from >= 0 && (from === to - 1 || this.isCaption(from, to)); from -= 1) {
        const cost = (best[from]?.cost ?? 0) + this.#captionCost(from, to, pace);
        if (cost < found.cost) found = { cost, from };
      }
      best.push(found);
    }
    const captions: Array<[number, number]> = [];
    for (let to = count; to > 0; to = best[to]?.from ?? 0) captions.push([best[to]?.from ?? 0, to]);
    return captions.reverse();
  }

  #captionCost(from: number, to: number, pace: number): number {
    const length = this.length(from, to);
    const room = 1 - length / (MAX_LINES * this.#lineLength);
    return (
      CAPTION +
      (this.#breakCosts[to] ?? 0) +
      (length * pace < MIN_CUE_MS ? TOO_SHORT : 0) +
      UNEVEN * room * room
    );
  }

  /** In one line or in two: broken where it costs least, the second line rather longer than the first. */
  wrap(from = 0, to = this.#words.length): string {
    let [best, place] = [Number.POSITIVE_INFINITY, to];
    const isLong = this.#indent + this.length(from, to) > this.#lineLength;
    for (let at = from + 1; at < to && isLong; at += 1) {
      const [first, second] = [this.#indent + this.length(from, at), this.length(at, to)];
      if (Math.max(first, second) > this.#lineLength) continue;
      const cost = (this.#breakCosts[at] ?? 0) + (Math.abs(second - first - 1) * CAPTION) / this.#lineLength;
      if (cost < best) [best, place] = [cost, at];
    }
    return [this.#text(from, place), this.#text(place, to)].filter(Boolean).join('\n');
  }

  #text(from: number, to: number): string {
    const words = this.#words.slice(from, to);
    const line = words.map(({ text, isApart }, at) => (at > 0 && isApart ? ` ${text}` : text)).join('');
    const next = this.#words[to];
    if (!next || line === '') return line;
    const isBroken = isUnspaced(line, next.text);
    if (next.isApart) return isBroken ? line + BLANK : line;
    return isBroken && line === line.trimEnd() ? line : line + NO_BLANK;
  }
}

const conjunctions = new Set(
  'and but or nor so because that which who where when while if though although as than to for with from in on at of by into behind about'.split(
    ' ',
  ),
);

function breakCost(word: string, { text: next, isApart }: Word): number {
  if (/[.!?…。！？]["'”’»)\]」』]*$/.test(word)) return isAbbreviation(word) ? ABBREVIATION : SENTENCE;
  if (/[,;:—–、，；：]["'”’»)\]」』]*$/.test(word) || word === '-') return CLAUSE;
  if (isApart && isUnspaced(word, next)) return CLAUSE;
  return conjunctions.has(next) ? CONJUNCTION : ELSEWHERE;
}

const isAbbreviation = (word: string): boolean =>
  word.length < 8 && /^["'([]?(?:mr|mrs|ms|dr|st|vs|prof|no|e\.g|i\.e|\p{L})\.$/iu.test(word);

// Words.

interface Word {
  readonly text: string;
  /** A blank is before it. */
  readonly isApart: boolean;
}

/** Scripts that write no blank between words, and their punctuation. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3001-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff65]/u;

const isUnspaced = (before: string, after: string): boolean =>
  unspaced.test(lastOf(before)) && unspaced.test(String.fromCodePoint(after.codePointAt(0) ?? 0));

/** The last character, which may be two units. */
const lastOf = (text: string): string => text.slice(/[\udc00-\udfff]$/.test(text.slice(-1)) ? -2 : -1);

/** A word joiner, which shows nothing. */
export const MARK = '\u2060';
/** At the end of a line, where a line break would be read as the other. */
const [BLANK, NO_BLANK] = [MARK, MARK + MARK];

/** What takes two columns: Chinese, Japanese and Korean characters, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/gu;

/** In columns, nearly: marks are rare. */
const lengthOf = (text: string): number =>
  /[\u1100-\uffff]/.test(text)
    ? text.replace(/[\udc00-\udfff\u2060]/g, '').length + (text.match(wide)?.length ?? 0)
    : text.length;

/** With the colon and the blank after it. */
const nameLength = (speaker: string | undefined): number => (speaker ? lengthOf(speaker) + 2 : 0);

function wordsOf(text: string): Word[] {
  const line = joined(text.split('\n'));
  return line.split(/[ \t]+/).flatMap((word, at) => {
    if (word === '') return [];
    const parts = unspaced.test(word) ? clausesOf(word).flatMap(partsOf) : [word];
    return parts.map((part, place) => ({ text: part, isApart: at > 0 && place === 0 }));
  });
}

/** The segmenter takes quadratic time for very long texts. */
const clausesOf = (text: string): string[] =>
  text.match(/[^、。，！？]{0,1000}[、。，！？」』\u3000\u2060]{0,1000}/g)?.filter(Boolean) ?? [];

let segmenter: Intl.Segmenter | undefined;

/** The words of such a script; what ends a clause stays with the word before it, what opens one with the next. */
function partsOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  const parts: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    const last = parts.at(-1);
    const belongs = (!isWordLike && !/^[「『（(“]/.test(segment)) || /[「『（(“]$/.test(last ?? '');
    if (last !== undefined && belongs) parts[parts.length - 1] = last + segment;
    else parts.push(segment);
  }
  return parts;
}

/** One text of several lines: with blanks between them, unless their script has none. */
export function joined(lines: readonly string[]): string {
  const parts: string[] = [];
  for (const line of lines) {
    const next = line.trim();
    const last = parts.pop() ?? '';
    if (last && next) parts.push(...joint(last, next), next);
    else if (last || next) parts.push(last || next);
  }
  return parts.join('');
}

/** The first text without its mark, and what is between the two. */
function joint(before: string, after: string): [plain: string, between: string] {
  if (before.endsWith(NO_BLANK)) return [before.slice(0, -NO_BLANK.length), ''];
  if (before.endsWith(BLANK)) return [before.slice(0, -BLANK.length), ' '];
  return [before, isUnspaced(before, after) ? '' : ' '];
}
