/**
 * What takes long and seldom changes its answer: `npm test` takes a slice of it, `npm run test:long` all of it. A test
 * file that imports this runs in both.
 */
import { it } from 'vitest';

export const isLong = process.env.STENO_MATRIX === 'all';

/** All cases in the long run; in the others one out of `every`, beginning with the first. */
export const sliceOf = <Case>(cases: readonly Case[], every: number): readonly Case[] =>
  isLong ? cases : cases.filter((_, at) => at % every === 0);

/** A test of the long run alone. */
export const longOnly = it.runIf(isLong);
