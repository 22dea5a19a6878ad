/**
 * Stands for vitest where tests run in one process for many mutants: collects the tests of a file, to be run as often as
 * there are mutants. What vitest expects, vitest itself expects.
 */
import { expect } from '../../node_modules/vitest/dist/index.js';

export { expect };

type Work = (...given: unknown[]) => unknown;

export interface Test {
  readonly name: string;
  readonly run: () => Promise<void>;
}

interface Group {
  readonly name: string;
  readonly before: Work[];
  readonly after: Work[];
  readonly outer: Group | undefined;
}

export interface Collected {
  readonly tests: Test[];
  readonly beforeAll: Work[];
  readonly afterAll: Work[];
}

let collected: Collected = { tests: [], beforeAll: [], afterAll: [] };
let group: Group | undefined;

/** The tests of a file, by what loads it. */
export async function collect(load: () => Promise<unknown>): Promise<Collected> {
  collected = { tests: [], beforeAll: [], afterAll: [] };
  group = { name: '', before: [], after: [], outer: undefined };
  await load();
  return collected;
}

const groupsOf = (inner: Group | undefined): Group[] => (inner ? [...groupsOf(inner.outer), inner] : []);

function add(name: string, work: Work, given: readonly unknown[]): void {
  const groups = groupsOf(group);
  const run = async (): Promise<void> => {
    const finished: Work[] = [];
    const context = { expect, onTestFinished: (each: Work) => finished.push(each), task: { name } };
    try {
      for (const { before } of groups) for (const each of before) await each(context);
      await work(...given, context);
    } finally {
      for (const each of [...finished, ...groups.flatMap(({ after }) => after)]) await each(context);
    }
  };
  collected.tests.push({ name: [...groups.map((each) => each.name), name].join(' ').trim(), run });
}

function describeOne(name: string, work: Work, given: readonly unknown[] = []): void {
  const outer = group;
  group = { name, before: [], after: [], outer };
  work(...given);
  group = outer;
}

type Registered = (name: string, work: Work, given: readonly unknown[]) => void;

/** `it` or `describe`, with what vitest has of each. */
function registering(register: Registered): unknown {
  const skip = (): void => {};
  const plain = (name: string, ...more: unknown[]): void =>
    register(name, more.find((each) => typeof each === 'function') as Work, []);
  const each =
    (spread: boolean) =>
    (rows: readonly unknown[]) =>
    (name: string, ...more: unknown[]): void =>
      rows.forEach((row, at) => {
        const given = spread && Array.isArray(row) ? row : [row];
        const whole = name.replace(/\$(\w+)/g, (_, field) =>
          String((row as Record<string, unknown>)?.[field]),
        );
        register(`${whole} [${at}]`, more.find((one) => typeof one === 'function') as Work, given);
      });
  const chosen = Object.assign(plain, { each: each(true), for: each(false), skip });
  const none = Object.assign(skip, { each: () => skip, for: () => skip, skip });
  const when = (holds: boolean): unknown => (holds ? chosen : none);
  return Object.assign(chosen, { runIf: when, skipIf: (holds: boolean) => when(!holds) });
}

export const it = registering(add);
export const test = it;
export const describe = registering(describeOne);
export const beforeEach = (work: Work): void => void group?.before.push(work);
export const afterEach = (work: Work): void => void group?.after.push(work);
export const beforeAll = (work: Work): void => void collected.beforeAll.push(work);
export const afterAll = (work: Work): void => void collected.afterAll.push(work);
export const inject = (): string => process.env.STENO_TEST_POSTGRES ?? '';
