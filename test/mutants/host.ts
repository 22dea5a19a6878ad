/** Runs tests in a copy of the checkout, as often as it is asked to: a process of its own, so that it can be ended. */
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node';
import { STATE } from './copies.ts';

/** Tests of one file; without ids all of them. */
export interface TestsOfFile {
  readonly project: string;
  readonly file: string;
  readonly ids?: readonly string[];
}

export interface Request {
  readonly tests: readonly TestsOfFile[];
  /** The number of a mutant, 0 for none, or `record`. */
  readonly chosen: string;
  readonly stopAtFirst: boolean;
}

export interface RanTest {
  readonly id: string;
  readonly name: string;
  readonly ms: number;
  readonly passed: boolean;
}

export interface Answer {
  readonly ran: readonly RanTest[];
  /** The first failure: of a test, of a hook or of a file. */
  readonly failure?: { readonly test: string; readonly message: string } | undefined;
}

class Runner {
  readonly #vitest: Vitest;
  #ran: RanTest[] = [];
  #failure: Answer['failure'];
  #stopAtFirst = false;

  private constructor(vitest: Vitest) {
    this.#vitest = vitest;
  }

  static async start(root: string): Promise<Runner> {
    let runner: Runner | undefined;
    const reporter = {
      onTestCaseResult: (test: TestCase) => runner?.onTest(test),
      onTestModuleEnd: (module: TestModule) => runner?.onModule(module),
      onTestRunEnd: (_modules: unknown, errors: ReadonlyArray<{ message?: string }>) =>
        runner?.onErrors(errors),
    };
    const vitest = await createVitest('test', { root, watch: false, reporters: [reporter] });
    runner = new Runner(vitest);
    return runner;
  }

  async run(root: string, { tests, chosen, stopAtFirst }: Request): Promise<Answer> {
    this.#ran = [];
    this.#failure = undefined;
    this.#stopAtFirst = stopAtFirst;
    writeFileSync(join(root, STATE, 'chosen'), chosen);
    writeFileSync(join(root, STATE, 'test'), '*');
    if (chosen === 'record') rmSync(join(root, STATE, 'reached'), { force: true });
    const specifications = tests.map(({ project, file, ids }) => {
      const found = this.#vitest.projects.find(({ name }) => name === project);
      if (!found) throw new Error(`there is no project ${project}`);
      return found.createSpecification(resolve(root, file), ids ? { testIds: [...ids] } : undefined);
    });
    await this.#vitest.runTestSpecifications(specifications);
    return { ran: this.#ran, failure: this.#failure };
  }

  onTest(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'skipped' || state === 'pending') return;
    const passed = state === 'passed';
    this.#ran.push({ id: test.id, name: test.fullName, ms: test.diagnostic()?.duration ?? 0, passed });
    if (!passed) this.#fail(test.id, errors?.[0]?.message ?? 'it failed');
  }

  /** A hook that failed, or a file that can't be loaded. */
  onModule(module: TestModule): void {
    const errors = [
      ...module.errors(),
      ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
    ];
    if (errors.length) this.#fail('*', errors[0]?.message ?? 'it failed');
  }

  onErrors(errors: ReadonlyArray<{ message?: string }>): void {
    if (errors.length) this.#fail('*', errors[0]?.message ?? 'an error that no test caught');
  }

  #fail(test: string, message: string): void {
    this.#failure ??= { test, message };
    if (this.#stopAtFirst) void this.#vitest.cancelCurrentRun('test-failure');
  }
}

const root = process.argv[2] as string;
process.chdir(root);
const runner = await Runner.start(root);
process.on('message', (request: Request) => {
  void runner.run(root, request).then(
    (answer) => process.send?.(answer),
    (error: unknown) =>
      process.send?.({ ran: [], failure: { test: '*', message: `the run broke off: ${String(error)}` } }),
  );
});
process.send?.('ready');
