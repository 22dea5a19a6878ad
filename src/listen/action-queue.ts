/**
 * Does one action for one event after another, as the ledger lists them: nothing waits in memory, and times are kept
 * there, so that a restart keeps every pause. An event that fails goes back with the time of its next try.
 */

import { Actions, type WaitingAction } from '../ledger/actions.ts';
import { Events } from '../ledger/events.ts';
import { Files } from '../ledger/files.ts';
import { errorMessage } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { formatDuration, nowMs, sleep } from '../lib/time.ts';
import {
  type Action,
  type ActionReport,
  ADOPTED_MS,
  MAX_PAUSE_MS,
  type Outcome,
  pauseAfter,
} from './action.ts';
import { inSlices, runInBackground, startTimer } from './background.ts';
import { ReceivedEvent } from './event.ts';
import type { RawBodies } from './inbox.ts';
import type { SessionContext } from './session-run.ts';
import { TargetState } from './target-state.ts';

const LEDGER_RETRY_MS = 2_000;
/** How often an event is tried once the session is over, and the pause between. */
const MAX_LAST_TRIES = 3;
const LAST_PAUSE_MS = 500;
/** A timer that fires too early by a little must not lead to a busy loop. */
const MIN_ALARM_MS = 5;

class ActionQueue {
  readonly action: Action;
  readonly #session: SessionContext;
  readonly #rawBodies: RawBodies;
  readonly #target: TargetState;
  readonly #active = new Map<number, WaitingAction>();
  /** Events that this session does not begin again, though the ledger lists them. */
  readonly #closed = new Set<number>();
  #isStopped = false;
  /** Jobs are being looked for, and there may be more than were found. */
  #isFilling = false;
  #isWoken = false;
  #waitsForLedger = false;
  #cancelAlarm: () => void = () => {};
  #onIdle: () => void = () => {};

  constructor(action: Action, session: SessionContext, rawBodies: RawBodies) {
    this.action = action;
    this.#session = session;
    this.#rawBodies = rawBodies;
    this.#target = new TargetState(action, session);
  }

  /** Begins what there is to do, up to the number of jobs. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isFilling) return;
    this.#isFilling = true;
    runInBackground(() => this.#fill(), this.#session.onError);
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
    this.#cancelAlarm();
    await this.idle();
  }

  /** Takes over what other listeners left undone, where the action is the same. */
  async adopt(gone: readonly number[]): Promise<void> {
    const { end, commits, run, pace } = this.#session;
    const from = iso(nowMs() - (this.action.retries(false).giveUpAfterMs - ADOPTED_MS) * pace);
    const statuses = this.action.retriedByNext ? (['failed', 'pending'] as const) : (['pending'] as const);
    for (const status of statuses)
      await inSlices(end.signal, async () => {
        const adopted = await commits.add((tables) =>
          new Actions(tables).adopt(this.action, run.id, { gone, from, status }),
        );
        end.takeOver(adopted);
        if (adopted.length) this.wake();
        return Actions.hasMore(adopted);
      });
  }

  /** What is left to do for the next listener. */
  left(): Promise<number> {
    return this.#actions.unfinished(this.action, this.#run, this.action.retriedByNext);
  }

  get #actions(): Actions {
    return new Actions(this.#session.ledger);
  }

  /** The number of this session in the ledger. */
  get #run(): number {
    return this.#session.run.id;
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

