/** Which tests reach which mutants, and how long they take: each mutant runs only those. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STATE } from './copies.ts';
import type { TestsOfFile } from './host.ts';
import type { Host } from './hosts.ts';

export interface ReachingTest {
  readonly project: string;
  readonly file: string;
  readonly id: string;
  readonly name: string;
  readonly ms: number;
}

interface FileCoverage {
  readonly hash: string;
  readonly tests: readonly ReachingTest[];
  /** By test: the mutants that it reaches. `*` are those that the file reaches when it is loaded. */
  readonly reached: Readonly<Record<string, readonly number[]>>;
}

/** Kept between runs: to find it out takes minutes. */
const CACHE = 'node_modules/.cache/steno-mutants/coverage.json';
const FILE_LIMIT_MS = 900_000;

export class Coverage {
  readonly #files: Record<string, FileCoverage>;
  /** Of all sources with mutants: their numbers depend on it. */
  readonly #sources: string;

  constructor(sources: readonly string[], fresh: boolean) {
    this.#files = fresh ? {} : (readJson(CACHE) ?? {});
    this.#sources = hashOf(sources.map((file) => readFileSync(file, 'utf8')));
  }

  /** Says whether the tests of a file are known as they are now. */
  has({ project, file }: TestsOfFile): boolean {
    return this.#files[`${project} ${file}`]?.hash === this.#hashOf(file);
  }

  /** Runs the tests of a file without a mutant. Gives those that fail: they can tell nothing. */
  async add(host: Host, root: string, { project, file }: TestsOfFile): Promise<string[]> {
    const answer = await host.run(
      { tests: [{ project, file }], chosen: 'record', stopAtFirst: false },
      FILE_LIMIT_MS,
    );
    const reached: Record<string, number[]> = {};
    for (const line of readLines(join(root, STATE, 'reached'))) {
      const [test = '', id] = line.split(' ');
      reached[test] ??= [];
      reached[test].push(Number(id));
    }
    const ran = answer?.ran ?? [];
    const failed = ran.filter(({ passed }) => !passed).map(({ name }) => `${file} > ${name}`);
    const other = answer?.failure?.test === '*' ? [`${file}: ${answer.failure.message}`] : [];
    const tests = ran
      .filter(({ passed }) => passed)
      .map(({ id, name, ms }) => ({ project, file, id, name, ms: Math.round(ms) }));
    // Where a test failed, the file is looked at again next time.
    const hash = failed.length || other.length ? '' : this.#hashOf(file);
    this.#files[`${project} ${file}`] = { hash, tests: other.length ? [] : tests, reached };
    // Another run may have added to it.
    writeJson(CACHE, { ...readJson<object>(CACHE), ...this.#files });
    return [...failed, ...other];
  }

  /** The tests of these files that reach a mutant. */
  testsOf(files: readonly TestsOfFile[]): Map<number, ReachingTest[]> {
    const found = new Map<number, ReachingTest[]>();
    for (const { project, file } of files) {
      const { tests = [], reached = {} } = this.#files[`${project} ${file}`] ?? {};
      for (const test of tests)
        for (const id of new Set([...(reached[test.id] ?? []), ...(reached['*'] ?? [])]))
          found.set(id, [...(found.get(id) ?? []), test]);
    }
    return found;
  }

  #hashOf(file: string): string {
    return hashOf([this.#sources, readFileSync(file, 'utf8')]);
  }
}

const hashOf = (texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  // Another run may read it meanwhile.
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(value));
  renameSync(partial, path);
}
