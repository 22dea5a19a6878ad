import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { EndReporter } from './test/support/end-reporter.ts';
import { hasPostgres, SKIPPED } from './test/support/postgres-programs.ts';
import { filesWith, propertyFiles } from './test/support/runs.ts';

/**
 * What `npm run test:quick` runs: unit and property tests, and of the tests that run the real program those of
 * requests and of money. It must stay under a minute on two cores, so about 75 s of processor time.
 */
const quick = [
  'test/{catalog,cli,lib,support}/**/*.test.ts',
  'test/api/money-calls.test.ts',
  'test/commands/requests.test.ts',
  'test/completion/scripts.test.ts',
  'test/feeds/{feed,times}.test.ts',
  'test/flows/bulk.test.ts',
  'test/flows/{prices,report}/*.test.ts',
  'test/flows/orders/place.test.ts',
  'test/flows/transcripts/name.test.ts',
  'test/ledger/{durable,properties}.test.ts',
  'test/listen/parse.test.ts',
  'test/project/{layers,map}.test.ts',
  'test/sandbox/{changes,document,orders,requests}.test.ts',
  'test/start/*.test.ts',
];

/** What takes much processor time and seldom changes its answer; with it `npm test` would take over a quarter of an hour. */
const onlyLong = [
  'test/api/{refusals,http/proxy}.test.ts',
  'test/cli/full-disk.test.ts',
  'test/commands/{ledger,report}.test.ts',
  'test/crash/{ledger,listen}.test.ts',
  'test/feeds/hostile.test.ts',
  'test/flows/files/pace.test.ts',
  'test/flows/transcripts/ledger-trouble.test.ts',
  'test/ledger/{damaged,dump,places,scale}.test.ts',
  'test/ledger/stores/{accounts,copy,cuts,dump,listeners,outcomes,round-trips,secrets,team-events,tls,two-ledgers,versions,who}.test.ts',
  'test/listen/{crowded,durability,exec,failing-ledger,flood,hostile,inherited-key,keep,linear-readers,missed-events,missed-events-order,once,queues,stalled-reader,stuck-disk,timeout,webhook-after-crash,webhook-registration}.test.ts',
  'test/mcp/{hostile,trouble}.test.ts',
  'test/pages/live.test.ts',
  'test/pictures/{pages,pictures}.test.ts',
  'test/project/{release,shared-ledger}.test.ts',
  'test/sandbox/feed.test.ts',
  'test/settings/{access,folders}.test.ts',
  'test/start/code-cache.test.ts',
  'test/ui/{fit,pager,progress}.test.ts',
  'test/views/report-page.test.ts',
];

/** What `npm run test:long` runs: these, and all of what `npm test` takes a slice of. */
const long = [...onlyLong, ...filesWith("support/slices.ts'")];

const all = ['test/**/*.test.ts'];

/** What `npm test` says at its end. */
const left =
  'Left to CI (.ci/run): the slow files and the other cases of slices, a part for each commit (npm run test:long has all), ' +
  'and the package on every Node (npm run test:nodes).';

/** What `npm run test:nodes` runs, and nothing else does: the package as it is installed, on every Node. */
const nodes = 'test/nodes/*.test.ts';

/**
 * The behaviour that must be the same with a shared ledger: these run once more, with one. What is left out says
 * nothing of the ledger (manifests, bad input, formats), or is about the local ledger's file (`places`, damage, locks).
 */
const shared = [
  'test/jobs/ci.test.ts',
  'test/flows/orders/{being-sent,budget,ignore,retry-ended,spending,stopped}.test.ts',
  'test/flows/transcripts/synced.test.ts',
  'test/listen/{each-shown,ends}.test.ts',
];

/** The same for `npm run test:long`: these take ten minutes more. */
const sharedLong = [
  'test/jobs/ci.test.ts',
  'test/api/money-calls.test.ts',
  'test/commands/{ledger,report}.test.ts',
  'test/crash/*.test.ts',
  'test/flows/sums.test.ts',
  'test/flows/files/{identity,list,pairing,sync,sync-exec,track,wait}.test.ts',
  'test/flows/orders/{answers,attempts,attempts-being-sent,attempts-settle,bulk-changes,feeds,local-files,place,same-audio,signatures,unclear-rows,wait}.test.ts',
  'test/flows/transcripts/{drafts,name-as}.test.ts',
  'test/listen/{each-shown,ends,history,missed-events,missed-events-order,webhook-registration}.test.ts',
];

// With it each start of Node 20 takes three times as long, also that of every worker.
delete process.env.NODE_EXTRA_CA_CERTS;

const common = {
  setupFiles: ['test/support/seed.ts', 'test/support/hooks.ts', 'test/support/string-width.ts'],
  // Only ends what hangs: beside other work, a test that starts ten processes takes a minute.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Some measure processor time or kill at a moment, while hundreds of other processes run: in CI each has a second try.
  retry: process.env.CI ? 1 : 0,
};

/** What `npm run test:fuzz` runs: every property, with five times the cases of `npm test`; takes two to eight minutes. */
function fuzz(): ViteUserConfig {
  process.env.STENO_FUZZ_RUNS ||= '500';
  process.env.STENO_FUZZ_SEED ||= 'month';
  const limits = { testTimeout: 3_600_000, hookTimeout: 60_000, retry: 0 };
  const globalSetup = ['test/support/setup.ts'];
  return { test: { ...common, ...limits, globalSetup, include: propertyFiles(), maxWorkers: 2 } };
}

const longer = {
  setupFiles: ['test/support/slice-tests.ts', ...common.setupFiles],
};

/** Which cells of a slice are run. */
const cells = (mode: string) => (mode === 'long' ? { STENO_MATRIX: 'all' } : {});

const sharedLedger = (mode: string) => ({
  extends: true as const,
  test: {
    ...common,
    name: 'shared ledger',
    include: mode === 'long' ? sharedLong : shared,
    env: { STENO_TEST_STORE: 'postgres', ...cells(mode) },
    ...(mode === 'long' && longer),
    globalSetup: ['test/support/setup-postgres.ts'],
  },
});

const installed = {
  extends: true as const,
  test: {
    ...common,
    name: 'nodes',
    include: [nodes],
    globalSetup: ['test/nodes/setup.ts'],
  },
};

/** CI has PostgreSQL, or fails. */
function withSharedLedger(mode: string): boolean {
  if (mode === 'quick' || mode === 'nodes') return false;
  if (!hasPostgres && !process.env.CI) console.log(SKIPPED);
  return hasPostgres || Boolean(process.env.CI);
}

/** What runs the build of this folder. */
const ownBuild = (mode: string) => [
  {
    extends: true as const,
    test: {
      ...common,
      name: 'steno',
      include: { quick, long }[mode] ?? all,
      exclude: [nodes, ...(mode === 'long' ? [] : onlyLong)],
      env: cells(mode),
      ...(mode === 'long' && longer),
    },
  },
  ...(withSharedLedger(mode) ? [sharedLedger(mode)] : []),
];

const ordinary = (mode: string): ViteUserConfig => ({
  test: {
    globalSetup: ['test/support/setup.ts'],
    reporters: ['default', new EndReporter(mode === 'test' ? left : '')],
    // Tests wait for processes a quarter of the time, so three workers keep two cores busy.
    maxWorkers: 3,
    // A fresh worker for each file would cost a tenth of the processor time; what a test leaves is cleared by test/support/test-end.ts.
    isolate: false,
    projects: mode === 'nodes' ? [installed] : ownBuild(mode),
  },
});

export default defineConfig(({ mode }) => (mode === 'fuzz' ? fuzz() : ordinary(mode)));
