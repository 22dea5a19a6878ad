/** What a queue reads from the ledger and writes to it. Times are kept there, so that a restart keeps every pause. */

import { type ActionResult, Actions, type WaitingAction } from '../ledger/actions.ts';
import { Events } from '../ledger/events.ts';
import { Files } from '../ledger/files.ts';
import { formatDuration, monotonicMs, nowMs } from '../lib/time.ts';
import { type Action, ADOPTED_MS, MAX_PAUSE_MS, type Outcome, pauseAfter, targetRetries } from './action.ts';
import type { Work } from './commits.ts';
import { ReceivedEvent } from './event.ts';
import type { RawBodies } from './inbox.ts';
import type { SessionContext } from './session-run.ts';

/** How a try went that was not the last one. */
export interface FailedTry {
  readonly tries: number;
  readonly text: string;
  /** `retry`: after a pause; `down`: when the target works again; `interrupted`: at once. */
  readonly end: 'retry' | 'down' | 'interrupted';
}

/** What became of such a try: why it was the last one after all, or when the next one is. */
export interface Postponed {
  readonly givenUp?: string;
  readonly nextTryAt?: string;
}

/** Each of these fails where the ledger does. */
export class ActionStore {
  readonly #action: Action;
  readonly #session: SessionContext;
  readonly #rawBodies: RawBodies;
  /** Once, at the start of this listener: later it would take up again what one that ended beside it gave up. */
  #revivedUpTo: number | undefined = 0;

  constructor(action: Action, session: SessionContext, rawBodies: RawBodies) {
    this.#action = action;
    this.#session = session;
    this.#rawBodies = rawBodies;
  }

  /** What may be begun at `now`, of events up to `upTo`: at most `limit`, at most `unknown` of them about unknown files. */
  next(now: number, upTo: number, limit: number, unknown: number): Promise<WaitingAction[]> {
    return this.#actions.next(this.#action, this.#run, { now: iso(now), upTo, limit, unknown });
  }

  /** How long it is until the next try that is set for a time after `now`; undefined if there is none. */
  async msUntilNextDue(now: number): Promise<number | undefined> {
    const due = await this.#actions.nextDueAfter(this.#action, this.#run, iso(now));
    if (due === undefined) return undefined;
    const milliseconds = Date.parse(due) - now;
    if (milliseconds <= MAX_PAUSE_MS) return milliseconds;
    await this.#session.commits.add((tables) =>
      new Actions(tables).makeDueAfter(this.#action, this.#run, iso(now + MAX_PAUSE_MS)),
    );
    return 0;
  }

