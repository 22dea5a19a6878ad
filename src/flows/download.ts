/** Downloads that are whole or not there: written beside their place, checked, renamed. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getTranscript, type TranscriptRequest } from '../api/transcripts.ts';
import type { Transport } from '../api/transport.ts';
import { StenoError } from '../errors.ts';
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
  const there = ifThere === 'replace' ? undefined : await stat(path).catch(() => undefined);
  if (there && ifThere === 'skip') return { id, ext, path, bytes: there.size, skipped: true };
  if (there) throw exists(path);
  await mkdir(dirname(path), { recursive: true });
  const bytes = await getTranscript(transport, request, async (transcript) => {
    const part = join(
      dirname(path),
      `.${basename(path).slice(0, 60)}.${process.pid}-${randomBytes(4).toString('hex')}.steno-part`,
    );
    try {
      const size = await writeAll(part, transcriptOf(transcript, ext));
      await (ifThere === 'replace' ? rename(part, path) : renameUnlessThere(part, path));
      return size;
    } catch (error) {
      await unlink(part).catch(() => {});
      throw error;
    }
  });
  return { id, ext, path, bytes };
}

async function writeAll(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx', 0o666);
  let size = 0;
  try {
    for await (const chunk of chunks) {
      await file.write(chunk);
      size += chunk.length;
    }
  } finally {
    await file.close();
  }
  return size;
}

/** Gives a file its name without ever taking another's place, even if that came up meanwhile. */
async function renameUnlessThere(part: string, path: string): Promise<void> {
  try {
    await link(part, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(path);
    // Some file systems have no links; there the check before the download must do.
    return rename(part, path);
  }
  await unlink(part);
}

const exists = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, {
    hint: 'replace it with --force, or leave it with --skip-existing',
  });
