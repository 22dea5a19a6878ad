/** Sets up the property tests: seed and number of runs, and how to repeat a failure. */
import fc, { type RunDetails } from 'fast-check';
import { expect } from 'vitest';
import { runs, seedOf } from './runs.ts';

const { STENO_FUZZ_SEED, STENO_FUZZ_PATH } = process.env;

fc.configureGlobal({
  seed: seedOf(STENO_FUZZ_SEED, new Date()),
  numRuns: runs(),
  reporter: report,
  ...(STENO_FUZZ_PATH && { path: STENO_FUZZ_PATH }),
});

function report(details: RunDetails<unknown>): void {
  if (!details.failed) return;
  throw new Error(`${fc.defaultReportMessage(details)}\n\n${howToRepeat(details)}`, {
    cause: details.errorInstance,
  });
}

/** A line that can be pasted into a shell. */
function howToRepeat({ seed, counterexamplePath }: RunDetails<unknown>): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = testPath.slice(testPath.indexOf('/test/') + 1);
  const name = currentTestName.split(' > ').at(-1)?.replaceAll("'", '.') ?? '';
  return `Repeat it with:\nSTENO_FUZZ_SEED=${seed} STENO_FUZZ_PATH=${counterexamplePath} npm run test:fuzz -- ${file} -t '${name}'`;
}
