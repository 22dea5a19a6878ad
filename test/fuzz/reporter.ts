/** Says the seed of `npm run test:fuzz`, and counts what was tried. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { recordProof } from '../proof/record.ts';
import { runs, seedOf } from '../support/runs.ts';

export class FuzzReporter implements Reporter {
  readonly #seed = seedOf(process.env.STENO_FUZZ_SEED, new Date());
  readonly #started = Date.now();
  /** A line for each property, written by `test/support/seed.ts`. */
  readonly #counts = join(mkdtempSync(join(tmpdir(), 'steno-fuzz-')), 'runs');
  #vitest: Vitest | undefined;

  constructor() {
    writeFileSync(this.#counts, '');
    process.env.STENO_FUZZ_SEED = String(this.#seed);
    process.env.STENO_FUZZ_COUNT = this.#counts;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    vitest.logger.log(`seed ${this.#seed}, ${runs()} runs of most properties`);
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly unknown[],
    reason: string,
  ): Promise<void> {
    const all = readFileSync(this.#counts, 'utf8').split('\n').filter(Boolean).map(Number);
    const total = all.reduce((sum, each) => sum + each, 0);
    rmSync(dirname(this.#counts), { recursive: true });
    const minutes = ((Date.now() - this.#started) / 60_000).toFixed(1);
    const counted = `${total} runs of ${all.length} properties in ${minutes} min, seed ${this.#seed}`;
    this.#vitest?.logger.log(counted);
    const files = await this.#vitest?.globTestSpecifications();
    const isWhole = files?.length === modules.length && !this.#vitest?.config.testNamePattern;
    if (reason === 'passed' && errors.length === 0 && isWhole) recordProof('fuzz runs', { runs: total });
  }
}
