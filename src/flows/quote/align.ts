/** Where a quotation fits best into what was said, and what differs there. */
import type { Token } from './tokens.ts';

/** What was said and what was quoted in its place; either may be empty. */
export interface Difference {
  readonly said: string;
  readonly quoted: string;
}

export interface Fit<Said extends Token> {
  readonly said: readonly Said[];
  readonly differences: readonly Difference[];
  /** What was said and is left out of the quotation, though it changes nothing: `um`, a word said twice. */
  readonly leftOut: readonly string[];
  /** In words. */
  readonly edits: number;
}

const MAX_FITS = 1_000;
/** Of words that differ: they are only spelled with more hyphens, perhaps. */
const HYPHENS = 2;
const FILLER_COST = 0.001;

/** 1: another word. `JOINED`: two words of the quotation are one that was said, as `e-mail` and `email`. `SPLIT`: the other way round. */
const [MATCH, ADDED, CUT, JOINED, SPLIT] = [0, 2, 3, 4, 5] as const;
/** Of how many words each is, of the quotation and of what was said. */
const [quotedBy, saidBy] = [[1, 1, 1, 0, 2, 1] as const, [1, 1, 0, 1, 1, 2] as const];

/** The best places, in their order; several if they are equally good, and none with more than `most` edits. */
export function fitsOf<Said extends Token>(
  quoted: readonly Token[],
  said: readonly Said[],
  isStrict: boolean,
  most: number,
): Fit<Said>[] {
  const spare = sparesOf(said);
  const { costs, steps } = compare(quoted, said, spare);
  return endsOf(costs, steps.at(-1), most + HYPHENS).map((end) => {
    const { hunks, from } = hunksBefore(steps, end);
    return { said: said.slice(from, end), ...describe(hunks, quoted, said, spare, isStrict) };
  });
}

/** By Sellers: the quotation as a whole, anywhere in what was said. Time and memory grow with the product of both. */
function compare(quoted: readonly Token[], said: readonly Token[], spare: readonly boolean[]) {
  const both = quoted.map(({ text }, at) => (quoted[at - 1]?.text ?? '') + text);
  // Speed: words are compared by numbers; what is not in the quotation has 0.
  const numbers = new Map([...both, ...quoted.map(({ text }) => text)].map((text, at) => [text, at + 1]));
  const numberOf = (text: string): number => numbers.get(text) ?? 0;
  const words = said.map(({ text }) => numberOf(text));
  const pairs = said.map(({ text }, at) => (at ? numberOf(said[at - 1]?.text + text) : 0));
  const steps = [new Uint8Array(said.length + 1)];
  let [older, costs] = [new Float64Array(said.length + 1), new Float64Array(said.length + 1)];
  for (const [row, { text, isFiller }] of quoted.entries()) {
    const word = { word: numberOf(text), both: numberOf(both[row] ?? ''), isFiller };
    const next = nextRow(word, { words, pairs, spare }, older, costs);
    steps.push(next.steps);
    [older, costs] = [costs, next.costs];
  }
  return { costs, steps };
}

function nextRow(
  { word, both, isFiller }: Record<'word' | 'both', number> & Pick<Token, 'isFiller'>,
  { words, pairs, spare }: Record<'words' | 'pairs', readonly number[]> & Record<'spare', readonly boolean[]>,
  older: Float64Array,
  before: Float64Array,
) {
  const [costs, steps] = [new Float64Array(before.length), new Uint8Array(before.length)];
  const added = isFiller ? FILLER_COST : 1;
  costs[0] = (before[0] as number) + added;
  steps[0] = ADDED;
  for (let at = 1; at < costs.length; at += 1) {
    const differs = Number(words[at - 1] !== word);
    const across = (before[at - 1] as number) + differs;
    const down = (before[at] as number) + added;
    const cut = (costs[at - 1] as number) + (spare[at - 1] ? FILLER_COST : 1);
    const joined = words[at - 1] === both ? (older[at - 1] as number) : down;
    const split = pairs[at - 1] === word ? (before[at - 2] as number) : down;
    const least = Math.min(across, down, cut, joined, split);
    costs[at] = least;
    steps[at] = least === across ? differs : stepOf(least, down, cut, joined);
  }
  return { costs, steps };
}

