/** Waiting for a ledger that another process holds, without blocking: bounded over all that one process writes. */
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import { isLocked } from '../lib/sqlite-errors.ts';

/** What to do after a statement failed: waits where another process holds the ledger, else throws the error. */
export interface LockWait {
  /** `sinceMs`: when the statement failed first. */
  afterFailure(error: unknown, sinceMs: number): Promise<void>;
  afterSuccess(): void;
}

/** How long each statement of work that can't do without the ledger waits. */
const STATEMENT_WAIT_MS = 10_000;

/** For work that can't do without the ledger. */
export const waitForEach: LockWait = {
  async afterFailure(error, sinceMs) {
    if (!isLocked(error) || monotonicMs() - sinceMs >= STATEMENT_WAIT_MS) throw error;
    await pause(2 + Math.random() * 20);
  },
  afterSuccess() {},
};

/** For a listener, which does something else meanwhile. */
export const waitForNone: LockWait = {
  async afterFailure(error) {
    throw error;
  },
  afterSuccess() {},
};

/** Each waiting counts, but time in which several wait counts once. */
const TOTAL_WAIT_MS = 5_000;

/** For work that can do without it: waits some seconds in all, and not after an interruption. */
export class Patience implements LockWait {
  readonly #signal: AbortSignal;
  #leftMs = TOTAL_WAIT_MS;
  /** Since when it is known to be held. */
  #heldSince: number | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async afterFailure(error: unknown): Promise<void> {
    const signal = this.#signal;
    if (!isLocked(error) || signal.aborted || !this.#mayWait()) throw error;
    // An interruption leads to one last try.
    await sleep(20 + Math.random() * 30, signal).catch(() => {});
  }

  afterSuccess(): void {
    if (this.#heldSince === undefined) return;
    this.#leftMs = Math.max(0, this.#leftMs - (monotonicMs() - this.#heldSince));
    this.#heldSince = undefined;
  }

  #mayWait(): boolean {
    this.#heldSince ??= monotonicMs();
    return monotonicMs() - this.#heldSince < this.#leftMs;
  }
}
