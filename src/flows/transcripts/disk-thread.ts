/**
 * Speed: a thread of its own that writes many small files, so that a slow disk does not hold up the calls of the service.
 * To take this out, give none.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { DiskError, StenoError } from '../../lib/errors.ts';
import type { NamingOptions, WrittenFile } from './whole-file.ts';

/** The longest file that it writes. */
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
  readonly named?: WrittenFile;
  readonly failure?: FileFailure;
}

/** An error in a form that can be sent. */
export interface FileFailure {
  readonly message: string;
  readonly hint: string | undefined;
  readonly isOfDisk: boolean;
}

interface Waiting {
  readonly resolve: (named: WrittenFile) => void;
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
  /** Why it writes no more. */
  #ended: StenoError | undefined;

  constructor(program: string) {
    this.#program = program;
  }

  /** Writes a file of these chunks, as `writeAndRename` does. */
  write(path: string, chunks: readonly Uint8Array[], naming: NamingOptions): Promise<WrittenFile> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      this.#count += 1;
      this.#waiting.set(this.#count, { resolve, reject });
      if (this.#jobs.length === 0) setImmediate(() => this.#send());
      this.#jobs.push({ number: this.#count, path, bytes: this.#joined(chunks), naming });
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

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
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#worker ??= this.#start();
    this.#worker.postMessage(
      jobs,
      // Given away, not copied.
      jobs.map(({ bytes }) => bytes.buffer),
    );
  }

  #joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const block = new Uint8Array(this.#freeBlocks.pop() ?? new ArrayBuffer(MAX_FILE_BYTES));
    let size = 0;
    for (const chunk of chunks) {
      block.set(chunk, size);
      size += chunk.length;
    }
    return block.subarray(0, size);
  }

  #end({ number, block, named, failure }: FileResult): void {
    this.#freeBlocks.push(block);
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (named) waiting?.resolve(named);
    else waiting?.reject(failure && errorOf(failure));
  }

  /** What waits fails with an error of ours, so that no call of the service is repeated. */
  #giveUp(why: string): void {
    this.#ended ??= new StenoError('failed', `the thread that writes files has ended${why}`);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

const errorOf = ({ message, hint, isOfDisk }: FileFailure): StenoError =>
  isOfDisk ? new DiskError(message, { hint }) : new StenoError('failed', message, { hint });

/** For fewer it takes longer to start than it saves. */
const MIN_FILES = 200;

/** Gives one for so many files, if it may be worth it, and closes it when the work is done. */
export async function withDiskThread<T>(
  files: number,
  work: (disk: DiskThread | undefined) => Promise<T>,
): Promise<T> {
  const program = join(__dirname, 'disk-worker.js');
  if (files < MIN_FILES || !existsSync(program)) return work(undefined);
  const disk = new DiskThread(program);
  try {
    return await work(disk);
  } finally {
    await disk.close();
  }
}