function stepOf(least: number, down: number, cut: number, joined: number): number {
  if (least === down) return ADDED;
  if (least === cut) return CUT;
  return least === joined ? JOINED : SPLIT;
}

function endsOf(costs: Float64Array, steps: Uint8Array | undefined, limit: number): number[] {
  const lowest = costs.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const most = lowest + FILLER_COST / 2;
  const ends: number[] = [];
  for (let at = 1; lowest <= limit && at < costs.length && ends.length < MAX_FITS; at += 1) {
    if ((costs[at] as number) > most) continue;
    // A word changed at the end, not one added after it.
    if (ends.at(-1) === at - 1 && steps?.[at - 1] === ADDED) ends.pop();
    ends.push(at);
  }
  return ends;
}

/** Words of the quotation that differ from words that were said. */
interface Hunk {
  readonly quoted: readonly [from: number, to: number];
  readonly said: readonly [from: number, to: number];
}

function hunksBefore(steps: readonly Uint8Array[], end: number) {
  const hunks: Hunk[] = [];
  let [row, at] = [steps.length - 1, end];
  let [toRow, toAt] = [row, at];
  const close = (): void => {
    if (row < toRow || at < toAt) hunks.unshift({ quoted: [row, toRow], said: [at, toAt] });
  };
  while (row > 0) {
    const step = steps[row]?.[at] ?? ADDED;
    const [fromRow, from] = [row - (quotedBy[step] ?? 1), at - (saidBy[step] ?? 0)];
    if (step === MATCH || step >= JOINED) {
      close();
      [toRow, toAt] = [fromRow, from];
    }
    [row, at] = [fromRow, from];
  }
  close();
  return { hunks, from: at };
}

function describe(
  hunks: readonly Hunk[],
  quoted: readonly Token[],
  said: readonly Token[],
  spare: readonly boolean[],
  isStrict: boolean,
): Omit<Fit<Token>, 'said'> {
  const differences: Difference[] = [];
  const leftOut: string[] = [];
  let edits = 0;
  for (const hunk of hunks) {
    const [own, other] = [said.slice(...hunk.said), quoted.slice(...hunk.quoted)];
    // White space and hyphens do not count.
    if (joined(own) === joined(other)) continue;
    const isCut = words(other).length === 0 && spare.slice(...hunk.said).every(Boolean);
    const isSame = isCut || (words(own).length > 0 && joined(words(own)) === joined(words(other)));
    if (isSame) leftOut.push(...own.filter(({ isFiller }) => isCut || isFiller).map(({ raw }) => raw));
    if (isSame && !isStrict) continue;
    const counted = isStrict ? [own, other] : [words(own), words(other)];
    edits += Math.max(...counted.map(({ length }) => length));
    differences.push({ said: rawOf(own), quoted: rawOf(other) });
  }
  return { differences, leftOut, edits };
}

const rawOf = (tokens: readonly Token[]): string => tokens.map(({ raw }) => raw).join(' ');

const words = (tokens: readonly Token[]): readonly Token[] => tokens.filter(({ isFiller }) => !isFiller);

const joined = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('');

/** In words: what a speaker says twice at once. */
const MAX_REPEATED = 4;

/** What may be left out: fillers, and words said again, as in `we had, we had more`. */
function sparesOf(said: readonly Token[]): boolean[] {
  const spare = said.map(({ isFiller }) => isFiller);
  const places = said.flatMap(({ isFiller }, at) => (isFiller ? [] : [at]));
  const texts = places.map((place) => said[place]?.text);
  for (const at of places.keys())
    for (let size = 1; size <= Math.min(MAX_REPEATED, at, places.length - at); size += 1) {
      const isRepeated = (by: number): boolean => texts[at + by] === texts[at + by - size];
      const own = places.slice(at, at + size);
      if (own.every((_, by) => isRepeated(by))) for (const place of own) spare[place] = true;
    }
  return spare;
}
