/**
 * A download is complete or not there: it is written beside its final path, checked, synced and renamed. The calls to
 * the file system are synchronous: with 8 small files at once, that takes 0.5 to 0.7 of the time of the asynchronous
 * ones. To take this out, use node:fs/promises, as for pipes below.
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
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChunkSource } from '../../api/http/body.ts';
import type { Transport } from '../../api/http/transport.ts';
import { getTranscript, type TranscriptBody, type TranscriptRequest } from '../../api/transcripts.ts';
import { diskReason } from '../../lib/disk-reasons.ts';
import { DiskError, errorCode, StenoError } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { countStreamedBytes } from '../../lib/memory.ts';
import { streamChecked } from './check.ts';
import { type PartialTag, partialPath } from './partial-files.ts';
import { syncFile, syncFolder } from './sync-to-disk.ts';

export interface Saved {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  /** When it was written, ISO 8601; absent where it was there before. */
  readonly at?: string;
  /** It was there before and was left as it is. */
  readonly skipped?: boolean;
  /** With `skipped`: the ledger does not know it as this transcript. */
  readonly unidentified?: boolean;
  /** With `skipped`: it was written by us while the file was not known to be delivered. */
  readonly isDraft?: boolean;
  /** The SHA-256, where it was asked for. */
  readonly hash?: string | undefined;
  /** Its hidden name, which it keeps until the ledger has noted it. */
  readonly partial?: string | undefined;
}

export interface SaveOptions {
  readonly ifExists: IfExists;
  /** A file that is there is replaced if this is its SHA-256, whatever `ifExists` says. */
  readonly replaceable?: string | undefined;
  /** Whether the SHA-256 is wanted. */
  readonly hashes?: boolean;
  /** Keeps a hidden name beside the final one, with this in it. */
  readonly tag?: PartialTag | undefined;
  /** Told how many more bytes have come, and how many there are where that is known; fewer after a failed try. */
  readonly onBytes?: OnBytes | undefined;
  /** Called when all of it has come, and is being synced. */
  readonly onAnswered?: (() => void) | undefined;
}

export type OnBytes = (more: number, length: number | undefined) => void;

export type IfExists = 'refuse' | 'replace' | 'skip';

/** Downloads one transcript to a path. */
export async function saveTranscript(
  transport: Transport,
  request: TranscriptRequest,
  path: string,
  options: SaveOptions,
): Promise<Saved> {
  const { id, ext } = request;
  const there = withDiskErrors(path, () => lstatSync(path, { throwIfNoEntry: false }));
  const existing = there?.isSymbolicLink()
    ? withDiskErrors(path, () => statSync(path, { throwIfNoEntry: false }))
    : there;
  if (existing?.isDirectory()) throw cantWrite(path, 'it is a folder');
  const ifExists = existing && hasHash(path, options.replaceable) ? 'replace' : options.ifExists;
  if (there && !existing && ifExists !== 'replace') throw cantWrite(path, 'it is a symlink to nowhere');
  // A pipe or a device is written to, never replaced.
  const isSpecial = existing !== undefined && !existing.isFile();
  if (existing && !isSpecial && ifExists === 'skip')
    return { id, ext, path, bytes: existing.size, skipped: true };
  if (existing && !isSpecial && ifExists === 'refuse') throw existsError(path);
  return await getTranscript(transport, request, async (transcript): Promise<Saved> => {
    const hash = options.hashes ? createHash('sha256') : undefined;
    const source: ChunkSource = (onChunk) =>
      streamChecked(countingBytes(transcript, options.onBytes), ext, (chunk) => {
        hash?.update(chunk);
        return onChunk(chunk);
      });
    if (!isSpecial) {
      const written = await writeAndRename(path, source, options);
      const at = written.skipped ? {} : { at: new Date().toISOString() };
      return { id, ext, path, ...written, ...at, hash: hash?.digest('hex') };
    }
    const bytes = await writeToSpecial(path, source).catch((error) => {
      throw truncatedError(error);
    });
    return { id, ext, path, bytes, at: new Date().toISOString() };
  });
}

