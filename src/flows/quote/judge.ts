/** Was it said? What becomes of a quotation. */
import { isUnnamed } from '../../transcripts/speakers.ts';
import type { IndexedFile } from '../search/text-index.ts';
import { wordsOf } from '../search/words.ts';
import type { Difference } from './align.ts';
import type { Finder, Passage } from './find.ts';
import { tokensOf } from './tokens.ts';

export interface Quotation {
  readonly text: string;
  /** Where it stands; undefined for one that was typed. */
  readonly document?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The rest of its sentence, which may name who said it. */
  readonly around?: string | undefined;
}

export interface Verdict extends Quotation {
  readonly status: 'exact' | 'altered' | 'spliced' | 'other_speaker' | 'missing';
  /** Whether it may be published. */
  readonly isTrue: boolean;
  /** Where it was said. */
  readonly passages: readonly Passage[];
  readonly differences: readonly Difference[];
  readonly leftOut: readonly string[];
  /** Only for quotations in parts. */
  readonly isInOrder?: boolean | undefined;
  readonly isOfOneSpeaker?: boolean | undefined;
  /** Speakers that the sentence around it names, though they did not say it. */
  readonly named: readonly string[];
  /** What comes nearest to one that is missing. */
  readonly nearest?: Passage | undefined;
}

/** Of the words of a quotation, so many may differ. */
const MAX_ALTERED = 0.3;
const MAX_FILES = 10;
/** A longer quotation is compared in parts, and one with more parts not at all. */
const [MAX_WORDS, MAX_PARTS] = [600, 40];
/** Shorter parts may come from anywhere. */
const MIN_PART = 3;

const wordCount = (text: string): number => tokensOf(text).filter(({ isFiller }) => !isFiller).length;

const isAltered = (edits: number, text: string): boolean =>
  edits <= Math.max(1, Math.floor(wordCount(text) * MAX_ALTERED));

type SpeakerTest = (name: string | undefined) => boolean;

export function judge(finder: Finder, quotation: Quotation, isSpokenBy: SpeakerTest): Verdict {
  const found = judged(finder, quotation);
  const { status, passages = [], isInOrder = true, isOfOneSpeaker = true } = found;
  const mayBeTrue = (status === 'exact' || status === 'spliced') && isOfOneSpeaker;
  const spoken = mayBeTrue ? bySpeaker(finder, quotation, passages, isSpokenBy) : {};
  return {
    ...quotation,
    ...{ passages, named: [], isTrue: mayBeTrue && isInOrder && spoken.status === undefined },
    differences: passages[0]?.differences ?? [],
    leftOut: passages[0]?.leftOut ?? [],
    ...found,
    ...spoken,
  };
}

type Judged = Pick<Verdict, 'status'> & Partial<Verdict>;

/** What becomes of it, whoever the sentence around it names. */
function judged(finder: Finder, quotation: Quotation): Judged {
  const { text } = quotation;
  const count = wordCount(text);
  const isLong = count > MAX_WORDS;
  const parts = isLong ? chunksOf(text) : partsOf(text);
  if (count === 0 || parts.length > MAX_PARTS) return { status: 'missing' };
  const found = isLong ? [] : finder.locate(text);
  const [best] = found;
  if (best?.edits === 0) {
    const ofOne = found.filter(({ speakers }) => speakers.length < 2);
    if (ofOne.length) return { status: 'exact', passages: ofOne };
    return { status: 'spliced', passages: found, isInOrder: true, isOfOneSpeaker: false };
  }
  const joined = parts.length > 1 ? joinedFrom(finder, parts) : undefined;
  if (joined && isAltered(joined.edits, text)) return asJoined(joined, isLong);
  if (best && isAltered(best.edits, text))
    return { status: 'altered', passages: found, named: namedWrongly(finder, quotation, found) ?? [] };
  return { status: 'missing', nearest: best };
}

function asJoined({ edits, ...joined }: Joined, isLong: boolean): Judged {
  const { passages, isInOrder, isOfOneSpeaker } = joined;
  const differences = passages.flatMap((each) => each.differences);
  const leftOut = passages.flatMap((each) => each.leftOut);
  const status = isLong && isInOrder && isOfOneSpeaker ? 'exact' : 'spliced';
  return { ...joined, differences, leftOut, status: edits > 0 ? 'altered' : status };
}

/** Whether the right one is named, by the sentence around it or by `--speaker`. */
function bySpeaker(
  finder: Finder,
  quotation: Quotation,
  all: readonly Passage[],
  isSpokenBy: SpeakerTest,
): Partial<Verdict> {
  const passages = all.filter(({ speakers }) => isSpokenBy(speakers[0]));
  if (passages.length === 0) return { status: 'other_speaker' };
  const named = namedWrongly(finder, quotation, passages);
  return named ? { status: 'other_speaker', named } : { passages };
}

