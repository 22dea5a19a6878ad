/** Waiting for a ledger that another process holds, without blocking: bounded over all that one process writes. */
import { monotonicMs } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { isLocked } from '../lib/sqlite-errors.ts';

/** Each waiting counts, but time in which several wait counts once. */
const TOTAL_WAIT_MS = 5_000;

export class Patience {
  #leftMs = TOTAL_WAIT_MS;
  /** Since when it is known to be held. */
  #heldSince: number | undefined;

  /** `work` must fail at once where the ledger is held. */
  async whenFree<Result>(work: () => Result, signal: AbortSignal): Promise<Result> {
    for (;;) {
      try {
        const result = work();
        this.#endWait();
        return result;
      } catch (error) {
        if (!isLocked(error) || signal.aborted || !this.#mayWait()) throw error;
      }
      // An interruption leads to one last try.
      await sleep(20 + Math.random() * 30, signal).catch(() => {});
    }
  }

  #mayWait(): boolean {
    this.#heldSince ??= monotonicMs();
    return monotonicMs() - this.#heldSince < this.#leftMs;
  }

  #endWait(): void {
    if (this.#heldSince === undefined) return;
    this.#leftMs = Math.max(0, this.#leftMs - (monotonicMs() - this.#heldSince));
    this.#heldSince = undefined;
  }
}
