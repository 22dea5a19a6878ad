/**
 * Captions from what a transcript says: two lines of so many characters, one cue after the other. A cue that fits and is
 * long enough stays as it is, so that what was fitted once is not changed again.
 */
import { StenoError } from '../lib/errors.ts';
import { shellWord } from '../lib/text.ts';
import type { Segment, TranscriptText } from './model.ts';

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

/** About 180 words a minute: for the last turn of a tstxt, whose end nothing tells. */
const CHARACTERS_PER_SECOND = 15;
/** In characters: nobody speaks for 18 hours, and to share out more takes gigabytes. */
const MAX_TURN = 1_000_000;

// Times.

type Timed = Segment & { readonly start: number };

/** The cues of a transcript with times, one after the other; `duration` is that of its audio, if it is known. */
export function cuesOf(transcript: TranscriptText, path: string, duration?: number): Cue[] {
  const spoken = timedIn(transcript, path);
  const cues: Cue[] = [];
  for (let at = 0; at < spoken.length; ) {
    const from = at;
    const { start } = spoken[from] as Timed;
    while (spoken[at]?.start === start) at += 1;
    const next = spoken[at]?.start;
    if (next !== undefined && next < start)
      throw unusable(path, spoken[at]?.line, 'its time is before the last one');
    for (const cue of timesShared(spoken.slice(from, at), start, next, { path, duration })) cues.push(cue);
  }
  return cues;
}

/** A turn of a tstxt without a time goes on where the last one began; what is before the first is no speech. */
function timedIn({ format, segments }: TranscriptText, path: string): Timed[] {
  const isTimed =
    ['vtt', 'srt', 'tstxt'].includes(format) && segments.some(({ start }) => start !== undefined);
  if (!isTimed) {
    const hint = 'convert it to md or txt, or download the transcript as vtt, srt or tstxt';
    throw new StenoError('failed', `${path} has no times, so it can't become captions`, { hint });
  }
  const timed: Timed[] = [];
  for (const segment of segments) {
    const text = tidied(segment.text);
    const start = segment.start ?? (format === 'tstxt' ? timed.at(-1)?.start : undefined);
    if (text.length > MAX_TURN)
      throw unusable(path, segment.line, 'more than a million characters have one time');
    if (text && start !== undefined) timed.push({ ...segment, start, text });
    else if (text && format !== 'tstxt') throw unusable(path, segment.line, 'it has no time');
  }
  return timed;
}

const unusable = (path: string, line: number | undefined, why: string): StenoError =>
  new StenoError('failed', `${path}, line ${line}: ${why}, so it can't become captions`, {
    hint: `list all that is wrong with it: steno check ${shellWord(path)}`,
  });

/** Without blanks that say nothing, and without control characters; the lines stay. */
export const tidied = (text: string): string =>
  text
    .replace(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/g, ' ')
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter(Boolean)
    .join('\n');

/** What starts at the same time is said one after the other. */
function timesShared(
  together: readonly Segment[],
  start: number,
  next: number | undefined,
  { path, duration }: { readonly path: string; readonly duration: number | undefined },
): Cue[] {
  const lengths = together.map(({ text }) => lengthOf(text));
  const reading = start + (lengths.reduce((sum, each) => sum + each, 0) * 1000) / CHARACTERS_PER_SECOND;
  const last = duration !== undefined && duration > start ? duration : Math.ceil(reading);
  const said = together.reduce((latest, { end }) => Math.max(latest, end ?? -1), -1);
  const end = Math.min(said < 0 ? (next ?? last) : said, next ?? Number.POSITIVE_INFINITY);
  const line = together.at(-1)?.line;
  if (end <= start) throw unusable(path, line, 'it ends before it starts');
  if (end - start < together.length) throw unusable(path, line, 'too much is said at the same time');
  const times = sharedOut(lengths, start, end);
  return together.map(({ speaker, text }, at) => ({
    ...{ start: times[at] as number, end: times[at + 1] as number, speaker, text },
  }));
}

