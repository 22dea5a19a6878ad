/** Counts the cases of a whole run that has passed, for the README's table. */
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { recordProof } from './record.ts';

const runs: Readonly<Record<string, string>> = { test: 'npm test', long: 'test:long', nodes: 'test:nodes' };

const passedOf = ({ children }: TestModule) => [...children.allTests('passed')];

/** The files `node-20.test.ts` and so on have the cases of one Node each. */
const casesByNode = (modules: readonly TestModule[]): Record<string, number> =>
  Object.fromEntries(
    modules.flatMap((module) => {
      const [, version] = /node-(\d+)\.test\.ts$/.exec(module.moduleId) ?? [];
      return version ? [[`Node ${version}`, passedOf(module).length]] : [];
    }),
  );

export class ProofReporter implements Reporter {
  readonly #run: string | undefined;
  #vitest: Vitest | undefined;

  constructor(mode: string) {
    this.#run = process.env.STENO_PROOF_RUN ?? runs[mode];
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
    if (this.#run === 'test:nodes') recordProof('nodes', casesByNode(modules));
    else recordProof('cases', { [this.#run]: modules.flatMap(passedOf).length });
  }

  /** All files of the run, not those that a command line names. */
  async #isWhole(modules: readonly TestModule[]): Promise<boolean> {
    const all = await this.#vitest?.globTestSpecifications();
    return all?.length === modules.length && !this.#vitest?.config.testNamePattern;
  }
}
