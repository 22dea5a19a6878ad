/** Tries mutants with the tests that start no program: many of them in one process, some milliseconds each. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATE } from './copies.ts';
import type { Host } from './hosts.ts';
import type { Mutant } from './mutate.ts';
import type { Trial } from './trial.ts';
import type { TrialAnswer, TrialsWork } from './trials-work.ts';

/** What a mutant gets of these tests; those that take long come last. */
const BUDGET_MS = 20_000;
/** A mutant that takes as long as this has made a loop that does not end. */
const STALL_MS = 45_000;
/** The tests themselves come first, without a mutant. */
const FIRST_STALL_MS = 240_000;
const LIMIT_MS = 24 * 3_600_000;

export async function tryInProcess(
  host: Host,
  root: string,
  tests: readonly string[],
  mutants: readonly Mutant[],
  names: string,
  onTrial: (mutant: Mutant, trial: Trial) => void,
): Promise<void> {
  const state = join(root, STATE);
  const [answers, current] = [join(state, 'answers'), join(state, 'current')];
  let left = [...mutants];
  while (left.length) {
    for (const path of [answers, current]) rmSync(path, { force: true });
    const work: TrialsWork = {
      ...{ tests: tests.map((file) => join(root, file)), mutants: left.map(({ id }) => id) },
      ...{ names, budgetMs: BUDGET_MS, answers, current },
    };
    writeFileSync(join(state, 'work.json'), JSON.stringify(work));
    const byId = new Map(left.map((mutant) => [mutant.id, mutant]));
    const onAnswer = ({ id, ...trial }: TrialAnswer): void => {
      const mutant = byId.get(id);
      if (mutant) onTrial(mutant, trial);
      byId.delete(id);
    };
    const why = await runUntilStall(host, answers, onAnswer);
    left = [...byId.values()];
    const stuck = left.find(({ id }) => String(id) === read(current));
    if (left.length && !stuck) throw new Error(`the tests fail without a mutant: ${why || 'they stall'}`);
    if (stuck) onTrial(stuck, { fate: 'timeout' });
    left = left.filter((each) => each !== stuck);
  }
}

/** Gives why it ended early; nothing where it stalled. */
async function runUntilStall(
  host: Host,
  path: string,
  onAnswer: (answer: TrialAnswer) => void,
): Promise<string> {
  let [told, since] = [0, Date.now()];
  const tell = (): void => {
    // The last line may not be whole.
    const answers = read(path).split('\n').slice(told, -1);
    for (const answer of answers) onAnswer(JSON.parse(answer) as TrialAnswer);
    told += answers.length;
    if (answers.length) since = Date.now();
  };
  const watch = setInterval(() => {
    tell();
    if (Date.now() - since > (told ? STALL_MS : FIRST_STALL_MS)) host.stop();
  }, 1_000);
  try {
    const tests = [{ project: 'in process', file: 'test/mutants/trials.ts' }];
    const answer = await host.run({ tests, chosen: '0', stopAtFirst: false }, LIMIT_MS);
    return answer?.failure?.message ?? '';
  } finally {
    clearInterval(watch);
    tell();
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
