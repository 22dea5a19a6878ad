import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskReason, isUnwritable, throwUnlessUnableToSync } from './disk-reasons.ts';
import { DiskError, errorCode, errorMessage } from './errors.ts';

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
    if (above === at) throw cantMake(path, 'there is no such place');
    at = above;
  }
  // Going down each step has its folder above it: what can't be made now never can.
  for (const each of missing.reverse()) {
    if (!tryMake(each, mode, variable))
      throw cantMake(path, `${dirname(each)} was deleted, or takes no folders`);
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
    // What is there already gives EEXIST, or another code on some systems: EISDIR, EPERM, EROFS.
    if (isFolder(path)) return true;
    if (code === 'ENOTDIR') throw cantMake(path, diskReason(error), error);
    if (code === 'EEXIST') throw cantMake(path, whatIsThere(path), error);
    if (!isUnwritable(error)) throw cantMake(path, errorMessage(error), error);
    const hint = variable && `make it writable, or name another folder with ${variable}`;
    throw cantMake(path, diskReason(error), error, hint);
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
  isDanglingLink(path) ? 'it is a symlink to nowhere' : 'it is not a folder';

/** Whether there is a symlink that leads to nothing. */
export function isDanglingLink(path: string): boolean {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

const cantMake = (path: string, reason: string, cause?: unknown, hint?: string): DiskError =>
  new DiskError(`can't make the folder ${path}: ${reason}`, { cause, hint });

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
