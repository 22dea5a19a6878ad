/** Says at the end of a run which files took longest, and what it has left out. */
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const SLOWEST = 10;

export class EndReporter implements Reporter {
  readonly #left: string;
  #vitest: Vitest | undefined;

  constructor(left: string) {
    this.#left = left;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const log = (line: string): void => this.#vitest?.logger.log(line);
    const times = modules
      .map((module) => ({
        path: relative('.', module.moduleId),
        ms: timeOf(module),
        of: module.project.name,
      }))
      .sort((one, other) => other.ms - one.ms);
    if (times.length > 1) log('The slowest test files:');
    for (const { path, ms, of } of times.length > 1 ? times.slice(0, SLOWEST) : [])
      log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${path} (${of})`);
    const all = await this.#vitest?.globTestSpecifications();
    // Not where a command line names the files.
    if (this.#left && all?.length === modules.length) log(this.#left);
  }
}

/** With what was done before its first test. */
function timeOf(module: TestModule): number {
  const { duration, setupDuration, collectDuration } = module.diagnostic();
  return duration + setupDuration + collectDuration;
}
