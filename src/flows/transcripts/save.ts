/** Downloads one transcript to a file: complete, or not at all. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
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
import { partialPath } from './partial-files.ts';

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
}

/** What was saved, or was there already. */
interface SavedFile extends Pick<Saved, 'bytes' | 'skipped'> {
  readonly sha256: string;
  /** With `skipped`: it was compared, and is this very transcript. */
  readonly isSame?: boolean;
  /** Its hidden name, which it keeps until the ledger has noted it. */
  readonly draft?: string;
}

export type IfExists = 'refuse' | 'replace' | 'skip';

export interface SaveOptions {
  readonly ifExists: IfExists;
  /** A file that is there is replaced if this is its SHA-256, whatever `ifExists` says. */
  readonly replaceable?: string | undefined;
  /** There is a ledger, which keeps its hash. */
  readonly hashes?: boolean;
  /** The ledger is to know of it: it keeps its hidden name, and one of two names that is there is compared. */
  readonly isNoted?: boolean;
  /** Told how many more bytes have come, and how many there are where that is known; fewer after a failed try. */
  readonly onBytes?: OnBytes | undefined;
  /** Called when all of it has come, and is being written. */
  readonly onAnswered?: (() => void) | undefined;
}

export type OnBytes = (more: number, length: number | undefined) => void;

export async function saveTranscript(
  transport: Transport,
  request: TranscriptRequest,
  path: string,
  options: SaveOptions,
): Promise<SavedFile> {
  const { there, existing } = await whatIsAt(path).catch(throwCantWrite(path));
  if (existing && !existing.isFile())
    throw cantWrite(path, existing.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  const isOurs = existing !== undefined && (await hasHash(path, options.replaceable));
  const ifExists = isOurs ? 'replace' : options.ifExists;
  if (there && !existing && ifExists !== 'replace') throw cantWrite(path, 'it is a broken symlink');
  if (existing && ifExists === 'skip' && !(options.isNoted && existing.nlink > 1))
    return { bytes: existing.size, skipped: true, sha256: '' };
  if (existing && ifExists === 'refuse') throw existsError(path);
  return getTranscript(transport, request, async (transcript) => {
    // Another process may write the same file meanwhile, which is compared then.
    const hash = options.hashes || ifExists === 'skip' ? createHash('sha256') : undefined;
    const content: ChunkSource = (write) =>
      streamChecked(countingBytes(transcript, options.onBytes), request.ext, (chunk) => {
        hash?.update(chunk);
        return write(chunk);
      });
    return writeFileAtomic(path, content, {
      draft: partialPath(path),
      onComplete: options.onAnswered,
      name: (draft, bytes) => nameIt(draft, path, { bytes, sha256: hash?.digest('hex') ?? '' }, options),
    });
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

/** Gives a complete file its final name. What is there is looked at again: it may be new. */
async function nameIt(
  draft: string,
  path: string,
  written: Pick<SavedFile, 'bytes' | 'sha256'>,
  { ifExists, replaceable, isNoted }: SaveOptions,
): Promise<SavedFile> {
  const replacesOurs = ifExists !== 'replace' && (await hasHash(path, replaceable));
  if (replacesOurs && isNoted && (await tryReplaceByLink(draft, path))) return { ...written, draft };
  if (replacesOurs || ifExists === 'replace') {
    await disk.rename(draft, path);
    return written;
  }
  const named = await nameUnlessExists(draft, path, isNoted);
  if (named !== 'exists') return named === 'linked' ? { ...written, draft } : written;
  if (ifExists === 'refuse') throw existsError(path);
  await disk.unlink(draft);
  const isSame = await hasHash(path, written.sha256);
  return { ...written, bytes: (await disk.stat(path)).size, skipped: true, isSame };
}

/** Replaces a file by one that keeps its hidden name; false where the file system can't do that. */
async function tryReplaceByLink(draft: string, path: string): Promise<boolean> {
  const second = partialPath(path);
  try {
    await disk.link(draft, second);
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
    if (!(await disk.lstat(path))?.isFile()) return false;
    const content = await onDisk(() => readFile(path));
    return createHash('sha256').update(content).digest('hex') === hash;
  } catch {
    // It is gone, or can't be read.
    return false;
  }
}

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

export const savedAt = (): string => new Date(nowMs()).toISOString();

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} already exists`, {
    hint: 'replace it with --force, or keep it with --skip-existing',
  });

/** Ours, so that the call is not repeated: what was written to a stream can't be taken back. */
export function truncatedError(error: unknown): unknown {
  if (error instanceof StenoError || /Abort|Timeout/.test((error as Error).name)) return error;
  return new StenoError('network', 'the connection was lost before the transcript was complete', {
    cause: error,
  });
}
