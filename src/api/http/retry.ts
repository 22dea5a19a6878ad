/**
 * Sends reads again where that may help. All reads of a command know together of a service that is down or busy: without
 * that each of a thousand files would be tried again for itself. While it lasts, one read tries again and the others wait
 * for what becomes of it.
 */
import { backoffMs } from '../../lib/backoff.ts';
import { monotonicMs, sleep } from '../../lib/time.ts';
import { CallError } from './failures.ts';

const MAX_TRIES = 4;
const PAUSES = { firstMs: 250 };
/** When the service asks to wait longer than this, the error is shown instead. */
const MAX_PAUSE_MS = 60_000;

/** No further pause begins after this time: a long Retry-After is kept once, but not again and again. */
const MAX_RETRYING_MS = 30_000;

/** Failures in a row, with no answer between them, that are an outage. One alone concerns its own call. */
const FAILURES_OF_AN_OUTAGE = 3;

export interface RetryOptions {
  /** When all tries must be over, on the monotonic clock. */
  readonly endsAt: number;
  /** The user's interruption. */
  readonly signal: AbortSignal;
  readonly onRetry?: (error: CallError, pauseMs: number) => void;
}

/** The tries of one read. */
interface Tries extends RetryOptions {
  /** How often it was sent. */
  count: number;
  firstFailedAt: number | undefined;
  /** This read finds out for all others whether the service is back. */
  forAll: boolean;
}

interface Outage {
  /** The latest failure of the read that tries again. */
  readonly error: CallError;
  /** Aborted when the service is back, or with the error when the read that tries again gives up. */
  readonly over: AbortController;
}

export class Retries {
  #failuresInARow = 0;
  #outage: Outage | undefined;

  /** Sends a read until it is answered; throws the error where it is not to be sent again. */
  async send<T>(read: () => Promise<T>, options: RetryOptions): Promise<T> {
    const { endsAt, signal, onRetry = () => {} } = options;
    const tries: Tries = { endsAt, signal, onRetry, count: 1, firstFailedAt: undefined, forAll: false };
    for (;;) {
      if (!tries.forAll && this.#outage) await waitFor(this.#outage, tries);
      try {
        const result = await read();
        this.#answered(tries);
        return result;
      } catch (error) {
        await this.#pauseAfter(error, tries);
        tries.count += 1;
      }
    }
  }

  async #pauseAfter(error: unknown, tries: Tries): Promise<void> {
    const isOutage = error instanceof CallError && concernsAll(error);
    // Another failure is an answer too: the service is up.
    if (!isOutage) this.#answered(tries);
    const pauseMs = error instanceof CallError ? pauseBeforeRetry(error, tries) : undefined;
    if (!(error instanceof CallError) || pauseMs === undefined) {
      if (isOutage && tries.forAll) {
        // All that wait give up with it.
        error.serviceDown = true;
        this.#end(error);
      }
      throw error;
    }
    tries.onRetry?.(error, pauseMs);
    if (isOutage) await this.#pauseWithOthers(error, pauseMs, tries);
    else await sleep(pauseMs, tries.signal);
  }

  /** Lets the pause pass, or waits for the read that does so already. */
  async #pauseWithOthers(error: CallError, pauseMs: number, tries: Tries): Promise<void> {
    // A call that fails again and again is one failure: the trouble may be with what it asks for.
    if (tries.count === 1) this.#failuresInARow += 1;
    if (this.#outage && !tries.forAll) return waitFor(this.#outage, tries);
    tries.forAll ||= error.retryAfter !== undefined || this.#failuresInARow >= FAILURES_OF_AN_OUTAGE;
    // All other reads wait from now on.
    if (tries.forAll) this.#outage = { over: new AbortController(), ...this.#outage, error };
    await sleep(pauseMs, tries.signal);
  }

  /** A pause that the service asked for is ended only by the read that kept it. */
  #answered(tries: Tries): void {
    this.#failuresInARow = 0;
    if (tries.forAll || this.#outage?.error.retryAfter === undefined) this.#end();
    tries.forAll = false;
  }

  #end(error?: CallError): void {
    this.#outage?.over.abort(error);
    this.#outage = undefined;
  }
}

/** Until the service is back, or the time of this read is over. */
async function waitFor({ error, over }: Outage, { endsAt, signal }: RetryOptions): Promise<void> {
  const end = over.signal;
  await sleep(endsAt - monotonicMs(), AbortSignal.any([signal, end])).catch((interruption) => {
    if (!end.aborted) throw interruption;
  });
  if (!end.aborted) throw error;
  if (end.reason instanceof CallError) throw end.reason;
}

/** How long to wait before a read is sent again; undefined where it is not to be repeated. */
function pauseBeforeRetry(error: CallError, tries: Tries): number | undefined {
  const { endsAt, signal } = tries;
  const now = monotonicMs();
  tries.firstFailedAt ??= now;
  if (!error.transient || tries.count >= MAX_TRIES || signal.aborted) return undefined;
  const pause = error.retryAfter ?? Math.round(backoffMs(tries.count, PAUSES));
  if (tries.count > 1 && now - tries.firstFailedAt + pause > MAX_RETRYING_MS) return undefined;
  return pause > MAX_PAUSE_MS || pause >= endsAt - now ? undefined : pause;
}

/** Whether it says that the service as a whole is down or busy. A 500 may be about the one thing that was asked for. */
const concernsAll = ({ kind, status = 0, transient }: CallError): boolean =>
  transient && (kind === 'network' || [429, 502, 503, 504].includes(status));
