/** Downloads one transcript: to a file, or into a pipe or a device that the user has named. */
import { createHash } from 'node:crypto';
import { constants, open as openDescriptor, type Stats } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getTranscript, type TranscriptBody, type TranscriptRequest } from '../../api/files.ts';
import type { ChunkSource } from '../../api/http/exchange.ts';
import type { Transport } from '../../api/http/transport.ts';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { nowMs } from '../../lib/time.ts';
import {
  cantWrite,
  disk,
  nameUnlessExists,
  onDisk,
  throwCantWrite,
  writeFileAtomic,
} from '../../lib/whole-file.ts';
import { streamChecked } from './content.ts';
import { type PartialTag, partialPath } from './partial-files.ts';

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
  /** Where it was asked for. */
  readonly sha256?: string | undefined;
}

/** What was saved, and what is left to be tidied up. */
interface SavedFile {
  readonly saved: Saved;
  /** Its hidden name, which it keeps until the ledger has noted it. */
  readonly partial?: string | undefined;
}

export type IfExists = 'refuse' | 'replace' | 'skip';

export interface SaveOptions {
  readonly ifExists: IfExists;
  /** A file that is there is replaced if this is its SHA-256, whatever `ifExists` says. */
  readonly replaceable?: string | undefined;
  /** The ledger is to know of it: it keeps a hidden name beside the final one, with this in it, and is hashed. */
  readonly tag?: PartialTag | undefined;
  /** Told how many more bytes have come, and how many there are where that is known; fewer after a failed try. */
  readonly onBytes?: OnBytes | undefined;
  /** The user has named this very path: a pipe or a device there is written to. In a folder it is refused. */
  readonly isNamed?: boolean | undefined;
  /** Called when all of it has come, and is being written. */
  readonly onAnswered?: (() => void) | undefined;
}

export type OnBytes = (more: number, length: number | undefined) => void;

/** Downloads one transcript to a path. */
export async function saveTranscript(
  transport: Transport,
  request: TranscriptRequest,
  path: string,
  options: SaveOptions,
): Promise<SavedFile> {
  const { id, ext } = request;
  const { there, existing } = await whatIsAt(path).catch(throwCantWrite(path));
  if (existing?.isDirectory()) throw cantWrite(path, 'it is a folder');
  const isOurs = existing !== undefined && (await hasHash(path, options.replaceable));
  const ifExists = isOurs ? 'replace' : options.ifExists;
  if (there && !existing && ifExists !== 'replace') throw cantWrite(path, 'it is a broken symlink');
  // Never replaced.
  const isSpecial = existing !== undefined && !existing.isFile();
  if (isSpecial && !options.isNamed) throw cantWrite(path, 'it is not a regular file');
  if (existing && !isSpecial && ifExists === 'skip')
    return { saved: { id, ext, path, bytes: existing.size, skipped: true } };
  if (existing && !isSpecial && ifExists === 'refuse') throw existsError(path);
  return await getTranscript(transport, request, async (transcript): Promise<SavedFile> => {
    const source: ChunkSource = (onChunk) =>
      streamChecked(countingBytes(transcript, options.onBytes), ext, onChunk);
    const { bytes, skipped, partial, sha256 } = isSpecial
      ? await writeToSpecial(path, existing, source, transcript.signal)
      : await writeWhole(path, source, options);
    if (skipped) return { saved: { id, ext, path, bytes, skipped } };
    const at = new Date(nowMs()).toISOString();
    return { saved: { id, ext, path, bytes, at, sha256 }, partial };
  });
}

/** What is there; `existing`: behind a link, where that is one. */
async function whatIsAt(path: string) {
  const there = await disk.lstat(path);
  return { there, existing: there?.isSymbolicLink() ? await disk.stat(path).catch(unlessMissing) : there };
}

function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
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

/** A file that is written, or was there. */
interface WrittenFile {
  readonly bytes: number;
  readonly skipped?: boolean;
  readonly partial?: string | undefined;
  readonly sha256?: string | undefined;
}

async function writeWhole(path: string, source: ChunkSource, options: SaveOptions): Promise<WrittenFile> {
  const { tag, onAnswered } = options;
  const hash = tag && createHash('sha256');
  const written = await writeFileAtomic(
    path,
    (write) =>
      source((chunk) => {
        hash?.update(chunk);
        return write(chunk);
      }),
    {
      draft: partialPath(path, tag),
      onComplete: onAnswered,
      name: (draft, bytes) => nameIt(draft, path, bytes, options),
    },
  );
  return { ...written, sha256: hash?.digest('hex') };
}

