/** Puts mutants into what guards money, and tells which of them no test finds out. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordProof } from '../proof/record.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Copy, makeCopy, NOT_IN_PROCESS, ON_POSTGRES } from './copies.ts';
import { Coverage, readJson, writeJson } from './coverage.ts';
import { Host } from './hosts.ts';
import { tryInProcess } from './in-process.ts';
import type { Mutant } from './mutate.ts';
import { judge, keyOf, readSurvivors } from './survivors.ts';
import { IN_PROCESS, SHARED_TESTS, SOURCES, TESTS, testsFor } from './targets.ts';
import { Killers, type Trial, tryMutant } from './trial.ts';

const { values: options } = parseArgs({
  options: {
    /** Only mutants of sources whose path holds one of these texts. */
    file: { type: 'string', multiple: true, default: [] },
    /** Only these mutants, by their numbers. */
    id: { type: 'string', multiple: true, default: [] },
    /** Leaves out what an earlier run has tried with the same sources. */
    resume: { type: 'boolean', default: false },
    /** Only those that survived it, or were not reached. */
    survivors: { type: 'boolean', default: false },
    /** Only with the tests that start no program. */
    quick: { type: 'boolean', default: false },
    /** Finds out anew which tests reach what. */
    fresh: { type: 'boolean', default: false },
    /** Seconds of tests for each mutant. */
    budget: { type: 'string', default: '45' },
    jobs: { type: 'string', default: '2' },
  },
});

/** What became of each mutant, by its text. */
const RESULTS = 'node_modules/.cache/steno-mutants/results.json';

/** The folder into which this program was bundled, which goes with it. */
const folder = dirname(dirname(process.argv[1] as string));

const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Worker {
  readonly copy: Copy;
  readonly host: Host;
}

/** Each piece of work by the worker that is free next. */
async function share<T>(
  workers: readonly Worker[],
  work: readonly T[],
  each: (worker: Worker, item: T) => Promise<void>,
): Promise<void> {
  const left = [...work];
  await Promise.all(
    workers.map(async (worker) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await each(worker, item);
    }),
  );
}

function newWorker(root: string): Worker {
  mkdirSync(root);
  const copy = makeCopy({ root, files: SOURCES, tests: TESTS, shared: SHARED_TESTS });
  return { copy, host: new Host(join(folder, 'mutants/host.mjs'), root) };
}

async function run(): Promise<boolean> {
  const server = await startPostgres(['max_connections = 200', 'fsync = off']);
  process.env.STENO_TEST_POSTGRES = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
  const workers: Worker[] = [];
  // Their processes are in groups of their own: no signal reaches them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      for (const { host } of workers) host.stop();
      void server.stop().then(() => process.exit(130));
    });
  try {
    for (let at = 0; at < Number(options.jobs); at += 1) workers.push(newWorker(join(folder, `copy-${at}`)));
    return await tryAll(workers);
  } finally {
    for (const { host } of workers) host.stop();
    await server.stop();
  }
}

async function tryAll(workers: readonly Worker[]): Promise<boolean> {
  const all = workers[0]?.copy.mutants ?? [];
  const results = new Map(Object.entries(readJson<Record<string, Trial>>(RESULTS) ?? {}));
  const wanted = all.filter((mutant) => isWanted(mutant, results.get(keyOf(mutant))));
  say(`${all.length} mutants, ${wanted.length} to be tried`);
  const keep = (mutant: Mutant, found: Trial): void => {
    // A later stage may not reach what an earlier one did: it stays 'survived'.
    const isReached = found.fate === 'unreached' && results.get(keyOf(mutant))?.fate === 'survived';
    const trial: Trial = isReached ? { fate: 'survived' } : found;
    results.set(keyOf(mutant), trial);
    writeJson(RESULTS, { ...readJson<object>(RESULTS), [keyOf(mutant)]: trial });
    say(`${trial.fate} ${describe(mutant)}${trial.by ? ` | ${trial.by.slice(-100)}` : ''}`);
  };
  const left = (): Mutant[] =>
    wanted.filter((mutant) => !['killed', 'timeout'].includes(results.get(keyOf(mutant))?.fate ?? ''));
  await tryInProcesses(workers, wanted, NOT_IN_PROCESS, keep);
  await tryInProcesses(
    workers,
    left().filter(({ file }) => file.startsWith('src/ledger/')),
    ON_POSTGRES,
    keep,
  );
  if (!options.quick) await tryWithPrograms(workers, left(), keep);
  return report(all, results, wanted);
}

