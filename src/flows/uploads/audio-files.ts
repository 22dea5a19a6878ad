/** Finds the audio that a person means by files and folders on disk. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { BigIntStats, Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { formatOfName } from '../../catalog/formats.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { durationIn } from '../../lib/audio/duration.ts';
import { FileWindow } from '../../lib/audio/frames.ts';
import { audioExtensions } from '../../lib/audio-extensions.ts';
import {
  DiskError,
  errorCode,
  type LeftOutReason,
  StenoError,
  systemReason,
  usage,
} from '../../lib/errors.ts';
import { shellWord } from '../../lib/text.ts';
import { sleep } from '../../lib/time.ts';

export interface LeftOut {
  readonly path: string;
  /** `it is empty` */
  readonly reason: string;
  /** For programs; without it, it can't be used. */
  readonly why?: LeftOutReason | undefined;
  /** Of an episode, or of a row of a manifest. */
  readonly audio?: Audio | undefined;
}

/** What is left out for one and the same reason, and is told in one line. */
export interface CountedRows {
  /** `left out because …` */
  readonly because: string;
  readonly rows: readonly LeftOut[];
  /** What to do about it: then it is a warning. */
  readonly hint?: string;
  /** It is no audio, so that the JSON has nothing of it. */
  readonly isOther?: boolean;
}

interface FoundAudio {
  /** Each file once, in the order of the arguments; within a folder by name. */
  readonly files: readonly string[];
  /** Files and folders of a given folder that can't be used. */
  readonly leftOut: readonly LeftOut[];
  /** The same, told by their number. */
  readonly counted: readonly CountedRows[];
}

/**
 * A file that is named is taken whatever its name ends in; in a folder and those below it, what ends like audio. With
 * `takesHidden` also what is hidden, and what links to folders lead to; each folder once, so that a circle ends.
 */
export async function findAudio(
  paths: readonly string[],
  signal: AbortSignal,
  takesHidden = false,
): Promise<FoundAudio> {
  const search = new Search(signal, takesHidden);
  for (const path of paths) {
    const found = await statOf(path);
    if (found instanceof StenoError) throw found;
    if (found.isDirectory()) await search.takeFolder(path);
    else await search.takeNamed(path, found);
  }
  const { files, leftOut, counted } = search;
  const [because] = counted.filter(({ isOther, rows }) => rows.length && !isOther);
  const first = leftOut[0] ?? because?.rows[0];
  if (files.length === 0 && first)
    throw usage(`no audio found: ${first.path}: ${first.reason}`, because?.hint);
  return { files, leftOut, counted };
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
  /** By its own name, or that of a folder above it. */
  readonly isHidden: boolean;
}

const TAKE_HIDDEN = '--hidden includes hidden files and follows links to folders';

