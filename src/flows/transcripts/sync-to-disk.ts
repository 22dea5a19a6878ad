/**
 * A transcript is on disk before it has its name, and its name before the ledger knows of it: what a power cut leaves
 * is whole, and what the ledger calls downloaded is there. In the thread pool, so that other downloads go on meanwhile.
 */
import { close, fdatasync, fsync, open } from 'node:fs';
import { promisify } from 'node:util';
import { errorCode } from '../../lib/errors.ts';

const openFolder = promisify(open);
const closeFolder = promisify(close);
const syncData = promisify(fdatasync);
const syncEntries = promisify(fsync);

/** Some file systems (network shares, FUSE) can't sync: there is no more to be done. */
const cantSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

export async function syncFile(file: number): Promise<void> {
  try {
    await syncData(file);
  } catch (error) {
    if (!cantSync.has(errorCode(error) ?? '')) throw error;
  }
}

/** The sync of each folder that begins next: all files that got their name before it share it. */
const upcoming = new Map<string, Promise<void>>();
const running = new Map<string, Promise<void>>();

/** Syncs the names in a folder, as far as the system can. */
export function syncFolder(path: string): Promise<void> {
  const shared = upcoming.get(path);
  if (shared !== undefined) return shared;
  const next = startSync(path);
  upcoming.set(path, next);
  return next;
}

async function startSync(path: string): Promise<void> {
  await running.get(path);
  upcoming.delete(path);
  const sync = syncNames(path).finally(() => {
    if (running.get(path) === sync) running.delete(path);
  });
  running.set(path, sync);
  await sync;
}

/** The data is safe by then; Windows, and some file systems, sync no folder. */
async function syncNames(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await openFolder(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  await syncEntries(folder).catch(() => {});
  await closeFolder(folder);
}
