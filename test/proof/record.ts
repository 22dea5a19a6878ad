/** What the runs that try to break the program have come to; the README's table "How it is tested" is made of it. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { withTable } from './table.ts';

export type ProofName =
  | 'cases'
  | 'matrix cells'
  | 'crash points'
  | 'fuzz runs'
  | 'nodes'
  | 'mutants'
  | 'soak';

export interface Proof {
  /** By what was tried: `{ order: 120, sync: 48 }`. What a later run does not name stays. */
  readonly figures: Readonly<Record<string, number>>;
  /** The Node that ran it, and the day. */
  readonly node: string;
  readonly date: string;
}

export type Proofs = Readonly<Partial<Record<ProofName, Proof>>>;

export const RESULTS = 'test/proof/results.json';
const README = 'README.md';

/** A process holds the lock for some milliseconds; one that was killed leaves it. */
const LOCK_STALE_MS = 10_000;

export const readProofs = (path = RESULTS): Proofs => JSON.parse(readFileSync(path, 'utf8')) as Proofs;

/**
 * Keeps the figures of a run that has passed, and writes them into the README. Only with STENO_PROOF=1: an ordinary run
 * leaves the checkout as it is. A slice counts for nothing. Paths are those of the project's folder, because some of the runs are bundled elsewhere.
 */
export function recordProof(
  name: ProofName,
  figures: Readonly<Record<string, number>>,
  { results = RESULTS, readme = README } = {},
): void {
  if (process.env.STENO_PROOF !== '1' || process.env.STENO_SLICE) return;
  locked(`${resolve(results)}.lock`, () => {
    const proofs = readProofs(results);
    const proof: Proof = {
      figures: { ...proofs[name]?.figures, ...figures },
      node: process.versions.node,
      date: new Date().toISOString().slice(0, 10),
    };
    const kept = { ...proofs, [name]: proof };
    replace(results, `${JSON.stringify(kept, null, 2)}\n`);
    replace(readme, withTable(readFileSync(readme, 'utf8'), kept));
  });
}

function replace(path: string, text: string): void {
  const partial = `${resolve(path)}.${process.pid}`;
  writeFileSync(partial, text);
  renameSync(partial, resolve(path));
}

/** Several processes keep figures at once: a folder is the lock, because only one of them can make it. */
function locked(lock: string, work: () => void): void {
  while (!made(lock)) {
    if (isStale(lock)) rmSync(lock, { recursive: true, force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function made(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isStale(lock: string): boolean {
  const found = statSync(lock, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > LOCK_STALE_MS;
}
