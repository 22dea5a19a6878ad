/** How many calls the look-out may make now: at most 60 in any minute, a few at a time. */
import { monotonicMs } from '../lib/clock.ts';

/** In a minute. */
const MAX_LOOKS = 60;
/** At a time. More than come due between two ticks, to make up for a service that answers slowly. */
const MAX_AT_ONCE = 10;
/** A minute, at the usual pace of the ticks. */
const WINDOW_TICKS = 12;

export class LookBudget {
  readonly #windowMs: number;
  /** When the looks of the last minute were made. */
  #times: number[] = [];

  constructor(tickMs: number) {
    this.#windowMs = WINDOW_TICKS * tickMs;
  }

  get left(): number {
    const from = monotonicMs() - this.#windowMs;
    this.#times = this.#times.filter((time) => time >= from);
    return Math.min(MAX_AT_ONCE, MAX_LOOKS - this.#times.length);
  }

  /** After the calls: the service counts them when they come. */
  spend(count: number): void {
    const now = monotonicMs();
    for (let n = 0; n < count; n += 1) this.#times.push(now);
  }
}