/** Where each part begins and the last one ends: by their lengths, none under 5/6 s if there is time for that. */
function sharedOut(lengths: readonly number[], start: number, end: number): number[] {
  const least = Math.min(MIN_CUE_MS, Math.floor((end - start) / lengths.length));
  let open = lengths;
  let pace = Number.POSITIVE_INFINITY;
  for (let before = -1; before !== open.length && open.length > 0; ) {
    before = open.length;
    const left = end - start - (lengths.length - open.length) * least;
    pace = left / open.reduce((sum, each) => sum + each, 0);
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
 * room there where that needs no other cues.
 */
export function fitCues(cues: readonly Cue[], lineLength: number, showsNames = false): Cue[] {
  const linesOf = (speaker: string | undefined, text: string): Lines => {
    const indent = showsNames && speaker ? Math.min(lengthOf(speaker) + 2, Math.floor(lineLength / 2)) : 0;
    return new Lines(wordsOf(text), lineLength, indent);
  };
  const pieces = cues.flatMap((cue, at) => {
    if (!showsNames && fits(cue, lineLength)) return [cue];
    const lines = linesOf(cue.speaker, cue.text);
    return fits(cue, lineLength) ? [rewrapped(cue, lines)] : split(cue, cues[at + 1]?.start, lines);
  });
  const fitted: Cue[] = [];
  for (const [at, piece] of pieces.entries()) {
    const cue = lengthened(piece, pieces[at + 1]?.start);
    const last = fitted.at(-1);
    if (last && mayMerge(last, cue, lineLength)) {
      const lines = linesOf(cue.speaker, joined(last.text, cue.text));
      const merged = { ...last, end: cue.end, text: lines.wrap() };
      fitted.splice(-1, 1, ...(lines.isCaption() ? [merged] : [last, cue]));
    } else fitted.push(cue);
  }
  return fitted;
}

function fits({ text }: Cue, lineLength: number): boolean {
  const lines = text.split('\n', MAX_LINES + 1);
  return lines.length <= MAX_LINES && lines.every((line) => lengthOf(line) <= lineLength);
}

/** Broken elsewhere, if only so there is room for its name. */
function rewrapped(cue: Cue, lines: Lines): Cue {
  const isFull = !lines.hasRoom(cue.text.split('\n', 1)[0] ?? '');
  return isFull && lines.isCaption() ? { ...cue, text: lines.wrap() } : cue;
}

/** Into the silence after it. */
function lengthened(cue: Cue, next = Number.POSITIVE_INFINITY): Cue {
  const end = Math.min(cue.start + MIN_CUE_MS, next);
  return isShort(cue) && end > cue.end ? { ...cue, end } : cue;
}

/** Where one of the two is too short. */
const mayMerge = (one: Cue, other: Cue, lineLength: number): boolean =>
  (isShort(one) || isShort(other)) &&
  one.speaker === other.speaker &&
  other.start - one.end < MIN_CUE_MS &&
  lengthOf(one.text) + lengthOf(other.text) <= MAX_LINES * (lineLength + 1);

/** What is said in two lines at a time. A word that is longer than a line stays whole. */
function split(cue: Cue, next: number | undefined, lines: Lines): Cue[] {
  const captions = lines.captions((cue.end - cue.start) / lines.length());
  const enough = Math.min(cue.start + captions.length * MIN_CUE_MS, next ?? Number.POSITIVE_INFINITY);
  const end = Math.max(cue.end, enough);
  if (end - cue.start < captions.length) return [cue];
  const lengths = captions.map(([from, to]) => lines.length(from, to));
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
    this.#breakCosts = words.map(({ text }, at) => (at > 0 ? breakCost(words[at - 1]?.text ?? '', text) : 0));
  }

  length(from = 0, to = this.#words.length): number {
    return (this.#to[to - 1] ?? 0) - (this.#from[from] ?? 0);
  }

  hasRoom(firstLine: string): boolean {
    return this.#indent + lengthOf(firstLine) <= this.#lineLength;
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
    return words.map(({ text, isApart }, at) => (at > 0 && isApart ? ` ${text}` : text)).join('');
  }
}

const conjunctions = new Set(
  'and but or nor so because that which who where when while if though although as than to for with from in on at of by into behind about'.split(
    ' ',
  ),
);

function breakCost(word: string, next: string): number {
  if (/[.!?…。！？]["'”’»)\]」』]*$/.test(word)) return isAbbreviation(word) ? ABBREVIATION : SENTENCE;
  if (/[,;:—–、，；：]["'”’»)\]」』]*$/.test(word) || word === '-') return CLAUSE;
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

/** Scripts that write no blank between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}。、！？「」]/u;

/** Characters as a person counts them, nearly: marks and pairs are rare. */
const lengthOf = (text: string): number =>
  /[\udc00-\udfff]/.test(text) ? text.replace(/[\udc00-\udfff]/g, '').length : text.length;

function wordsOf(text: string): Word[] {
  const line = text.split('\n').reduce(joined, '');
  return line.split(/[ \t]+/).flatMap((word, at) => {
    if (word === '') return [];
    const parts = unspaced.test(word) ? clausesOf(word).flatMap(partsOf) : [word];
    return parts.map((part, place) => ({ text: part, isApart: at > 0 && place === 0 }));
  });
}

/** The segmenter takes quadratic time for very long texts. */
const clausesOf = (text: string): string[] =>
  text.match(/[^、。，！？]{0,1000}[、。，！？」』]*/g)?.filter(Boolean) ?? [];

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

/** One text of two: with a blank between them, unless their script has none. */
export function joined(one: string, other: string): string {
  const [before, after] = [one.trimEnd(), other.trimStart()];
  if (before === '' || after === '') return before + after;
  const isApart = !(unspaced.test(before.slice(-1)) && unspaced.test(after.slice(0, 1)));
  return isApart ? `${before} ${after}` : before + after;
}
