/** A lock between processes: a file that is there while one of them holds it. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { monotonicMs } from './clock.ts';
import { errorCode, StenoError } from './errors.ts';
import { isRunning } from './processes.ts';

/** A lock is held for milliseconds: one as old as this was left behind, on whatever machine. */
const STALE_MS = 10_000;
/** A process writes its name into a lock as soon as it has made it: one that is empty for longer was killed before. */
const EMPTY_MS = 2_000;
/** Longer than STALE_MS, so that no lock that was left behind ends a command. */
const WAIT_MS = 15_000;

/** Does `work`, which must not wait for anything, while no other process holds the lock. */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => T): Promise<T> {
  // Loaded here: every command loads this module, and few wait.
  const { sleep } = await import('./sleep.ts');
  const deadline = monotonicMs() + WAIT_MS;
  for (;;) {
    const late = monotonicMs() > deadline;
    const release = tryLockOnce(path, late);
    if (release) {
      try {
        return work();
      } finally {
        release();
      }
    }
    if (late) throw busyError(path);
    await sleep(10 + Math.random() * 30, signal);
  }
}

/** Takes the lock if it is free or was left behind; gives what releases it. */
export function tryFileLock(path: string): (() => void) | undefined {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), since: String(process.hrtime.bigint()) });
  // A process may have been killed while it removed the lock of another that was killed.
  for (let left = 2; !create(path, mine); left -= 1) {
    if (left === 0) return undefined;
    removeStale(path, mine);
  }
  removeIfStale(guardOf(path));
  return () => {
    // It is another's by now if this process was stopped for long; one that stays is found stale by the next process.
    try {
      if (readFileSync(path, 'utf8') === mine) rmSync(path);
    } catch {}
  };
}

/** Windows refuses a name for a moment after its file was deleted; elsewhere a refusal is final. */
function tryLockOnce(path: string, last: boolean): (() => void) | undefined {
  try {
    return tryFileLock(path);
  } catch (error) {
    const passes =
      process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(errorCode(error) ?? '');
    if (passes && !last) return undefined;
    throw error;
  }
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A second lock guards the removal: of two processes that see a stale lock, one could remove the new lock of the other. */
function removeStale(path: string, mine: string): void {
  if (!isStale(path)) return;
  const guard = guardOf(path);
  if (!create(guard, mine)) {
    removeIfStale(guard);
    return;
  }
  try {
    removeIfStale(path);
  } finally {
    rmSync(guard, { force: true });
  }
}

function removeIfStale(path: string): void {
  if (isStale(path)) rmSync(path, { force: true });
}

const guardOf = (path: string): string => `${path}.removal`;

function isStale(path: string): boolean {
  try {
    // A clock that was set back makes a lock seem to come from the future.
    const age = Math.abs(Date.now() - statSync(path).mtimeMs);
    if (age > STALE_MS) return true;
    const text = readFileSync(path, 'utf8');
    if (text === '') return age > EMPTY_MS;
    const { pid, host } = JSON.parse(text) as { pid?: unknown; host?: unknown };
    return host === hostname() && typeof pid === 'number' && pid > 0 && !isRunning(pid);
  } catch {
    // Released a moment ago, or half written.
    return false;
  }
}

const busyError = (path: string): StenoError =>
  new StenoError('failed', `other processes have held the lock ${path} for ${WAIT_MS / 1000} seconds`, {
    hint: 'run it again when they have ended',
  });
