/** Downloads that are whole or not there: written beside their place, checked, renamed. */
import { link, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getTranscript, type TranscriptRequest } from '../api/transcripts.ts';
import type { Transport } from '../api/transport.ts';
import { StenoError } from '../errors.ts';
import { partOf } from './parts.ts';
import { transcriptOf } from './transcript-check.ts';

export interface Saved {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
  readonly bytes: number;
  /** It was there before and was left as it is. */
  readonly skipped?: boolean;
}

export type IfThere = 'refuse' | 'replace' | 'skip';

/** Downloads one transcript to a path. */
export async function saveTranscript(
  transport: Transport,
  request: TranscriptRequest,
  path: string,
  ifThere: IfThere,
): Promise<Saved> {
  const { id, ext } = request;
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory()) throw cantWrite(path, new Error('it is a folder'));
  // A pipe or a device is written to, never replaced.
  const special = there !== undefined && !there.isFile();
  if (there && !special && ifThere === 'skip') return { id, ext, path, bytes: there.size, skipped: true };
  if (there && !special && ifThere === 'refuse') throw exists(path);
  return getTranscript(transport, request, async (transcript): Promise<Saved> => {
    const chunks = transcriptOf(transcript, ext);
    if (!special) return { id, ext, path, ...(await writeBeside(path, chunks, ifThere)) };
    const bytes = await writeAll(path, 'w', chunks).catch((error) => {
      throw brokenOff(error);
    });
    return { id, ext, path, bytes };
  });
}

/** Writes to a name beside the real one, which is given only to what came whole. */
async function writeBeside(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  ifThere: IfThere,
): Promise<Pick<Saved, 'bytes' | 'skipped'>> {
  const part = partOf(path);
  try {
    const bytes = await writeAll(part, 'wx', chunks);
    if (ifThere === 'replace') await onDisk(path, () => rename(part, path));
    else if (!(await onDisk(path, () => renameUnlessThere(part, path)))) {
      // Somebody else brought it meanwhile.
      if (ifThere === 'refuse') throw exists(path);
      await unlink(part);
      return { bytes: (await stat(path)).size, skipped: true };
    }
    return { bytes };
  } catch (error) {
    await unlink(part).catch(() => {});
    throw error;
  }
}

/** Opens the file at the first chunk, so that a refusal leaves nothing behind, not even a folder. */
async function writeAll(path: string, mode: 'w' | 'wx', chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const opened = async () => {
    await mkdir(dirname(path), { recursive: true });
    return open(path, mode, 0o666);
  };
  let file: Awaited<ReturnType<typeof opened>> | undefined;
  let size = 0;
  try {
    for await (const chunk of chunks) {
      const into = file ?? (await onDisk(path, opened));
      file = into;
      await onDisk(path, () => into.writeFile(chunk));
      size += chunk.length;
    }
  } finally {
    await file?.close();
  }
  return size;
}

/** Tells a failure of the disk from one of the service: asking again does not mend it. */
async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StenoError ? error : cantWrite(path, error as Error);
  }
}

/** Gives a file its name, unless another has it by now: tells whether it did. */
async function renameUnlessThere(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // Some file systems have no links; there the check before the download must do.
    await rename(part, path);
    return true;
  }
  await unlink(part);
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
