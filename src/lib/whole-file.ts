/**
 * A file is complete or not there: it is written beside its final path, synced, and then gets its name; then its folder
 * is synced. What a power cut leaves is whole.
 */
import {
  accessSync,
  close,
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  link,
  linkSync,
  lstatSync,
  open,
  openSync,
  promises,
  readlinkSync,
  realpathSync,
  rename,
  renameSync,
  type Stats,
  statSync,
  unlink,
  unlinkSync,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DiskError, errorCode, StenoError, systemReason } from './errors.ts';
import { makeFolder, throwUnlessUnableToSync } from './fs.ts';
import { monotonicMs } from './time.ts';

// Calls of the file system for files that are written. A quick disk is done sooner than a thread could be told of it:
// there they are made at once. They are left to libuv's pool where the disk is slow, so that other downloads go on
// meanwhile, and always in a receiver, because a disk that hangs must not hold up its answers: there at most two at a
// time, so that two of the pool's four threads are left for everything else.

const MAX_RUNNING = 2;

/** Slower calls of a kind, so many in a row, go to the pool from then on: as long as that takes itself, for syncs. */
const SLOW_MS = { sync: 0.1, other: 1 };
const SLOW_IN_A_ROW = 3;

let usesPool = false;
let runningCalls = 0;
const waitingCalls: Array<() => void> = [];

/** For a receiver. */
export function leaveDiskToPool(): void {
  usesPool = true;
}

/** Work in the pool. */
export async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  while (usesPool && runningCalls >= MAX_RUNNING)
    await new Promise<void>((resolve) => waitingCalls.push(resolve));
  runningCalls += 1;
  try {
    return await work();
  } finally {
    runningCalls -= 1;
    waitingCalls.shift()?.();
  }
}

/** Whether a call is running, which Node would wait for before it exits. */
export const isDiskBusy = (): boolean => runningCalls > 0;

const call = <Args extends unknown[], Result>(
  inPool: (...args: Args) => Promise<Result>,
  atOnce: (...args: Args) => Result,
  slowMs = SLOW_MS.other,
): ((...args: Args) => Promise<Result>) => {
  let slowCalls = 0;
  return async (...args) => {
    if (usesPool || slowCalls >= SLOW_IN_A_ROW) return onDisk(() => inPool(...args));
    const begunAt = monotonicMs();
    try {
      return atOnce(...args);
    } finally {
      slowCalls = monotonicMs() - begunAt > slowMs ? slowCalls + 1 : 0;
    }
  };
};

function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

const syncInPool = promisify(fdatasync);

/** Speed: every start loads this file, so that it must not load node:fs/promises, which takes 5 ms. */
export const disk = {
  /** Gives nothing where nothing is there: an error takes longer to make than the call. */
  lstat: call<[path: string], Stats | undefined>(
    (path) => promises.lstat(path).catch(unlessMissing),
    (path) => lstatSync(path, { throwIfNoEntry: false }),
  ),
  stat: call<[path: string], Stats>((path) => promises.stat(path), statSync),
  open: call<[path: string, flags: string, mode?: number], number>(promisify(open), openSync),
  write: call<[file: number, chunk: Uint8Array], void>(promisify(writeFile), writeFileSync),
  close: call<[file: number], void>(promisify(close), closeSync),
  link: call<[from: string, to: string], void>(promisify(link), linkSync),
  rename: call<[from: string, to: string], void>(promisify(rename), renameSync),
  unlink: call<[path: string], void>(promisify(unlink), unlinkSync),
};

/** A longer file may keep even a quick disk busy. */
const MAX_SMALL_BYTES = 65_536;

const syncSmall = call<[file: number], void>(syncInPool, fdatasyncSync, SLOW_MS.sync);

const sync = (file: number, bytes = 0): Promise<void> =>
  bytes > MAX_SMALL_BYTES ? onDisk(() => syncInPool(file)) : syncSmall(file);

/** Hands over a content chunk by chunk, and waits for each. */
export type ChunkWriter = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

export interface WholeFileOptions<Named> {
  /** Gives the draft its final name; gets how many bytes it has. */
  readonly name: (draft: string, bytes: number) => Promise<Named>;
  readonly mode?: number;
  /** Its name until it is complete, in the same folder. */
  readonly draft?: string;
  /** Called when all of it has come, and is being synced. */
  readonly onComplete?: (() => void) | undefined;
}

/** Errors of the disk are told with the path, those of `content` as they are; neither leaves anything behind. */
export async function writeFileAtomic<Named>(
  path: string,
  content: ChunkWriter,
  { name, mode = 0o666, draft = draftPath(path), onComplete }: WholeFileOptions<Named>,
): Promise<Named> {
  try {
    const bytes = await writeDraft(path, draft, mode, content, onComplete);
    const named = await name(draft, bytes).catch(throwCantWrite(path));
    await syncFolderSoon(dirname(path));
    return named;
  } catch (error) {
    // What stays is removed by a later run; the error that led here is the one to tell.
    await disk.unlink(draft).catch(() => {});
    throw error;
  }
}