/** Gives a complete file its final name. */
async function nameIt(
  partial: string,
  path: string,
  bytes: number,
  { ifExists, replaceable, tag }: SaveOptions,
): Promise<WrittenFile> {
  const keepsBoth = tag !== undefined;
  // Looked at again: it may have been changed during the download.
  const replacesOurs = ifExists !== 'replace' && (await hasHash(path, replaceable));
  if (replacesOurs && keepsBoth && (await tryReplaceByLink(partial, path))) return { bytes, partial };
  if (replacesOurs || ifExists === 'replace') {
    await disk.rename(partial, path);
    return { bytes };
  }
  const result = await nameUnlessExists(partial, path, keepsBoth);
  if (result !== 'exists') return result === 'linked' ? { bytes, partial } : { bytes };
  // Another process wrote it meanwhile.
  if (ifExists === 'refuse') throw existsError(path);
  await disk.unlink(partial);
  return { bytes: (await disk.stat(path)).size, skipped: true };
}

/** Replaces a file by one that keeps its hidden name; false where the file system can't do that. */
async function tryReplaceByLink(partial: string, path: string): Promise<boolean> {
  const second = partialPath(path);
  try {
    await disk.link(partial, second);
  } catch {
    return false;
  }
  await disk.rename(second, path);
  return true;
}

/** Whether there is a file with this SHA-256. */
export async function hasHash(path: string, hash: string | undefined): Promise<boolean> {
  if (hash === undefined) return false;
  try {
    return (await disk.lstat(path))?.isFile() === true && (await hashOf(path)) === hash;
  } catch {
    // It is gone, or can't be read.
    return false;
  }
}

export const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await onDisk(() => readFile(path)))
    .digest('hex');

/** Whether a file has the text of a transcript. */
export const isTranscript = (
  transport: Transport,
  request: TranscriptRequest,
  path: string,
): Promise<boolean> =>
  getTranscript(transport, request, async (transcript) => {
    const hash = createHash('sha256');
    await streamChecked(transcript, request.ext, async (chunk) => void hash.update(chunk));
    return hasHash(path, hash.digest('hex'));
  });

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} already exists`, {
    hint: 'replace it with --force, or keep it with --skip-existing',
  });

async function writeToSpecial(
  path: string,
  existing: Stats,
  source: ChunkSource,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const failed = (error: unknown): never => {
    throw signal.aborted ? error : throwCantWrite(path)(error);
  };
  let bytes = 0;
  try {
    const write = await (existing.isFIFO() ? openPipe(path, signal) : openDevice(path)).catch(failed);
    try {
      await source(async (chunk) => {
        await write(chunk).catch(failed);
        bytes += chunk.length;
      });
    } finally {
      await write(undefined).catch(failed);
    }
  } catch (error) {
    throw truncatedError(error);
  }
  return { bytes };
}

/** Writes a chunk; closes it where there is none. */
type WriteChunk = (chunk: Buffer | undefined) => Promise<unknown>;

async function openDevice(path: string): Promise<WriteChunk> {
  const file = await open(path, 'w');
  return (chunk) => (chunk ? file.writeFile(chunk) : file.close());
}

const tryOpen = promisify(openDescriptor);
/** How often a reader is looked for. */
const READER_PAUSE_MS = 50;

/** Without waiting in the system: a thread that waits for a reader there keeps Node from exiting. */
async function openPipe(path: string, signal: AbortSignal): Promise<WriteChunk> {
  for (;;) {
    const pipe = await tryOpen(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(unlessNoReader);
    if (pipe !== undefined) return pipeWriter(pipe, signal);
    await pause(READER_PAUSE_MS, undefined, { signal });
  }
}

function unlessNoReader(error: unknown): undefined {
  if (errorCode(error) !== 'ENXIO') throw error;
}

function pipeWriter(pipe: number, signal: AbortSignal): WriteChunk {
  const socket = new Socket({ fd: pipe, readable: false, writable: true, signal });
  // Told by the write that meets it.
  socket.on('error', () => {});
  return (chunk) =>
    new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null): void => (error ? reject(error) : resolve());
      if (chunk) socket.write(chunk, done);
      else if (socket.destroyed) resolve();
      else socket.end(done);
    });
}

/** Ours, so that the call is not repeated: what was written to a stream can't be taken back. */
export function truncatedError(error: unknown): unknown {
  if (error instanceof StenoError || /Abort|Timeout/.test((error as Error).name)) return error;
  return new StenoError('network', 'the connection was lost before the transcript was complete', {
    cause: error,
  });
}
