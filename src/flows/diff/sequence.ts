/**
 * What must be done to make one list of words another: as few insertions, deletions and substitutions as possible. Long
 * texts that differ a lot are cut into parts first, at what both say once, so they may take a few more.
 */

export const EQUAL = 0;
export const CHANGED = 1;
export const DELETED = 2;
export const INSERTED = 3;

/** A thousand words against as many: compared in a table. */
const MAX_CELLS = 1_000_000;
/** Longer texts are compared at once if they have no more differences: these take 16 MB. */
const MAX_DISTANCE = 2000;
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
  const comparison = new Comparison(Int32Array.from(old, numberOf), Int32Array.from(other, numberOf));
  comparison.compare(0, old.length, 0, other.length, 0);
  return comparison.steps;
}

class Comparison {
  readonly steps: number[] = [];
  readonly #a: Int32Array;
  readonly #b: Int32Array;

  constructor(a: Int32Array, b: Int32Array) {
    this.#a = a;
    this.#b = b;
  }

  compare(fromA: number, toA: number, fromB: number, toB: number, depth: number): void {
    let [startA, startB, endA, endB] = [fromA, fromB, toA, toB];
    while (startA < endA && startB < endB && this.#a[startA] === this.#b[startB]) {
      startA += 1;
      startB += 1;
    }
    while (startA < endA && startB < endB && this.#a[endA - 1] === this.#b[endB - 1]) {
      endA -= 1;
      endB -= 1;
    }
    this.#add(EQUAL, startA - fromA);
    this.#compareInner(startA, endA, startB, endB, depth);
    this.#add(EQUAL, toA - endA);
  }

  #compareInner(fromA: number, toA: number, fromB: number, toB: number, depth: number): void {
    const [a, b] = [this.#a.subarray(fromA, toA), this.#b.subarray(fromB, toB)];
    if (a.length === 0) return void this.#add(INSERTED, b.length);
    if (b.length === 0) return void this.#add(DELETED, a.length);
    const steps = a.length * b.length <= MAX_CELLS ? byTable(a, b) : depth === 0 && byDiagonals(a, b);
    if (steps) {
      for (let at = steps.length - 1; at >= 0; at -= 1) this.steps.push(steps[at] as number);
      return;
    }
    const anchors = depth < MAX_DEPTH ? anchorsIn(a, b) : [];
    if (anchors.length === 0) anchors.push([a.length >> 1, b.length >> 1]);
    let [lastA, lastB] = [0, 0];
    for (const [atA, atB] of [...anchors, [a.length, b.length] as const]) {
      this.compare(fromA + lastA, fromA + atA, fromB + lastB, fromB + atB, depth + 1);
      [lastA, lastB] = [atA, atB];
    }
  }

  #add(step: number, count: number): void {
    for (let left = count; left > 0; left -= 1) this.steps.push(step);
  }
}

/** Steps from the end to the beginning. */
type Backwards = number[];

/** Levenshtein: what the step into each cell is. */
function byTable(a: Int32Array, b: Int32Array): Backwards {
  const width = b.length + 1;
  const into = new Uint8Array((a.length + 1) * width).fill(INSERTED, 1, width);
  let row = Int32Array.from({ length: width }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = new Int32Array(width);
    next[0] = i;
    into[i * width] = DELETED;
    const word = a[i - 1];
    for (let j = 1; j < width; j += 1) {
      const isSame = word === b[j - 1];
      const deleted = (row[j] as number) + 1;
      const inserted = (next[j - 1] as number) + 1;
      let best = (row[j - 1] as number) + (isSame ? 0 : 1);
      let step = isSame ? EQUAL : CHANGED;
      if (deleted < best) {
        best = deleted;
        step = DELETED;
      }
      if (inserted < best) {
        best = inserted;
        step = INSERTED;
      }
      next[j] = best;
      into[i * width + j] = step;
    }
    row = next;
  }
  return tableSteps(into, a.length, b.length);
}

function tableSteps(into: Uint8Array, rows: number, columns: number): Backwards {
  const steps: Backwards = [];
  for (let [i, j] = [rows, columns]; i > 0 || j > 0; ) {
    const step = into[i * (columns + 1) + j] as number;
    steps.push(step);
    if (step !== INSERTED) i -= 1;
    if (step !== DELETED) j -= 1;
  }
  return steps;
}

/**
 * How far each diagonal (place in b less place in a) gets with so many differences (Ukkonen, Landau and Vishkin).
 * Undefined where more are needed than are allowed.
 */
function byDiagonals(a: Int32Array, b: Int32Array): Backwards | undefined {
  const goal = b.length - a.length;
  if (Math.abs(goal) > MAX_DISTANCE) return undefined;
  const reached: Int32Array[] = [];
  for (let e = 0; e <= MAX_DISTANCE; e += 1) {
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

function stepsBack(reached: readonly Int32Array[], goal: number, length: number): Backwards {
  const steps: Backwards = [];
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
  return steps;
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
