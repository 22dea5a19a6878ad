/** Copies of the checkout in which the sources hold their mutants: the tree itself is never touched. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Mutant, mutate } from './mutate.ts';

/** What a run needs to know of a copy; each runs one mutant at a time. */
export interface Copy {
  readonly root: string;
  readonly mutants: readonly Mutant[];
}

export interface CopyOptions {
  readonly root: string;
  /** The sources that get mutants. */
  readonly files: readonly string[];
  /** The test files of the local ledger, and those that run with a shared one too. */
  readonly tests: readonly string[];
  readonly shared: readonly string[];
}

/** In the copy: which mutant is chosen, which test is running, and what was reached. */
export const STATE = '.mutants';

/** What a copy does without. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git']);

export function makeCopy({ root, files, tests, shared }: CopyOptions): Copy {
  for (const name of readdirSync('.'))
    if (!LEFT_OUT.has(name) && !name.startsWith('dist.')) cpSync(name, join(root, name), { recursive: true });
  // One test at a time: what is reached meanwhile is reached by that test.
  for (const file of tests) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(join(root, file), text.replace(/\.concurrent(?=[.(])/g, ''));
  }
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'junction');
  mkdirSync(join(root, STATE), { recursive: true });
  writeFileSync(join(root, STATE, 'chosen'), '0');
  const mutants: Mutant[] = [];
  const switchFile = join(root, 'src/mutant-switch.ts');
  for (const file of files) {
    const path = `./${relative(dirname(join(root, file)), switchFile)}`.replace('./../', '../');
    const mutated = mutate(file, readFileSync(file, 'utf8'), mutants.length + 1, path);
    writeFileSync(join(root, file), mutated.source);
    mutants.push(...mutated.mutants);
  }
  writeFileSync(switchFile, switchSource(join(root, STATE)));
  writeFileSync(join(root, STATE, 'setup.ts'), setupSource(join(root, STATE)));
  writeFileSync(join(root, 'vitest.config.ts'), configSource(tests, shared));
  execFileSync(process.execPath, ['rolldown.config.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { root, mutants };
}

/**
 * Says which mutant is chosen. Tests that run in one process for many mutants say it themselves. Elsewhere it is in a
 * file, because tests give the programs that they start an environment of their own; without a number, what is reached
 * is recorded, by test.
 */
const switchSource = (folder: string): string => `
import { appendFileSync, readFileSync } from 'node:fs';
const read = (name) => readFileSync(${JSON.stringify(`${folder}/`)} + name, 'utf8');
const trial = globalThis.stenoTrial;
const chosen = trial ? trial.chosen : Number(read('chosen'));
let started;
// By mutant, the test that reached it last: millions of calls come from one test.
const reachedBy = [];
function record(id) {
  const test = trial ? trial.test : (globalThis.stenoTest ?? (started ??= read('test')));
  if (reachedBy[id] === test) return false;
  reachedBy[id] = test;
  if (trial) trial.reached.push([test, id]);
  else appendFileSync(${JSON.stringify(join(folder, 'reached'))}, test + ' ' + id + '\\n');
  return false;
}
export const isMutant = Number.isNaN(chosen) ? record : (id) => id === chosen;
`;

/** Says which test is running: to modules of its own process, and to programs that it starts. */
const setupSource = (folder: string): string => `
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach } from 'vitest';
import fc from 'fast-check';
fc.configureGlobal({ seed: 20261115 });
const note = (id) => {
  globalThis.stenoTest = id;
  writeFileSync(${JSON.stringify(join(folder, 'test'))}, id);
};
// What is reached while modules are loaded belongs to all tests of the file.
note('*');
beforeEach(({ task }) => note(task.id));
afterEach(() => note('*'));
`;

const configSource = (tests: readonly string[], shared: readonly string[]): string => `
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
const common = {
  setupFiles: ['${STATE}/setup.ts', 'test/support/hooks.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
export default {
  test: {
    maxWorkers: 1,
    // What measures time tells nothing of a program that holds all mutants.
    testNamePattern: /${SLOW_TESTS}/,
    fileParallelism: false,
    projects: [
      { extends: true, test: { ...common, name: 'steno', include: ${JSON.stringify(tests)} } },
      {
        extends: true,
        test: {
          ...common,
          name: 'shared ledger',
          include: ${JSON.stringify(shared)},
          env: { STENO_TEST_STORE: 'postgres' },
          globalSetup: ['test/support/setup-postgres.ts'],
        },
      },
      {
        extends: true,
        resolve: { alias: { vitest: resolve('test/mutants/collecting-vitest.ts') } },
        test: { name: 'in process', include: ['test/mutants/trials.ts'], testTimeout: 86_400_000 },
      },
    ],
  },
};
`;

/** Tests whose names this does not match are left out. */
const SLOW_TESTS = '^(?!.*(in proportion to|is quick))';
/** In one process, PostgreSQL would take most of the time; tests that start the program use it. */
export const NOT_IN_PROCESS =
  '^(?!.*(in proportion to|is quick|number of steps|few steps|in one pass|in PostgreSQL))';
/** Those that use it, for what survived the others. */
export const ON_POSTGRES = 'in PostgreSQL';
