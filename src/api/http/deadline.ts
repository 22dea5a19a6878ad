/** A time limit and the user's interruption, as one signal that ends a call. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time limit has run out. */
  readonly expired: boolean;
  /** Stops the timer and lets go of the user's signal. */
  clear(): void;
}

/** The longest time that a timer of Node takes; as long or longer means no limit. */
export const NO_LIMIT_MS = 2 ** 31 - 1;

export const startDeadline = (limitMs: number, interrupt: AbortSignal): Deadline =>
  limitMs < NO_LIMIT_MS
    ? new TimedDeadline(Math.max(1, limitMs), interrupt)
    : { signal: interrupt, expired: false, clear: () => {} };

class TimedDeadline implements Deadline {
  readonly #controller = new AbortController();
  readonly #interrupt: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  expired = false;

  constructor(limitMs: number, interrupt: AbortSignal) {
    this.#interrupt = interrupt;
    this.#timer = setTimeout(() => {
      this.expired = true;
      this.#abort();
    }, limitMs);
    if (interrupt.aborted) this.#abort();
    else interrupt.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#interrupt.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
}
