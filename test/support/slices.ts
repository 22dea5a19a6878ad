/**
 * What takes long and seldom changes its answer: `npm test` takes a slice of it, `npm run test:long` all of it. A test
 * file that imports this runs in both. With STENO_SLICE=2/8 the long run takes the second of eight slices, which
 * together are all of it.
 */
import { createHash } from 'node:crypto';
import { it } from 'vitest';

export const isLong = process.env.STENO_MATRIX === 'all';

/** All cases in the long run; in the others one out of `every`, beginning with the first. */
export const sliceOf = <Case>(cases: readonly Case[], every: number): readonly Case[] =>
  isLong ? cases : cases.filter((_, at) => at % every === 0);

/** A test of the long run alone. */
export const longOnly = it.runIf(isLong);

export interface Slice {
  /** From 1 to `of`. */
  readonly number: number;
  readonly of: number;
}

/** Reads `2/6`. */
export function parseSlice(text: string): Slice {
  const [, number, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (!number || !of || number > of) throw new Error(`STENO_SLICE is like 2/6, not '${text}'`);
  return { number, of };
}

/** The slice that the long run is limited to, if it is. */
export const wantedSlice =
  isLong && process.env.STENO_SLICE ? parseSlice(process.env.STENO_SLICE) : undefined;

/**
 * The cases of a slice: never none of several, and each of them in one slice at least. The name shifts them, so that
 * the first cases of all files are not in the same slice.
 */
export function casesInSlice<Case>(
  cases: readonly Case[],
  name: string,
  slice = wantedSlice,
): readonly Case[] {
  if (!slice) return cases;
  const groups = Math.min(slice.of, cases.length);
  const shift = createHash('sha1').update(name).digest().readUInt32BE();
  return cases.filter((_, at) => at % groups === (shift + slice.number) % groups);
}
