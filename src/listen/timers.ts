/**
 * Timers, and work that nothing waits for: an error in either would end the process with a stack trace and leave the
 * webhook behind. Here it goes to `onError` instead. No other file of the receiver sets a timer.
 */
import { sleep } from '../lib/sleep.ts';

export type OnError = (error: unknown) => void;
type Work = () => void | Promise<void>;

/** A timer can't be set for longer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function runInBackground(work: Work, onError: OnError): void {
  void run(work).catch(onError);
}

/** Runs the work once, later; returns what cancels it. */
export function startTimer(delayMs: number, work: Work, onError: OnError): () => void {
  const timer = setTimeout(() => runInBackground(work, onError), Math.min(delayMs, MAX_DELAY_MS));
  return () => clearTimeout(timer);
}

/** Runs the work at once and then after every pause, until the signal fires; the next run waits for the last one. */
export async function repeat(pauseMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    // It rejects when the signal fires, which ends the loop.
    await sleep(pauseMs, signal).catch(() => {});
  }
}

/** Makes a rejection of what is thrown. */
async function run(work: Work): Promise<void> {
  await work();
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
