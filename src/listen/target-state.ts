/**
 * Whether the target of an action works. While it can't be reached, one event at a time finds out whether it can again,
 * after growing pauses. One that refuses is spared, but gets each new event at once: it may accept other events.
 */

import { monotonicMs, nowMs } from '../lib/time.ts';
import { type Action, type Outcome, pauseAfter, targetRetries } from './action.ts';
import type { ReceivedEvent } from './event.ts';
import type { SessionContext } from './session-run.ts';

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
  readonly #session: SessionContext;
  #down: Down | undefined;
  /** How many events in a row it has refused. */
  #refusals = 0;

  constructor(action: Action, session: SessionContext) {
    this.#action = action;
    this.#session = session;
  }

  get isDown(): boolean {
    return this.#down !== undefined;
  }

  /** How many events may be tried at once. */
  get jobs(): number {
    if (!this.#down) return this.#action.jobs;
    return Math.min(this.#action.jobs, this.#down.refuses ? REFUSING_JOBS : 1);
  }

  get pauseLeftMs(): number {
    return this.#down ? Math.max(0, this.#down.untilMs - monotonicMs()) : 0;
  }

  /** Reports once that the target is gone, and once that it is back. */
  note({ end, text }: Outcome, event: ReceivedEvent): void {
    const { downAfterRefusals } = this.#action;
    this.#refusals = end === 'retry' ? this.#refusals + 1 : 0;
    const refuses =
      downAfterRefusals !== undefined &&
      end === 'retry' &&
      (this.isDown || this.#refusals >= downAfterRefusals);
    if (end === 'down' || refuses) this.#goDown(text, refuses, event);
    else if (this.#down) {
      this.#down = undefined;
      this.#session.callbacks.onReport({ action: this.#action, event, what: 'back', outcome: text });
    }
  }

  #goDown(text: string, refuses: boolean, event: ReceivedEvent): void {
    const now = monotonicMs();
    const isNew = !this.#down;
    // Jobs that failed at the same time say nothing new.
    if (this.#down && now < this.#down.untilMs) return;
    const { failures, sinceMs } = this.#down ?? { failures: 0, sinceMs: now };
    const { pace } = this.#session;
    const pauseMs = refuses ? 0 : (pauseAfter(schedule, failures + 1, (now - sinceMs) / pace) ?? 0);
    this.#down = { refuses, failures: failures + 1, sinceMs, untilMs: now + pauseMs * pace };
    if (!isNew) return;
    const nextTryAt = pauseMs > 0 ? new Date(nowMs() + pauseMs * pace).toISOString() : undefined;
    this.#session.callbacks.onReport({ action: this.#action, event, what: 'down', outcome: text, nextTryAt });
  }
}
