/** The mutants that no test kills, each with the reason, written by hand: test/mutants/survivors.json. */
import { readFileSync } from 'node:fs';
import type { Mutant } from './mutate.ts';

/** A mutant is known by its text, so that lines may move. */
export interface Survivor extends Pick<Mutant, 'file' | 'within' | 'from' | 'to'> {
  /** Which of several alike; absent for the first. */
  readonly nth?: number;
  /** Why it may survive: it behaves the same, or what differs can't be seen in a test. */
  readonly why: string;
}

export const SURVIVORS = 'test/mutants/survivors.json';

export const readSurvivors = (path = SURVIVORS): Survivor[] =>
  JSON.parse(readFileSync(path, 'utf8')) as Survivor[];

export const keyOf = ({ file, within, from, to, nth = 1 }: Omit<Survivor, 'why'>): string =>
  JSON.stringify([file, within, from, to, nth]);

export interface Judged {
  /** They survive, and nothing says why. */
  readonly unexplained: readonly Mutant[];
  /** They are explained, but the source has no such mutant any more. */
  readonly gone: readonly Survivor[];
  /** They are explained, but a test kills them. */
  readonly killed: readonly Survivor[];
}

export function judge(
  survivors: readonly Survivor[],
  all: readonly Mutant[],
  survived: readonly Mutant[],
  tried: readonly Mutant[],
): Judged {
  const explained = new Set(survivors.map(keyOf));
  const known = new Set(all.map(keyOf));
  const wasTried = new Set(tried.map(keyOf));
  const lives = new Set(survived.map(keyOf));
  return {
    unexplained: survived.filter((mutant) => !explained.has(keyOf(mutant))),
    gone: survivors.filter((each) => !known.has(keyOf(each))),
    killed: survivors.filter((each) => wasTried.has(keyOf(each)) && !lives.has(keyOf(each))),
  };
}
