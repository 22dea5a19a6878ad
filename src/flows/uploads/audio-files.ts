/** Finds the audio that a person means by files and folders on disk. */
import type { BigIntStats, Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Audio } from '../../ledger/audio-names.ts';
import { audioExtensions } from '../../lib/audio-extensions.ts';
import { errorCode, errorMessage, type LeftOutReason, StenoError, usage } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';

export interface LeftOut {
  readonly path: string;
  /** `it is empty` */
  readonly reason: string;
  /** For programs; without it, it can't be used. */
  readonly why?: LeftOutReason | undefined;
  /** Of an episode, or of a row of a manifest. */
  readonly audio?: Audio | undefined;
}

export interface FoundAudio {
  /** Each file once, in the order of the arguments; within a folder by name. */
  readonly files: readonly string[];
  /** Files and folders of a given folder that can't be used. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * A file that is named is taken whatever its name ends in; in a folder and those below it, what ends like audio. Hidden
 * files and folders are left out, and links to folders are not followed: they may lead in a circle, or anywhere.
 */
export async function findAudio(paths: readonly string[], signal: AbortSignal): Promise<FoundAudio> {
  const search = new Search(signal);
  for (const path of paths) {
    const found = await statOf(path);
    if (found instanceof StenoError) throw found;
    if (found.isDirectory()) await search.takeFolder(path);
    else await search.takeNamed(path, found);
  }
  const [first] = search.leftOut;
  if (search.files.length === 0 && first)
    throw usage(`there is no audio to use: ${first.path}: ${first.reason}`);
  return search;
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
}

class Search implements FoundAudio {
  readonly files: string[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #seen = new Set<string>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async takeNamed(path: string, found: BigIntStats): Promise<void> {
    const reason = await unusable(path, found);
    if (reason === IS_TEXT)
      throw usage(
        `${path} is a text file, not audio`,
        /\.(xml|rss|atom)$/i.test(path)
          ? `if it is a podcast feed: steno order --feed ${shellWord(path)}`
          : `if it lists URLs: steno order --from ${shellWord(path)}`,
      );
    if (reason) throw usage(`can't use ${path}: ${reason}`);
    this.#add(path, found);
  }

  async takeFolder(folder: string): Promise<void> {
    const known = this.#count;
    await this.#walk(folder);
    if (this.#count > known) return;
    throw usage(
      `there is no audio in ${folder}`,
      `looked for names that end in ${audioExtensions.join(', ')}`,
    );
  }

  /** How many files were looked at, taken or not. */
  #count = 0;

  async #walk(folder: string): Promise<void> {
    const waiting: Entry[] = [{ path: folder, isFolder: true }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#signal.aborted) throw new StenoError('interrupted', 'interrupted');
      if (!next.isFolder) {
        await this.#takeFound(next.path);
        continue;
      }
      // The last one is taken first. One by one: as arguments, a hundred thousand of them would not fit.
      for (const entry of (await this.#entries(next.path)).reverse()) waiting.push(entry);
    }
  }

  /** What of a folder is looked at: folders, and what ends like audio; by name. */
  async #entries(folder: string): Promise<Entry[]> {
    try {
      const all = await readdir(folder, { withFileTypes: true });
      return all
        .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || isAudioName(entry)))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .map((entry) => ({ path: join(folder, entry.name), isFolder: entry.isDirectory() }));
    } catch (error) {
      this.leftOut.push({ path: folder, reason: reasonOf(error) });
      this.#count += 1;
      return [];
    }
  }

  async #takeFound(path: string): Promise<void> {
    this.#count += 1;
    const found = await statOf(path);
    const reason = found instanceof StenoError ? found.message : await unusable(path, found);
    if (reason) this.leftOut.push({ path, reason });
    else if (!(found instanceof StenoError)) this.#add(path, found);
  }

  /** A file under two names, or named twice, is one. */
  #add(path: string, { dev, ino }: BigIntStats): void {
    const id = `${dev}:${ino}`;
    if (!this.#seen.has(id)) this.files.push(path);
    this.#seen.add(id);
  }
}

const isAudioName = ({ name }: Dirent): boolean =>
  audioExtensions.includes(extname(name).slice(1).toLowerCase());

async function statOf(path: string): Promise<BigIntStats | StenoError> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? usage(`there is no file or folder '${path}'`)
      : usage(`can't read ${path}: ${reasonOf(error)}`);
  }
}

const IS_TEXT = 'it is a text file';

/** Why a file can't be audio; undefined if it may be. */
async function unusable(path: string, found: BigIntStats): Promise<string | undefined> {
  if (found.isDirectory()) return 'it is a link to a folder';
  // Opening a pipe would wait for a writer.
  if (!found.isFile()) return 'it is not a regular file';
  if (found.size === 0n) return 'it is empty';
  try {
    return (await startsAsText(path)) ? IS_TEXT : undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

const SAMPLE_BYTES = 4_096;

/** A manifest, a page that was saved as audio, or a pointer of Git LFS; no format of audio begins like that. */
async function startsAsText(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    const sample = buffer.subarray(0, bytesRead);
    // With `stream`, a character that is cut at the end is no error.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return !sample.includes(0);
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  } finally {
    await file.close();
  }
}

const reasonOf = (error: unknown): string => {
  if (errorCode(error) === 'EACCES') return 'it may not be read';
  return errorCode(error) === 'ELOOP' ? 'it is a link to itself' : errorMessage(error);
};
