/**
 * Calls of the file system for files that are written. Where nothing else waits for this thread they are done at once: a
 * write to the page cache takes microseconds, and handing it to a thread ten times as long. A receiver leaves them to
 * libuv's pool, because a disk that hangs must not hold up its answers: at most two at a time, so that two of the pool's
 * four threads are left for everything else. Syncs always go there.
 */
import {
  close,
  closeSync,
  fdatasync,
  fsync,
  link,
  linkSync,
  lstatSync,
  open,
  openSync,
  promises,
  rename,
  renameSync,
  type Stats,
  statSync,
  unlink,
  unlinkSync,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { promisify } from 'node:util';

const MAX_RUNNING = 2;

let usesPool = false;
let running = 0;
const waiting: Array<() => void> = [];

/** For a receiver. */
export function leaveDiskToPool(): void {
  usesPool = true;
}

/** Work in the pool. */
export async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  while (usesPool && running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** Whether a thread is at it, which Node would wait for before it exits. */
export const isDiskBusy = (): boolean => running > 0;

const call =
  <Args extends unknown[], Result>(
    inPool: (...args: Args) => Promise<Result>,
    atOnce: (...args: Args) => Result,
  ) =>
  async (...args: Args): Promise<Result> =>
    usesPool ? onDisk(() => inPool(...args)) : atOnce(...args);

/** Speed: every start loads this file, so that it must not load node:fs/promises, which takes 5 ms. */
export const disk = {
  lstat: call<[path: string], Stats>((path) => promises.lstat(path), lstatSync),
  stat: call<[path: string], Stats>((path) => promises.stat(path), statSync),
  open: call<[path: string, flags: string, mode?: number], number>(promisify(open), openSync),
  write: call<[file: number, chunk: Uint8Array], void>(promisify(writeFile), writeFileSync),
  close: call<[file: number], void>(promisify(close), closeSync),
  link: call<[from: string, to: string], void>(promisify(link), linkSync),
  rename: call<[from: string, to: string], void>(promisify(rename), renameSync),
  unlink: call<[path: string], void>(promisify(unlink), unlinkSync),
  fdatasync: (file: number) => onDisk(() => promisify(fdatasync)(file)),
  fsync: (file: number) => onDisk(() => promisify(fsync)(file)),
};
