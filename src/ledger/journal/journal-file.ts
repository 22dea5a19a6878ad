/** One file of a journal, as the process that made it writes it. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  ftruncateSync,
  futimes,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { diskReason, isUnableToSync, throwUnlessUnableToSync } from '../../lib/disk-reasons.ts';
import { DiskError } from '../../lib/errors.ts';
import { makeFolder, syncFolder } from '../../lib/folders.ts';
import { fileIdentity } from '../../lib/sqlite-file.ts';
import { encodeHead, type JournalHead, MARKER_BYTES } from './record.ts';

const MAX_AHEAD_BYTES = 1024 * 1024;

export class JournalFile {
  readonly path: string;
  /** Every record begins with it; it is a part of the file's name. */
  readonly marker: Buffer;
  size = 0;
  /** How many of its deliveries are not in the ledger. */
  unmoved = 0;
  readonly #descriptor: number;
  readonly #identity: string;
  #headSize = 0;
  /** The length of the file: after `size` there are zeros. */
  #filledTo = 0;
  /** There was no room for zeros since the file was last empty: they are not tried with every batch. */
  #lacksRoom = false;

  /** Makes a file that nothing else has opened; it and its name are on disk when this returns. */
  constructor(folder: string, head: JournalHead) {
    this.marker = randomBytes(MARKER_BYTES);
    this.path = join(folder, journalName(head.profile, this.marker));
    try {
      makeFolder(folder, 0o700);
      this.#descriptor = openSync(this.path, 'wx+', 0o600);
    } catch (error) {
      throw cantWrite(this.path, error);
    }
    try {
      this.append([encodeHead(head, this.marker)]);
      syncNow(this.#descriptor);
      syncFolder(folder);
    } catch (error) {
      this.remove();
      throw cantWrite(this.path, error);
    }
    this.#headSize = this.size;
    this.#identity = fileIdentity(this.path);
  }

  /** Adds bytes at the end; gives where they begin. They are on disk only after `sync`. */
  append(pieces: readonly Buffer[]): number {
    const start = this.size;
    try {
      for (const bytes of pieces) {
        this.#writeAt(bytes, this.size);
        this.size += bytes.length;
      }
    } catch (error) {
      this.size = start;
      this.#tryCutBackTo(start);
      throw cantWrite(this.path, error);
    }
    if (this.size > this.#filledTo) this.#fillAhead(start);
    return start;
  }

  /**
   * Speed: on ext4 a sync takes longer where the file has grown than where bytes that it had were replaced: 0.11 ms
   * against 0.06, and 2 ms where other processes write too. So zeros, which are no record, are written after the records,
   * four times what came before this batch, which begins at `start`. To take this out, do not call it.
   */
  #fillAhead(start: number): void {
    this.#filledTo = this.size;
    const ahead = Math.min(MAX_AHEAD_BYTES, 4 * (start - this.#headSize));
    if (ahead <= 0 || this.#lacksRoom) return;
    try {
      this.#writeAt(Buffer.alloc(ahead), this.size);
      this.#filledTo += ahead;
    } catch {
      // The disk is full: what room is left is for records.
      this.#lacksRoom = true;
      this.#tryCutBackTo(this.size);
    }
  }

  #writeAt(bytes: Buffer, start: number): void {
    for (let at = 0; at < bytes.length; )
      at += writeSync(this.#descriptor, bytes, at, bytes.length - at, start + at);
  }

  /** In the thread pool, so that other deliveries are read meanwhile. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        if (error && !isUnableToSync(error)) reject(cantWrite(this.path, error));
        else resolve();
      });
    });
  }

  /** Whether it is still under its name: another process takes over the files of one that it believes to be gone. */
  isInPlace(): boolean {
    try {
      return fileIdentity(this.path) === this.#identity;
    } catch {
      return false;
    }
  }

  /** Drops all deliveries. If that fails they stay, and are known to the ledger. */
  empty(): void {
    if (this.size === this.#headSize || !this.#tryCutBackTo(this.#headSize)) return;
    this.size = this.#headSize;
    this.#lacksRoom = false;
  }

  #tryCutBackTo(size: number): boolean {
    try {
      ftruncateSync(this.#descriptor, size);
      this.#filledTo = size;
      return true;
    } catch {
      return false;
    }
  }

  read(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (let read = -1; at < length && read !== 0; at += read)
      read = readSync(this.#descriptor, bytes, at, length - at, start + at);
    return bytes.subarray(0, at);
  }

  /** Shows other processes that this one is there. */
  touch(): void {
    const now = new Date();
    // Where that fails, another process may take the file over, which loses nothing.
    futimes(this.#descriptor, now, now, () => {});
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }
}

export const lengthOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

const MARKER_HEX = `[0-9a-f]{${2 * MARKER_BYTES}}`;
const NAME = new RegExp(`-(${MARKER_HEX})(\\.left)?\\.log$`);

/** The profile is there for people; each delivery names its own. */
const journalName = (profile: string, marker: Buffer): string =>
  `${profile.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}-${marker.toString('hex')}.log`;

/** The marker of a journal by its file's name; `isLeft`: another process has taken it over. */
export function parseJournalName(name: string): { marker: Buffer; isLeft: boolean } | undefined {
  const [, hex, left] = NAME.exec(name) ?? [];
  return hex === undefined ? undefined : { marker: Buffer.from(hex, 'hex'), isLeft: left !== undefined };
}

/** The name of a journal that was taken over. */
export const leftName = (path: string): string => path.replace(/\.log$/, '.left.log');

function syncNow(descriptor: number): void {
  try {
    fdatasyncSync(descriptor);
  } catch (error) {
    throwUnlessUnableToSync(error);
  }
}

const cantWrite = (path: string, error: unknown): DiskError =>
  error instanceof DiskError
    ? error
    : new DiskError(`can't write ${path}: ${diskReason(error)}`, { cause: error });
