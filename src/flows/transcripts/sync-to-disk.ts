/**
 * A transcript is on disk before it has its name, and its name before the ledger knows of it: what a power cut leaves
 * is whole, and what the ledger calls downloaded is there. In the thread pool, so that other downloads go on meanwhile,
 * unless a sync is over sooner than it could be handed over. A receiver leaves all to the pool (`inPool`): a disk that
 * stalls must not hold up its answers.
 */
import { close, closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, open, openSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { monotonicMs } from '../../lib/clock.ts';
import { throwUnlessUnableToSync } from '../../lib/disk-reasons.ts';
import { onDisk } from '../../lib/disk-work.ts';

const openFolder = promisify(open);
const closeFolder = promisify(close);
const syncData = promisify(fdatasync);
const syncEntries = promisify(fsync);

/** What it takes this thread to hand a sync to another one, and to hear of it. */
const HAND_OVER_MS = 0.1;
/** When syncs here have taken this much longer than HAND_OVER_MS in sum, all later ones go to the pool. */
const MAX_LOST_MS = 5;
/** A longer file may keep even a quick disk busy. */
const MAX_SMALL_BYTES = 65_536;

let lostMs = 0;

/** In memory a sync takes a microsecond. A disk that was found slow counts as slow from then on. */
export const mayBeQuick = (): boolean => lostMs < MAX_LOST_MS;

function syncHere(sync: () => void): void {
  const begunAt = monotonicMs();
  try {
    sync();
  } finally {
    lostMs = Math.max(0, lostMs + monotonicMs() - begunAt - HAND_OVER_MS);
  }
}

/** Gives nothing where it is done already. With `inPool` this thread never waits for the disk. */
export function syncFile(file: number, bytes: number, inPool: boolean): Promise<void> | undefined {
  if (inPool) return onDisk(() => syncData(file)).catch(throwUnlessUnableToSync);
  if (bytes > MAX_SMALL_BYTES) return syncData(file).catch(throwUnlessUnableToSync);
  if (!mayBeQuick()) return syncInBatch(file).catch(throwUnlessUnableToSync);
  try {
    syncHere(() => fdatasyncSync(file));
  } catch (error) {
    throwUnlessUnableToSync(error);
  }
  return undefined;
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

/** Syncs the names in a folder, as far as the system can, with those of files that get theirs in the same turn. */
export function syncFolderSoon(path: string, inPool: boolean): Promise<void> {
  const shared = upcoming.get(path);
  if (shared !== undefined) return shared;
  const next = startSync(path, inPool);
  upcoming.set(path, next);
  return next;
}

async function startSync(path: string, inPool: boolean): Promise<void> {
  await (begun.get(path) ?? nextTurn());
  upcoming.delete(path);
  const sync = syncNames(path, inPool).finally(() => {
    if (begun.get(path) === sync) begun.delete(path);
  });
  begun.set(path, sync);
  await sync;
}

/** The data is safe by then; Windows, and some file systems, sync no folder. */
async function syncNames(path: string, inPool: boolean): Promise<void> {
  if (process.platform === 'win32') return;
  if (inPool) return onDisk(() => syncNamesThere(path));
  return mayBeQuick() ? syncNamesHere(path) : syncNamesThere(path);
}

async function syncNamesThere(path: string): Promise<void> {
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
