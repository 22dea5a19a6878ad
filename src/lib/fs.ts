import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { dirname, isAbsolute } from 'node:path';
import { DiskError, errorCode, StenoError, systemReason } from './errors.ts';
import { isRunning } from './processes.ts';

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Some file systems (network shares, FUSE) can't sync: there is no more to be done. */
const unableToSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

export function throwUnlessUnableToSync(error: unknown): void {
  if (!unableToSync.has(errorCode(error) ?? '')) throw error;
}

/** SQLite needs some pages beside its file before it can so much as read it. */
const ROOM_TO_OPEN = 64 * 1024;

/** Why a file and what is written beside it can't be written to; undefined where they can. */
export function whyUnwritable(path: string): NodeJS.ErrnoException | undefined {
  try {
    for (const each of [dirname(path), path]) if (existsSync(each)) accessSync(each, constants.W_OK);
    const { bavail, blocks, bsize } = statfsSync(dirname(path));
    // Some network drives tell nothing.
    const isFull = blocks > 0 && bavail * bsize < ROOM_TO_OPEN;
    return isFull ? Object.assign(new Error('no room'), { code: 'ENOSPC' }) : undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/**
 * Makes a folder and those above it that are missing. Node's own `recursive` never ends where a folder is there and yet
 * takes none: one that was deleted while it was in use, or one in /proc. `variable` can name another one in its place.
 */
export function makeFolder(path: string, mode = 0o777, variable?: string): void {
  const missing: string[] = [];
  let at = path;
  while (!tryMake(at, mode, variable)) {
    missing.push(at);
    const above = dirname(at);
    if (above === at) throw cantMake(path, 'there is no such drive');
    at = above;
  }
  // Going down each step has its folder above it: what can't be made now never can.
  for (const each of missing.reverse()) {
    if (!tryMake(each, mode, variable)) throw cantMake(path, `can't create a folder in ${dirname(each)}`);
  }
}

/** False where the folder above it is missing. */
function tryMake(path: string, mode: number, variable?: string): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return false;
    // What already exists gives EEXIST, or another code on some systems: EISDIR, EPERM, EROFS.
    if (isFolder(path)) return true;
    if (code === 'ENOTDIR') throw cantMake(path, systemReason(error), error);
    if (code === 'EEXIST') throw cantMake(path, whatIsThere(path), error);
    // Another folder may do only where nothing may be written to this one.
    if (!unwritable.has(code ?? '')) throw cantMake(path, systemReason(error), error);
    const hint = variable && `make it writable, or name another folder with ${variable}`;
    throw cantMake(path, systemReason(error), error, hint);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const whatIsThere = (path: string): string =>
  isDanglingLink(path) ? 'it is a broken symlink' : 'it is not a folder';

/** Whether there is a symlink that leads to nothing. */
export function isDanglingLink(path: string): boolean {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Undefined for what is not there, or can't be reached. */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const cantMake = (path: string, reason: string, cause?: unknown, hint?: string): DiskError =>
  new DiskError(`can't create the folder ${path}: ${reason}`, { cause, hint });

/** So that new names in it are on disk too. Windows, and some file systems, sync no folder. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    throwUnlessUnableToSync(error);
  } finally {
    closeSync(folder);
  }
}

const MEGABYTE = 1024 * 1024;
const LITTLE_BYTES = 100 * MEGABYTE;
/** On a large disk 1 % is little, but no more than this. */
const MAX_LITTLE_BYTES = 1024 * MEGABYTE;

/** How many bytes are left on the disk of a folder, if that is little: under 100 MB, or under 1 % and 1 GB. */
export function littleRoom(folder: string): number | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    const limit = Math.max(LITTLE_BYTES, Math.min((blocks * bsize) / 100, MAX_LITTLE_BYTES));
    // Some network drives tell nothing.
    return blocks > 0 && bavail * bsize < limit ? bavail * bsize : undefined;
  } catch {
    return undefined;
  }
}

export const roomText = (bytes: number): string => `${Math.floor(bytes / MEGABYTE)} MB`;

/**
 * The home folder of the user: HOME, or the one that the system knows. Undefined where there is none, as in a container
 * that runs under a user id without a name. An empty or relative HOME is passed over: with it, each folder that a
 * command is run in would have a ledger of its own, and what was ordered in another would be ordered again.
 */
export function findHome(): string | undefined {
  for (const read of [homedir, () => userInfo().homedir]) {
    try {
      const path = read();
      if (isAbsolute(path)) return path;
    } catch {
      // The system does not know this user.
    }
  }
  return undefined;
}

/** One key for all spellings of a path that a file system may take for the same: by case, or by composed characters. */
export const pathKey = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase();

/** A lock is held for milliseconds: one as old as this was left behind, on whatever machine. */
const STALE_MS = 10_000;
/** A process writes its name into a lock as soon as it has made it: one that is empty for longer was killed before. */
const EMPTY_MS = 2_000;
/** Longer than STALE_MS, so that no lock that was left behind ends a command. */
const WAIT_MS = 15_000;

/** Does `work`, which must not wait for anything, while this process holds the lock: a file that is there meanwhile. */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => T): Promise<T> {
  // Loaded here: every command loads this module, and few wait.
  const { untilFree } = await import('./backoff.ts');
  const take = (): (() => void) => {
    const release = tryFileLock(path);
    if (release) return release;
    throw busyError(path);
  };
  // Windows refuses a name for a moment after its file was deleted; elsewhere a refusal is final.
  const mayPass = (error: unknown): boolean =>
    error instanceof StenoError ||
    (process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(errorCode(error) ?? ''));
  const release = await untilFree(take, { limitMs: WAIT_MS, mayPass, signal });
  try {
    return work();
  } finally {
    release();
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
  new StenoError('failed', `another process has held the lock ${path} for ${WAIT_MS / 1000} seconds`, {
    hint: 'run it again when that process has ended',
  });
