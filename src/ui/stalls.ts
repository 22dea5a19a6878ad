/** Output to a reader that may stall: a terminal that is stopped (Ctrl-S, a hung ssh), a pipe that is not read. */
import { accessSync, constants } from 'node:fs';

interface WithHandle {
  readonly fd?: number;
  readonly _handle?: { setBlocking?: (on: boolean) => unknown };
}

/**
 * Node makes the whole program wait for a terminal, and on Windows for a pipe. Without that, what is written waits in
 * memory. Node has a file description of its own for a terminal, so that no other program notices.
 */
export function makeNonBlocking(stream: NodeJS.WriteStream): void {
  const { fd, _handle } = stream as unknown as WithHandle;
  // Where a terminal could not be opened again (after su), Node shares it, and would try without a pause.
  if (stream.isTTY && fd !== undefined && !canReopen(fd)) return;
  _handle?.setBlocking?.(false);
}

function canReopen(fd: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when all that was written is read, the reader has gone, or the signal fires. */
export function waitForReader(stream: NodeJS.WriteStream, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
    signal?.addEventListener('abort', done);
    if (signal?.aborted || !stream.writableNeedDrain) done();
  });
}
