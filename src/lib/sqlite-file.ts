/** The file of a database: who may read it, and how one that was emptied is told from a new one. */
import { chmodSync, closeSync, linkSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, StenoError, usage } from './errors.ts';
import { isDanglingLink, syncFolder } from './fs.ts';
import { isRunning } from './processes.ts';
import type { Driver } from './sqlite-driver.ts';
import { plural } from './text.ts';

/** SQLite's smallest page. */
const MIN_DATABASE_BYTES = 512;

/** What to do about a file that lost its content. */
export const restoreHint = (): string => 'restore it from a backup, or delete it';

/** A file that is there and is no database of ours is never filled with new tables: what it knew would be forgotten. */
export function refuseEmptied(path: string, hint = restoreHint): void {
  const size = sizeOf(path);
  if (size === 0) throw new StenoError('failed', `${path} is empty: its contents are lost`, { hint: hint() });
  // SQLite takes a file of a few bytes for a new database.
  if (size !== undefined && size < MIN_DATABASE_BYTES)
    throw new StenoError('failed', `${path} is not a database: it has only ${plural(size, 'byte')}`, {
      hint: hint(),
    });
  // SQLite would write what stands in the log into a new database. Another process may make both at this moment.
  if (size === undefined && sizeOf(`${path}-wal`) && sizeOf(path) === undefined)
    throw new StenoError('failed', `${path} is gone, but ${path}-wal exists`, { hint: hint() });
}

/** SQLite would make the file that such a link names, wherever that is. */
export function refuseDanglingLinks(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (isDanglingLink(file)) throw usage(`${file} is a broken symlink`, 'delete it');
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

interface Step {
  readonly name: string;
  readonly sql: string;
}

/** Makes the database with all its tables, unless it is there; clears away what a process that was killed has left. */
export function makeIfMissing(Driver: Driver, path: string, migrations: readonly Step[]): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // With a second name it was made by a process that could not remove the first one any more.
  if (!found || found.nlink > 1) removeLeftDrafts(path);
  if (!found) create(Driver, path, migrations);
}

const DRAFT = /^\.(\d+)-[a-z0-9]+\.new(-journal)?$/;

function removeLeftDrafts(path: string): void {
  const name = basename(path);
  for (const each of readdirSync(dirname(path))) {
    if (!each.startsWith(name)) continue;
    const [, pid] = DRAFT.exec(each.slice(name.length)) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dirname(path), each), { force: true });
  }
}

/**
 * A new database gets its name when it is complete: so an empty file under that name was emptied by an accident, and is
 * not taken for a new one. Only `exec` is used: on Node 20 a connection with prepared statements stays open after
 * `close`, and must not share the file with the next one.
 */
function create(Driver: Driver, path: string, migrations: readonly Step[]): void {
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.new`;
  const now = new Date().toISOString();
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const connection = new Driver(draft);
    try {
      connection.exec('PRAGMA synchronous = FULL');
      // So that what is removed later can be given back to the disk in small steps.
      connection.exec(`PRAGMA auto_vacuum = INCREMENTAL; BEGIN; ${CREATE_MIGRATIONS}`);
      for (const { name, sql } of migrations)
        connection.exec(`${sql}; INSERT INTO migrations (name, at) VALUES ('${name}', '${now}')`);
      connection.exec('COMMIT');
    } finally {
      connection.close();
    }
    giveName(Driver, draft, path);
  } finally {
    for (const file of [draft, `${draft}-journal`]) rmSync(file, { force: true });
  }
}

/** Never replaces a database that another process has made meanwhile. */
function giveName(Driver: Driver, draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') renameUnlessThere(Driver, draft, path);
  }
  syncFolder(dirname(path));
}

/** Another process only has to rename a file. */
const LOCK_WAIT_MS = 10_000;

/**
 * For disks that have no hard links: a lock of SQLite, which ends with its process, keeps two from renaming at once. Its
 * file may go while others wait for it: they find the database.
 */
function renameUnlessThere(Driver: Driver, draft: string, path: string): void {
  const lock = `${path}.lock`;
  closeSync(openSync(lock, 'a', 0o600));
  const connection = new Driver(lock);
  try {
    connection.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; BEGIN EXCLUSIVE`);
    if (!statSync(path, { throwIfNoEntry: false })) renameSync(draft, path);
  } finally {
    connection.close();
    rmSync(lock, { force: true });
  }
}

export const CREATE_MIGRATIONS =
  'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL)';
