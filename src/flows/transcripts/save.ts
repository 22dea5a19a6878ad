/**
 * Downloads that are whole or not there: written beside their place, checked, renamed. The file system is asked
 * synchronously: each answer takes microseconds, and to wait for it in a thread takes ten times as long.
 */
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
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
import { getTranscript, type TranscriptRequest } from '../../api/transcripts.ts';
import { errorCode, StenoError } from '../../lib/errors.ts';
import { countStreamedBytes } from '../../lib/memory.ts';
import { pourTranscript } from './check.ts';
import { partOf } from './partial-files.ts';

export interface Saved {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  /** It was there before and was left as it is. */
  readonly skipped?: boolean;
  /** With `skipped`: the ledger does not know it as this transcript. */
  readonly unidentified?: boolean;
}

export type IfExists = 'refuse' | 'replace' | 'skip';

/** Downloads one transcript to a path. */
export async function saveTranscript(
  transport: Transport,
  request: TranscriptRequest,
  path: string,
  ifExists: IfExists,
): Promise<Saved> {
  const { id, ext } = request;
  const there = onDisk(path, () => statSync(path, { throwIfNoEntry: false }));
  if (there?.isDirectory()) throw cantWrite(path, new Error('it is a folder'));
  // A pipe or a device is written to, never replaced.
  const special = there !== undefined && !there.isFile();
  if (there && !special && ifExists === 'skip') return { id, ext, path, bytes: there.size, skipped: true };
  if (there && !special && ifExists === 'refuse') throw exists(path);
  return await getTranscript(transport, request, async (transcript): Promise<Saved> => {
    const pour: ChunkSource = (sink) => pourTranscript(transcript, ext, sink);
    if (!special) return { id, ext, path, ...(await writeBeside(path, pour, ifExists)) };
    const bytes = await writeSlowly(path, pour).catch((error) => {
      throw brokenOff(error);
    });
    return { id, ext, path, bytes };
  });
}

/** Writes to a name beside the real one, which is given only to what came whole. */
async function writeBeside(
  path: string,
  pour: ChunkSource,
  ifExists: IfExists,
): Promise<Pick<Saved, 'bytes' | 'skipped'>> {
  const part = partOf(path);
  try {
    const bytes = await writeAll(part, pour);
    if (ifExists === 'replace') onDisk(path, () => renameSync(part, path));
    else if (!onDisk(path, () => renameUnlessThere(part, path))) {
      // Somebody else brought it meanwhile.
      if (ifExists === 'refuse') throw exists(path);
      unlinkSync(part);
      return { bytes: statSync(path).size, skipped: true };
    }
    return { bytes };
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Opens the file at the first chunk, so that a refusal leaves nothing behind, not even a folder. */
async function writeAll(path: string, pour: ChunkSource): Promise<number> {
  let file: number | undefined;
  let size = 0;
  try {
    await pour((chunk) => {
      const into = file ?? onDisk(path, () => openNew(path));
      file = into;
      onDisk(path, () => writeWhole(into, chunk));
      size += chunk.length;
      countStreamedBytes(chunk.length);
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return size;
}

function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o666);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'wx', 0o666);
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}

/** A pipe or a device may keep us waiting: that must not hold up everything else. */
async function writeSlowly(path: string, pour: ChunkSource): Promise<number> {
  const file = await open(path, 'w').catch((error) => {
    throw cantWrite(path, error);
  });
  let size = 0;
  try {
    await pour(async (chunk) => {
      await file.writeFile(chunk).catch((error) => {
        throw cantWrite(path, error);
      });
      size += chunk.length;
    });
  } finally {
    await file.close();
  }
  return size;
}

/** Tells a failure of the disk from one of the service: asking again does not mend it. */
function onDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StenoError ? error : cantWrite(path, error as Error);
  }
}

/** Gives a file its name, unless another has it by now: tells whether it did. */
function renameUnlessThere(part: string, path: string): boolean {
  try {
    linkSync(part, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    // Some file systems have no links; there the check before the download must do.
    renameSync(part, path);
    return true;
  }
  unlinkSync(part);
  return true;
}

/** What was passed on can't be taken back, so a stream that broke off is not asked for anew. */
export function brokenOff(error: unknown): unknown {
  if (error instanceof StenoError || /Abort|Timeout/.test((error as Error).name)) return error;
  return new StenoError('network', 'the transcript broke off; what came is not whole', { cause: error });
}

const exists = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, {
    hint: 'replace it with --force, or leave it with --skip-existing',
  });

const cantWrite = (path: string, cause: Error): StenoError =>
  new StenoError('failed', `can't write ${path}: ${cause.message}`, { cause });
