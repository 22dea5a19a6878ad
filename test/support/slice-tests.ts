/** Of each file of the long run, the tests in the slice of STENO_SLICE; the others are skipped. */
import { relative } from 'node:path';
import { beforeEach, type RunnerTask, type RunnerTestCase, type RunnerTestFile } from 'vitest';
import { casesInSlice, wantedSlice } from './slices.ts';

/** Files that take a slice of their cases themselves, or whose tests need what the ones before them did. */
const whole = /^test\/(crash\/|api\/http\/fault-matrix|project\/readme-examples)/;

const chosen = new WeakMap<RunnerTestFile, ReadonlySet<RunnerTestCase>>();

beforeEach(({ task, skip }) => {
  skip(wantedSlice !== undefined && !chosenOf(task.file).has(task as RunnerTestCase), 'in another slice');
});

function chosenOf(file: RunnerTestFile): ReadonlySet<RunnerTestCase> {
  const known = chosen.get(file);
  if (known) return known;
  const path = relative(process.cwd(), file.filepath);
  const tests = testsOf(file);
  const found = new Set(whole.test(path) ? tests : casesInSlice(tests, `${file.projectName} ${path}`));
  chosen.set(file, found);
  return found;
}

const testsOf = (task: RunnerTask): readonly RunnerTestCase[] => {
  if (task.type === 'test') return task.mode === 'run' ? [task] : [];
  return task.tasks.flatMap(testsOf);
};
