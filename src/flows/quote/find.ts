/** Finds the passages that are nearest to a quotation. */
import type { ChosenTexts } from '../search/search.ts';
import type { Sentence } from '../search/sentences.ts';
import type { IndexedFile } from '../search/text-index.ts';
import { wordsOf } from '../search/words.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { type Difference, type Fit, fitsOf } from './align.ts';
import { type Token, tokensOf } from './tokens.ts';

/** A passage of a transcript that fits a quotation, and what differs. */
export interface Passage {
  readonly file: TranscriptOnDisk;
  readonly line: number;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Each once, in the order of what they say; empty if the transcript names nobody. */
  readonly speakers: readonly string[];
  readonly text: string;
  readonly differences: readonly Difference[];
  readonly leftOut: readonly string[];
  readonly edits: number;
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
const MAX_PROBES = 12;
const MAX_WORDS_ASKED = 40;
/** How many places are compared: where all words were found, and others. */
const [MAX_FULL, MAX_OTHER] = [200, 10];
const MAX_CACHED = 5_000;
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

export class Finder {
  readonly #texts: ChosenTexts;
  readonly #isStrict: boolean;
  readonly #ids = new Map<string, readonly number[]>();
  readonly #located = new Map<string, readonly Passage[]>();
  #latest: { readonly first: number; readonly sentences: readonly Sentence[] } | undefined;

  constructor(texts: ChosenTexts, isStrict: boolean) {
    this.#texts = texts;
    this.#isStrict = isStrict;
  }

  /** The best places for a text, all equally good; none where half of it differs. */
  locate(text: string): readonly Passage[] {
    const known = this.#located.get(text);
    if (known) return known;
    if (this.#located.size >= MAX_CACHED) this.#located.clear();
    const found = this.#locate(quotedOf(text));
    this.#located.set(text, found);
    return found;
  }

  #locate(quoted: Quoted): Passage[] {
    let best: Passage[] = [];
    let most = quoted.most;
    for (const { file, first, last, missed } of this.#windows(quoted)) {
      if (missed > most) break;
      const found = this.#fits(quoted, file, this.#texts.sentences(first, last), first, most);
      const edits = found[0]?.edits ?? Number.POSITIVE_INFINITY;
      if (edits > most) continue;
      best = edits < most ? found : [...best, ...found];
      most = edits;
    }
    return distinct(best);
  }

  /** The best places for a text in one transcript. */
  locateIn(text: string, file: TranscriptOnDisk): Passage[] {
    const indexed = this.#indexed(file);
    const quoted = quotedOf(text);
    return this.#fits(quoted, file, this.#sentencesOf(indexed), indexed.first, quoted.words.length);
  }

  speakersIn(file: TranscriptOnDisk): string[] {
    return [...new Set(this.#sentencesOf(this.#indexed(file)).flatMap(({ speaker }) => speaker ?? []))];
  }

  #indexed(file: TranscriptOnDisk): IndexedFile {
    return this.#texts.files.find((each) => each === file) as IndexedFile;
  }

  #sentencesOf({ first, last }: IndexedFile): readonly Sentence[] {
    if (this.#latest?.first !== first)
      this.#latest = { first, sentences: this.#texts.sentences(first, last) };
    return this.#latest.sentences;
  }

  /** As a whole, and among the words of each speaker: others may say a word in between. */
  #fits(
    { tokens }: Quoted,
    file: TranscriptOnDisk,
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
  *#windows({ words }: Quoted) {
    const span = 3 + Math.ceil(words.length / 4);
    const { probes, areWords } = this.#probes(words);
    const anchors = anchorsOf(probes, span);
    const highest = anchors[0]?.count ?? 0;
    const seen: Array<readonly [number, number]> = [];
    let left = MAX_OTHER;
    for (const { id, count } of anchors.slice(0, MAX_FULL)) {
      if (count < highest && left-- <= 0) return;
      const file = this.#texts.fileAt(id);
      if (!file || seen.some(([first, last]) => id >= first && id + span <= last)) continue;
      const first = Math.max(file.first, id - span);
      const last = Math.min(file.last, id + 2 * span);
      seen.push([first, last]);
      // Each word that is not there is one that differs; one less, for `e-mails` in place of `emails`.
      yield { file, first, last, missed: areWords ? probes.length - count - 1 : 0 };
    }
  }

  /** The sentences of its rarest words; if all are frequent, of two, three and four in a row. */
  #probes(words: readonly string[]) {
    const longest = [...new Set(words)].sort((one, other) => other.length - one.length);
    let probes = longest.slice(0, MAX_WORDS_ASKED).map((word) => this.#idsOf([word]));
    const isRare = (ids: readonly number[]): boolean => ids.length < MAX_IDS;
    const areWords = probes.filter(isRare).length >= 2;
    for (let size = 2; size <= 4 && probes.filter(isRare).length < 2; size += 1)
      probes = [
        ...probes,
        ...words
          .slice(0, MAX_WORDS_ASKED - size + 1)
          .flatMap((_, at) => (at + size <= words.length ? [this.#idsOf(words.slice(at, at + size))] : [])),
      ];
    // A word that nobody says is as far from every place.
    const rare = probes.filter(isRare).sort((one, other) => one.length - other.length);
    const found = (rare.some((ids) => ids.length) ? rare : probes).filter((ids) => ids.length > 0);
    return { probes: found.slice(0, MAX_PROBES), areWords };
  }

  #idsOf(words: readonly string[]): readonly number[] {
    const key = words.join(' ');
    const known = this.#ids.get(key);
    if (known) return known;
    if (this.#ids.size >= MAX_CACHED) this.#ids.clear();
    const ids = this.#texts.ids([{ words, isPrefix: false }], MAX_IDS);
    this.#ids.set(key, ids);
    return ids;
  }
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

/** How many of the probes have a sentence in each stretch, the most first. */
function anchorsOf(probes: ReadonlyArray<readonly number[]>, span: number) {
  // Speed: an id and its probe as one number.
  const votes = Float64Array.from(probes.flatMap((ids, at) => ids.map((id) => id * MAX_PROBES + at))).sort();
  const idAt = (at: number): number => Math.floor((votes[at] ?? Number.POSITIVE_INFINITY) / MAX_PROBES);
  const counts = probes.map(() => 0);
  const anchors: { readonly id: number; readonly count: number }[] = [];
  let [end, count] = [0, 0];
  for (const [at, vote] of votes.entries()) {
    const id = idAt(at);
    for (; idAt(end) < id + span; end += 1) {
      const own = (votes[end] ?? 0) % MAX_PROBES;
      if (counts[own] === 0) count += 1;
      counts[own] = (counts[own] ?? 0) + 1;
    }
    if (idAt(at - 1) !== id) anchors.push({ id, count });
    counts[vote % MAX_PROBES] = (counts[vote % MAX_PROBES] ?? 0) - 1;
    if (counts[vote % MAX_PROBES] === 0) count -= 1;
  }
  return anchors.sort((one, other) => other.count - one.count);
}

function passageOf(file: TranscriptOnDisk, { said, ...fit }: Fit<SaidToken>): Passage {
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
