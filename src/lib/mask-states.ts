/** Patterns as numbered states, a state for each place of each pattern and one more for its end. */
import type { Pattern } from './mask-encodings.ts';

export const NONE = -1;

/** How many characters may lead from a state to the next one. */
const WAYS = 3;

export class States {
  readonly count: number;
  readonly isEnd: Uint8Array;
  /** Counts only where it stands alone. */
  readonly isAlone: Uint8Array;
  /** A line break may stand here. */
  readonly wraps: Uint8Array;
  /** By character: the states in which a pattern begins with it. */
  readonly beginnings = new Map<number, number[]>();
  readonly #ways: Int32Array;

  constructor(patterns: readonly Pattern[]) {
    this.count = patterns.reduce((sum, { places }) => sum + places.length + 1, 0);
    this.isEnd = new Uint8Array(this.count);
    this.isAlone = new Uint8Array(this.count);
    this.wraps = new Uint8Array(this.count);
    this.#ways = new Int32Array(this.count * WAYS).fill(NONE);
    let first = 0;
    for (const pattern of patterns) first = this.#add(pattern, first);
  }

  /** Gives the number of the next free state. */
  #add({ places, alone, wraps }: Pattern, first: number): number {
    const end = first + places.length;
    this.isEnd[end] = 1;
    this.isAlone.fill(Number(alone), first, end + 1);
    this.wraps.fill(Number(wraps), first, end);
    places.forEach((characters, at) => {
      for (let way = 0; way < characters.length; way += 1)
        this.#ways[(first + at) * WAYS + way] = characters.charCodeAt(way);
    });
    for (const character of (places[0] ?? '').split('')) {
      const unit = character.charCodeAt(0);
      const others = this.beginnings.get(unit);
      if (others) others.push(first);
      else this.beginnings.set(unit, [first]);
    }
    return end + 1;
  }

  /** Whether this character leads to the next state. */
  takes(state: number, unit: number): boolean {
    const ways = this.#ways;
    const at = state * WAYS;
    return ways[at] === unit || ways[at + 1] === unit || ways[at + 2] === unit;
  }
}

/** A set of states, each with the place in the text where its match began: the earliest, if there are several. */
export class PartialMatches {
  readonly states: Int32Array;
  readonly starts: Int32Array;
  size = 0;
  /** Where a match that begins with the next character starts, and the last place where it may. */
  from = NONE;
  lastFrom = NONE;
  readonly #slots: Int32Array;

  constructor(count: number) {
    this.states = new Int32Array(count);
    this.starts = new Int32Array(count);
    this.#slots = new Int32Array(count);
  }

  add(state: number, start: number): void {
    const slot = this.#slots[state] as number;
    // Slots are never reset: one counts only if it leads back to its state.
    if (slot < this.size && this.states[slot] === state) {
      if (start < (this.starts[slot] as number)) this.starts[slot] = start;
      return;
    }
    this.#slots[state] = this.size;
    this.states[this.size] = state;
    this.starts[this.size] = start;
    this.size += 1;
  }

  clear(): void {
    this.size = 0;
    this.from = NONE;
  }
}
