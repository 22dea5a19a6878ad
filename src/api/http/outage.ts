/**
 * What all reads of a command know together of a service that is down or busy. Without it each of a thousand files
 * would be tried again for itself. While it lasts, one read tries again and the others wait for what becomes of it.
 */
import { sleep } from '../../lib/sleep.ts';
import type { CallError } from './failures.ts';

/** Failures in a row, with no answer between them, that are an outage. One alone concerns its own call. */
const FAILURES_OF_AN_OUTAGE = 3;

/** A read that failed, and is worth sending again. */
export interface ReadFailure {
  readonly error: CallError;
  /** Its first try. */
  readonly isFirst: boolean;
  readonly pauseMs: number;
  /** How long it may wait at most. */
  readonly limitMs: number;
}

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: CallError) => void;
}

export class Outage {
  #failuresInARow = 0;
  /** The latest failure of the read that tries again, while there is an outage. */
  #error: CallError | undefined;
  #waiting = new Set<Waiting>();

  /** Before a read is sent: waits while another one finds out whether the service is back. */
  async pass(limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#error) await this.#wait(this.#error, limitMs, signal);
  }

  /**
   * After a failure: lets the pause pass, or waits for the read that does so already. Says whether this is the read
   * that tries again for all.
   */
  async pause(failure: ReadFailure, signal: AbortSignal): Promise<boolean> {
    const { error, isFirst, pauseMs, limitMs } = failure;
    // A call that fails again and again is one failure: the trouble may be with what it asks for.
    if (isFirst) this.#failuresInARow += 1;
    if (this.#error) {
      await this.#wait(this.#error, limitMs, signal);
      return false;
    }
    const isOutage = error.retryAfter !== undefined || this.#failuresInARow >= FAILURES_OF_AN_OUTAGE;
    if (isOutage) await this.pauseForAll(error, pauseMs, signal);
    else await sleep(pauseMs, signal);
    return isOutage;
  }

  /** The read that tries again pauses, and all others wait for it. */
  async pauseForAll(error: CallError, pauseMs: number, signal: AbortSignal): Promise<void> {
    this.#error = error;
    try {
      await sleep(pauseMs, signal);
    } catch (interruption) {
      this.#end((each) => each.go());
      throw interruption;
    }
  }

  /** A read was answered. A pause that the service asked for is ended only by the read that kept it. */
  answered(triesForAll: boolean): void {
    this.#failuresInARow = 0;
    if (this.#error && (triesForAll || this.#error.retryAfter === undefined)) this.#end((each) => each.go());
  }

  /** The read that tries again gives up, and with it all that wait. */
  giveUp(error: CallError): void {
    error.serviceDown = true;
    this.#end((each) => each.fail(error));
  }

  #end(release: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    this.#error = undefined;
    for (const each of waiting) release(each);
  }

  /** Until the service is back, or the time of this read is over. */
  async #wait(error: CallError, limitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const released = new Promise<void>((go, fail) => {
      this.#waiting.add({ go, fail });
    });
    const tooLong = sleep(limitMs, AbortSignal.any([signal, over.signal])).then(() => {
      throw error;
    });
    try {
      await Promise.race([released, tooLong]);
    } finally {
      over.abort();
    }
  }
}

/** Whether it says that the service as a whole is down or busy. A 500 may be about the one thing that was asked for. */
export const concernsAll = ({ kind, status = 0, transient }: CallError): boolean =>
  transient && (kind === 'network' || [429, 502, 503, 504].includes(status));
