/**
 * A file is complete or not there: it is written beside its final path, synced and renamed. The calls to the file system
 * are synchronous: with 8 small files at once, that takes 0.5 to 0.7 of the time of the asynchronous ones. To take this
 * out, use node:fs/promises.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { ChunkSource } from '../../api/http/exchange.ts';
import { diskReason } from '../../lib/disk-reasons.ts';
import { DiskError, errorCode, StenoError } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { countStreamedBytes } from '../../lib/memory.ts';
import { type PartialTag, partialPath } from './partial-files.ts';
import { syncFile, syncFolderSoon } from './sync-to-disk.ts';

export type IfExists = 'refuse' | 'replace' | 'skip';

export interface NamingOptions {
  readonly ifExists: IfExists;
  /** A file that is there is replaced if this is its SHA-256, whatever `ifExists` says. */
  readonly replaceable?: string | undefined;
  /** Keeps a hidden name beside the final one, with this in it. */
  readonly tag?: PartialTag | undefined;
  /** Syncs in the thread pool alone, so that this thread never waits for the disk. */
  readonly syncsInPool?: boolean | undefined;
  /** Whether the SHA-256 is wanted. */
  readonly hashes?: boolean | undefined;
}

/** A file that is written, or was there. */
export interface WrittenFile {
  readonly bytes: number;
  /** It was there before and was left as it is. */
  readonly skipped?: boolean;
  /** Its hidden name, where it keeps that. */
  readonly partial?: string | undefined;
  /** The SHA-256, where it was asked for. */
  readonly sha256?: string | undefined;
}

/** Writes to a partial file, which gets the final name only when it is complete. */
export async function writeAndRename(
  path: string,
  source: ChunkSource,
  options: NamingOptions,
  onComplete?: () => void,
): Promise<WrittenFile> {
  const { tag, syncsInPool = false, hashes = false } = options;
  const partial = partialPath(path, tag);
  // Made here, so that a thread of its own makes it where one writes the files.
  const hash = hashes ? createHash('sha256') : undefined;
  const hashed: ChunkSource = (onChunk) =>
    source((chunk) => {
      hash?.update(chunk);
      return onChunk(chunk);
    });
  const sync = (file: number, bytes: number): Promise<void> | undefined =>
    withDiskErrors(path, () => syncFile(file, bytes, syncsInPool))?.catch(throwCantWrite(path));
  try {
    const bytes = await writeAll(partial, path, hash ? hashed : source, sync, onComplete);
    const saved = withDiskErrors(path, () => nameIt(partial, path, bytes, options));
    await syncFolderSoon(dirname(path), syncsInPool);
    return { ...saved, sha256: hash?.digest('hex') };
  } catch (error) {
    removeIfPossible(partial);
    throw error;
  }
}

/** Gives a complete file its final name. */
function nameIt(
  partial: string,
  path: string,
  bytes: number,
  { ifExists, replaceable, tag }: NamingOptions,
): WrittenFile {
  const keepsBoth = tag !== undefined;
  // Looked at again: it may have been changed during the download.
  const replacesOurs = ifExists !== 'replace' && hasHash(path, replaceable);
  if (replacesOurs && keepsBoth && tryReplaceByLink(partial, path)) return { bytes, partial };
  if (replacesOurs || ifExists === 'replace') {
    renameSync(partial, path);
    return { bytes };
  }
  const result = renameUnlessExists(partial, path, keepsBoth);
  if (result !== 'exists') return result === 'linked' ? { bytes, partial } : { bytes };
  // Another process wrote it meanwhile.
  if (ifExists === 'refuse') throw existsError(path);
  unlinkSync(partial);
  return { bytes: statSync(path).size, skipped: true };
}

/** What stays is removed by a later run; the error that led here is the one to tell. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/** Opens the file at the first chunk, so that a refusal leaves nothing behind, not even a folder. */
async function writeAll(
  partial: string,
  path: string,
  source: ChunkSource,
  sync: (file: number, bytes: number) => Promise<void> | undefined,
  onComplete?: () => void,
): Promise<number> {
  let file: number | undefined;
  let size = 0;
  try {
    await source((chunk) => {
      const into = file ?? withDiskErrors(path, () => openNew(partial));
      file = into;
      withDiskErrors(path, () => writeFully(into, chunk));
      size += chunk.length;
      countStreamedBytes(chunk.length);
    });
    onComplete?.();
    if (file !== undefined) await sync(file, size);
  } finally {
    const opened = file;
    // Some disks say only here that they are full.
    if (opened !== undefined) withDiskErrors(path, () => closeSync(opened));
  }
  return size;
}

function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o666);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    return openSync(path, 'wx', 0o666);
  }
}

function writeFully(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}

/** Whether there is a file with this SHA-256. */
export function hasHash(path: string, hash: string | undefined): boolean {
  if (hash === undefined) return false;
  try {
    if (!lstatSync(path).isFile()) return false;
    return createHash('sha256').update(readFileSync(path)).digest('hex') === hash;
  } catch {
    // It is gone, or can't be read.
    return false;
  }
}

/** Makes an error of the disk ours, so that the call is not repeated. */
export function withDiskErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StenoError ? error : cantWrite(path, diskReason(error), error);
  }
}

/**
 * Renames a file unless the new name exists: a rename alone would replace what exists. With `keepsBoth` it has both names
 * where the file system can do that.
 */
function renameUnlessExists(
  partial: string,
  path: string,
  keepsBoth: boolean,
): 'exists' | 'renamed' | 'linked' {
  try {
    linkSync(partial, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return 'exists';
    // Some file systems have no hard links: there the check before the download has to do.
    renameSync(partial, path);
    return 'renamed';
  }
  if (keepsBoth) return 'linked';
  unlinkSync(partial);
  return 'renamed';
}

/** Replaces a file by one that keeps its hidden name; false where the file system can't do that. */
function tryReplaceByLink(partial: string, path: string): boolean {
  const second = partialPath(path);
  try {
    linkSync(partial, second);
  } catch {
    return false;
  }
  renameSync(second, path);
  return true;
}

export const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, {
    hint: 'replace it with --force, or leave it with --skip-existing',
  });

export const cantWrite = (path: string, reason: string, cause?: unknown): DiskError =>
  new DiskError(`can't write ${path}: ${reason}`, { cause });

export const throwCantWrite =
  (path: string) =>
  (error: unknown): never => {
    throw cantWrite(path, diskReason(error), error);
  };
