/** The process that makes a backup: `node backup.js <ledger>`. Nobody reads what it says, so it says nothing. */
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/fs.ts';
import { isRunning } from '../../lib/processes.ts';
import { type Database, openDamaged } from '../../lib/sqlite.ts';
import { backupFolder, backupsOf, isBackupDue } from './backups.ts';

const KEPT = 3;
const MIN_FREE_BYTES = 100 * 1024 * 1024;
/** One that could not be made is tried again after an hour, not after a day. */
const RETRY_AFTER_MS = 3_600_000;
const DAY_MS = 86_400_000;

async function backUp(ledger: string): Promise<void> {
  if (!isBackupDue(ledger)) return;
  const folder = backupFolder(ledger);
  makeFolder(folder, 0o700);
  const unlock = lock(join(folder, '.lock'));
  if (!unlock) return;
  let made = false;
  try {
    for (const draft of readdirSync(folder).filter(isDraft)) rmSync(join(folder, draft), { force: true });
    made = hasRoom(folder, ledger) && (await copy(ledger, folder));
    if (made) for (const old of backupsOf(ledger).slice(0, -KEPT)) rmSync(old, { force: true });
  } finally {
    unlock();
    if (!made) setRetry(folder);
  }
}

/** What a process that was killed has left, for the holder of the lock. */
const isDraft = (name: string): boolean => /^\.new-\d+\.db/.test(name);

/** False where the ledger is damaged. */
async function copy(ledger: string, folder: string): Promise<boolean> {
  const draft = join(folder, `.new-${process.pid}.db`);
  const db = await openDamaged(ledger);
  try {
    if (!isWhole(db)) return false;
    // SQLite would make a file that others can read; it takes an empty one as it is.
    closeSync(openSync(draft, 'wx', 0o600));
    // For one that is killed; the new name below counts as a backup of now.
    setRetry(folder);
    db.run('VACUUM INTO ?', draft);
    syncPath(draft);
    renameSync(draft, join(folder, `ledger-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.db`));
    syncPath(folder);
    return true;
  } finally {
    rmSync(draft, { force: true });
    db.close();
  }
}

const isWhole = (db: Database): boolean =>
  db.get<{ integrity_check: string }>('PRAGMA integrity_check(1)')?.integrity_check === 'ok';

function hasRoom(folder: string, ledger: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  const log = statSync(`${ledger}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return bavail * bsize > 2 * (statSync(ledger).size + log) + MIN_FREE_BYTES;
}

function syncPath(path: string): void {
  // Windows opens no folder, and syncs only what is open for writing.
  if (process.platform === 'win32') return;
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

function setRetry(folder: string): void {
  const seconds = (Date.now() - DAY_MS + RETRY_AFTER_MS) / 1000;
  utimesSync(folder, seconds, seconds);
}

/** Gives what releases it; nothing where another process holds it. One that was left behind is taken over. */
function lock(path: string): (() => void) | undefined {
  if (!create(path)) {
    if (isHeld(path)) return undefined;
    rmSync(path, { force: true });
    if (!create(path)) return undefined;
  }
  return () => rmSync(path, { force: true });
}

/** Empty where its process was killed, or the disk was full, before it could write its number; numbers are used again. */
function isHeld(path: string): boolean {
  const pid = Number(readFileSync(path, 'utf8'));
  return pid > 0 && isRunning(pid) && Math.abs(Date.now() - statSync(path).mtimeMs) < RETRY_AFTER_MS;
}

function create(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

const [, , ledger] = process.argv;
if (ledger !== undefined && dirname(ledger) !== ledger)
  backUp(ledger).catch(() => {
    process.exitCode = 1;
  });
