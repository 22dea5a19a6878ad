/**
 * What is done after each test, and after the last one of a file, by the modules that tests are made of. Several files
 * share a worker, in which such a module is loaded once: a hook that it registered itself would be one of the first file.
 */
import type { TestContext } from 'vitest';

type AfterTest = (context: TestContext) => void | Promise<void>;
type AfterFile = () => void | Promise<void>;

const afterTests: AfterTest[] = [];
const afterFiles: AfterFile[] = [];

export const onTestEnd = (work: AfterTest): void => void afterTests.push(work);
export const onFileEnd = (work: AfterFile): void => void afterFiles.push(work);

export const endTest = (context: TestContext): Promise<void> =>
  doAll(afterTests.map((work) => () => work(context)));
export const endFile = (): Promise<void> => doAll(afterFiles);

/** The last one to be registered first, as hooks are run; each of them, also after one that fails. */
async function doAll(works: readonly AfterFile[]): Promise<void> {
  const errors: unknown[] = [];
  for (const work of works.toReversed()) {
    try {
      await work();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length) throw errors[0];
}
