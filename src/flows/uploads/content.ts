/** What a file holds, whatever it is called: its hash is what tells one audio from another. */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { durationIn } from '../../lib/audio/duration.ts';
import { FileWindow } from '../../lib/audio/file-window.ts';
import { DiskError, errorMessage, StenoError } from '../../lib/errors.ts';
import { sleep } from '../../lib/sleep.ts';

export interface Content {
  /** SHA-256, as hexadecimal digits. */
  readonly hash: string;
  readonly bytes: number;
  /** How long it plays, where it says so. */
  readonly seconds: number | undefined;
  readonly mark: FileMark;
}

/** Reads a file once, for its hash and its length. Undefined where the file changed while it was read: what was hashed is not what will be uploaded. */
export async function readContent(path: string, signal: AbortSignal): Promise<Content | undefined> {
  const before = await markOf(path);
  const hash = createHash('sha256');
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    signal.throwIfAborted();
    hash.update(chunk);
    bytes += chunk.length;
  };
  let seconds: number | undefined;
  try {
    signal.throwIfAborted();
    const file = await open(path);
    try {
      const window = new FileWindow(file, before.size, take);
      seconds = await durationIn(window);
      await window.passRest();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    throw cantRead(path, error);
  }
  const after = await markOf(path);
  return isSame(before, after) && bytes === after.size
    ? { hash: hash.digest('hex'), bytes, seconds, mark: after }
    : undefined;
}

/** What changes when a file does. */
export interface FileMark {
  readonly size: number;
  readonly changedMs: number;
}

async function markOf(path: string): Promise<FileMark> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { size, changedMs: mtimeMs };
  } catch (error) {
    throw cantRead(path, error);
  }
}

const isSame = (one: FileMark, other: FileMark): boolean =>
  one.size === other.size && one.changedMs === other.changedMs;

/** Whether a file is still what it was when it was read. */
export const isUnchanged = async (path: string, mark: FileMark): Promise<boolean> =>
  isSame(mark, await markOf(path));

const cantRead = (path: string, cause: unknown): DiskError =>
  new DiskError(`can't read ${path}: ${errorMessage(cause)}`, { cause });

/** What was not changed for this long is complete. */
const QUIET_MS = 60_000;
/** How long to look at what was changed since. */
const WATCH_MS = 2_000;

export interface SettleOptions {
  readonly now: number;
  readonly signal: AbortSignal;
  readonly quietMs?: number;
  readonly watchMs?: number;
}

export interface Settled {
  readonly complete: readonly string[];
  /** Still being recorded or copied. */
  readonly growing: readonly string[];
}

/** Tells files that are complete from those that are being written. All are watched at the same time, so it waits once. */
export async function settle(paths: readonly string[], options: SettleOptions): Promise<Settled> {
  const { now, signal, quietMs = QUIET_MS, watchMs = WATCH_MS } = options;
  const before = new Map<string, FileMark>();
  for (const path of paths) before.set(path, await markOf(path));
  // A time in the future is that of a clock which differs: it says nothing.
  const isQuiet = ({ changedMs }: FileMark): boolean => changedMs <= now - quietMs;
  const recent = [...before].filter(([, mark]) => !isQuiet(mark));
  if (recent.length) await sleep(watchMs, signal);
  const growing = new Set<string>();
  for (const [path, mark] of recent) if (!isSame(mark, await markOf(path))) growing.add(path);
  return { complete: paths.filter((path) => !growing.has(path)), growing: [...growing] };
}
