/** Decides when a listening session is over, and why. */
import { setMaxListeners } from 'node:events';
import { StenoError } from '../lib/errors.ts';
import { formatDuration, monotonicMs } from '../lib/time.ts';
import type { Action, ActionReport } from './action.ts';
import { type OnError, startTimer } from './background.ts';
import type { ReceivedEvent } from './event.ts';

export interface EndConditions {
  /** The event after which it is over. */
  readonly until?: string | undefined;
  readonly count?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

type CountedEvent = Pick<ReceivedEvent, 'n' | 'event' | 'source' | 'duplicate'>;

export class SessionEnd {
  readonly #conditions: EndConditions;
  readonly #controller = new AbortController();
  readonly #cancelClock: () => void;
  /** Numbers of the found events that were counted, by themselves or as their delivery. */
  readonly #countedFound = new Set<number>();
  #counted = 0;
  #failure: { readonly error: unknown } | undefined;
  /** The last event that was counted or taken over. */
  #countedUpTo = 0;
  /** What it waits for before it receives; said if the time runs out. */
  waitsFor: (() => string) | undefined;
  /** The event that ended the session; what comes after it is left to the next listener. */
  lastEvent = Number.POSITIVE_INFINITY;

  /** The clock starts now: opening a session counts as well. */
  constructor(conditions: EndConditions, interrupt: AbortSignal, onError: OnError) {
    this.#conditions = conditions;
    // Every call under way listens to it.
    setMaxListeners(0, this.signal);
    const { timeoutMs } = conditions;
    this.#cancelClock =
      timeoutMs === undefined
        ? () => {}
        : startTimer(timeoutMs, () => this.fail(this.#timeoutError()), onError);
    const interrupted = (): void => this.#interrupt();
    if (interrupt.aborted) interrupted();
    else interrupt.addEventListener('abort', interrupted, { once: true });
  }

  /** Fires once, when the session is over for any reason: every part stops by it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it ended with the event that it was waiting for. */
  get reachedGoal(): boolean {
    return this.hasLast && !this.#failure;
  }

  /** Whether it ended as it was asked to: with its last event, or because its time ran out. */
  get asPlanned(): boolean {
    return this.reachedGoal || this.#ranOut;
  }

  /** Whether an event may end it. */
  get hasGoal(): boolean {
    const { until, count } = this.#conditions;
    return until !== undefined || count !== undefined;
  }

  /** Actions are begun for events up to this one: one that is in the ledger but not yet counted may be one too many. */
  get beginsUpTo(): number {
    return this.hasGoal ? Math.min(this.lastEvent, this.#countedUpTo) : this.lastEvent;
  }

  /** Events that an ended listener has shown, or one that shows others. */
  takeOver(events: readonly number[]): void {
    for (const n of events) this.#countedUpTo = Math.max(this.#countedUpTo, n);
  }

  /**
   * Takes an event into account; false if it came after the last one, and is left to the next session. One that does not
   * count may still be the last. What was answered before an interruption, or before the time ran out, is in time.
   */
  add({ n, event, source, duplicate }: CountedEvent, isWanted: boolean): boolean {
    if (this.hasLast) return false;
    const counts = isWanted && this.#isFirstOfPair(source === 'found' ? n : duplicate);
    this.#countedUpTo = Math.max(this.#countedUpTo, n);
    if (counts) this.#counted += 1;
    const { until, count } = this.#conditions;
    if (event === until || (counts && this.#counted === count)) {
      this.lastEvent = this.#countedUpTo;
      if (this.#ranOut) this.#failure = undefined;
      this.#end();
    }
    return true;
  }

  /** Its last event was counted; none is taken after it. */
  get hasLast(): boolean {
    return this.lastEvent < Number.POSITIVE_INFINITY;
  }

  get #ranOut(): boolean {
    const error = this.#failure?.error;
    return error instanceof StenoError && error.kind === 'timeout';
  }

  /** A completion that is found and also delivered counts once, whichever of the two comes first. */
  #isFirstOfPair(found: number | null): boolean {
    if (found === null) return true;
    const isFirst = !this.#countedFound.has(found);
    this.#countedFound.add(found);
    return isFirst;
  }

  /** Ends the session though it has not reached its goal. */
  stop(): void {
    this.#end();
  }

  /** Ends the session with an error; the first one counts. */
  fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.#failure = { error };
    this.#end();
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Ctrl-C counts also after the goal was reached: it ends the actions that are left. */
  #interrupt(): void {
    this.#failure ??= { error: new StenoError('interrupted', 'stopped listening') };
    this.#end();
  }

  #end(): void {
    this.#cancelClock();
    this.#controller.abort();
  }

  #timeoutError(): StenoError {
    const { until, count, timeoutMs = 0 } = this.#conditions;
    const time = formatDuration(timeoutMs);
    const more = this.waitsFor ? [this.waitsFor()] : [];
    if (until !== undefined) return new StenoError('timeout', `no ${until} arrived within ${time}`, { more });
    if (count === undefined) return new StenoError('timeout', `time ran out after ${time}`, { more });
    return new StenoError('timeout', `${this.#counted} of ${count} events arrived within ${time}`, { more });
  }
}

interface ActionCounts {
  done: number;
  failed: number;
}

/** What a session received and did, for the total at its end. */
export class Tally {
  /** Events that were shown and acted on. */
  events = 0;
  /** Kept, and left out by --only. */
  others = 0;
  /** Answered with 503, because they could not be kept. */
  lost = 0;
  readonly actions = new Map<Action['kind'], ActionCounts>();
  /** Whether it ever received. */
  isReady = false;
  readonly #startedMs = monotonicMs();

  get durationMs(): number {
    return monotonicMs() - this.#startedMs;
  }

  add(isWanted: boolean): void {
    if (isWanted) this.events += 1;
    else this.others += 1;
  }

  addReport({ action: { kind }, what, event }: ActionReport): void {
    if (!event || (what !== 'done' && what !== 'failed')) return;
    const counts = this.actions.get(kind) ?? { done: 0, failed: 0 };
    counts[what] += 1;
    this.actions.set(kind, counts);
  }
}
