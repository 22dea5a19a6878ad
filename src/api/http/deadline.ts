export interface End {
  readonly signal: AbortSignal;
  /** The time has run out. */
  readonly passed: boolean;
  end(): void;
}

/** How a call may be ended: by the user, and by the clock where there is a limit. */
export const endOf = (milliseconds: number, interrupt: AbortSignal): End =>
  milliseconds < NEVER
    ? new Deadline(Math.max(1, milliseconds), interrupt)
    : { signal: interrupt, passed: false, end: () => {} };

/** A timer can't be set for longer, and nobody waits so long. */
export const NEVER = 2 ** 31 - 1;

/** One signal for two ends of a call: its time runs out, or the user interrupts. */
class Deadline implements End {
  readonly #controller = new AbortController();
  readonly #interrupt: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  passed = false;

  constructor(milliseconds: number, interrupt: AbortSignal) {
    this.#interrupt = interrupt;
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, milliseconds);
    if (interrupt.aborted) this.#abort();
    else interrupt.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#interrupt.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
}
