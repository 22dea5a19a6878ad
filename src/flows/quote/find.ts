/** Finds the passages that are nearest to a quotation. */
import type { ChosenTexts } from '../search/search.ts';
import type { Sentence } from '../search/sentences.ts';
import type { IndexedFile } from '../search/text-index.ts';
import { wordsOf } from '../search/words.ts';
import { type Fit, fitsOf } from './align.ts';
import { type Token, tokensOf } from './tokens.ts';

/** A passage of a transcript that fits a quotation, and what differs. */
export interface Passage extends Omit<Fit<Token>, 'said'> {
  readonly file: IndexedFile;
  readonly line: number;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Each once, in the order of what they say; empty if the transcript names nobody. */
  readonly speakers: readonly string[];
  readonly text: string;
  /** Its place among the words of its file. */
  readonly from: number;
  readonly to: number;
}

interface SaidToken extends Token {
  readonly sentence: Sentence;
  /** Ascends within a file. */
  readonly order: number;
}

/** Words with more sentences than this say little about the place. */
const MAX_IDS = 1_000;
/** Fewer than the bits of a number. */
const MAX_PROBES = 12;
const MAX_WORDS_ASKED = 40;
/** How many places are compared: where all words were found, and others. */
const [MAX_FULL, MAX_OTHER] = [200, 10];
const MAX_KEPT = 5_000;
/** What shares less than half of the words is not near. */
const MAX_FAR = 0.5;

/** Words of a quotation, and how many may differ in a passage that is near. */
interface Quoted {
  readonly tokens: readonly Token[];
  readonly words: readonly string[];
  readonly most: number;
}

function quotedOf(text: string): Quoted {
  const tokens = tokensOf(text);
  const words = tokens
    .filter(({ isFiller }) => !isFiller)
    .flatMap(({ raw }) => wordsOf(raw).map((word) => word.text));
  return { tokens, words, most: Math.max(2, Math.floor(words.length * MAX_FAR)) };
}

/** Keeps the latest answers. */
function kept<Answer>(ask: (question: string) => Answer): (question: string) => Answer {
  const answers = new Map<string, Answer>();
  return (question) => {
    if (answers.size >= MAX_KEPT) answers.clear();
    const answer = answers.get(question) ?? ask(question);
    answers.set(question, answer);
    return answer;
  };
}

export class Finder {
  readonly #texts: ChosenTexts;
  readonly #isStrict: boolean;
  #latest: { readonly file: IndexedFile; readonly sentences: readonly Sentence[] } | undefined;

  constructor(texts: ChosenTexts, isStrict: boolean) {
    this.#texts = texts;
    this.#isStrict = isStrict;
  }

  /** The best places for a text, all equally good; none where half of it differs. */
  readonly locate = kept((text): readonly Passage[] => {
    const quoted = quotedOf(text);
    let best: Passage[] = [];
    let { most } = quoted;
    for (const { file, first, last, missed } of this.#windows(quoted.words)) {
      if (missed > most) break;
      const found = this.#fits(quoted, file, this.#texts.sentences(first, last), first, most);
      const edits = found[0]?.edits ?? Number.POSITIVE_INFINITY;
      if (edits > most) continue;
      best = edits < most ? found : [...best, ...found];
      most = edits;
    }
    return distinct(best);
  });

  /** The best places for a text in one transcript. */
  locateIn(text: string, file: IndexedFile): readonly Passage[] {
    const quoted = quotedOf(text);
    return this.#fits(quoted, file, this.#sentencesOf(file), file.first, quoted.words.length);
  }

