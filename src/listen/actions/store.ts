/** What a queue reads from the ledger and writes to it. Times are kept there, so that a restart keeps every pause. */
import { type ActionResult, Actions, type WaitingAction } from '../../ledger/actions.ts';
import { Events } from '../../ledger/events.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { nowMs } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/duration.ts';
import { ReceivedEvent } from '../event.ts';
import type { GroupCommit, Work } from '../group-commit.ts';
import type { RawBodies } from '../raw-bodies.ts';
import type { Action } from './action.ts';
import { ADOPTED_MS, MAX_PAUSE_MS, pauseAfter } from './schedule.ts';

export interface StoreOptions {
  readonly ledger: Ledger;
  /** The number of this session in the ledger. */
  readonly run: number;
  readonly commits: GroupCommit;
  readonly rawBodies: RawBodies;
  /** 1, or less in tests: the factor of all pauses. */
  readonly pace: number;
}

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
  readonly #options: StoreOptions;
  /** Once, at the start of this listener: later it would take up again what one that ended beside it gave up. */
  #revivedUpTo: number | undefined = 0;

  constructor(action: Action, options: StoreOptions) {
    this.#action = action;
    this.#options = options;
  }

  /** What may be begun at `now`, of events up to `upTo`: at most `limit`, at most `strangers` of them about strangers. */
  next(now: number, upTo: number, limit: number, strangers: number): Promise<WaitingAction[]> {
    const { ledger, run } = this.#options;
    return new Actions(ledger).next(this.#action, run, { now: iso(now), upTo, limit, strangers });
  }

  /** How long it is until the next try that is set for a time after `now`; undefined if there is none. */
  async msUntilNextDue(now: number): Promise<number | undefined> {
    const { ledger, run, commits } = this.#options;
    const due = await new Actions(ledger).nextDueAfter(this.#action, run, iso(now));
    if (due === undefined) return undefined;
    const milliseconds = Date.parse(due) - now;
    if (milliseconds <= MAX_PAUSE_MS) return milliseconds;
    await commits.add((tables) =>
      new Actions(tables).makeDueAfter(this.#action, run, iso(now + MAX_PAUSE_MS)),
    );
    return 0;
  }

  async event(n: number): Promise<ReceivedEvent | undefined> {
    const row = await new Events(this.#options.ledger).get(n);
    return row && new ReceivedEvent(row, this.#options.rawBodies.get(row.arrival ?? ''));
  }

  /** To be called before each try; false: another listener has taken it over. */
  async begin({ event }: WaitingAction, tries: number): Promise<boolean> {
    const { ledger, run, commits } = this.#options;
    if (!this.#action.recordsTries && !new Actions(ledger).areLeased) return true;
    return commits.add((tables) => new Actions(tables).begin(event, this.#action, run, tries));
  }

  async end({ event }: WaitingAction, result: ActionResult): Promise<void> {
    await this.#write(event, result);
    const { ledger, rawBodies } = this.#options;
    if (this.#action.kind === 'forward' && !rawBodies.isEmpty)
      rawBodies.release((await new Events(ledger).get(event))?.arrival ?? '');
  }

  /** Keeps an action for another try, or gives it up where its time is over. */
  async postpone(waiting: WaitingAction, { tries, text: outcome, end }: FailedTry): Promise<Postponed> {
    const { failing_since: since, event } = waiting;
    if (end !== 'retry') {
      await this.#write(event, { status: 'pending', tries, outcome, failingSince: since });
      return {};
    }
    const { pace } = this.#options;
    const now = nowMs();
    const failingSince = since || iso(now);
    const isStranger = await this.#isStranger(waiting);
    const schedule = this.#action.retries(isStranger);
    const pauseMs = pauseAfter(schedule, tries, (now - Date.parse(failingSince)) / pace);
    if (pauseMs === undefined) {
      const why = `given up after ${formatDuration(schedule.giveUpAfterMs)}: ${outcome}`;
      await this.end(waiting, { status: 'failed', tries, outcome: why });
      return { givenUp: why };
    }
    const dueAt = iso(now + pauseMs * pace);
    const result = { status: 'pending' as const, tries, outcome, dueAt, failingSince, isStranger };
    await this.#write(event, result, async (tables) => {
      if (this.#action.perFile)
        await new Actions(tables).putOff(this.#action, this.#options.run, waiting.subject, dueAt);
    });
    return { nextTryAt: dueAt };
  }

  /** The target is down: that goes for all that waits for it. Gives how many are given up, because it was for too long. */
  async noteDown(outcome: string): Promise<number> {
    const { run, commits, pace } = this.#options;
    const { giveUpAfterMs } = this.#action.retries(false);
    const now = nowMs();
    const why = `given up after ${formatDuration(giveUpAfterMs)}: ${outcome}`;
    return commits.add(async (tables) => {
      await new Actions(tables).markFailing(this.#action, run, iso(now));
      return new Actions(tables).giveUp(this.#action, run, iso(now - giveUpAfterMs * pace), why);
    });
  }

  /** Makes some of what ended listeners gave up undone work again; false if that were all. */
  async revive(gone: readonly number[]): Promise<boolean> {
    const after = this.#revivedUpTo;
    if (after === undefined || !this.#action.retriedByNext) return false;
    this.#revivedUpTo = await this.#options.commits.add((tables) =>
      new Actions(tables).reviveFailed(this.#action, gone, after),
    );
    return this.#revivedUpTo !== undefined;
  }

  /** Takes over some of what other listeners left undone, where the action is the same; gives the events. */
  adopt(gone: readonly number[]): Promise<number[]> {
    const { run, commits, pace } = this.#options;
    const { giveUpAfterMs } = this.#action.retries(false);
    const failingFrom = iso(nowMs() - (giveUpAfterMs - ADOPTED_MS) * pace);
    return commits.add((tables) => new Actions(tables).adopt(this.#action, run, { gone, failingFrom }));
  }

  /** What is left to do for the next listener. */
  left(): Promise<number> {
    const { ledger, run } = this.#options;
    return new Actions(ledger).unfinished(this.#action, run, this.#action.retriedByNext);
  }

  /** An order may come into the ledger after its event. */
  async #isStranger({ stranger, subject }: WaitingAction): Promise<boolean> {
    return stranger === 1 && !(await new Files(this.#options.ledger).known([subject])).has(subject);
  }

  async #write(event: number, result: ActionResult, alongside?: Work<void>): Promise<void> {
    await this.#options.commits.add(async (tables) => {
      await new Actions(tables).update(event, this.#action, this.#options.run, result);
      await alongside?.(tables);
    });
  }
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();