/** Counted as they arrive: the first ones are held back to be checked. */
export function countingBytes(transcript: TranscriptBody, onBytes: OnBytes | undefined): TranscriptBody {
  if (!onBytes) return transcript;
  const stream: ChunkSource = async (onChunk) => {
    let size = 0;
    try {
      await transcript.stream((chunk) => {
        size += chunk.length;
        onBytes(chunk.length, transcript.length);
        return onChunk(chunk);
      });
    } catch (error) {
      onBytes(-size, transcript.length);
      throw error;
    }
  };
  return { ...transcript, stream };
}

function hasHash(path: string, hash: string | undefined): boolean {
  if (hash === undefined) return false;
  try {
    if (!lstatSync(path).isFile()) return false;
    return createHash('sha256').update(readFileSync(path)).digest('hex') === hash;
  } catch {
    // It is gone, or can't be read.
    return false;
  }
}

/** Writes to a partial file, which gets the final name only when it is complete. */
async function writeAndRename(path: string, source: ChunkSource, options: SaveOptions): Promise<Named> {
  const partial = partialPath(path, options.tag);
  try {
    const bytes = await writeAll(partial, path, source, options.onAnswered);
    const saved = withDiskErrors(path, () => nameIt(partial, path, bytes, options));
    await syncFolder(dirname(path));
    return saved;
  } catch (error) {
    removeIfPossible(partial);
    throw error;
  }
}

type Named = Pick<Saved, 'bytes' | 'skipped' | 'partial'>;

/** Gives a complete file its final name. */
function nameIt(
  partial: string,
  path: string,
  bytes: number,
  { ifExists, replaceable, tag }: SaveOptions,
): Named {
  const keepsBoth = tag !== undefined;
  // Looked at again: it may have been changed during the download.
  const replacesDraft = ifExists !== 'replace' && hasHash(path, replaceable);
  if (replacesDraft && keepsBoth && tryReplaceByLink(partial, path)) return { bytes, partial };
  if (replacesDraft || ifExists === 'replace') {
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
  onAnswered: SaveOptions['onAnswered'],
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
    onAnswered?.();
    await syncAll(file, size, path);
  } finally {
    const opened = file;
    // Some disks say only here that they are full.
    if (opened !== undefined) withDiskErrors(path, () => closeSync(opened));
  }
  return size;
}

function syncAll(file: number | undefined, size: number, path: string): Promise<void> | undefined {
  if (file === undefined) return undefined;
  return withDiskErrors(path, () => syncFile(file, size))?.catch(throwCantWrite(path));
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

/** A pipe or a device may block for long, so it is written to asynchronously. */
async function writeToSpecial(path: string, source: ChunkSource): Promise<number> {
  const failed = throwCantWrite(path);
  const file = await open(path, 'w').catch(failed);
  let size = 0;
  try {
    await source(async (chunk) => {
      await file.writeFile(chunk).catch(failed);
      size += chunk.length;
    });
  } finally {
    await file.close().catch(failed);
  }
  return size;
}

/** Makes an error of the disk ours, so that the call is not repeated. */
function withDiskErrors<T>(path: string, work: () => T): T {
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

/** Ours, so that the call is not repeated: what was written to a stream can't be taken back. */
export function truncatedError(error: unknown): unknown {
  if (error instanceof StenoError || /Abort|Timeout/.test((error as Error).name)) return error;
  return new StenoError('network', 'the transcript broke off; what came is not whole', { cause: error });
}

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, {
    hint: 'replace it with --force, or leave it with --skip-existing',
  });

const cantWrite = (path: string, reason: string, cause?: unknown): DiskError =>
  new DiskError(`can't write ${path}: ${reason}`, { cause });

const throwCantWrite =
  (path: string) =>
  (error: unknown): never => {
    throw cantWrite(path, diskReason(error), error);
  };
