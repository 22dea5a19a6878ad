/** The file of a database: who may read it, and how one that was emptied is told from a new one. */
import { chmodSync, statSync } from 'node:fs';
import { StenoError, usage } from './errors.ts';
import { isDanglingLink } from './folders.ts';
import { plural } from './text.ts';

/** SQLite's smallest page. */
const MIN_DATABASE_BYTES = 512;

/** What to do about a file that lost its content. */
export const restoreHint = (): string => 'restore it from a backup, or remove it by hand';

/** A file that is there and is no database of ours is never filled with new tables: what it knew would be forgotten. */
export function refuseEmptied(path: string, hint = restoreHint): void {
  const size = sizeOf(path);
  if (size === 0)
    throw new StenoError('failed', `${path} is empty: what was in it is lost`, { hint: hint() });
  // SQLite takes a file of a few bytes for a new database.
  if (size !== undefined && size < MIN_DATABASE_BYTES)
    throw new StenoError('failed', `${path} is no database: it has only ${plural(size, 'byte')}`, {
      hint: hint(),
    });
  // SQLite would write what stands in the log into a new database. Another process may make both at this moment.
  if (size === undefined && sizeOf(`${path}-wal`) && sizeOf(path) === undefined)
    throw new StenoError('failed', `${path} is gone, but ${path}-wal is there`, { hint: hint() });
}

/** SQLite would make the file that such a link names, wherever that is. */
export function refuseDanglingLinks(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (isDanglingLink(file)) throw usage(`${file} is a symlink to nowhere`, 'remove it by hand');
}

/** In bytes; undefined where there is no file. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/**
 * SQLite gives the files beside the database the mode of the database itself. A file that is there is never opened:
 * a connection of ours may have it open, and closing any other descriptor of it drops all locks of this process. To
 * other processes the write-ahead log is then unused, and they delete it.
 */
export function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      const stats = statSync(file);
      if (stats.isFile() && (stats.mode & 0o077) !== 0) chmodSync(file, stats.mode & 0o700);
    } catch {
      // Another process may have closed the database and removed the file just now.
    }
  }
}

/** Tells files apart, also of the same name; empty where there is none. */
export function fileIdentity(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev} ${stats.ino}` : '';
}
