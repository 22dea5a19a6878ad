/** Tries many mutants in one process: modules are loaded anew for each, which takes some milliseconds. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { it, vi } from '../../node_modules/vitest/dist/index.js';
import type { Collected, Test } from './collecting-vitest.ts';
import type { TrialAnswer, TrialsWork } from './trials-work.ts';

interface Known {
  readonly file: string;
  readonly at: number;
  readonly name: string;
  readonly ms: number;
}

const TEST_LIMIT_MS = 15_000;

interface Trial {
  chosen: number;
  test: string;
  readonly reached: Array<[string, number]>;
}

const trial: Trial = { chosen: Number.NaN, test: '', reached: [] };
Object.assign(globalThis, { stenoTrial: trial });

async function load(file: string): Promise<Collected> {
  const { collect, afterAll, afterEach } = (await import(
    './collecting-vitest.ts'
  )) as typeof import('./collecting-vitest.ts');
  const { endFile, endTest } = await import('../support/test-end.ts');
  return collect(async () => {
    afterEach((context) => endTest(context as Parameters<typeof endTest>[0]));
    afterAll(endFile);
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  });
}

async function runTest({ run }: Test): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error('it takes too long')), TEST_LIMIT_MS);
  });
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs the tests of a file without a mutant: which there are, and how long they take. */
async function measure(file: string, names: RegExp): Promise<Known[]> {
  trial.test = file;
  // What is reached when modules are loaded is seen only if they are.
  vi.resetModules();
  const { tests, beforeAll, afterAll } = await load(file);
  const known: Known[] = [];
  for (const each of beforeAll) await each();
  for (const [at, test] of tests.entries()) {
    if (!names.test(test.name)) continue;
    trial.test = `${file} ${at}`;
    const begun = performance.now();
    await runTest(test);
    known.push({ file, at, name: test.name, ms: performance.now() - begun });
  }
  for (const each of afterAll) await each();
  return known;
}

/** By mutant, the tests that reach it; what a file reaches when it is loaded, all its tests do. */
async function learn({ tests, names }: TrialsWork): Promise<Map<number, Known[]>> {
  const reaching = new Map<string, Known[]>();
  for (const file of tests) {
    const known = await measure(file, new RegExp(names));
    reaching.set(file, known);
    for (const each of known) reaching.set(`${file} ${each.at}`, [each]);
  }
  const found = new Map<number, Set<Known>>();
  for (const [test, id] of trial.reached)
    found.set(id, new Set([...(found.get(id) ?? []), ...(reaching.get(test) ?? [])]));
  return new Map([...found].map(([id, known]) => [id, [...known].sort((a, b) => a.ms - b.ms)]));
}

/** How often each test has killed a mutant. */
const kills = new Map<string, number>();

/** The test files as they are with one mutant. */
class Loaded {
  readonly #files = new Map<string, Collected>();

  async #get(file: string): Promise<Collected> {
    const known = this.#files.get(file);
    if (known) return known;
    const collected = await load(file);
    this.#files.set(file, collected);
    for (const each of collected.beforeAll) await each();
    return collected;
  }

  async passes({ file, at, name }: Known): Promise<boolean> {
    try {
      const test = (await this.#get(file)).tests[at];
      if (test?.name !== name) return false;
      await runTest(test);
      return true;
    } catch {
      return false;
    }
  }

  async end(): Promise<void> {
    for (const { afterAll } of this.#files.values())
      for (const each of afterAll) await Promise.resolve(each()).catch(() => {});
  }
}

/** Gives the test that fails. */
async function killerOf(id: number, tests: readonly Known[], budgetMs: number): Promise<string | undefined> {
  trial.chosen = id;
  vi.resetModules();
  // What has killed others comes first, if it is as quick.
  const value = ({ file, at, ms }: Known): number => (kills.get(`${file} ${at}`) ?? 0) / (ms + 1);
  const loaded = new Loaded();
  let spent = 0;
  try {
    for (const known of [...tests].sort((a, b) => value(b) - value(a) || a.ms - b.ms)) {
      spent += known.ms;
      if (spent > budgetMs && spent !== known.ms) continue;
      if (await loaded.passes(known)) continue;
      const key = `${known.file} ${known.at}`;
      kills.set(key, (kills.get(key) ?? 0) + 1);
      return `${known.file} > ${known.name}`;
    }
    return undefined;
  } finally {
    await loaded.end();
  }
}

function fateOf(tests: readonly Known[] | undefined, by: string | undefined): TrialAnswer['fate'] {
  if (!tests) return 'unreached';
  return by === undefined ? 'survived' : 'killed';
}

it('tries the mutants', async () => {
  const work = JSON.parse(readFileSync('.mutants/work.json', 'utf8')) as TrialsWork;
  const reaching = await learn(work);
  // A promise that a mutant leaves behind must not end the other trials.
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', () => {});
  for (const id of work.mutants) {
    writeFileSync(work.current, String(id));
    const tests = reaching.get(id);
    const by = tests && (await killerOf(id, tests, work.budgetMs));
    const answer: TrialAnswer = { id, fate: fateOf(tests, by), ...(by && { by }) };
    appendFileSync(work.answers, `${JSON.stringify(answer)}\n`);
  }
});
