/** When a listener ends, and as what. */
import { formatDuration } from '../lib/duration.ts';
import { StenoError } from '../lib/errors.ts';
import { sleep } from '../lib/sleep.ts';

export interface Goal {
  /** The event after which it is over. */
  readonly until?: string | undefined;
  readonly count?: number | undefined;
  readonly timeout?: number | undefined;
}

export class Ending {
  readonly #goal: Goal;
  readonly #clock = new AbortController();
  readonly reached: Promise<void>;
  #reach: () => void = () => {};
  #heard = 0;
  #error: StenoError | undefined;
  /** The last event that counts: what comes after it is left to the next listener. */
  last = Number.POSITIVE_INFINITY;

  constructor(goal: Goal, signal: AbortSignal) {
    this.#goal = goal;
    this.reached = new Promise((done) => {
      this.#reach = done;
    });
    const interrupted = (): void => this.fail(new StenoError('interrupted', 'stopped listening'));
    if (signal.aborted) interrupted();
    else signal.addEventListener('abort', interrupted, { once: true });
  }

  get isGoal(): boolean {
    return this.last < Number.POSITIVE_INFINITY && !this.#error;
  }

  startClock(): void {
    const { timeout } = this.#goal;
    if (timeout === undefined) return;
    const late = new StenoError('timeout', `${this.#hope()} in ${formatDuration(timeout)}`);
    sleep(timeout, this.#clock.signal).then(
      () => this.fail(late),
      () => {},
    );
  }

  stopClock(): void {
    this.#clock.abort();
  }

  /** Takes note of an event; false if it comes after the end. Only one that `counts` is one more towards the count. */
  hears(n: number, event: string, counts: boolean): boolean {
    if (this.last < n || this.#error) return false;
    if (counts) this.#heard += 1;
    if (event === this.#goal.until || (counts && this.#heard === this.#goal.count)) {
      this.last = n;
      this.#reach();
    }
    return true;
  }

  fail(error: StenoError): void {
    // What breaks off while it ends is no reason any more, but for an impatient user.
    if (this.isGoal && error.kind !== 'interrupted') return;
    this.#error ??= error;
    this.#reach();
  }

  /** Raises what ended it, unless that is what was hoped for. */
  raise(): void {
    if (!this.isGoal && this.#error) throw this.#error;
  }

  #hope(): string {
    const { until, count } = this.#goal;
    if (until !== undefined) return `no ${until} came`;
    return count === undefined ? 'the time ran out' : `${this.#heard} of ${count} events came`;
  }
}
