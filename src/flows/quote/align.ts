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
const [MATCH, CHANGED, ADDED, CUT] = [0, 1, 2, 3] as const;

/** The best places, in their order; several if they are equally good, and none with more than `most` edits. */
export function fitsOf<Said extends Token>(
  quoted: readonly Token[],
  said: readonly Said[],
  isStrict: boolean,
  most: number,
): Fit<Said>[] {
  const wanted = spelledLike(said, quoted);
  const spare = sparesOf(said);
  const { ends, steps } = compare(wanted, said, spare, most + HYPHENS);
  return ends.map((end) => {
    const { hunks, from } = hunksBefore(wanted, said, steps, end);
    return { said: said.slice(from, end), ...describe(hunks, said, spare, isStrict) };
  });
}

/** By Sellers: the quotation as a whole, anywhere in what was said. Time and memory grow with the product of both. */
function compare(wanted: readonly Token[], said: readonly Token[], spare: readonly boolean[], most: number) {
  const width = said.length + 1;
  const steps = new Uint8Array((wanted.length + 1) * width);
  let costs: Float64Array = new Float64Array(width);
  for (const [row, token] of wanted.entries())
    costs = nextRow(token, said, spare, costs, steps.subarray((row + 1) * width, (row + 2) * width));
  return { ends: endsOf(costs, steps.subarray(wanted.length * width), most), steps };
}

function nextRow(
  token: Token,
  said: readonly Token[],
  spare: readonly boolean[],
  before: Float64Array,
  steps: Uint8Array,
): Float64Array {
  const costs = new Float64Array(before.length);
  const added = token.isFiller ? FILLER_COST : 1;
  costs[0] = (before[0] as number) + added;
  steps[0] = ADDED;
  for (let at = 1; at < costs.length; at += 1) {
    const other = said[at - 1] as Token;
    const isSame = other.text === token.text;
    const across = (before[at - 1] as number) + (isSame ? 0 : 1);
    const down = (before[at] as number) + added;
    const least = Math.min(across, down, (costs[at - 1] as number) + (spare[at - 1] ? FILLER_COST : 1));
    costs[at] = least;
    if (least === across) steps[at] = isSame ? MATCH : CHANGED;
    else steps[at] = least === down ? ADDED : CUT;
  }
  return costs;
}

function endsOf(costs: Float64Array, steps: Uint8Array, limit: number): number[] {
  const lowest = costs.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const most = lowest + FILLER_COST / 2;
  const ends: number[] = [];
  for (let at = 1; lowest <= limit && at < costs.length && ends.length < MAX_FITS; at += 1) {
    if ((costs[at] as number) > most) continue;
    // A word changed at the end, not one added after it.
    if (ends.at(-1) === at - 1 && steps[at - 1] === ADDED) ends.pop();
    ends.push(at);
  }
  return ends;
}

interface Hunk {
  readonly quoted: Token[];
  readonly saidAt: number[];
}

function hunksBefore(wanted: readonly Token[], said: readonly Token[], steps: Uint8Array, end: number) {
  const width = said.length + 1;
  const hunks: Hunk[] = [];
  let [row, at, isOpen] = [wanted.length, end, false];
  while (row > 0) {
    const step = steps[row * width + at];
    if (step !== MATCH && !isOpen) hunks.unshift({ quoted: [], saidAt: [] });
    isOpen = step !== MATCH;
    const [hunk] = hunks;
    if (step !== CUT) row -= 1;
    if (step !== ADDED) at -= 1;
    if (!isOpen || !hunk) continue;
    if (step !== CUT) hunk.quoted.unshift(wanted[row] as Token);
    if (step !== ADDED) hunk.saidAt.unshift(at);
  }
  return { hunks, from: at };
}

function describe(
  hunks: readonly Hunk[],
  said: readonly Token[],
  spare: readonly boolean[],
  isStrict: boolean,
): Omit<Fit<Token>, 'said'> {
  const differences: Difference[] = [];
  const leftOut: string[] = [];
  let edits = 0;
  for (const { quoted, saidAt } of hunks) {
    const own = saidAt.map((at) => said[at] as Token);
    // White space and hyphens do not count.
    if (joined(own) === joined(quoted)) continue;
    const isCut = words(quoted).length === 0 && saidAt.every((at) => spare[at]);
    const isSame = isCut || (words(own).length > 0 && joined(words(own)) === joined(words(quoted)));
    if (isSame) leftOut.push(...own.filter(({ isFiller }) => isCut || isFiller).map(({ raw }) => raw));
    if (isSame && !isStrict) continue;
    const counted = isStrict ? [own, quoted] : [words(own), words(quoted)];
    edits += Math.max(...counted.map(({ length }) => length));
    differences.push({ said: rawOf(own), quoted: rawOf(quoted) });
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
      let same = 0;
      while (same < size && texts[at + same] === texts[at + same - size]) same += 1;
      if (same === size) for (const place of places.slice(at, at + size)) spare[place] = true;
    }
  return spare;
}

/** With the blanks and hyphens of what was said: `e-mail` and `email` are the same. */
function spelledLike(said: readonly Token[], quoted: readonly Token[]): Token[] {
  const words = new Set(said.map(({ text }) => text));
  // Speed: few quotations need it.
  let pairs: Map<string, readonly [string, string]> | undefined;
  const pairOf = (text: string): readonly [string, string] | undefined => {
    pairs ??= new Map(
      said.slice(1).map((next, at) => [said[at]?.text + next.text, [said[at]?.text ?? '', next.text]]),
    );
    return pairs.get(text);
  };
  const spelled: Token[] = [];
  for (let at = 0; at < quoted.length; at += 1) {
    const [token, next] = [quoted[at] as Token, quoted[at + 1]];
    const both = token.text + next?.text;
    const pair = words.has(token.text) ? undefined : pairOf(token.text);
    if (next && words.has(both) && !pairOf(both)) {
      spelled.push({ ...token, text: both, raw: `${token.raw} ${next.raw}`, end: next.end });
      at += 1;
    } else if (pair) spelled.push(...pair.map((text) => ({ ...token, text })));
    else spelled.push(token);
  }
  return spelled;
}