type Keep = (mutant: Mutant, trial: Trial) => void;

/** With the tests that start no program; in pieces, so that all workers have something to do. */
async function tryInProcesses(
  workers: readonly Worker[],
  wanted: readonly Mutant[],
  names: string,
  keep: Keep,
): Promise<void> {
  const pieces = IN_PROCESS.flatMap(({ sources, inProcess }) => {
    const mutants = wanted.filter(({ file }) => inProcess.length && sources.includes(file));
    const size = Math.ceil(mutants.length / workers.length);
    return workers.map((_, at) => ({ inProcess, mutants: mutants.slice(at * size, (at + 1) * size) }));
  });
  await share(workers, pieces, ({ host, copy }, { inProcess, mutants }) =>
    tryInProcess(host, copy.root, inProcess, mutants, names, keep),
  );
}

/** With the tests that reach a mutant and start the program. */
async function tryWithPrograms(
  workers: readonly Worker[],
  wanted: readonly Mutant[],
  keep: Keep,
): Promise<void> {
  const coverage = new Coverage(SOURCES, options.fresh);
  const tests = new Map(
    wanted.flatMap(({ file }) => testsFor(file)).map((each) => [`${each.project} ${each.file}`, each]),
  );
  const unknown = [...tests.values()].filter((each) => !coverage.has(each));
  const broken: string[] = [];
  await share(workers, unknown, async ({ host, copy }, each) => {
    say(`which mutants ${each.file} reaches (${each.project})`);
    broken.push(...(await coverage.add(host, copy.root, each)));
  });
  for (const test of broken) say(`fails without a mutant, so it is left out: ${test}`);
  const reaching = new Map(
    [...new Set(wanted.map(({ file }) => file))].map((file) => [file, coverage.testsOf(testsFor(file))]),
  );
  const killers = new Killers();
  const budgetMs = Number(options.budget) * 1_000;
  const some = wanted.filter(({ file }) => testsFor(file).length);
  await share(workers, some, async ({ host }, mutant) => {
    const found = reaching.get(mutant.file)?.get(mutant.id) ?? [];
    const trial = await tryMutant(host, mutant, found, killers, { budgetMs });
    keep(mutant, trial);
  });
}

function isWanted(mutant: Mutant, before: Trial | undefined): boolean {
  const { file, id } = mutant;
  if (options.id.length) return options.id.includes(String(id));
  if (options.file.length && !options.file.some((each) => file.includes(each))) return false;
  if (options.survivors) return before?.fate === 'survived' || before?.fate === 'unreached';
  return !(options.resume && before);
}

const describe = ({ id, file, line, within, from, to }: Mutant): string =>
  `#${id} ${file}:${line} ${within}: ${from} -> ${to || '(left out)'}`;

/** Whether all is well: each survivor is explained, and each explanation has its survivor. */
function report(
  all: readonly Mutant[],
  results: ReadonlyMap<string, Trial>,
  wanted: readonly Mutant[],
): boolean {
  const fateOf = (mutant: Mutant): string | undefined => results.get(keyOf(mutant))?.fate;
  const count = (fate: string): number => all.filter((mutant) => fateOf(mutant) === fate).length;
  const survived = all.filter((mutant) => ['survived', 'unreached'].includes(fateOf(mutant) ?? ''));
  const { unexplained, gone, killed } = judge(readSurvivors(), all, survived, wanted);
  for (const mutant of unexplained) say(`not explained (${fateOf(mutant)}): ${describe(mutant)}`);
  for (const each of gone) say(`explained, but the source has it no more: ${keyOf(each)}`);
  for (const each of killed) say(`explained, but a test kills it: ${keyOf(each)}`);
  const [dead, late] = [count('killed'), count('timeout')];
  say(`killed ${dead}, timeouts ${late}, survived ${count('survived')}, unreached ${count('unreached')}`);
  const isWell = unexplained.length + gone.length + killed.length === 0;
  if (isWell && all.every(fateOf))
    recordProof('mutants', { killed: dead + late, survivors: survived.length });
  return isWell;
}

process.exitCode = (await run()) ? 0 : 1;
