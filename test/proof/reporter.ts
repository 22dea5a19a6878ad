/** Counts the cases of a whole run that has passed, for the README's table. */
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { recordProof } from './record.ts';

const runs: Readonly<Record<string, string>> = { test: 'npm test', long: 'test:long' };

export class ProofReporter implements Reporter {
  readonly #run: string | undefined;
  #vitest: Vitest | undefined;

  constructor(mode: string) {
    this.#run = runs[mode];
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly unknown[],
    reason: string,
  ): Promise<void> {
    if (!this.#run || reason !== 'passed' || errors.length > 0) return;
    if (!(await this.#isWhole(modules))) return;
    const passed = modules.flatMap((module) => [...module.children.allTests('passed')]);
    recordProof('cases', { [this.#run]: passed.length });
  }

  /** All files of the run, not those that a command line names. */
  async #isWhole(modules: readonly TestModule[]): Promise<boolean> {
    const all = await this.#vitest?.globTestSpecifications();
    return all?.length === modules.length && !this.#vitest?.config.testNamePattern;
  }
}