/** The speakers named, if nobody is among them who said it. */
function namedWrongly(
  finder: Finder,
  { around }: Quotation,
  passages: readonly Passage[],
): readonly string[] | undefined {
  if (!around) return undefined;
  const wrong = new Set<string>();
  const byFile = new Map<IndexedFile, readonly string[]>();
  for (const { file, speakers } of passages) {
    const named = byFile.get(file) ?? namedIn(around, finder.speakersIn(file));
    byFile.set(file, named);
    if (named.length === 0 || speakers.length === 0 || speakers.some((each) => named.includes(each)))
      return undefined;
    for (const each of named) wrong.add(each);
  }
  return [...wrong];
}

const honorific = /^(?:mr|mrs|ms|dr|prof|sir|the|van|von|de|la|of|and)$/;

/** By the whole name, or by a part of it. */
function namedIn(text: string, speakers: readonly string[]): string[] {
  const words = wordsOf(text);
  const line = ` ${words.map((word) => word.text).join(' ')} `;
  // Without a capital it may be any word.
  const capitals = new Set(
    words.flatMap((word) => (/^\p{Ll}/u.test(text.slice(word.start)) ? [] : [word.text])),
  );
  return speakers.filter((speaker) => {
    const name = wordsOf(speaker).map((word) => word.text);
    if (name.length && line.includes(` ${name.join(' ')} `)) return true;
    return (
      !isUnnamed(speaker) &&
      name.some((each) => each.length > 1 && !honorific.test(each) && capitals.has(each))
    );
  });
}

const ellipsis = /\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\s?\.\s?\.)\s*\)|…|\.\s?\.\s?\./;

const partsOf = (text: string): string[] => text.split(ellipsis).filter((part) => wordCount(part) > 0);

function chunksOf(text: string): string[] {
  const tokens = tokensOf(text);
  const starts = tokens.filter((_, at) => at % MAX_WORDS === 0).map(({ start }) => start);
  return starts.map((start, at) => text.slice(start, starts[at + 1]));
}

interface Joined {
  /** One for each part, in the order of the parts. */
  readonly passages: readonly Passage[];
  readonly edits: number;
  readonly isInOrder: boolean;
  readonly isOfOneSpeaker: boolean;
}

/** From one transcript, if there is one that has them all; in their order and by one speaker, if they were said so. */
function joinedFrom(finder: Finder, parts: readonly string[]): Joined | undefined {
  const [longest = ''] = [...parts].sort((one, other) => wordCount(other) - wordCount(one));
  const files = new Set(finder.locate(longest).map(({ file }) => file));
  const inFiles = [...files]
    .slice(0, MAX_FILES)
    .flatMap((file) => arranged(parts.map((part) => finder.locateIn(part, file))));
  const [best] = inFiles.sort((one, other) => one.edits - other.edits || rank(other) - rank(one));
  if (best?.edits === 0) return best;
  const anywhere = parts.map((part) => (wordCount(part) < MIN_PART ? [] : finder.locate(part).slice(0, 1)));
  const isExact = anywhere.every(([first]) => first?.edits === 0);
  return isExact ? { passages: anywhere.flat(), edits: 0, isInOrder: false, isOfOneSpeaker: false } : best;
}

const rank = ({ isInOrder, isOfOneSpeaker }: Joined): number =>
  2 * Number(isOfOneSpeaker) + Number(isInOrder);

/** The ways to have a place for each part: of one speaker or of several, in their order or not. */
function arranged(places: ReadonlyArray<readonly Passage[]>): Joined[] {
  const speakers = [...new Set(places[0]?.map((passage) => passage.speakers[0]))];
  const ofOne = speakers.map((speaker) =>
    places.map((each) => each.filter((one) => one.speakers.length < 2 && one.speakers[0] === speaker)),
  );
  const ways = [...ofOne, places].flatMap((each, at) =>
    [true, false].map((isInOrder) => ({
      passages: isInOrder ? ascending(each) : each.flatMap(([first]) => first ?? []),
      ...{ isInOrder, isOfOneSpeaker: at < ofOne.length },
    })),
  );
  return ways.flatMap((way) => {
    const edits = way.passages.reduce((sum, each) => sum + each.edits, 0);
    return way.passages.length === places.length ? [{ ...way, edits }] : [];
  });
}

/** The first place for each part that comes after the one before. */
function ascending(places: ReadonlyArray<readonly Passage[]>): Passage[] {
  const chosen: Passage[] = [];
  for (const each of places) {
    const next = each.find(({ from }) => from > (chosen.at(-1)?.to ?? -1));
    if (!next) break;
    chosen.push(next);
  }
  return chosen;
}
