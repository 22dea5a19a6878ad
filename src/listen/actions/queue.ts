/** Does one action for one event after another, as the ledger lists them: nothing waits in memory. */
import { monotonicMs } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { sleep } from '../../lib/sleep.ts';
import type { ReceivedEvent } from '../event.ts';
import type { SessionEnd } from '../session-end.ts';
import { type OnError, runInBackground, startTimer } from '../timers.ts';
import type { Action, Outcome } from './action.ts';

interface PendingAction {
  /** The number of its event. */
  readonly n: number;
  /** How often it was begun before. */
  readonly tries: number;
}

interface ActionState {
  readonly status: 'pending' | 'done' | 'failed';
  readonly tries: number;
  readonly outcome: string;
}

/** What the queue reads from the ledger and writes to it; each of these may fail. */
export interface ActionStore {
  pending(after: number, limit: number): PendingAction[];
  event(n: number): ReceivedEvent | undefined;
  write(n: number, state: ActionState): Promise<void>;
}

export interface ActionReport {
  readonly action: Action;
  readonly event?: ReceivedEvent;
  /** `down` and `back` are about the target and reported once; the others are about an event. */
  readonly what: 'done' | 'failed' | 'down' | 'back';
  readonly outcome: string;
  readonly saved?: readonly string[] | undefined;
}

export interface QueueOptions {
  readonly end: SessionEnd;
  /** Fires when actions under way have to stop. */
  readonly abort: AbortSignal;
  readonly onReport: (report: ActionReport) => void;
  readonly onLedgerTrouble: (text: string) => void;
  readonly onError: OnError;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const LEDGER_RETRY_MS = 2_000;
/** How often one event is tried before the queue goes on without it. */
const MAX_TRIES = 6;
/** The same once the session is over. */
const MAX_LAST_TRIES = 3;
const PAGE_SIZE = 32;

export class ActionQueue {
  readonly action: Action;
  readonly #store: ActionStore;
  readonly #options: QueueOptions;
  readonly #active = new Set<number>();
  #listed: PendingAction[] = [];
  #listedUpTo = 0;
  #isStopped = false;
  #down: { readonly pauseMs: number; readonly untilMs: number } | undefined;
  #cancelRetry: (() => void) | undefined;
  #onIdle: () => void = () => {};

  constructor(action: Action, store: ActionStore, options: QueueOptions) {
    this.action = action;
    this.#store = store;
    this.#options = options;
  }

