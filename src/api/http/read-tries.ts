import { monotonicMs } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { CallError } from './failures.ts';
import { concernsAll, type Outage } from './outage.ts';
import { pauseBeforeRetry } from './retry.ts';

interface ReadTriesOptions {
  readonly outage: Outage;
  /** On the monotonic clock. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  readonly onRetry: (error: CallError, pauseMs: number) => void;
}

/** The tries of one read: when it is sent again, and when it gives up. */
export class ReadTries {
  readonly #options: ReadTriesOptions;
  #count = 1;
  #firstFailedAt: number | undefined;
  /** This read finds out for all others whether the service is back. */
  #triesForAll = false;

  constructor(options: ReadTriesOptions) {
    this.#options = options;
  }

  /** While the service is down, one read tries again and the others wait for it. */
  async mayBeSent(): Promise<void> {
    const { outage, endsAt, signal } = this.#options;
    if (!this.#triesForAll) await outage.pass(endsAt - monotonicMs(), signal);
  }

  succeeded(): void {
    this.#options.outage.answered(this.#triesForAll);
  }

  /** Waits until it is to be sent again; throws the error where it is not. */
  async failed(error: unknown): Promise<void> {
    if (!(error instanceof CallError) || error.kind === 'interrupted') throw error;
    const { outage, onRetry, signal } = this.#options;
    const pauseMs = this.#pauseAfter(error);
    const isOutage = concernsAll(error);
    // Another failure is an answer too: the service is up.
    if (!isOutage) outage.answered(this.#triesForAll);
    if (pauseMs === undefined) {
      if (this.#triesForAll) outage.giveUp(error);
      throw error;
    }
    onRetry(error, pauseMs);
    if (isOutage) await this.#pauseWithOthers(error, pauseMs);
    else await sleep(pauseMs, signal);
    this.#count += 1;
  }

  #pauseAfter(error: CallError): number | undefined {
    const { endsAt, signal } = this.#options;
    const now = monotonicMs();
    this.#firstFailedAt ??= now;
    const sinceFirstMs = now - this.#firstFailedAt;
    if (signal.aborted) return undefined;
    return pauseBeforeRetry(error, { count: this.#count, sinceFirstMs, remainingMs: endsAt - now });
  }

  async #pauseWithOthers(error: CallError, pauseMs: number): Promise<void> {
    const { outage, endsAt, signal } = this.#options;
    if (this.#triesForAll) return outage.pauseForAll(error, pauseMs, signal);
    const failure = { error, isFirst: this.#count === 1, pauseMs, limitMs: endsAt - monotonicMs() };
    this.#triesForAll = await outage.pause(failure, signal);
  }
}
