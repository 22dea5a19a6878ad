/**
 * Does one action for one event after another, as the ledger lists them: nothing waits in memory. An event that fails
 * goes back to the ledger with the time of its next try, and the queue goes on with the others.
 */
import { Actions, type WaitingAction } from '../ledger/actions.ts';
import { errorMessage } from '../lib/errors.ts';
import { nowMs, sleep } from '../lib/time.ts';
import type { Action, ActionReport, Outcome } from './action.ts';
import { ActionStore, type FailedTry, TargetState } from './action-store.ts';
import { inSlices, runInBackground, startTimer } from './background.ts';
import type { ReceivedEvent } from './event.ts';
import type { RawBodies } from './inbox.ts';
import type { SessionContext } from './session-run.ts';

const LEDGER_RETRY_MS = 2_000;
/** How often an event is tried once the session is over, and the pause between. */
const MAX_LAST_TRIES = 3;
const LAST_PAUSE_MS = 500;
/** A timer that fires too early by a little must not lead to a busy loop. */
const MIN_ALARM_MS = 5;

export class ActionQueue {
  readonly action: Action;
  readonly store: ActionStore;
  readonly #session: SessionContext;
  readonly #target: TargetState;
  readonly #active = new Map<number, WaitingAction>();
  /** Events that this session does not begin again, though the ledger lists them. */
  readonly #closed = new Set<number>();
  #isStopped = false;
  /** Jobs are being looked for, and there may be more than were found. */
  #isFilling = false;
  #isWoken = false;
  #waitsForLedger = false;
  #cancelLedgerRetry: (() => void) | undefined;
  #cancelAlarm: (() => void) | undefined;
  #onIdle: () => void = () => {};

  constructor(action: Action, session: SessionContext, rawBodies: RawBodies) {
    this.action = action;
    this.store = new ActionStore(action, session, rawBodies);
    this.#session = session;
    this.#target = new TargetState(action, session);
  }

  /** Begins what there is to do, up to the number of jobs. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isFilling) return;
    this.#isFilling = true;
    runInBackground(() => this.#fill(), this.#session.onError);
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWoken) {
        this.#isWoken = false;
        // One moment for both: what gets due between them, or a pause that ends, would be found by neither.
        const now = nowMs();
        const pauseMs = this.#target.pauseLeftMs;
        const listed = pauseMs > 0 ? [] : await this.#next(now);
        // All of them first: one that ends at once wakes the queue.
        for (const waiting of listed) this.#active.set(waiting.event, waiting);
        for (const waiting of listed) runInBackground(() => this.#run(waiting), this.#session.onError);
        if (this.#active.size === 0 && !this.#isWoken) this.#onIdle();
        await this.#setAlarm(now, pauseMs);
      }
    } finally {
      this.#isFilling = false;
    }
  }

  /** Resolves when nothing is under way and nothing is left to begin. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.wake();
    });
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelLedgerRetry?.();
    this.#cancelAlarm?.();
    await this.idle();
  }

  get #name(): string {
    return `${this.action.kind} ${this.action.target}`;
  }

  /** `finishing`: the session has reached its goal, and only events up to the last one are acted on. */
  get #phase(): 'working' | 'finishing' | 'stopped' {
    const { end } = this.#session;
    if (this.#isStopped) return 'stopped';
    if (!end.signal.aborted) return 'working';
    return end.reachedGoal ? 'finishing' : 'stopped';
  }

