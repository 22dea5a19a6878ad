/** What guards money, and the tests that hold it. */
import type { TestsOfFile } from './host.ts';

interface Target {
  readonly sources: readonly string[];
  /** Test files that start no program; each mutant is tried with them first. */
  readonly inProcess: readonly string[];
  /** Those that do. Which of their tests reach a mutant, a first run finds out. */
  readonly tests: readonly string[];
  /** Those that run with a shared ledger too. */
  readonly shared: readonly string[];
}

/** Tests that start the program and order something. */
const ordering = [
  ...tests('test/ledger', 'durable'),
  ...tests('test/flows/orders', 'answers attempts being-sent budget feeds local-files manifest place'),
  ...tests('test/flows/orders', 'same-audio sending signatures stopped unclear-rows'),
  ...tests('test/flows/files', 'track pairing'),
  ...tests('test/ledger/stores', 'copy outcomes races store'),
];
const orderingShared = tests('test/flows/orders', 'attempts being-sent budget place stopped unclear-rows');

const targets: readonly Target[] = [
  {
    sources: [
      ...named('src/ledger', 'purchases claims purchase-table open-attempts purchase budgets lease moved'),
      ...named('src/ledger', 'ordered-files outbox'),
    ],
    inProcess: tests(
      'test/ledger',
      'attempts attempt-ends purchases lost-commits ordered-files audio-names outbox moved',
    ),
    tests: ordering,
    shared: orderingShared,
  },
  {
    sources: named('src/flows/orders', 'place'),
    inProcess: tests('test/flows/orders', 'place-one'),
    tests: ordering,
    shared: orderingShared,
  },
  {
    sources: named('src/flows/orders', 'guard sending'),
    inProcess: tests('test/flows/orders', 'guard sent-orders'),
    tests: ordering,
    shared: orderingShared,
  },
  {
    sources: named('src/lib', 'names signatures'),
    inProcess: [
      ...tests('test/lib', 'names audio-identity signed-links'),
      ...tests('test/ledger', 'properties audio-names'),
    ],
    tests: [],
    shared: [],
  },
  {
    sources: ['src/ledger/bill.ts', ...named('src/ledger/dump', 'merge rules derive')],
    inProcess: tests('test/ledger', 'bill merge dump'),
    tests: tests('test/ledger', 'records'),
    shared: [],
  },
  {
    sources: named('src/lib', 'mask mask-search'),
    inProcess: tests('test/lib', 'mask mask-examples mask-layers'),
    tests: [],
    shared: [],
  },
];

export const SOURCES: readonly string[] = targets.flatMap(({ sources }) => sources);
export const TESTS: readonly string[] = [...new Set(targets.flatMap((target) => target.tests))];
export const SHARED_TESTS: readonly string[] = [...new Set(targets.flatMap(({ shared }) => shared))];

/** Sources that have the same tests, and those of them that start no program. */
export const IN_PROCESS: ReadonlyArray<Pick<Target, 'sources' | 'inProcess'>> = targets;

/** The test files that are run for mutants of a source file. */
export const testsFor = (source: string): TestsOfFile[] =>
  targets
    .filter(({ sources }) => sources.includes(source))
    .flatMap((target) => [
      ...target.tests.map((file) => ({ project: 'steno', file })),
      ...target.shared.map((file) => ({ project: 'shared ledger', file })),
    ]);

function named(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.ts`);
}

function tests(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.test.ts`);
}
