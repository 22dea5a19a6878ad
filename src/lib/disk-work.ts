/**
 * Work on a disk that may hang, in libuv's pool: at most two at once, so that two of its four threads are left for
 * everything else, such as what a receiver writes before it answers.
 */
const MAX_RUNNING = 2;

let running = 0;
const waiting: Array<() => void> = [];

export async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  while (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
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