  get #freeJobs(): number {
    if (this.#phase === 'stopped' || this.#waitsForLedger) return 0;
    if (this.#target.isDown && this.#phase === 'finishing') return 0;
    return this.#target.pauseLeftMs > 0 ? 0 : this.#allJobs - this.#active.size;
  }

  get #jobs(): number {
    return Math.min(this.action.jobs, this.#target.jobs);
  }

  get #unknownJobs(): number {
    return Math.min(this.action.unknownJobs, this.#target.unknownJobs);
  }

  /** A file of the ledger never waits for unknown ones: where these may use every job, it has one more. */
  get #allJobs(): number {
    return Math.min(Math.max(this.action.jobs, this.action.unknownJobs + 1), this.#target.jobs);
  }

  async #next(now: number): Promise<WaitingAction[]> {
    const free = this.#freeJobs;
    if (free <= 0) return [];
    const closed = this.#closed.size;
    try {
      // What is under way or closed still counts as waiting in the ledger.
      const upTo = Math.min(this.#session.end.beginsUpTo, Number.MAX_SAFE_INTEGER);
      const listed = await this.store.next(
        now,
        upTo,
        free + this.#active.size + closed,
        this.#unknownJobs + closed,
      );
      return this.#freeJobs > 0 ? this.#select(listed) : [];
    } catch (error) {
      this.#retryLater(error);
      return [];
    }
  }

  #select(listed: readonly WaitingAction[]): WaitingAction[] {
    let unknown = [...this.#active.values()].filter(isUnknown).length;
    let known = this.#active.size - unknown;
    return listed.filter((waiting) => {
      if (this.#active.has(waiting.event) || this.#closed.has(waiting.event)) return false;
      const all = known + unknown;
      if (isUnknown(waiting)) {
        if (unknown >= this.#unknownJobs || all >= this.#jobs) return false;
        unknown += 1;
      } else {
        if (known >= this.#jobs || all >= this.#allJobs) return false;
        known += 1;
      }
      return true;
    });
  }

  /** Wakes the queue when the next try is due, or the target may work again. */
  async #setAlarm(now: number, pauseBefore: number): Promise<void> {
    if (this.#phase !== 'working' || this.#waitsForLedger) return;
    // What is under way wakes the queue at its end.
    if (this.#active.size >= this.#allJobs) return;
    try {
      const pauseMs = this.#target.pauseLeftMs || pauseBefore || (await this.store.msUntilNextDue(now));
      this.#cancelAlarm?.();
      if (pauseMs === undefined || this.#phase !== 'working') return;
      const alarm = (): void => this.wake();
      this.#cancelAlarm = startTimer(Math.max(MIN_ALARM_MS, pauseMs), alarm, this.#session.onError);
    } catch (error) {
      this.#retryLater(error);
    }
  }

  async #run(waiting: WaitingAction): Promise<void> {
    let report: ActionReport | undefined;
    try {
      const event = await this.store.event(waiting.event);
      report = event
        ? await this.#runFor(event, waiting)
        : await this.#end(waiting, { end: 'failed', text: 'its event is not in the ledger' }, waiting.tries);
    } catch (error) {
      this.#retryLater(error);
    } finally {
      this.#active.delete(waiting.event);
      this.wake();
    }
    if (report) this.#session.callbacks.onReport(report);
  }

  /** Tries it, several times where the session is over. Throws only where the ledger fails before a try. */
  async #runFor(event: ReceivedEvent, waiting: WaitingAction): Promise<ActionReport | undefined> {
    let { tries } = waiting;
    for (let attempt = 1; ; attempt += 1) {
      if (!(await this.store.begin(waiting, tries + 1))) {
        this.#pauseForLedger();
        return undefined;
      }
      const outcome = await this.#tryOnce(event, waiting, tries + 1);
      tries += this.#countOf(outcome);
      this.#target.note(outcome, event);
      const { end, text } = outcome;
      if (end === 'done' || end === 'failed') return this.#end(waiting, outcome, tries, event);
      const isInterrupted = this.#session.abort.signal.aborted;
      if (this.#phase !== 'finishing' || attempt >= MAX_LAST_TRIES || isInterrupted) {
        if (this.#phase === 'finishing') this.#closed.add(waiting.event);
        return this.#postpone(waiting, { tries, text, end: isInterrupted ? 'interrupted' : end }, event);
      }
      // It rejects when the signal fires.
      await sleep(LAST_PAUSE_MS, this.#session.abort.signal).catch(() => {});
    }
  }

  /** A command that could not be started was not tried. */
  #countOf({ end }: Outcome): number {
    return end === 'down' && this.action.recordsTries ? 0 : 1;
  }

  async #tryOnce(event: ReceivedEvent, { via }: WaitingAction, attempt: number): Promise<Outcome> {
    try {
      return await this.action.run(event, { attempt, via, signal: this.#session.abort.signal });
    } catch (error) {
      return { end: 'failed', text: errorMessage(error) };
    }
  }

  async #end(
    waiting: WaitingAction,
    { end, text, saved }: Outcome,
    tries: number,
    event?: ReceivedEvent,
  ): Promise<ActionReport | undefined> {
    const status = end === 'done' ? 'done' : 'failed';
    await this.#write(waiting, text, () =>
      this.store.update(waiting.event, { status, tries, outcome: text }),
    );
    return event && { action: this.action, event, what: status, outcome: text, saved };
  }

  async #postpone(
    waiting: WaitingAction,
    failed: FailedTry,
    event: ReceivedEvent,
  ): Promise<ActionReport | undefined> {
    const { action } = this;
    const { end, text } = failed;
    const postponed = await this.#write(waiting, text, () => this.store.postpone(waiting, failed));
    const { givenUp, nextTryAt } = postponed ?? {};
    if (givenUp !== undefined) return { action, event, what: 'failed', outcome: givenUp };
    if (end === 'down') await this.#noteDown(waiting, text);
    const isFirst = waiting.failing_since === '' && end === 'retry' && !this.#target.isDown;
    return isFirst ? { action, event, what: 'later', outcome: text, nextTryAt } : undefined;
  }

  async #noteDown(waiting: WaitingAction, text: string): Promise<void> {
    const count = (await this.#write(waiting, text, () => this.store.noteDown(text))) ?? 0;
    const events = count === 1 ? '1 event' : `${count} events`;
    if (count > 0)
      this.#session.callbacks.onReport({
        action: this.action,
        what: 'failed',
        outcome: `${events}: ${text}`,
      });
  }

  /** Goes on until the ledger takes it: an action that was done must not be done again. */
  async #write<Result>(
    { event }: WaitingAction,
    outcome: string,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const why = errorMessage(error);
        if (this.#phase !== 'working') {
          this.#closed.add(event);
          const what = `event ${event}: ${this.#name} (${outcome})`;
          this.#noteLedgerTrouble(
            `${what} could not be recorded in the ledger, so it may be repeated: ${why}`,
            undefined,
          );
          return undefined;
        }
        this.#noteLedgerTrouble(`${this.#name}: outcomes are waiting for the ledger: ${why}`, error);
        await sleep(LEDGER_RETRY_MS, this.#session.end.signal).catch(() => {});
      }
    }
  }

  #noteLedgerTrouble(text: string, error: unknown): void {
    const { watch, callbacks } = this.#session;
    if (!watch.noteFailure(error)) callbacks.onWarning(text);
  }

  /** The ledger can't be read, or a try not be written down: nothing was begun, so all of it can be done later. */
  #retryLater(error: unknown): void {
    this.#noteLedgerTrouble(`${this.#name} is waiting for the ledger: ${errorMessage(error)}`, error);
    this.#pauseForLedger();
  }

  #pauseForLedger(): void {
    if (this.#waitsForLedger) return;
    this.#waitsForLedger = true;
    if (this.#phase !== 'working') return;
    const retry = (): void => {
      this.#waitsForLedger = false;
      this.wake();
    };
    this.#cancelLedgerRetry = startTimer(LEDGER_RETRY_MS, retry, this.#session.onError);
  }
}

