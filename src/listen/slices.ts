/** Work on very many rows, a few at a time, so that deliveries are answered meanwhile. */
import { monotonicMs } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';

/** The rest is left to the next tick: what else a loop has to do, such as for other actions, must not wait for it. */
const MAX_MS = 4_000;
/** For deliveries that came in during a slice, and for the processor of the machine. */
const PAUSE_MS = 25;

/** Calls `work`, which does a slice and tells whether there is more, until there is none or its time is over. */
export async function inSlices(signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  const end = monotonicMs() + MAX_MS;
  while ((await work()) && monotonicMs() < end && !signal.aborted)
    // It rejects when the signal fires, which ends the loop.
    await sleep(PAUSE_MS, signal).catch(() => {});
}