  speakersIn(file: IndexedFile): string[] {
    return [...new Set(this.#sentencesOf(file).flatMap(({ speaker }) => speaker ?? []))];
  }

  #sentencesOf(file: IndexedFile): readonly Sentence[] {
    if (this.#latest?.file !== file)
      this.#latest = { file, sentences: this.#texts.sentences(file.first, file.last) };
    return this.#latest.sentences;
  }

  /** As a whole, and among the words of each speaker: others may say a word in between. */
  #fits(
    { tokens }: Quoted,
    file: IndexedFile,
    sentences: readonly Sentence[],
    first: number,
    most: number,
  ): Passage[] {
    const said = sentences.flatMap((sentence, at): SaidToken[] => {
      if (sentence.isHead) return [];
      return tokensOf(sentence.text).map((token, by) =>
        Object.assign(token, { sentence, order: (first + at) * 1_000 + by }),
      );
    });
    const passages = (own: readonly SaidToken[]): Passage[] =>
      fitsOf(tokens, own, this.#isStrict, most).map((fit) => passageOf(file, fit));
    const whole = passages(said);
    const isOfOne = whole.some(({ edits, speakers }) => edits === 0 && speakers.length < 2);
    const speakers = new Set(said.map(({ sentence }) => sentence.speaker));
    if (isOfOne || speakers.size < 2) return least(whole);
    // Of two speakers only where it can't be of one.
    const ofOne = least(
      [...speakers].flatMap((speaker) =>
        passages(said.filter(({ sentence }) => sentence.speaker === speaker)),
      ),
    );
    const isBetter = ofOne.length > 0 && (ofOne[0]?.edits ?? 0) <= (least(whole)[0]?.edits ?? most);
    return isBetter ? ofOne : least(whole);
  }

  /** Where most of its rarest words are near each other, the best first. */
  *#windows(words: readonly string[]) {
    const span = 3 + Math.ceil(words.length / 4);
    const { probes, areWords } = this.#probes(words);
    const stretches = this.#stretches(probes, span);
    const seen: Array<readonly [first: number, last: number]> = [];
    let left = MAX_OTHER;
    for (const { from, file, count } of stretches.slice(0, MAX_FULL)) {
      if (count < (stretches[0]?.count ?? 0) && left-- <= 0) return;
      const to = Math.min(file.last, from + 2 * span - 1);
      if (seen.some(([first, last]) => from >= first && to <= last)) continue;
      const first = Math.max(file.first, from - span);
      seen.push([first, to]);
      // Each word that is not there is one that differs; one less, for `e-mails` in place of `emails`.
      yield { file, first, last: to, missed: areWords ? probes.length - count - 1 : 0 };
    }
  }

  /** How many of the probes are in each stretch of two spans, the most first. */
  #stretches(probes: ReadonlyArray<readonly number[]>, span: number) {
    // A bit for each probe.
    const spans = new Map<number, { readonly file: IndexedFile; bits: number }>();
    for (const [at, ids] of probes.entries())
      for (const id of ids) {
        const file = this.#texts.fileAt(id);
        if (!file) continue;
        const from = id - ((id - file.first) % span);
        const known = spans.get(from) ?? { file, bits: 0 };
        known.bits |= 1 << at;
        spans.set(from, known);
      }
    const all = [...spans].map(([from, { file, bits }]) => {
      const next = spans.get(from + span);
      return { from, file, count: bitsIn(next?.file === file ? bits | next.bits : bits) };
    });
    return all.sort((one, other) => other.count - one.count);
  }

  /** The sentences of its rarest words; if all are frequent, of two, three and four in a row. */
  #probes(words: readonly string[]) {
    const longest = [...new Set(words)].sort((one, other) => other.length - one.length);
    const probes = longest.slice(0, MAX_WORDS_ASKED).map(this.#ids);
    const isRare = (ids: readonly number[]): boolean => ids.length < MAX_IDS;
    const areWords = probes.filter(isRare).length >= 2;
    for (let size = 2; size <= 4 && probes.filter(isRare).length < 2; size += 1)
      for (let to = size; to <= Math.min(words.length, MAX_WORDS_ASKED); to += 1)
        probes.push(this.#ids(words.slice(to - size, to).join(' ')));
    // A word that nobody says is as far from every place.
    const rare = probes.filter(isRare).sort((one, other) => one.length - other.length);
    const found = (rare.some((ids) => ids.length) ? rare : probes).filter((ids) => ids.length > 0);
    return { probes: found.slice(0, MAX_PROBES), areWords };
  }

  readonly #ids = kept((phrase) => this.#texts.ids([{ words: phrase.split(' '), isPrefix: false }], MAX_IDS));
}

function bitsIn(number: number): number {
  let count = 0;
  for (let left = number; left; left &= left - 1) count += 1;
  return count;
}

const least = (passages: readonly Passage[]): Passage[] => {
  const edits = passages.reduce((lowest, each) => Math.min(lowest, each.edits), Number.POSITIVE_INFINITY);
  return passages.filter((each) => each.edits === edits);
};

function distinct(passages: readonly Passage[]): Passage[] {
  const byPlace = new Map(passages.map((each) => [`${each.file.path}\0${each.from}`, each]));
  return [...byPlace.values()].sort((one, other) => {
    if (one.file === other.file) return one.from - other.from;
    return one.file.downloadedAt > other.file.downloadedAt ? -1 : 1;
  });
}

function passageOf(file: IndexedFile, { said, ...fit }: Fit<SaidToken>): Passage {
  const texts: string[] = [];
  for (let at = 0; at < said.length; ) {
    const { sentence, start } = said[at] as SaidToken;
    let end = start;
    for (; said[at]?.sentence === sentence; at += 1) end = said[at]?.end ?? end;
    texts.push(sentence.text.slice(start, end));
  }
  const [first, last] = [said[0], said.at(-1)];
  return {
    ...fit,
    ...{ file, line: first?.sentence.line ?? 0, start: first?.sentence.start, end: last?.sentence.end },
    speakers: [...new Set(said.flatMap(({ sentence }) => sentence.speaker ?? []))],
    text: texts.join(' '),
    ...{ from: first?.order ?? 0, to: last?.order ?? 0 },
  };
}
