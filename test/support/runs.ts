/** How often properties are tried, and from which seed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The runs of a property that says nothing else. */
const USUAL_RUNS = 100;

/** STENO_FUZZ_RUNS: the runs of a property that has a hundred in `npm test`; all others get as many times more. */
const factor = Number(process.env.STENO_FUZZ_RUNS || USUAL_RUNS) / USUAL_RUNS;

/** How often to try a property that is tried `usual` times in `npm test`. */
export const runs = (usual = USUAL_RUNS): number => Math.max(1, Math.ceil(usual * factor));

/** Where many rely on one answer, the examples of property tests are the same each time. */
export const FIXED_SEED = 20261115;

/** `month`: another one each month; `new`: another one each time; else a number. */
export function seedOf(wanted: string | undefined, now: Date): number {
  if (!wanted) return FIXED_SEED;
  if (wanted === 'month') return now.getUTCFullYear() * 100 + now.getUTCMonth() + 1;
  if (wanted === 'new') return now.getTime() % 0x7fffffff;
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) throw new Error(`STENO_FUZZ_SEED is month, new or a number, not '${wanted}'`);
  return seed;
}

/** The time limit of a test whose properties take `usual` milliseconds at most. */
export const timeLimit = (usual: number): number => Math.ceil(usual * Math.max(1, factor));

/** What runs other programs for most of its time. */
const slowFiles = /^test\/(flows\/uploads\/|views\/report\/)/;

/** The test files that have properties. */
export const propertyFiles = (folder = 'test'): string[] =>
  filesWith("from 'fast-check'", folder).filter((path) => !slowFiles.test(path));

/** The test files in which a text occurs. */
export function filesWith(text: string, folder = 'test'): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes(text))
    .sort();
}
