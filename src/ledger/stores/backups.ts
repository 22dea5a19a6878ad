/**
 * Copies of the ledger in a folder beside it, the last three. The first is made when the ledger is an hour old, then
 * one a day, by a process of its own (backup-process.ts), so that no command waits for it.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StenoError } from '../../lib/errors.ts';

const DAY_MS = 86_400_000;
/** A young ledger is damaged as easily, and holds orders too. */
const FIRST_AFTER_MS = 3_600_000;

export const backupFolder = (ledger: string): string => join(dirname(ledger), 'backups');

/** Their names sort by time. */
const isBackup = (name: string): boolean => /^ledger-[\dTZ]+\.db$/.test(name);

/** Oldest first. */
export function backupsOf(ledger: string): string[] {
  const folder = backupFolder(ledger);
  try {
    return readdirSync(folder)
      .filter(isBackup)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Whether the last one, or the last try, is a day ago; where there was none, whether the ledger is an hour old. */
export function isBackupDue(ledger: string, now = Date.now()): boolean {
  const tried = statSync(backupFolder(ledger), { throwIfNoEntry: false })?.mtimeMs;
  if (tried !== undefined) return now - tried >= DAY_MS;
  const born = statSync(ledger, { throwIfNoEntry: false })?.birthtimeMs;
  return born !== undefined && now - born >= FIRST_AFTER_MS;
}

/** Has one made in the background, if it is time for one. It inherits nothing that could hold a secret. */
export async function backUpIfDue(ledger: string): Promise<void> {
  if (!isBackupDue(ledger)) return;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { SystemRoot } = process.env;
  const child = spawn(process.execPath, [join(__dirname, 'backup.js'), ledger], {
    cwd: dirname(ledger),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: SystemRoot === undefined ? {} : { SystemRoot },
  });
  // Where no process can be started, the next command tries again.
  child.on('error', () => {});
  child.unref();
}

/** What to do about a ledger that is damaged or empty: moving it away alone would let everything be bought again. */
export function restoreHint(ledger: string): string {
  const away = `move away ${ledger}, ${ledger}-wal and ${ledger}-shm`;
  return `${away}; ${copyBack(ledger)}; start without a backup only after checking your account: a new ledger knows none of your orders`;
}

/** Where there is no ledger any more, but what it leaves behind: a new one would let everything be bought again. */
export function lossOf(ledger: string): StenoError | undefined {
  const backups = backupsOf(ledger);
  const left = [`${ledger}-wal`, `${ledger}-shm`].filter((path) => existsSync(path));
  const trace = backups.at(-1) ?? left[0];
  // Looked for last: another process may make it, with its log, at this moment.
  if (trace === undefined || existsSync(ledger)) return undefined;
  const traces = [...(backups.length ? [backupFolder(ledger)] : []), ...left].join(' and ');
  return new StenoError('failed', `${ledger} is gone, but ${trace} exists`, {
    hint: `${copyBack(ledger)}; start over only after checking your account, because a new ledger knows none of your orders: move ${traces} away`,
  });
}

/** Called before a new ledger is made. */
export function refuseLoss(ledger: string): void {
  const loss = lossOf(ledger);
  if (loss) throw loss;
}

function copyBack(ledger: string): string {
  const last = backupsOf(ledger).at(-1);
  return last === undefined
    ? 'restore it from a backup of yours'
    : `restore the last backup: cp ${last} ${ledger}`;
}