const isUnknown = ({ is_unknown: flag }: WaitingAction): boolean => flag === 1;

/** The queues of a session, one for each action; what waits in them are rows of the ledger. */
export class ActionQueues {
  readonly #session: SessionContext;
  readonly #queues: readonly ActionQueue[];

  constructor(session: SessionContext, rawBodies: RawBodies) {
    this.#session = session;
    this.#queues = session.actions.map((action) => new ActionQueue(action, session, rawBodies));
  }

  wake(): void {
    for (const queue of this.#queues) queue.wake();
  }

  /** Takes over what other listeners left undone, where the action is the same. */
  async adopt(gone: readonly number[]): Promise<void> {
    const { end } = this.#session;
    for (const queue of this.#queues) {
      await inSlices(end.signal, () => queue.store.revive(gone));
      await inSlices(end.signal, async () => {
        const adopted = await queue.store.adopt(gone);
        end.takeOver(adopted);
        if (adopted.length) queue.wake();
        return Actions.hasMore(adopted);
      });
    }
  }

  /** After the goal was reached: does what is left to do; what does not work soon is left to the next listener. */
  async finish(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.idle()));
  }

  /** Begins nothing more; what is under way has this long to end by itself. */
  async stop(graceMs: number): Promise<void> {
    const { abort, onError } = this.#session;
    const cancel = startTimer(graceMs, () => abort.abort(), onError);
    await Promise.all(this.#queues.map((queue) => queue.stop()));
    cancel();
    await Promise.all(this.#queues.map(({ action }) => action.close?.()));
  }

  /** What is left to do for the next listener. */
  async left(): Promise<Array<{ action: Action; left: number }>> {
    const all = await Promise.all(
      this.#queues.map(async ({ action, store }) => ({ action, left: await store.left() })),
    );
    return all.filter(({ left }) => left > 0);
  }
}
