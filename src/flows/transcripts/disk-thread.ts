/**
 * Speed: a thread of its own that writes many small files, so that a slow disk does not hold up the calls of the service.
 * To take this out, let withDiskThread always pass undefined.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { DiskError, StenoError } from '../../lib/errors.ts';
import { type NamingOptions, type WrittenFile, writeAndRename } from './whole-file.ts';

/** The longest file that is worth the way to it: a longer one is held in memory until it is whole. */
export const MAX_FILE_BYTES = 65_536;

/** A file to write, under a number by which its result is found. */
export interface FileJob {
  readonly number: number;
  readonly path: string;
  /** The beginning of a block, which the result gives back. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly naming: NamingOptions;
}

export interface FileResult {
  readonly number: number;
  readonly block: ArrayBuffer;
  readonly written?: WrittenFile;
  readonly failure?: FileFailure;
}

/** An error in a form that can be sent. */
export interface FileFailure {
  readonly message: string;
  readonly hint: string | undefined;
  readonly isOfDisk: boolean;
}

interface Waiting {
  readonly resolve: (written: WrittenFile) => void;
  readonly reject: (error: unknown) => void;
}

export class DiskThread {
  readonly #program: string;
  /** Started with the first file. */
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  /** Used again: blocks of files that are written would lie in memory until V8 collects them. */
  readonly #freeBlocks: ArrayBuffer[] = [];
  #jobs: FileJob[] = [];
  #count = 0;
  #hasEnded = false;

  constructor(program: string) {
    this.#program = program;
  }

  /** Writes a file of these chunks, as `writeAndRename` does; here where the thread can't be started, or has ended. */
  write(path: string, chunks: readonly Buffer[], naming: NamingOptions): Promise<WrittenFile> {
    if (this.#hasEnded) return writeHere(path, chunks, naming);
    return new Promise((resolve, reject) => {
      this.#count += 1;
      this.#waiting.set(this.#count, { resolve, reject });
      if (this.#jobs.length === 0) setImmediate(() => this.#send());
      this.#jobs.push({ number: this.#count, path, bytes: this.#joined(chunks), naming });
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Throws where the system gives no thread, such as in a container that may have few. */
  #start(): Worker {
    // Loaded here, because most commands need none.
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    const worker = new Worker(this.#program);
    worker.on('message', (results: readonly FileResult[]) => {
      for (const each of results) this.#end(each);
    });
    worker.on('error', (error) => this.#giveUp(`: ${error.message}`));
    worker.on('exit', () => this.#giveUp(''));
    worker.unref();
    return worker;
  }

  /** All that has come in this turn goes in one message. */
  #send(): void {
    const worker = this.#runningWorker();
    const jobs = this.#jobs;
    this.#jobs = [];
    if (!worker) {
      for (const job of jobs) this.#doHere(job);
      return;
    }
    worker.postMessage(
      jobs,
      // Given away, not copied.
      jobs.map(({ bytes }) => bytes.buffer),
    );
  }

  #runningWorker(): Worker | undefined {
    if (this.#hasEnded) return undefined;
    try {
      this.#worker ??= this.#start();
    } catch {
      this.#hasEnded = true;
    }
    return this.#worker;
  }

  #doHere({ number, path, bytes, naming }: FileJob): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    const chunk = Buffer.from(bytes.buffer, 0, bytes.length);
    writeHere(path, [chunk], naming).then(waiting?.resolve, waiting?.reject);
  }

  #joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const free = length > MAX_FILE_BYTES ? new ArrayBuffer(length) : this.#freeBlocks.pop();
    const block = new Uint8Array(free ?? new ArrayBuffer(MAX_FILE_BYTES));
    let size = 0;
    for (const chunk of chunks) {
      block.set(chunk, size);
      size += chunk.length;
    }
    return block.subarray(0, size);
  }

  #end({ number, block, written, failure }: FileResult): void {
    if (block.byteLength === MAX_FILE_BYTES) this.#freeBlocks.push(block);
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (written) waiting?.resolve(written);
    else waiting?.reject(failure && errorOf(failure));
  }

  /** What it was given fails with an error of ours, so that no call of the service is repeated. */
  #giveUp(why: string): void {
    this.#hasEnded = true;
    const error = new StenoError('failed', `the thread that writes files has ended${why}`);
    const firstUnsent = this.#jobs[0]?.number ?? Number.POSITIVE_INFINITY;
    for (const [number, { reject }] of this.#waiting) {
      if (number >= firstUnsent) break;
      this.#waiting.delete(number);
      reject(error);
    }
  }
}

const writeHere = (path: string, chunks: readonly Buffer[], naming: NamingOptions): Promise<WrittenFile> =>
  writeAndRename(
    path,
    async (onChunk) => {
      for (const chunk of chunks) await onChunk(chunk);
    },
    naming,
  );

const errorOf = ({ message, hint, isOfDisk }: FileFailure): StenoError =>
  isOfDisk ? new DiskError(message, { hint }) : new StenoError('failed', message, { hint });

/** For a receiver, whose own thread must never wait for the disk; undefined where the program is missing. */
export function openDiskThread(): DiskThread | undefined {
  const program = join(__dirname, 'disk-worker.js');
  return existsSync(program) ? new DiskThread(program) : undefined;
}

/** For fewer it takes longer to start than it saves. */
const MIN_FILES = 200;

/** Runs work with a DiskThread if there are at least MIN_FILES files. */
export async function withDiskThread<T>(
  files: number,
  work: (disk: DiskThread | undefined) => Promise<T>,
): Promise<T> {
  const disk = files < MIN_FILES ? undefined : openDiskThread();
  if (!disk) return work(undefined);
  try {
    return await work(disk);
  } finally {
    await disk.close();
  }
}