  /** Begins what there is to do, up to the number of jobs. */
  wake(): void {
    while (this.#active.size < this.action.jobs) {
      const pending = this.#next();
      if (!pending) break;
      this.#active.add(pending.n);
      runInBackground(() => this.#run(pending), this.#options.onError);
    }
    if (this.#active.size === 0) this.#onIdle();
  }

  /** Reads the list from its beginning again: older events may have come into it. */
  rewind(): void {
    this.#listedUpTo = 0;
    this.#listed = [];
    this.wake();
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
    this.#cancelRetry?.();
    await this.idle();
  }

  get #name(): string {
    return `${this.action.kind} ${this.action.target}`;
  }

  /** `finishing`: the session has reached its goal, and only events up to the last one are acted on. */
  get #phase(): 'working' | 'finishing' | 'stopped' {
    const { end } = this.#options;
    if (this.#isStopped) return 'stopped';
    if (!end.signal.aborted) return 'working';
    return end.reachedGoal ? 'finishing' : 'stopped';
  }

  #next(): PendingAction | undefined {
    if (this.#phase === 'stopped' || (this.#phase === 'finishing' && this.#down)) return undefined;
    try {
      if (this.#listed.length === 0) {
        const listed = this.#store.pending(this.#listedUpTo, PAGE_SIZE);
        this.#listed = listed.filter(({ n }) => !this.#active.has(n));
      }
    } catch (error) {
      this.#retryLater(error);
      return undefined;
    }
    const pending = this.#listed[0];
    if (!pending || pending.n > this.#options.end.lastEvent) return undefined;
    this.#listed.shift();
    this.#listedUpTo = Math.max(this.#listedUpTo, pending.n);
    return pending;
  }

  async #run(pending: PendingAction): Promise<void> {
    let report: ActionReport | undefined;
    try {
      const event = this.#store.event(pending.n);
      report = event && (await this.#runFor(event, pending.tries));
    } catch (error) {
      this.#retryLater(error);
    } finally {
      this.#active.delete(pending.n);
      this.wake();
    }
    if (report) this.#options.onReport(report);
  }

  /** Throws only where the ledger fails before a try. */
  async #runFor(event: ReceivedEvent, triesBefore: number): Promise<ActionReport | undefined> {
    const { outcome, tries } = await this.#tryUntilOver(event, triesBefore);
    const { end, text, saved } = outcome;
    const what = end === 'done' || end === 'failed' ? end : undefined;
    await this.#writeOutcome(event.n, { status: what ?? 'pending', tries, outcome: text });
    return what && { action: this.action, event, what, outcome: text, saved };
  }

  /** Tries until it works, can't work, or is left to the next listener. */
  async #tryUntilOver(
    event: ReceivedEvent,
    triesBefore: number,
  ): Promise<{ outcome: Outcome; tries: number }> {
    let refusals = 0;
    for (let attempt = 1; ; attempt += 1) {
      const tries = triesBefore + attempt;
      if (this.action.recordsTries)
        await this.#store.write(event.n, { status: 'pending', tries, outcome: 'begun' });
      const outcome = await this.#tryOnce(event, tries);
      this.#noteTarget(outcome);
      if (outcome.end === 'retry') refusals += 1;
      if (outcome.end === 'done' || outcome.end === 'failed' || this.#isLastTry(attempt))
        return { outcome, tries };
      if (refusals >= MAX_TRIES) return { outcome: { ...outcome, end: 'failed' }, tries };
      await this.#pause(outcome.end === 'down' ? (this.#down?.pauseMs ?? 0) : backoffMs(refusals));
      if (this.#isLastTry(attempt)) return { outcome, tries };
    }
  }

  async #tryOnce(event: ReceivedEvent, tries: number): Promise<Outcome> {
    try {
      return await this.action.run(event, tries, this.#options.abort);
    } catch (error) {
      return { end: 'failed', text: errorMessage(error) };
    }
  }

  #isLastTry(attempt: number): boolean {
    return this.#phase === 'stopped' || (this.#phase === 'finishing' && attempt >= MAX_LAST_TRIES);
  }

  /** Goes on until the ledger takes it: an action that was done must not be done again. */
  async #writeOutcome(n: number, state: ActionState): Promise<void> {
    for (;;) {
      try {
        return await this.#store.write(n, state);
      } catch (error) {
        const why = errorMessage(error);
        if (this.#phase !== 'working') {
          const what = `event ${n}: ${this.#name} (${state.outcome})`;
          return this.#options.onLedgerTrouble(
            `${what} is not in the ledger, so it may be done again: ${why}`,
          );
        }
        this.#options.onLedgerTrouble(`${this.#name}: outcomes wait for the ledger: ${why}`);
        await this.#pause(LEDGER_RETRY_MS);
      }
    }
  }

  /** The ledger can't be read, or a try not be written down: nothing was begun, so all of it can be done later. */
  #retryLater(error: unknown): void {
    this.#options.onLedgerTrouble(`${this.#name} waits for the ledger: ${errorMessage(error)}`);
    if (this.#phase !== 'working' || this.#cancelRetry) return;
    const retry = (): void => {
      this.#cancelRetry = undefined;
      this.rewind();
    };
    this.#cancelRetry = startTimer(LEDGER_RETRY_MS, retry, this.#options.onError);
  }

  /** Reports once that the target is gone, and once that it is back. */
  #noteTarget({ end, text }: Outcome): void {
    const { action } = this;
    const now = monotonicMs();
    if (end === 'down') {
      if (!this.#down) this.#options.onReport({ action, what: 'down', outcome: text });
      // Jobs that failed at the same time say nothing new.
      if (this.#down && now < this.#down.untilMs) return;
      const pauseMs = this.#down ? Math.min(MAX_PAUSE_MS, this.#down.pauseMs * 2) : FIRST_PAUSE_MS;
      this.#down = { pauseMs, untilMs: now + pauseMs };
    } else if (this.#down) {
      this.#down = undefined;
      this.#options.onReport({ action, what: 'back', outcome: text });
    }
  }

  /** The end of the session cuts a pause short; a session that is over makes short ones only. */
  async #pause(milliseconds: number): Promise<void> {
    const { end, abort } = this.#options;
    const isWorking = this.#phase === 'working';
    // It rejects when the signal fires.
    await sleep(isWorking ? milliseconds : FIRST_PAUSE_MS, isWorking ? end.signal : abort).catch(() => {});
  }
}

const backoffMs = (tries: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
