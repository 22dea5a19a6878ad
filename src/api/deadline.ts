/** One signal for two ends of a call: its time runs out, or the user interrupts. */
export class Deadline {
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