class Search implements FoundAudio {
  readonly files: string[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #seen = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #hidden: LeftOut[] = [];
  readonly #linked: LeftOut[] = [];
  readonly #misnamed: LeftOut[] = [];
  readonly #others: LeftOut[] = [];
  readonly #signal: AbortSignal;
  readonly #takesHidden: boolean;

  constructor(signal: AbortSignal, takesHidden: boolean) {
    this.#signal = signal;
    this.#takesHidden = takesHidden;
  }

  get counted(): CountedRows[] {
    return [
      { because: IS_HIDDEN, rows: this.#hidden, hint: TAKE_HIDDEN },
      { because: IS_LINK, rows: this.#linked, hint: TAKE_HIDDEN },
      { because: NOT_UTF8, rows: this.#misnamed, hint: 'rename it' },
      {
        because: 'it has no audio extension',
        rows: this.#others,
        hint: 'to order such a file, name it on the command line',
        isOther: true,
      },
    ];
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
    throw usage(`there is no audio in ${folder}`, `audio files end in ${audioExtensions.join(', ')}`);
  }

  /** How many files were looked at, taken or not. */
  #count = 0;

  async #walk(folder: string): Promise<void> {
    const waiting: Entry[] = [{ path: folder, isFolder: true, isHidden: false }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#signal.aborted) throw new StenoError('interrupted', 'interrupted');
      if (!next.isFolder) {
        await this.#takeFound(next.path);
        continue;
      }
      // The last one is taken first. One by one: as arguments, a hundred thousand of them would not fit.
      for (const entry of (await this.#entries(next)).reverse()) waiting.push(entry);
    }
  }

  /** What of a folder is looked at: folders, and what ends like audio; by name. */
  async #entries(folder: Entry): Promise<Entry[]> {
    const { path, isHidden } = folder;
    try {
      if (this.#takesHidden && !this.#isNew(this.#folders, await stat(path, { bigint: true }))) return [];
      const all = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
      const entries: Entry[] = [];
      for (const entry of all.map(readName).sort((one, other) => (one.name < other.name ? -1 : 1)))
        entries.push(...(await this.#sorted(folder, entry)));
      return entries;
    } catch (error) {
      if (isHidden && !this.#takesHidden) return [];
      this.leftOut.push({ path, reason: systemReason(error) });
      this.#count += 1;
      return [];
    }
  }

  /** An entry of a folder, if it is to be looked at; else it is counted. */
  async #sorted(folder: Entry, { name, kind, isUtf8 }: NamedEntry): Promise<Entry[]> {
    const path = join(folder.path, name);
    const isLinked = kind === 'link' && (await isFolder(path));
    const found = {
      path,
      isFolder: isLinked || kind === 'folder',
      isHidden: folder.isHidden || name.startsWith('.'),
    };
    if (!found.isFolder && !isAudioName(name)) {
      // Hidden ones are no recordings: .DS_Store, or all of .git. Transcripts may lie beside their audio.
      if (!found.isHidden && formatOfName(name) === undefined) this.#leaveOut(this.#others, path, '');
    } else if (!isUtf8) this.#leaveOut(this.#misnamed, path, NOT_UTF8);
    else if (this.#takesHidden) return [found];
    else if (isLinked && !folder.isHidden) this.#leaveOut(this.#linked, path, IS_LINK, 'linked');
    else if (!isLinked && found.isHidden && !found.isFolder)
      this.#leaveOut(this.#hidden, path, IS_HIDDEN, 'hidden');
    else if (!isLinked) return [found];
    return [];
  }

  #leaveOut(list: LeftOut[], path: string, reason: string, why?: LeftOutReason): void {
    list.push({ path, reason, why });
    if (list !== this.#others) this.#count += 1;
  }

  async #takeFound(path: string): Promise<void> {
    this.#count += 1;
    const found = await statOf(path);
    const reason = found instanceof StenoError ? found.message : await unusable(path, found);
    if (reason) this.leftOut.push({ path, reason });
    else if (!(found instanceof StenoError)) this.#add(path, found);
  }

  /** A file under two names, or named twice, is one. */
  #add(path: string, found: BigIntStats): void {
    if (this.#isNew(this.#seen, found)) this.files.push(path);
  }

  #isNew(seen: Set<string>, { dev, ino }: BigIntStats): boolean {
    const id = `${dev}:${ino}`;
    return !seen.has(id) && seen.add(id) !== undefined;
  }
}

interface NamedEntry {
  readonly name: string;
  readonly isUtf8: boolean;
  readonly kind: 'folder' | 'link' | 'other';
}

/** Bytes of a name that are not UTF-8 are shown as numbers: no text could name the file. */
function readName(entry: Dirent<Buffer>): NamedEntry {
  const { name: bytes } = entry;
  const isText = isUtf8(bytes);
  const name = isText ? bytes.toString() : bytes.toString('latin1').replace(/[\x80-\xff]/g, escaped);
  if (entry.isDirectory()) return { name, isUtf8: isText, kind: 'folder' };
  return { name, isUtf8: isText, kind: entry.isSymbolicLink() ? 'link' : 'other' };
}

const escaped = (character: string): string => `\\x${character.charCodeAt(0).toString(16)}`;

/** What macOS keeps beside a file has its name, with `._` before it. */
const isAudioName = (name: string): boolean =>
  !name.startsWith('._') && audioExtensions.includes(extname(name).slice(1).toLowerCase());

const isFolder = async (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

async function statOf(path: string): Promise<BigIntStats | StenoError> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? usage(`there is no file or folder '${path}'`)
      : usage(`can't read ${path}: ${systemReason(error)}`);
  }
}

const IS_TEXT = 'it is a text file';
const IS_LINK = 'it is a link to a folder';
const IS_HIDDEN = 'it is hidden';
const NOT_UTF8 = 'its name is not UTF-8';

/** Why a file can't be audio; undefined if it may be. */
async function unusable(path: string, found: BigIntStats): Promise<string | undefined> {
  if (found.isDirectory()) return IS_LINK;
  // Opening a pipe would wait for a writer.
  if (!found.isFile()) return 'it is not a regular file';
  if (found.size === 0n) return 'it is empty';
  try {
    return (await startsAsText(path)) ? IS_TEXT : undefined;
  } catch (error) {
    return systemReason(error);
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

// What a file holds, whatever it is called: its hash is what tells one audio from another.

/** Reads a file once, for its SHA-256 and how long it plays, where it says so. Undefined where the file changed while it was read: what was hashed is not what will be uploaded. */
export async function readContent(path: string, signal: AbortSignal) {
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
      for await (const chunk of file.createReadStream({ autoClose: false, start: 0 })) take(chunk as Buffer);
      seconds = await durationIn(new FileWindow(file, before.size));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    throw cantRead(path, error);
  }
  const after = await markOf(path);
  return isSame(before, after) && bytes === after.size
    ? { hash: hash.digest('hex'), seconds, mark: after }
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
  new DiskError(`can't read ${path}: ${systemReason(cause)}`, { cause });

/** What was not changed for this long is complete. */
const QUIET_MS = 60_000;
/** How long to look at what was changed since. */
const WATCH_MS = 2_000;

export interface SettleOptions {
  readonly now: number;
  readonly signal: AbortSignal;
  readonly watchMs?: number;
}

/** Tells files that are complete from those that are being written (recorded, or copied). All are watched at the same time, so it waits once. */
export async function settle(paths: readonly string[], options: SettleOptions) {
  const { now, signal, watchMs = WATCH_MS } = options;
  const before = new Map<string, FileMark>();
  for (const path of paths) before.set(path, await markOf(path));
  // A time in the future is that of a clock which differs: it says nothing.
  const isQuiet = ({ changedMs }: FileMark): boolean => changedMs <= now - QUIET_MS;
  const recent = [...before].filter(([, mark]) => !isQuiet(mark));
  if (recent.length) await sleep(watchMs, signal);
  const growing = new Set<string>();
  for (const [path, mark] of recent) if (!isSame(mark, await markOf(path))) growing.add(path);
  return { complete: paths.filter((path) => !growing.has(path)), growing: [...growing] };
}
