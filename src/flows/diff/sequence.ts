/**
 * What must be done to make one list of words another: as few insertions, deletions and substitutions as possible. Long
 * texts that differ a lot are cut into parts first, at what both say once, so they may take a few more.
 */

export const EQUAL = 0;
export const CHANGED = 1;
export const DELETED = 2;
export const INSERTED = 3;

/** Texts with more differences are cut into parts first: comparing this many takes 36 MB. */
const MAX_DISTANCE = 3000;
/** The same limit for each part. */
const MAX_PART_DISTANCE = 1000;
/** Parts of parts: unless their cuts leave little, they are halved. */
const MAX_DEPTH = 8;

/** One step for each word that is equal, changed, deleted or inserted. */
export function stepsBetween(old: readonly string[], other: readonly string[]): number[] {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size;
    if (known === numbers.size) numbers.set(word, known);
    return known;
  };
  return stepsIn(Int32Array.from(old, numberOf), Int32Array.from(other, numberOf), 0);
}

function stepsIn(a: Int32Array, b: Int32Array, depth: number): number[] {
  const most = Math.min(a.length, b.length);
  let [start, end] = [0, 0];
  while (start < most && a[start] === b[start]) start += 1;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const inner = innerSteps(a.subarray(start, a.length - end), b.subarray(start, b.length - end), depth);
  return [equal(start), inner, equal(end)].flat();
}

const equal = (count: number): number[] => Array<number>(count).fill(EQUAL);

function innerSteps(a: Int32Array, b: Int32Array, depth: number): number[] {
  const steps = byDiagonals(a, b, depth ? MAX_PART_DISTANCE : MAX_DISTANCE);
  if (steps) return steps;
  const anchors = depth < MAX_DEPTH ? anchorsIn(a, b) : [];
  if (anchors.length === 0) anchors.push([a.length >> 1, b.length >> 1]);
  const all: number[] = [];
  let [fromA, fromB] = [0, 0];
  for (const [toA, toB] of [...anchors, [a.length, b.length] as const]) {
    for (const step of stepsIn(a.subarray(fromA, toA), b.subarray(fromB, toB), depth + 1)) all.push(step);
    [fromA, fromB] = [toA, toB];
  }
  return all;
}

/**
 * How far each diagonal (place in b less place in a) gets with so many differences (Ukkonen, Landau and Vishkin).
 * Undefined where more are needed than are allowed.
 */
function byDiagonals(a: Int32Array, b: Int32Array, most: number): number[] | undefined {
  const goal = b.length - a.length;
  if (a.length === 0 || b.length === 0)
    return Array<number>(Math.abs(goal)).fill(goal > 0 ? INSERTED : DELETED);
  if (Math.abs(goal) > most) return undefined;
  const reached: Int32Array[] = [];
  for (let e = 0; e <= most; e += 1) {
    const row = reachedWith(e, reached[e - 1], a, b);
    reached.push(row);
    if (Math.abs(goal) <= e && (row[goal + e + 2] as number) >= a.length)
      return stepsBack(reached, goal, a.length);
  }
  return undefined;
}

/** The place in `a` on a diagonal that is out of reach. */
const NOWHERE = -2;

function reachedWith(e: number, before: Int32Array | undefined, a: Int32Array, b: Int32Array): Int32Array {
  const row = new Int32Array(2 * e + 5).fill(NOWHERE);
  for (let k = -e; k <= e; k += 1) {
    const start = before ? furthest(before, k + e + 1) : 0;
    let at = Math.min(start, a.length, b.length - k);
    if (at < 0 || at + k < 0) continue;
    const end = Math.min(a.length, b.length - k);
    while (at < end && a[at] === b[at + k]) at += 1;
    row[k + e + 2] = at;
  }
  return row;
}

/** From the places with one difference less; `at` is that of the same diagonal. */
const furthest = (before: Int32Array, at: number): number =>
  Math.max((before[at] as number) + 1, before[at - 1] as number, (before[at + 1] as number) + 1);

function stepsBack(reached: readonly Int32Array[], goal: number, length: number): number[] {
  const steps: number[] = [];
  let [k, at] = [goal, length];
  for (let e = reached.length - 1; e > 0; e -= 1) {
    const before = reached[e - 1] as Int32Array;
    const same = k + e + 1;
    const from = Math.min(furthest(before, same), at);
    for (; at > from; at -= 1) steps.push(EQUAL);
    let step = INSERTED;
    if ((before[same + 1] as number) + 1 >= from) step = DELETED;
    if ((before[same] as number) + 1 >= from) step = CHANGED;
    steps.push(step);
    if (step !== INSERTED) at -= 1;
    if (step === DELETED) k += 1;
    if (step === INSERTED) k -= 1;
  }
  for (; at > 0; at -= 1) steps.push(EQUAL);
  return steps.reverse();
}

/** Where three words stand in both texts once each: the longest run of those in the same order (patience). */
function anchorsIn(a: Int32Array, b: Int32Array): Array<readonly [a: number, b: number]> {
  const inB = uniqueIn(b);
  const pairs: Array<readonly [number, number]> = [];
  for (const [key, at] of uniqueIn(a)) {
    const other = inB.get(key);
    if (at >= 0 && other !== undefined && other >= 0) pairs.push([at, other]);
  }
  return increasing(pairs);
}

/** Where each three words stand; negative where more than once. */
function uniqueIn(words: Int32Array): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = 0; at + 2 < words.length; at += 1) {
    const key = `${words[at]} ${words[at + 1]} ${words[at + 2]}`;
    places.set(key, places.has(key) ? -1 : at);
  }
  return places;
}

/** The first places increase already. */
function increasing(pairs: ReadonlyArray<readonly [number, number]>): Array<readonly [number, number]> {
  const tops: number[] = [];
  const before: number[] = [];
  for (const [at, [, other]] of pairs.entries()) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tops[middle] as number]?.[1] ?? 0) < other) low = middle + 1;
      else high = middle;
    }
    before.push(tops[low - 1] ?? -1);
    tops[low] = at;
  }
  const found: Array<readonly [number, number]> = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] ?? -1)
    found.push(pairs[at] as readonly [number, number]);
  return found.reverse();
}