  get #mayBegin(): boolean {
    if (this.#phase === 'stopped' || this.#waitsForLedger || this.#target.pauseLeftMs > 0) return false;
    return !(this.#target.isDown && this.#phase === 'finishing');
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWoken) {
        this.#isWoken = false;
        // Read both at one time: with two, an action that comes due in between would be missed.
        const [now, pauseMs] = [nowMs(), this.#target.pauseLeftMs];
        const listed = await this.#next(now);
        // All of them first: one that ends at once wakes the queue.
        for (const waiting of listed) this.#active.set(waiting.event, waiting);
        for (const waiting of listed) runInBackground(() => this.#runOne(waiting), this.#session.onError);
        if (this.#active.size === 0 && !this.#isWoken) this.#onIdle();
        await this.#setAlarm(now, pauseMs);
      }
    } finally {
      this.#isFilling = false;
    }
  }

  async #next(now: number): Promise<WaitingAction[]> {
    if (!this.#mayBegin || this.#active.size > this.#target.jobs) return [];
    try {
      const listed = await this.#actions.next(this.action, this.#run, {
        now: iso(now),
        upTo: Math.min(this.#session.end.beginsUpTo, Number.MAX_SAFE_INTEGER),
        // What is under way or closed still counts as waiting in the ledger.
        limit: this.action.jobs + 1 + this.#closed.size,
      });
      return this.#mayBegin ? this.#select(listed) : [];
    } catch (error) {
      this.#retryLater(error);
      return [];
    }
  }

  /** As many as there are jobs, and one more for a file of the ledger where unknown ones hold them all. */
  #select(listed: readonly WaitingAction[]): WaitingAction[] {
    const { jobs } = this.#target;
    let all = this.#active.size;
    let unknown = [...this.#active.values()].filter((each) => each.is_unknown).length;
    return listed.filter((waiting) => {
      if (this.#active.has(waiting.event) || this.#closed.has(waiting.event)) return false;
      if (all >= jobs && (waiting.is_unknown || all > jobs || unknown < jobs)) return false;
      all += 1;
      if (waiting.is_unknown) unknown += 1;
      return true;
    });
  }

  /** Wakes the queue when the next try is due, or the target may work again. What is under way wakes it at its end. */
  async #setAlarm(now: number, pauseBefore: number): Promise<void> {
    if (this.#phase !== 'working' || this.#waitsForLedger || this.#active.size > this.#target.jobs) return;
    try {
      const pauseMs = this.#target.pauseLeftMs || pauseBefore || (await this.#msUntilNextDue(now));
      // The ledger may have failed meanwhile, which has an alarm of its own.
      if (this.#waitsForLedger) return;
      this.#cancelAlarm();
      if (pauseMs === undefined || this.#phase !== 'working') return;
      const alarm = (): void => this.wake();
      this.#cancelAlarm = startTimer(Math.max(MIN_ALARM_MS, pauseMs), alarm, this.#session.onError);
    } catch (error) {
      this.#retryLater(error);
    }
  }

  async #msUntilNextDue(now: number): Promise<number | undefined> {
    const due = await this.#actions.nextDueAfter(this.action, this.#run, iso(now));
    if (due === undefined) return undefined;
    const milliseconds = Date.parse(due) - now;
    if (milliseconds <= MAX_PAUSE_MS) return milliseconds;
    await this.#session.commits.add((tables) =>
      new Actions(tables).makeDueAfter(this.action, this.#run, iso(now + MAX_PAUSE_MS)),
    );
    return 0;
  }

  async #runOne(waiting: WaitingAction): Promise<void> {
    let report: ActionReport | undefined;
    try {
      const row = await new Events(this.#session.ledger).get(waiting.event);
      const event = row && new ReceivedEvent(row, this.#rawBodies.get(row.arrival ?? ''));
      if (event) report = await this.#try(event, waiting);
      else await this.#end(waiting, { end: 'failed', text: 'its event is not in the ledger' }, waiting.tries);
    } catch (error) {
      this.#retryLater(error);
    } finally {
      this.#active.delete(waiting.event);
      this.wake();
    }
    if (report) this.#session.callbacks.onReport(report);
  }

  /** Tries it, several times where the session is over. Throws only where the ledger fails before a try. */
  async #try(event: ReceivedEvent, waiting: WaitingAction): Promise<ActionReport | undefined> {
    let { tries } = waiting;
    for (let attempt = 1; ; attempt += 1) {
      if (!(await this.#begin(waiting, tries + 1))) {
        this.#pauseForLedger();
        return undefined;
      }
      const outcome = await this.#tryOnce(event, waiting, tries + 1);
      // A command that could not be started was not tried.
      if (outcome.end !== 'down' || !this.action.recordsTries) tries += 1;
      this.#target.note(outcome, event);
      if (outcome.end === 'done' || outcome.end === 'failed')
        return this.#end(waiting, outcome, tries, event);
      const isInterrupted = this.#session.abort.signal.aborted;
      if (this.#phase !== 'finishing' || attempt >= MAX_LAST_TRIES || isInterrupted) {
        if (this.#phase === 'finishing') this.#closed.add(waiting.event);
        return this.#postpone(waiting, event, outcome, tries);
      }
      // It rejects when the signal fires.
      await sleep(LAST_PAUSE_MS, this.#session.abort.signal).catch(() => {});
    }
  }

  /** False: another listener has taken it over. */
  async #begin({ event }: WaitingAction, tries: number): Promise<boolean> {
    if (!this.action.recordsTries && !this.#actions.areLeased) return true;
    return this.#session.commits.add((tables) =>
      new Actions(tables).begin(event, this.action, this.#run, tries),
    );
  }

  async #tryOnce(event: ReceivedEvent, { via }: WaitingAction, attempt: number): Promise<Outcome> {
    try {
      return await this.action.run(event, { attempt, via, signal: this.#session.abort.signal });
    } catch (error) {
      return { end: 'failed', text: errorMessage(error) };
    }
  }

  async #end(
    { event: n }: WaitingAction,
    { end, text, saved }: Outcome,
    tries: number,
    event?: ReceivedEvent,
  ): Promise<ActionReport | undefined> {
    const status = end === 'done' ? 'done' : 'failed';
    await this.#write(n, text, (actions) =>
      actions.update(n, this.action, this.#run, { status, tries, outcome: text }),
    );
    return event && { action: this.action, event, what: status, outcome: text, saved };
  }

  /** Keeps it for another try, at once where the target is down or it was interrupted; or gives it up after its time. */
  async #postpone(
    waiting: WaitingAction,
    event: ReceivedEvent,
    { end, text }: Outcome,
    tries: number,
  ): Promise<ActionReport | undefined> {
    const { action } = this;
    const { pace, abort } = this.#session;
    const now = nowMs();
    const isRetry = end === 'retry' && !abort.signal.aborted;
    const isUnknown = waiting.is_unknown === 1 && !(await this.#isKnownNow(event));
    const schedule = action.retries(isUnknown);
    const pauseMs = pauseAfter(schedule, tries, (now - Date.parse(waiting.since)) / pace);
    if (isRetry && pauseMs === undefined) {
      const why = `given up after ${formatDuration(schedule.giveUpAfterMs)}: ${text}`;
      return this.#end(waiting, { end: 'failed', text: why }, tries, event);
    }
    const dueAt = isRetry ? iso(now + (pauseMs ?? 0) * pace) : '';
    await this.#write(event.n, text, async (actions) => {
      await actions.update(event.n, action, this.#run, { status: 'pending', tries, outcome: text, dueAt });
      if (waiting.is_unknown && !isUnknown) await actions.noteKnown(event.n, action);
      if (isRetry && action.perFile) await actions.putOff(action, this.#run, event.audiofile, dueAt);
    });
    if (end === 'down') await this.#giveUpOld(event.n, text);
    const isFirst = waiting.tries === 0 && isRetry && !this.#target.isDown;
    return isFirst ? { action, event, what: 'later', outcome: text, nextTryAt: dueAt } : undefined;
  }

  /** An order may come into the ledger after its event. */
  async #isKnownNow({ audiofile, order }: ReceivedEvent): Promise<boolean> {
    const files = new Files(this.#session.ledger);
    return audiofile ? (await files.get(audiofile)) !== undefined : files.hasOrder(order);
  }

  /** Gives up all actions that have been tried for too long, because the target of all of them is down. */
  async #giveUpOld(event: number, outcome: string): Promise<void> {
    const { pace, callbacks } = this.#session;
    const { giveUpAfterMs } = this.action.retries(false);
    const before = iso(nowMs() - giveUpAfterMs * pace);
    const why = `given up after ${formatDuration(giveUpAfterMs)}: ${outcome}`;
    const count = await this.#write(event, outcome, (actions) =>
      actions.giveUp(this.action, this.#run, before, why),
    );
    if (count)
      callbacks.onReport({
        action: this.action,
        what: 'failed',
        outcome: `${plural(count, 'event')}: ${outcome}`,
      });
  }

  /** Goes on until the ledger takes it: an action that was done must not be done again. */
  async #write<Result>(
    event: number,
    outcome: string,
    work: (actions: Actions) => Promise<Result>,
  ): Promise<Result | undefined> {
    for (;;) {
      try {
        return await this.#session.commits.add((tables) => work(new Actions(tables)));
      } catch (error) {
        const why = errorMessage(error);
        if (this.#phase !== 'working') {
          this.#closed.add(event);
          this.#session.callbacks.onWarning(
            `event ${event}: ${this.#name} (${outcome}) could not be recorded in the ledger, so it may be repeated: ${why}`,
          );
          return undefined;
        }
        this.#noteTrouble(`${this.#name}: outcomes are waiting for the ledger: ${why}`, error);
        await sleep(LEDGER_RETRY_MS, this.#session.end.signal).catch(() => {});
      }
    }
  }

  #noteTrouble(text: string, error: unknown): void {
    const { watch, callbacks } = this.#session;
    if (!watch.noteFailure(error)) callbacks.onWarning(text);
  }

  /** The ledger can't be read, or a try not be written down: nothing was begun, so all of it can be done later. */
  #retryLater(error: unknown): void {
    this.#noteTrouble(`${this.#name} is waiting for the ledger: ${errorMessage(error)}`, error);
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
    this.#cancelAlarm();
    this.#cancelAlarm = startTimer(LEDGER_RETRY_MS, retry, this.#session.onError);
  }
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

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

  async adopt(gone: readonly number[]): Promise<void> {
    for (const queue of this.#queues) await queue.adopt(gone);
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
    const all = this.#queues.map(async (queue) => ({ action: queue.action, left: await queue.left() }));
    return (await Promise.all(all)).filter(({ left }) => left > 0);
  }
}
