/** Finds the passages that are nearest to a quotation. */
import type { Sentence } from '../search/sentences.ts';
import { wordsOf } from '../search/words.ts';
import type { TranscriptOnDisk } from '../transcripts/on-disk.ts';
import { type Difference, type Fit, fitsOf } from './align.ts';
import type { Corpus, IndexedTranscript } from './corpus.ts';
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

export class Finder {
  readonly #corpus: Corpus;
  readonly #isStrict: boolean;
  readonly #ids = new Map<string, readonly number[]>();
  #latest: { readonly first: number; readonly sentences: readonly Sentence[] } | undefined;

  constructor(corpus: Corpus, isStrict: boolean) {
    this.#corpus = corpus;
    this.#isStrict = isStrict;
  }

  /** The best places for a text, all equally good. */
  locate(text: string): Passage[] {
    const quoted = tokensOf(text);
    let best: Passage[] = [];
    for (const window of this.#windows(text, quoted)) {
      const least = best[0]?.edits ?? Number.POSITIVE_INFINITY;
      if (least === 0 && !window.isFull) break;
      const sentences = this.#corpus.sentences(window.first, window.last);
      const found = this.#fits(text, quoted, window.transcript, sentences, window.first);
      const edits = found[0]?.edits ?? Number.POSITIVE_INFINITY;
      if (edits < least) best = found;
      else if (edits === least) best = [...best, ...found];
    }
    return distinct(best);
  }

  /** The best places for a text in one transcript. */
  locateIn(text: string, file: TranscriptOnDisk): Passage[] {
    const transcript = this.#transcriptOf(file);
    return this.#fits(text, tokensOf(text), transcript, this.#sentencesOf(transcript), transcript.first);
  }

  speakersIn(file: TranscriptOnDisk): string[] {
    const named = this.#sentencesOf(this.#transcriptOf(file)).flatMap(({ speaker }) => speaker ?? []);
    return [...new Set(named)];
  }

  #transcriptOf(file: TranscriptOnDisk): IndexedTranscript {
    return this.#corpus.files.find((each) => each.file === file) as IndexedTranscript;
  }

  #sentencesOf({ first, last }: IndexedTranscript): readonly Sentence[] {
    if (this.#latest?.first !== first)
      this.#latest = { first, sentences: this.#corpus.sentences(first, last) };
    return this.#latest.sentences;
  }

  /** As a whole, and among the words of each speaker: others may say a word in between. */
  #fits(
    text: string,
    quoted: readonly Token[],
    { file }: IndexedTranscript,
    sentences: readonly Sentence[],
    first: number,
  ): Passage[] {
    const said = sentences.flatMap((sentence, at): SaidToken[] => {
      if (sentence.isHead) return [];
      const tokens = tokensOf(sentence.text);
      return tokens.map((token, by) => ({ ...token, sentence, order: (first + at) * 1_000 + by }));
    });
    const passages = (tokens: readonly SaidToken[]): Passage[] =>
      fitsOf(quoted, tokens, textsOf(text), this.#isStrict).map((fit) => passageOf(file, fit));
    const whole = passages(said);
    const isOfOne = whole.some(({ edits, speakers }) => edits === 0 && speakers.length < 2);
    const speakers = new Set(said.map(({ sentence }) => sentence.speaker));
    if (isOfOne || speakers.size < 2) return least(whole);
    const own = [...speakers].flatMap((speaker) =>
      passages(said.filter(({ sentence }) => sentence.speaker === speaker)),
    );
    // Of two speakers only where it can't be of one.
    const ofOne = least(own);
    return (ofOne[0]?.edits ?? 0) <= (whole[0]?.edits ?? 0) && ofOne.length ? ofOne : least(whole);
  }

  /** Where most of its rarest words are near each other, the best first. */
  *#windows(text: string, quoted: readonly Token[]) {
    const words = quoted
      .filter(({ isFiller }) => !isFiller)
      .flatMap(({ start, end }) => wordsOf(text.slice(start, end)).map((word) => word.text));
    const span = 3 + Math.ceil(words.length / 4);
    const anchors = anchorsOf(this.#probes(words), span);
    const most = anchors[0]?.count ?? 0;
    const seen: Array<readonly [number, number]> = [];
    let left = MAX_OTHER;
    for (const { id, count } of anchors.slice(0, MAX_FULL)) {
      const isFull = count === most;
      if (!isFull && left-- <= 0) return;
      const transcript = this.#at(id);
      if (!transcript || seen.some(([first, last]) => id >= first && id + span <= last)) continue;
      const first = Math.max(transcript.first, id - span);
      const last = Math.min(transcript.last, id + 2 * span);
      seen.push([first, last]);
      yield { transcript, first, last, isFull };
    }
  }

  #at(id: number): IndexedTranscript | undefined {
    const { files } = this.#corpus;
    let [low, high] = [0, files.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((files[middle] as IndexedTranscript).last < id) low = middle + 1;
      else high = middle;
    }
    const found = files[low];
    return found && found.first <= id ? found : undefined;
  }

  /** The sentences of its rarest words; if all are frequent, of two, three and four in a row. */
  #probes(words: readonly string[]): ReadonlyArray<readonly number[]> {
    const longest = [...new Set(words)].sort((one, other) => other.length - one.length);
    let probes = longest.slice(0, MAX_WORDS_ASKED).map((word) => this.#idsOf([word]));
    const isRare = (ids: readonly number[]): boolean => ids.length < MAX_IDS;
    for (let size = 2; size <= 4 && probes.filter(isRare).length < 2; size += 1) {
      const rows = words.slice(0, MAX_WORDS_ASKED).flatMap((_, at) => {
        return at + size <= words.length ? [this.#idsOf(words.slice(at, at + size))] : [];
      });
      probes = [...probes, ...rows];
    }
    const found = probes.filter((ids) => ids.length > 0).sort((one, other) => one.length - other.length);
    const rare = found.filter(isRare);
    return (rare.length ? rare : found).slice(0, MAX_PROBES);
  }

  #idsOf(words: readonly string[]): readonly number[] {
    const key = words.join(' ');
    const known = this.#ids.get(key);
    if (known) return known;
    if (this.#ids.size >= MAX_CACHED) this.#ids.clear();
    const ids = this.#corpus.ids(words, MAX_IDS);
    this.#ids.set(key, ids);
    return ids;
  }
}

