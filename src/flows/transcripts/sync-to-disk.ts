/**
 * A transcript is on disk before it has its name, and its name before the ledger knows of it: what a power cut leaves
 * is whole, and what the ledger calls downloaded is there. In the thread pool, so that other downloads go on meanwhile,
 * unless a sync is over sooner than it could be handed over.
 */
import { close, closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, open, openSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { monotonicMs } from '../../lib/clock.ts';
import { errorCode } from '../../lib/errors.ts';

const openFolder = promisify(open);
const closeFolder = promisify(close);
const syncData = promisify(fdatasync);
const syncEntries = promisify(fsync);

/** Some file systems (network shares, FUSE) can't sync: there is no more to be done. */
const cantSync = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** What it takes this thread to hand a sync to another one, and to hear of it. */
const HAND_OVER_MS = 0.1;
/** Syncs of this thread may take so much longer before they are handed over for good: a few of a usual disk. */
const MAX_LOST_MS = 5;
/** A longer file may keep even a quick disk busy. */
const MAX_SMALL_BYTES = 65_536;

let lostMs = 0;

/** In memory a sync takes a microsecond. A disk that is slow once is slow for all that follows. */
export const mayBeQuick = (): boolean => lostMs < MAX_LOST_MS;

function syncHere(sync: () => void): void {
  const begunAt = monotonicMs();
  try {
    sync();
  } finally {
    lostMs = Math.max(0, lostMs + monotonicMs() - begunAt - HAND_OVER_MS);
  }
}

/** Gives nothing where it is done already. */
export function syncFile(file: number, bytes: number): Promise<void> | undefined {
  if (bytes > MAX_SMALL_BYTES) return syncData(file).catch(unlessUnable);
  if (!mayBeQuick()) return syncInBatch(file).catch(unlessUnable);
  try {
    syncHere(() => fdatasyncSync(file));
  } catch (error) {
    unlessUnable(error);
  }
  return undefined;
}

function unlessUnable(error: unknown): void {
  if (!cantSync.has(errorCode(error) ?? '')) throw error;
}

interface Waiting {
  readonly file: number;
  readonly done: (error: Error | null) => void;
}

let waiting: Waiting[] = [];
let running = 0;

/**
 * Speed: small files are synced together, and those that come meanwhile when all of these are done. Each one for itself
 * would wake a thread, which takes a twelfth of the processor time of a download. To take it out, call `syncData`.
 */
const syncInBatch = (file: number): Promise<void> =>
  new Promise((resolve, reject) => {
    waiting.push({ file, done: (error) => (error ? reject(error) : resolve()) });
    if (running === 0) startBatch();
  });

function startBatch(): void {
  const batch = waiting;
  waiting = [];
  running = batch.length;
  for (const { file, done } of batch) {
    fdatasync(file, (error) => {
      done(error);
      running -= 1;
      if (running === 0) startBatch();
    });
  }
}

/** The sync of each folder that begins next: all files that got their name before it share it. */
const upcoming = new Map<string, Promise<void>>();
const begun = new Map<string, Promise<void>>();

/** Syncs the names in a folder, as far as the system can. */
export function syncFolder(path: string): Promise<void> {
  const shared = upcoming.get(path);
  if (shared !== undefined) return shared;
  const next = startSync(path);
  upcoming.set(path, next);
  return next;
}

async function startSync(path: string): Promise<void> {
  await (begun.get(path) ?? nextTurn());
  upcoming.delete(path);
  const sync = syncNames(path).finally(() => {
    if (begun.get(path) === sync) begun.delete(path);
  });
  begun.set(path, sync);
  await sync;
}

/** The data is safe by then; Windows, and some file systems, sync no folder. */
async function syncNames(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  if (mayBeQuick()) return syncNamesHere(path);
  const folder = await openFolder(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  await syncEntries(folder).catch(() => {});
  await closeFolder(folder);
}

function syncNamesHere(path: string): void {
  let folder: number | undefined;
  try {
    const opened = openSync(path, 'r');
    folder = opened;
    syncHere(() => fsyncSync(opened));
  } catch {
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
