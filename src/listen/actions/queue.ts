/** Does one action for one event after another, as the ledger lists them: nothing waits in memory. */
import { sleep } from '../../lib/sleep.ts';
import type { ReceivedEvent } from '../event.ts';
import type { Action, Outcome } from './action.ts';

export interface Task {
  readonly n: number;
  /** How often it was begun before. */
  readonly tries: number;
}

export interface Ending {
  readonly status: 'pending' | 'done' | 'failed';
  readonly tries: number;
  readonly outcome: string;
}

/** What the lane reads from the ledger and writes to it. */
export interface ActionStore {
  pending(after: number, limit: number): Task[];
  event(n: number): ReceivedEvent | undefined;
  write(n: number, ending: Ending): Promise<void>;
}

export interface ActionReport {
  readonly action: Action;
  readonly event?: ReceivedEvent;
  /** `down` and `back` are said once, of the target; the others of an event. */
  readonly what: 'done' | 'failed' | 'down' | 'back';
  readonly outcome: string;
  readonly saved?: readonly string[] | undefined;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** So often one event is tried before the lane goes on without it. */
const MOST_TRIES = 6;
/** So often once the listener is about to end. */
const LAST_TRIES = 3;
const PAGE = 32;

export class ActionQueue {
  readonly action: Action;
  readonly #desk: ActionStore;
  readonly #report: (report: ActionReport) => void;
  readonly #abort = new AbortController();
  readonly #hurry = new AbortController();
  readonly #active = new Set<number>();
  #listed: Task[] = [];
  #after = 0;
  #last = Number.POSITIVE_INFINITY;
  #phase: 'working' | 'finishing' | 'stopped' = 'working';
  #down: { readonly pause: number; readonly until: number } | undefined;
  #idle: () => void = () => {};

  constructor(action: Action, desk: ActionStore, report: (report: ActionReport) => void) {
    this.action = action;
    this.#desk = desk;
    this.#report = report;
  }

  /** Something may be there to do. */
  wake(): void {
    while (this.#active.size < this.action.jobs) {
      const task = this.#next();
      if (!task) break;
      this.#active.add(task.n);
      void this.#do(task).finally(() => {
        this.#active.delete(task.n);
        this.wake();
      });
    }
    if (this.#active.size === 0) this.#idle();
  }

  /** Looks at all of the list again: it may have grown at its beginning. */
  rewind(): void {
    this.#after = 0;
    this.#listed = [];
    this.wake();
  }

  /** Does what is to be done up to this event; what does not work soon is left to the next listener. */
  async finish(last: number): Promise<void> {
    this.#last = last;
    this.#phase = 'finishing';
    this.#hurry.abort();
    await this.#untilIdle();
  }

  /** Begins nothing more; what is under way has so long to end by itself. */
  async stop(grace: number): Promise<void> {
    this.#phase = 'stopped';
    this.#hurry.abort();
    const timer = setTimeout(() => this.#abort.abort(), grace);
    await this.#untilIdle();
    clearTimeout(timer);
  }

  #untilIdle(): Promise<void> {
    return new Promise((done) => {
      this.#idle = done;
      this.wake();
    });
  }

  #next(): Task | undefined {
    if (this.#phase === 'stopped' || (this.#phase === 'finishing' && this.#down)) return undefined;
    if (this.#listed.length === 0) {
      this.#listed = this.#desk.pending(this.#after, PAGE).filter(({ n }) => !this.#active.has(n));
    }
    const task = this.#listed[0];
    if (!task || task.n > this.#last) return undefined;
    this.#listed.shift();
    this.#after = Math.max(this.#after, task.n);
    return task;
  }

  async #do(task: Task): Promise<void> {
    const event = this.#desk.event(task.n);
    if (!event) return;
    try {
      const { outcome, tries } = await this.#tryOn(event, task.tries);
      const status = outcome.end === 'done' || outcome.end === 'failed' ? outcome.end : 'pending';
      await this.#desk.write(task.n, { status, tries, outcome: outcome.text });
      const { text, saved } = outcome;
      if (status !== 'pending')
        this.#report({ action: this.action, event, what: status, outcome: text, saved });
    } catch {
      // The ledger could not be written: the next listener finds the action undone.
    }
  }

  /** Tries until it works, can't work, or is left to the next listener. */
  async #tryOn(event: ReceivedEvent, before: number): Promise<{ outcome: Outcome; tries: number }> {
    let refusals = 0;
    for (let attempt = 1; ; attempt += 1) {
      const tries = before + attempt;
      if (this.action.marksTries) {
        await this.#desk.write(event.n, { status: 'pending', tries, outcome: 'begun' });
      }
      const outcome = await this.action.run(event, tries, this.#abort.signal);
      this.#notice(outcome);
      if (outcome.end === 'again') refusals += 1;
      if (outcome.end === 'done' || outcome.end === 'failed' || this.#isOver(attempt))
        return { outcome, tries };
      if (refusals >= MOST_TRIES) return { outcome: { ...outcome, end: 'failed' }, tries };
      await this.#pause(outcome.end === 'down' ? (this.#down?.pause ?? 0) : backoff(refusals));
      if (this.#isOver(attempt)) return { outcome, tries };
    }
  }

  #isOver(attempt: number): boolean {
    return this.#phase === 'stopped' || (this.#phase === 'finishing' && attempt >= LAST_TRIES);
  }

  /** Says once that the target is gone, and once that it is back. */
  #notice({ end, text }: Outcome): void {
    const { action } = this;
    if (end === 'down') {
      if (!this.#down) this.#report({ action, what: 'down', outcome: text });
      // Those who tried at the same time have learned nothing more.
      if (this.#down && Date.now() < this.#down.until) return;
      const pause = Math.min(LONGEST_PAUSE, (this.#down?.pause ?? FIRST_PAUSE / 2) * 2);
      this.#down = { pause, until: Date.now() + pause };
    } else if (this.#down) {
      this.#down = undefined;
      this.#report({ action, what: 'back', outcome: text });
    }
  }

  /** A listener that is about to end waits for nobody for long. */
  async #pause(milliseconds: number): Promise<void> {
    const calm = this.#phase === 'working';
    await sleep(calm ? milliseconds : FIRST_PAUSE, calm ? this.#hurry.signal : this.#abort.signal).catch(
      () => {},
    );
  }
}

const backoff = (tries: number): number => Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1));
