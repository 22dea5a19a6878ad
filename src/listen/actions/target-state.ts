/**
 * Whether the target of an action works. While it can't be reached, one event at a time finds out whether it can again,
 * after growing pauses. One that refuses is spared, but gets each new event at once: others may be to its liking.
 */
import { monotonicMs, nowMs } from '../../lib/clock.ts';
import type { ReceivedEvent } from '../event.ts';
import type { Action, ActionReport, Outcome } from './action.ts';
import { pauseAfter, targetRetries } from './schedule.ts';

interface TargetOptions {
  readonly onReport: (report: ActionReport) => void;
  /** 1, or less in tests: the factor of all pauses. */
  readonly pace: number;
}

interface Down {
  /** It can be reached. */
  readonly refuses: boolean;
  readonly failures: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

const REFUSING_JOBS = 2;
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
    return this.#down.refuses ? REFUSING_JOBS : 1;
  }

  /** How many of them may be about strangers: what may have made it refuse must not use all jobs. */
  get strangerJobs(): number {
    return this.#down ? 1 : Number.POSITIVE_INFINITY;
  }

  get pauseLeftMs(): number {
    return this.#down ? Math.max(0, this.#down.untilMs - monotonicMs()) : 0;
  }

  note({ end, text }: Outcome, event: ReceivedEvent): void {
    const { downAfterRefusals = Number.POSITIVE_INFINITY } = this.#action;
    this.#refusals = end === 'retry' ? this.#refusals + 1 : 0;
    const refuses = this.#refusals >= downAfterRefusals || (end === 'retry' && this.#refusesStill);
    if (end === 'down' || refuses) this.#goDown(text, refuses, event);
    else this.#comeBack(text, event);
  }

  /** A target that was down and refuses now is still not back. */
  get #refusesStill(): boolean {
    return this.isDown && this.#action.downAfterRefusals !== undefined;
  }

  /** Reports once that the target is gone. */
  #goDown(text: string, refuses: boolean, event: ReceivedEvent): void {
    const now = monotonicMs();
    const isNew = !this.#down;
    // Jobs that failed at the same time say nothing new.
    if (this.#down && now < this.#down.untilMs) return;
    const { failures, sinceMs } = this.#down ?? { failures: 0, sinceMs: now };
    const { pace } = this.#options;
    const pauseMs = refuses ? 0 : (pauseAfter(schedule, failures + 1, (now - sinceMs) / pace) ?? 0);
    this.#down = { refuses, failures: failures + 1, sinceMs, untilMs: now + pauseMs * pace };
    if (!isNew) return;
    const nextTryAt = pauseMs > 0 ? new Date(nowMs() + pauseMs * pace).toISOString() : undefined;
    this.#options.onReport({ action: this.#action, event, what: 'down', outcome: text, nextTryAt });
  }

  /** Reports once that it is back. */
  #comeBack(text: string, event: ReceivedEvent): void {
    if (!this.#down) return;
    this.#down = undefined;
    this.#options.onReport({ action: this.#action, event, what: 'back', outcome: text });
  }
}