const draftPath = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.new`);

/** Opens the file at the first chunk, so that a refusal leaves nothing behind, not even a folder. */
async function writeDraft(
  path: string,
  draft: string,
  mode: number,
  content: ChunkWriter,
  onComplete: (() => void) | undefined,
): Promise<number> {
  let file: number | undefined;
  let bytes = 0;
  const failed = throwCantWrite(path);
  try {
    await content(async (chunk) => {
      file ??= await openNew(draft, mode).catch(failed);
      await disk.write(file, chunk).catch(failed);
      bytes += chunk.length;
    });
    onComplete?.();
    file ??= await openNew(draft, mode).catch(failed);
    await sync(file, bytes).catch(throwUnlessUnableToSync).catch(failed);
  } finally {
    // Some disks say only here that they are full.
    if (file !== undefined) await disk.close(file).catch(failed);
  }
  return bytes;
}

async function openNew(path: string, mode: number): Promise<number> {
  try {
    return await disk.open(path, 'wx', mode);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') makeFolder(dirname(path));
    // Of a process that had this number and was killed.
    else if (code === 'EEXIST') await disk.unlink(path);
    else throw error;
    return disk.open(path, 'wx', mode);
  }
}

/** The sync of each folder that begins next: all files that got their name before it share it. */
const upcoming = new Map<string, Promise<void>>();
const running = new Map<string, Promise<void>>();

function syncFolderSoon(path: string): Promise<void> {
  const shared = upcoming.get(path);
  if (shared !== undefined) return shared;
  const next = (running.get(path) ?? Promise.resolve()).then(() => {
    upcoming.delete(path);
    const sync = syncNames(path).finally(() => {
      if (running.get(path) === sync) running.delete(path);
    });
    running.set(path, sync);
    return sync;
  });
  upcoming.set(path, next);
  return next;
}

/** The data is safe by then; Windows, and some file systems, sync no folder. */
async function syncNames(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await disk.open(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  await sync(folder).catch(() => {});
  await disk.close(folder);
}

/**
 * Gives a draft a name that nothing has: a link, unlike a rename, never replaces a file. With `keepsDraft` it has both
 * names where the file system can do that.
 */
export async function nameUnlessExists(
  draft: string,
  path: string,
  keepsDraft = false,
): Promise<'exists' | 'renamed' | 'linked'> {
  try {
    await disk.link(draft, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return 'exists';
    // Some file systems have no hard links.
    if (await disk.lstat(path).catch(() => undefined)) return 'exists';
    await disk.rename(draft, path);
    return 'renamed';
  }
  if (keepsDraft) return 'linked';
  await disk.unlink(draft);
  return 'renamed';
}

export const cantWrite = (path: string, reason: string, cause?: unknown): DiskError =>
  new DiskError(`can't write ${path}: ${reason}`, { cause });

/** Makes an error of the disk ours, so that no call is repeated for it. */
export const throwCantWrite =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof StenoError) throw error;
    const reason = errorCode(error) === 'ENOENT' ? 'there is no such file or folder' : systemReason(error);
    throw cantWrite(path, reason, error);
  };

/**
 * Replaces a file that a person cares for, with its mode, its owner and its links; makes it if there is none. A link
 * stays a link, also one to nowhere: what it names is written.
 */
export async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  try {
    const target = writtenFile(path);
    const before = statSync(target, { throwIfNoEntry: false });
    if (before && !before.isFile()) throw cantWrite(path, 'it is not a file');
    // A rename would also replace a file that its owner has closed to writing.
    if (before) accessSync(target, constants.W_OK);
    await writeFileAtomic(target, (write) => write(content), {
      mode: before ? 0o600 : 0o644,
      name: async (draft) => {
        if (before) await keepAccess(draft, before);
        await disk.rename(draft, target);
      },
    });
  } catch (error) {
    throwCantWrite(path)(error);
  }
}

async function keepAccess(path: string, { uid, gid, mode }: Stats): Promise<void> {
  // Only root may give a file away; without that it is ours, as every editor leaves it.
  // Speed: every start loads this file, and that module of Node takes 5 ms.
  const { chmod, chown } = await import('node:fs/promises');
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) await chown(path, uid, gid).catch(() => {});
  await chmod(path, mode & 0o7777);
}

/** The file that a path leads to through links, whether it is there or not. */
export function writtenFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const folder = realpathSync(dirname(path));
  const target = linkAt(path);
  return target === undefined ? join(folder, basename(path)) : writtenFile(resolve(folder, target));
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'UNKNOWN'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
