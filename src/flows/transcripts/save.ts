/** Downloads one transcript: to a file, or into a pipe or a device that the user has named. */
import { constants, lstatSync, open as openDescriptor, type Stats, statSync } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getTranscript, type TranscriptBody, type TranscriptRequest } from '../../api/files.ts';
import type { ChunkSource } from '../../api/http/exchange.ts';
import type { Transport } from '../../api/http/transport.ts';
import { nowMs } from '../../lib/clock.ts';
import { diskReason } from '../../lib/disk-reasons.ts';
import { onDisk } from '../../lib/disk-work.ts';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { countStreamedBytes } from '../../lib/memory.ts';
import { streamChecked } from './check.ts';
import { type DiskThread, MAX_FILE_BYTES } from './disk-thread.ts';
import { mayBeQuick } from './sync-to-disk.ts';
import {
  cantWrite,
  existsError,
  hasHash,
  type NamingOptions,
  throwCantWrite,
  type WrittenFile,
  withDiskErrors,
  writeAndRename,
} from './whole-file.ts';

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
export interface SavedFile {
  readonly saved: Saved;
  /** Its hidden name, which it keeps until the ledger has noted it. */
  readonly partial?: string | undefined;
}

export interface SaveOptions extends NamingOptions {
  /** Writes small files in place of this thread, once the disk has been found slow. */
  readonly disk?: DiskThread | undefined;
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
  const { there, existing } = await lookAt(path, options.syncsInPool);
  if (existing?.isDirectory()) throw cantWrite(path, 'it is a folder');
  const ifExists = existing && hasHash(path, options.replaceable) ? 'replace' : options.ifExists;
  if (there && !existing && ifExists !== 'replace') throw cantWrite(path, 'it is a symlink to nowhere');
  // Never replaced.
  const isSpecial = existing !== undefined && !existing.isFile();
  if (isSpecial && !options.isNamed) throw cantWrite(path, 'it is not a regular file');
  if (existing && !isSpecial && ifExists === 'skip')
    return { saved: { id, ext, path, bytes: existing.size, skipped: true } };
  if (existing && !isSpecial && ifExists === 'refuse') throw existsError(path);
  return await getTranscript(transport, request, async (transcript): Promise<SavedFile> => {
    const source: ChunkSource = (onChunk) =>
      streamChecked(countingBytes(transcript, options.onBytes), ext, onChunk);
    if (!existing || !isSpecial) {
      const { bytes, skipped, partial, sha256 } = await write(path, source, transcript.length, options);
      if (skipped) return { saved: { id, ext, path, bytes, skipped } };
      const at = new Date(nowMs()).toISOString();
      return { saved: { id, ext, path, bytes, at, sha256 }, partial };
    }
    const bytes = await writeToSpecial(path, existing, source, transcript.signal).catch((error) => {
      throw truncatedError(error);
    });
    return { saved: { id, ext, path, bytes, at: new Date(nowMs()).toISOString() } };
  });
}

interface Found {
  readonly there: Stats | undefined;
  /** Behind a link, where that is one. */
  readonly existing: Stats | undefined;
}

function lookAt(path: string, inPool = false): Found | Promise<Found> {
  if (!inPool)
    return withDiskErrors(path, () => {
      const there = lstatSync(path, { throwIfNoEntry: false });
      return { there, existing: there?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : there };
    });
  return onDisk(async () => {
    const there = await lstat(path).catch(unlessMissing);
    return { there, existing: there?.isSymbolicLink() ? await stat(path).catch(unlessMissing) : there };
  }).catch(throwCantWrite(path));
}

function unlessMissing(error: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
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
  const { status, length, hide, signal } = transcript;
  return { status, stream, length, hide, signal };
}

function write(
  path: string,
  source: ChunkSource,
  length: number | undefined,
  { ifExists, replaceable, tag, syncsInPool, hashes, disk, onAnswered }: SaveOptions,
): Promise<WrittenFile> {
  const naming = { ifExists, replaceable, tag, syncsInPool, hashes };
  const isSmall = length !== undefined && length <= MAX_FILE_BYTES;
  if (!disk || !(syncsInPool || (isSmall && !mayBeQuick())))
    return writeAndRename(path, source, naming, onAnswered);
  return writeThere(disk, path, source, naming, onAnswered);
}

/** A receiver holds each transcript, of whatever length, so that its own thread never waits for the disk. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Holds it until it is whole: the other thread gets it in one piece. */
async function writeThere(
  disk: DiskThread,
  path: string,
  source: ChunkSource,
  naming: NamingOptions,
  onAnswered: SaveOptions['onAnswered'],
): Promise<WrittenFile> {
  const chunks: Buffer[] = [];
  let size = 0;
  await source((chunk) => {
    chunks.push(chunk);
    countStreamedBytes(chunk.length);
    size += chunk.length;
    if (size > MAX_HELD_BYTES) throw cantWrite(path, 'it is longer than 64 MB');
  });
  onAnswered?.();
  const written = (): Promise<WrittenFile> => disk.write(path, chunks, naming);
  return naming.syncsInPool ? onDisk(written) : written();
}

async function writeToSpecial(
  path: string,
  existing: Stats,
  source: ChunkSource,
  signal: AbortSignal,
): Promise<number> {
  const failed = (error: unknown): never => {
    throw signal.aborted ? error : cantWrite(path, diskReason(error), error);
  };
  const write = await (existing.isFIFO() ? openPipe(path, signal) : openDevice(path)).catch(failed);
  let size = 0;
  try {
    await source(async (chunk) => {
      await write(chunk).catch(failed);
      size += chunk.length;
    });
  } finally {
    await write(undefined).catch(failed);
  }
  return size;
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
  return new StenoError('network', 'the transcript broke off; what came is not whole', { cause: error });
}
