/** Reads parts of a file at any place, within bounds: a header that a stranger wrote decides where. */
import type { FileHandle } from 'node:fs/promises';

const EMPTY = Buffer.alloc(0);

/** How much of a file is handed on at once where nothing of it is looked at. */
const PASSED_BYTES = 1 << 20;

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
  #passed = 0;
  #passing: Buffer | undefined;
  readonly #onBytes: ((bytes: Buffer) => void) | undefined;

  /** `onBytes` gets all of the file once, in order, while parts of it are looked at. */
  constructor(file: FileHandle, size: number, onBytes?: (bytes: Buffer) => void) {
    this.#file = file;
    this.size = size;
    this.#onBytes = onBytes;
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

  /** Hands on what is left of the file. */
  async passRest(): Promise<void> {
    await this.#passUpTo(Number.POSITIVE_INFINITY);
  }

  async #passUpTo(end: number): Promise<void> {
    if (!this.#onBytes) return;
    while (this.#passed < end) {
      this.#passing ??= Buffer.allocUnsafe(PASSED_BYTES);
      const length = Math.min(PASSED_BYTES, end - this.#passed);
      const { bytesRead } = await this.#file.read(this.#passing, 0, length, this.#passed);
      if (bytesRead === 0) return;
      this.#onBytes(this.#passing.subarray(0, bytesRead));
      this.#passed += bytesRead;
    }
  }

  async #fill(at: number): Promise<void> {
    await this.#passUpTo(at);
    await this.#readFrom(at);
    const known = this.#passed - this.#start;
    if (!this.#onBytes || known < 0 || known >= this.#length) return;
    this.#onBytes(this.#buffer.subarray(known, this.#length));
    this.#passed = this.#start + this.#length;
  }

  /** What is in memory already is not read again. */
  async #readFrom(at: number): Promise<void> {
    const from = at - this.#start;
    const isInside = from > 0 && from < this.#length;
    if (isInside) this.#buffer.copyWithin(0, from, this.#length);
    this.#length = isInside ? this.#length - from : 0;
    this.#start = at;
    while (this.#length < WINDOW_BYTES) {
      const free = WINDOW_BYTES - this.#length;
      const { bytesRead } = await this.#file.read(this.#buffer, this.#length, free, at + this.#length);
      if (bytesRead === 0) return;
      this.#length += bytesRead;
    }
  }
}