const textsOf = (quotation: string) => ({
  said: ({ sentence, start, end }: SaidToken): string => sentence.text.slice(start, end),
  quoted: ({ start, end }: Token): string => quotation.slice(start, end),
});

const least = (passages: readonly Passage[]): Passage[] => {
  const edits = Math.min(...passages.map((each) => each.edits));
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
  const votes = probes.flatMap((ids, probe) => ids.map((id) => ({ id, probe })));
  votes.sort((one, other) => one.id - other.id);
  const counts = probes.map(() => 0);
  const anchors: { readonly id: number; readonly count: number }[] = [];
  let [end, count] = [0, 0];
  for (const [at, { id, probe }] of votes.entries()) {
    for (; end < votes.length && (votes[end]?.id ?? 0) < id + span; end += 1) {
      const own = votes[end]?.probe ?? 0;
      if (counts[own] === 0) count += 1;
      counts[own] = (counts[own] ?? 0) + 1;
    }
    if (votes[at - 1]?.id !== id) anchors.push({ id, count });
    counts[probe] = (counts[probe] ?? 0) - 1;
    if (counts[probe] === 0) count -= 1;
  }
  return anchors.sort((one, other) => other.count - one.count);
}

function passageOf(file: TranscriptOnDisk, { said, ...fit }: Fit<SaidToken>): Passage {
  const bySentence = new Map<Sentence, SaidToken[]>();
  for (const token of said)
    bySentence.set(token.sentence, [...(bySentence.get(token.sentence) ?? []), token]);
  const texts = [...bySentence].map(([{ text }, tokens]) => text.slice(tokens[0]?.start, tokens.at(-1)?.end));
  const [first, last] = [said[0], said.at(-1)];
  return {
    ...fit,
    ...{ file, line: first?.sentence.line ?? 0, start: first?.sentence.start, end: last?.sentence.end },
    speakers: [...new Set(said.flatMap(({ sentence }) => sentence.speaker ?? []))],
    text: texts.join(' '),
    ...{ from: first?.order ?? 0, to: last?.order ?? 0 },
  };
}
