/** Whether the write-ahead log beside a database belongs to the file that is at its path now, after that was replaced. */
import { closeSync, openSync, readSync } from 'node:fs';
import { StenoError } from './errors.ts';
import { fileIdentity, sizeOf } from './sqlite-file.ts';

const PART_BYTES = 1024 * 1024;

/** The file that a connection has open. */
export class OpenedFile {
  readonly #path: string;
  /** Closed only after the file was replaced: that drops all locks of this process on it. */
  readonly #descriptor: number;
  readonly #log: string;

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'r');
    this.#log = fileIdentity(`${path}-wal`);
  }

  /** SQLite writes any log into the file that it finds beside it. Throws where that would damage it: not in a copy. */
  checkLog(): void {
    const log = `${this.#path}-wal`;
    if (!sizeOf(log) || fileIdentity(log) !== this.#log || this.#isCopied()) return;
    throw new StenoError(
      'failed',
      `${this.#path} was replaced, but ${log} is of the one before: move it and ${this.#path}-shm away`,
    );
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #isCopied(): boolean {
    const copy = openSync(this.#path, 'r');
    try {
      for (let at = 0; ; at += PART_BYTES) {
        const [ours, theirs] = [readPart(this.#descriptor, at), readPart(copy, at)];
        if (!ours.equals(theirs)) return false;
        if (ours.length < PART_BYTES) return true;
      }
    } finally {
      closeSync(copy);
    }
  }
}

function readPart(descriptor: number, start: number): Buffer {
  const bytes = Buffer.allocUnsafe(PART_BYTES);
  let at = 0;
  for (let read = -1; at < PART_BYTES && read !== 0; at += read)
    read = readSync(descriptor, bytes, at, PART_BYTES - at, start + at);
  return bytes.subarray(0, at);
}
