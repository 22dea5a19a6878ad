import { defineConfig } from 'vitest/config';

/**
 * What `npm run test:quick` runs: unit and property tests, and of the tests that run the real program those of
 * requests and of money. It must stay under a minute on two cores, so about 75 s of processor time.
 */
const quick = [
  'test/{catalog,cli,lib,support}/**/*.test.ts',
  'test/api/money-calls.test.ts',
  'test/commands/requests.test.ts',
  'test/completion/scripts.test.ts',
  'test/flows/bulk.test.ts',
  'test/flows/orders/place.test.ts',
  'test/flows/transcripts/name.test.ts',
  'test/ledger/{durable,properties}.test.ts',
  'test/listen/parse.test.ts',
  'test/project/{layers,map}.test.ts',
  'test/sandbox/{changes,document,orders,requests}.test.ts',
  'test/start/*.test.ts',
];

/** What `npm run test:long` runs: all cells of what the other runs take a slice of. */
const long = ['test/api/http/fault-matrix.test.ts', 'test/listen/flood.test.ts'];

const all = ['test/**/*.test.ts'];

/** The behaviour that must be the same with a shared ledger: these run once more, with one. */
const shared = [
  'test/flows/**/*.test.ts',
  'test/commands/*.test.ts',
  'test/api/money-calls.test.ts',
  'test/ledger/places.test.ts',
];

const common = { setupFiles: ['test/support/seed.ts'], testTimeout: 30_000, hookTimeout: 30_000 };

const sharedLedger = {
  extends: true as const,
  test: {
    ...common,
    name: 'shared ledger',
    include: shared,
    env: { STENO_TEST_STORE: 'postgres' },
    globalSetup: ['test/support/setup-postgres.ts'],
  },
};

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['test/support/setup.ts'],
    // Tests wait for processes most of the time; with more than two workers on two cores they meet their time limits.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          ...common,
          name: 'steno',
          include: { quick, long }[mode] ?? all,
          env: mode === 'long' ? { STENO_MATRIX: 'all' } : {},
        },
      },
      ...(mode === 'quick' || mode === 'long' ? [] : [sharedLedger]),
    ],
  },
}));