  async event(n: number): Promise<ReceivedEvent | undefined> {
    const row = await new Events(this.#session.ledger).get(n);
    return row && new ReceivedEvent(row, this.#rawBodies.get(row.arrival ?? ''));
  }

  /** To be called before each try; false: another listener has taken it over. */
  async begin({ event }: WaitingAction, tries: number): Promise<boolean> {
    if (!this.#action.recordsTries && !this.#actions.areLeased) return true;
    return this.#session.commits.add((tables) =>
      new Actions(tables).begin(event, this.#action, this.#run, tries),
    );
  }

  /** Keeps an action for another try, or gives it up where its time is over. */
  async postpone(waiting: WaitingAction, { tries, text: outcome, end }: FailedTry): Promise<Postponed> {
    const { failing_since: since, event } = waiting;
    if (end !== 'retry') {
      await this.update(event, { status: 'pending', tries, outcome, failingSince: since });
      return {};
    }
    const { pace } = this.#session;
    const now = nowMs();
    const failingSince = since || iso(now);
    const isUnknown = await this.#isUnknown(waiting);
    const schedule = this.#action.retries(isUnknown);
    const pauseMs = pauseAfter(schedule, tries, (now - Date.parse(failingSince)) / pace);
    if (pauseMs === undefined) {
      const why = `given up after ${formatDuration(schedule.giveUpAfterMs)}: ${outcome}`;
      await this.update(event, { status: 'failed', tries, outcome: why });
      return { givenUp: why };
    }
    const dueAt = iso(now + pauseMs * pace);
    const result = { status: 'pending' as const, tries, outcome, dueAt, failingSince, isUnknown };
    await this.update(event, result, async (tables) => {
      if (this.#action.perFile)
        await new Actions(tables).putOff(this.#action, this.#run, waiting.subject, dueAt);
    });
    return { nextTryAt: dueAt };
  }

  /** The target is down: that goes for all that waits for it. Gives how many are given up, because it was for too long. */
  async noteDown(outcome: string): Promise<number> {
    const { commits, pace } = this.#session;
    const { giveUpAfterMs } = this.#action.retries(false);
    const now = nowMs();
    const why = `given up after ${formatDuration(giveUpAfterMs)}: ${outcome}`;
    return commits.add(async (tables) => {
      await new Actions(tables).markFailing(this.#action, this.#run, iso(now));
      return new Actions(tables).giveUp(this.#action, this.#run, iso(now - giveUpAfterMs * pace), why);
    });
  }

  /** Makes some of what ended listeners gave up undone work again; false if that were all. */
  async revive(gone: readonly number[]): Promise<boolean> {
    const after = this.#revivedUpTo;
    if (after === undefined || !this.#action.retriedByNext) return false;
    this.#revivedUpTo = await this.#session.commits.add((tables) =>
      new Actions(tables).reviveFailed(this.#action, gone, after),
    );
    return this.#revivedUpTo !== undefined;
  }

  /** Takes over some of what other listeners left undone, where the action is the same; gives the events. */
  adopt(gone: readonly number[]): Promise<number[]> {
    const { commits, pace } = this.#session;
    const { giveUpAfterMs } = this.#action.retries(false);
    const failingFrom = iso(nowMs() - (giveUpAfterMs - ADOPTED_MS) * pace);
    return commits.add((tables) => new Actions(tables).adopt(this.#action, this.#run, { gone, failingFrom }));
  }

  /** What is left to do for the next listener. */
  left(): Promise<number> {
    return this.#actions.unfinished(this.#action, this.#run, this.#action.retriedByNext);
  }

  /** An order may come into the ledger after its event. */
  async #isUnknown({ is_unknown: wasUnknown, subject }: WaitingAction): Promise<boolean> {
    return wasUnknown === 1 && !(await new Files(this.#session.ledger).known([subject])).has(subject);
  }

  get #actions(): Actions {
    return new Actions(this.#session.ledger);
  }

  /** The number of this session in the ledger. */
  get #run(): number {
    return this.#session.run.id;
  }

  async update(event: number, result: ActionResult, alongside?: Work<void>): Promise<void> {
    await this.#session.commits.add(async (tables) => {
      await new Actions(tables).update(event, this.#action, this.#run, result);
      await alongside?.(tables);
    });
  }
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

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

/**
 * Whether the target of an action works. While it can't be reached, one event at a time finds out whether it can again,
 * after growing pauses. One that refuses is spared, but gets each new event at once: it may accept other events.
 */
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
    if (!this.#down) return Number.POSITIVE_INFINITY;
    return this.#down.refuses ? REFUSING_JOBS : 1;
  }

  /** How many of them may be about unknown files: what may have made it refuse must not use all jobs. */
  get unknownJobs(): number {
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
    const { pace } = this.#session;
    const pauseMs = refuses ? 0 : (pauseAfter(schedule, failures + 1, (now - sinceMs) / pace) ?? 0);
    this.#down = { refuses, failures: failures + 1, sinceMs, untilMs: now + pauseMs * pace };
    if (!isNew) return;
    const nextTryAt = pauseMs > 0 ? new Date(nowMs() + pauseMs * pace).toISOString() : undefined;
    this.#session.callbacks.onReport({ action: this.#action, event, what: 'down', outcome: text, nextTryAt });
  }

  /** Reports once that it is back. */
  #comeBack(text: string, event: ReceivedEvent): void {
    if (!this.#down) return;
    this.#down = undefined;
    this.#session.callbacks.onReport({ action: this.#action, event, what: 'back', outcome: text });
  }
}
