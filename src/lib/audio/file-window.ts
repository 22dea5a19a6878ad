/** Reads parts of a file at any place, within bounds: a header that a stranger wrote decides where. */
import type { FileHandle } from 'node:fs/promises';

const EMPTY = Buffer.alloc(0);

/** How much of a file is held at once. */
export const WINDOW_BYTES = 65_536;
/** A gigabyte. Headers take a few reads; only audio in bare frames is read as a whole. */
const MAX_READS = 16_384;

/** One part of the file is in memory at a time. */
export class FileWindow {
  readonly size: number;
  readonly #file: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  #start = 0;
  #length = 0;
  #reads = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * `length` bytes from `at`, or as many as there are; empty where too much was read already. They hold until the
   * next call.
   */
  async bytes(at: number, length: number): Promise<Buffer> {
    if (!Number.isSafeInteger(at) || at < 0 || at >= this.size || length > WINDOW_BYTES) return EMPTY;
    const isInside = at >= this.#start && at + Math.min(length, this.size - at) <= this.#start + this.#length;
    if (!isInside) {
      if (this.#reads >= MAX_READS) return EMPTY;
      this.#reads += 1;
      await this.#fill(at);
    }
    const from = at - this.#start;
    return this.#buffer.subarray(from, Math.min(from + length, this.#length));
  }

  async #fill(at: number): Promise<void> {
    this.#start = at;
    this.#length = 0;
    while (this.#length < WINDOW_BYTES) {
      const free = WINDOW_BYTES - this.#length;
      const { bytesRead } = await this.#file.read(this.#buffer, this.#length, free, at + this.#length);
      if (bytesRead === 0) return;
      this.#length += bytesRead;
    }
  }
}
