/** Tries one mutant: runs the tests that reach it, the likeliest first, until one of them fails. */
import type { ReachingTest } from './coverage.ts';
import type { TestsOfFile } from './host.ts';
import type { Host } from './hosts.ts';
import type { Mutant } from './mutate.ts';

export type Fate = 'killed' | 'survived' | 'unreached' | 'timeout';

export interface Trial {
  readonly fate: Fate;
  /** What killed it. */
  readonly by?: string;
}

export interface TrialOptions {
  /** How many milliseconds of tests a mutant gets, as they take without one. */
  readonly budgetMs: number;
}

/** The first tests mostly kill it, so they run alone; the later ones share a run. */
const FIRST_ROUNDS_MS = [0, 4_000];
/** A mutant that makes tests this many times as slow is found out by that. */
const SLOWER = 6;
const LEAST_LIMIT_MS = 20_000;

/** How often a test has killed a mutant of a source file. */
export class Killers {
  readonly #counts = new Map<string, number>();

  note({ file }: Mutant, test: string): void {
    const key = `${file} ${test}`;
    this.#counts.set(key, this.count(file, test) + 1);
  }

  count(file: string, test: string): number {
    return this.#counts.get(`${file} ${test}`) ?? 0;
  }
}

export async function tryMutant(
  host: Host,
  mutant: Mutant,
  tests: readonly ReachingTest[],
  killers: Killers,
  { budgetMs }: TrialOptions,
): Promise<Trial> {
  if (tests.length === 0) return { fate: 'unreached' };
  for (const round of rounds(chosen(mutant, tests, killers, budgetMs))) {
    const failure = await runRound(host, mutant, round);
    if (failure === undefined) continue;
    if (failure === 'timeout') return { fate: 'timeout', by: round.map(({ name }) => name).join(', ') };
    const test = round.find(({ id }) => id === failure.test);
    if (test) killers.note(mutant, keyOf(test));
    return { fate: 'killed', by: test ? `${test.file} > ${test.name}` : failure.message };
  }
  return { fate: 'survived' };
}

const keyOf = ({ project, id }: ReachingTest): string => `${project} ${id}`;

/** What has killed neighbours comes first, then the quickest test of each file, then the next quickest. */
function chosen(
  { file }: Mutant,
  tests: readonly ReachingTest[],
  killers: Killers,
  budgetMs: number,
): ReachingTest[] {
  const quickest = [...tests].sort((a, b) => a.ms - b.ms);
  const inFile = new Map<string, number>();
  const ranked = quickest.map((test) => {
    const of = `${test.project} ${test.file}`;
    const rank = inFile.get(of) ?? 0;
    inFile.set(of, rank + 1);
    return { test, rank, kills: killers.count(file, keyOf(test)) };
  });
  ranked.sort((a, b) => b.kills / (b.test.ms + 300) - a.kills / (a.test.ms + 300) || a.rank - b.rank);
  let sum = 0;
  return ranked.flatMap(({ test }) => {
    sum += test.ms;
    return sum <= budgetMs || sum === test.ms ? [test] : [];
  });
}

function rounds(tests: readonly ReachingTest[]): ReachingTest[][] {
  const found: ReachingTest[][] = [];
  let rest = tests;
  for (const limit of [...FIRST_ROUNDS_MS, Number.POSITIVE_INFINITY]) {
    let sum = 0;
    const round = rest.filter((test, at) => {
      sum += test.ms;
      return at === 0 || sum <= limit;
    });
    rest = rest.filter((test) => !round.includes(test));
    if (round.length) found.push(round);
  }
  return found;
}

/** A machine may be busy: what takes too long gets a second try. */
async function runRound(
  host: Host,
  { id }: Mutant,
  round: readonly ReachingTest[],
): Promise<{ readonly test: string; readonly message: string } | 'timeout' | undefined> {
  const sum = round.reduce((all, { ms }) => all + ms, 0);
  const request = { tests: byFile(round), chosen: String(id), stopAtFirst: true };
  for (const factor of [1, 2]) {
    const answer = await host.run(request, factor * Math.max(LEAST_LIMIT_MS, SLOWER * sum));
    if (!answer) continue;
    if (answer.failure) return answer.failure;
    if (answer.ran.length === 0) throw new Error(`no test ran for mutant ${id}`);
    return undefined;
  }
  return 'timeout';
}

function byFile(tests: readonly ReachingTest[]): TestsOfFile[] {
  const files = new Map<string, { project: string; file: string; ids: string[] }>();
  for (const { project, file, id } of tests) {
    const key = `${project} ${file}`;
    const found = files.get(key) ?? { project, file, ids: [] };
    found.ids.push(id);
    files.set(key, found);
  }
  return [...files.values()];
}
