/** Whether the target of an action works. While it does not, one event at a time finds out whether it does again. */
import { monotonicMs } from '../../lib/clock.ts';
import type { Action, ActionReport, Outcome } from './action.ts';
import { pauseAfter, targetRetries } from './schedule.ts';

interface TargetOptions {
  readonly onReport: (report: ActionReport) => void;
  /** 1, or less in tests: the factor of all pauses. */
  readonly pace: number;
}

interface Down {
  readonly failures: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** It is asked for as long as the listener runs. */
const schedule = { ...targetRetries, giveUpAfterMs: Number.POSITIVE_INFINITY };

export class TargetState {
  readonly #action: Action;
  readonly #options: TargetOptions;
  #down: Down | undefined;
  /** How many events in a row it has refused. */
  #refusals = 0;

  constructor(action: Action, options: TargetOptions) {
    this.#action = action;
    this.#options = options;
  }

  get isDown(): boolean {
    return this.#down !== undefined;
  }

  /** How many events may be tried at once. */
  get jobs(): number {
    if (!this.#down) return Number.POSITIVE_INFINITY;
    return this.pauseLeftMs > 0 ? 0 : 1;
  }

  get pauseLeftMs(): number {
    return this.#down ? Math.max(0, this.#down.untilMs - monotonicMs()) : 0;
  }

  note({ end, text }: Outcome): void {
    const { downAfterRefusals = Number.POSITIVE_INFINITY } = this.#action;
    this.#refusals = end === 'retry' ? this.#refusals + 1 : 0;
    if (end === 'down' || this.#refusals >= downAfterRefusals || (end === 'retry' && this.#refusesAll))
      this.#goDown(text);
    else this.#comeBack(text);
  }

  /** A target that was down and refuses now is still not back. */
  get #refusesAll(): boolean {
    return this.isDown && this.#action.downAfterRefusals !== undefined;
  }

  /** Reports once that the target is gone. */
  #goDown(text: string): void {
    const now = monotonicMs();
    if (!this.#down) this.#options.onReport({ action: this.#action, what: 'down', outcome: text });
    // Jobs that failed at the same time say nothing new.
    if (this.#down && now < this.#down.untilMs) return;
    const { failures, sinceMs } = this.#down ?? { failures: 0, sinceMs: now };
    const { pace } = this.#options;
    const pauseMs = pauseAfter(schedule, failures + 1, (now - sinceMs) / pace) ?? 0;
    this.#down = { failures: failures + 1, sinceMs, untilMs: now + pauseMs * pace };
  }

  /** Reports once that it is back. */
  #comeBack(text: string): void {
    if (!this.#down) return;
    this.#down = undefined;
    this.#options.onReport({ action: this.#action, what: 'back', outcome: text });
  }
}
