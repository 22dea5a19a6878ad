/**
 * Shows and counts events as the ledger lists them: in the order of their numbers, each until it is marked as shown.
 * Receiving never waits for a reader, and what waits for one stays in the ledger.
 */

import { Events } from '../ledger/events.ts';
import { errorMessage } from '../lib/errors.ts';
import { sleep } from '../lib/time.ts';
import { runInBackground, startTimer } from './background.ts';
import { ReceivedEvent } from './event.ts';
import type { SessionContext } from './session-run.ts';

/** Shown together. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 1024 * 1024;
/** Nothing more is read from the ledger while this much waits in memory. */
const MAX_WAITING_BYTES = 4 * BATCH_BYTES;
/** What an event takes beside its body. */
const EVENT_BYTES = 1024;
const RETRY_MS = 1_000;

interface DisplayHooks {
  /** More events were counted: their actions may begin. */
  readonly onCounted: () => void;
  /** Called once. */
  readonly onReaderGone: () => void;
}

export class Display {
  readonly #session: SessionContext;
  readonly #hooks: DisplayHooks;
  readonly #stop = new AbortController();
  /** Read and counted, not shown yet. */
  readonly #waiting: ReceivedEvent[] = [];
  #waitingBytes = 0;
  /** Numbers of the events that were read, until the ledger has them marked. */
  readonly #read = new Set<number>();
  #readUpTo = 0;
  /** Nothing is shown before what ended sessions have left, which comes before it. */
  #isOpen = false;
  /** There may be events before those that were read. */
  #startsAnew = false;
  /** The ledger may have more than was read. */
  #hasNews = false;
  #filling: Promise<void> | undefined;
  #showing: Promise<void> | undefined;
  #isReaderGone = false;
  #toMark: number[] = [];
  #marked: Promise<void> = Promise.resolve();

  constructor(session: SessionContext, hooks: DisplayHooks) {
    this.#session = session;
    this.#hooks = hooks;
  }

  /** Reads and counts what there is to show, as far as there is room; showing goes on by itself. */
  fill(): Promise<void> {
    this.#hasNews = true;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Takes over what ended sessions with the same filter have not shown. */
  async takeOver(gone: readonly number[]): Promise<void> {
    const { commits, run, plan } = this.#session;
    if (!run.isBegun || this.#isReaderGone) return;
    const taken = await commits.add((tables) => new Events(tables).takeOver(run.id, plan.only, gone));
    if (taken > 0) this.#startsAnew = true;
  }

  /** Begins to show, and goes on with what was taken over. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.fill();
  }

  /** Waits until all are shown; once the signal has fired, for this long at most. */
  async finish(interrupt: AbortSignal, graceMs: number): Promise<void> {
    const onInterrupt = (): void => {
      const stop = (): void => this.#stop.abort();
      void sleep(graceMs, this.#stop.signal).then(stop, stop);
    };
    if (interrupt.aborted) onInterrupt();
    else interrupt.addEventListener('abort', onInterrupt, { once: true });
    await this.open();
    await this.#showing;
    interrupt.removeEventListener('abort', onInterrupt);
    this.#stop.abort();
  }

  /** Gives the number of events that are left to the next session. */
  async countLeft(): Promise<number> {
    const { commits, run, plan } = this.#session;
    await this.#marked;
    return run.isBegun ? commits.add((tables) => new Events(tables).countToShow(run.id, plan.only)) : 0;
  }

  async #fill(): Promise<void> {
    if (!this.#isOpen || !this.#session.run.isBegun) return;
    try {
      while (this.#hasNews && !this.#session.end.hasLast && this.#waitingBytes < MAX_WAITING_BYTES)
        await this.#readPage();
    } catch (error) {
      this.#retryLater(error);
    }
  }

  async #readPage(): Promise<void> {
    const { ledger, run } = this.#session;
    this.#hasNews = false;
    if (this.#startsAnew) this.#readUpTo = 0;
    this.#startsAnew = false;
    const rows = await new Events(ledger).toShow(run.id, this.#readUpTo);
    const last = rows.at(-1);
    if (!last) return;
    this.#hasNews = true;
    this.#readUpTo = last.id;
    for (const row of rows) if (!this.#read.has(row.id)) this.#add(new ReceivedEvent(row));
    this.#hooks.onCounted();
    this.#startShowing();
  }

  #add(event: ReceivedEvent): void {
    const { plan, end, tally } = this.#session;
    const isWanted = plan.only.length === 0 || plan.only.includes(event.event);
    if (!end.add(event, isWanted)) return;
    tally.add(isWanted);
    // What no reader takes stays in the ledger.
    if (this.#isReaderGone) return;
    this.#read.add(event.n);
    if (!isWanted) this.#toMark.push(event.n);
    else {
      this.#waiting.push(event);
      this.#waitingBytes += sizeOf(event);
    }
  }

  /** The ledger can't be read now. */
  #retryLater(error: unknown): void {
    const { watch, callbacks, end, onError } = this.#session;
    if (!watch.noteFailure(error))
      callbacks.onWarning(`can't read the events to show: ${errorMessage(error)}`);
    if (!end.signal.aborted) startTimer(RETRY_MS, () => this.fill(), onError);
  }

  #startShowing(): void {
    if (this.#showing !== undefined) return;
    const showing = this.#showAll().finally(() => {
      this.#showing = undefined;
    });
    this.#showing = showing;
    runInBackground(() => showing, this.#session.onError);
  }

  async #showAll(): Promise<void> {
    while (!this.#stop.signal.aborted && !this.#isReaderGone) {
      if (this.#waiting.length > 0) await this.#showBatch();
      this.#mark();
      if (this.#waiting.length === 0 && this.#hasNews) await this.fill();
      if (this.#waiting.length === 0) return;
    }
  }

  async #showBatch(): Promise<void> {
    const { screen } = this.#session.callbacks;
    const batch = this.#takeBatch();
    await screen.show(batch);
    if (await screen.isTaken(this.#stop.signal)) this.#toMark.push(...batch.map(({ n }) => n));
    else if (screen.isGone()) {
      this.#isReaderGone = true;
      this.#hooks.onReaderGone();
      // Counting goes on, for what is done about them.
      this.#waiting.length = 0;
      this.#waitingBytes = 0;
      await this.fill();
    }
  }

  #takeBatch(): ReceivedEvent[] {
    let bytes = 0;
    let count = 0;
    for (const event of this.#waiting) {
      if (count === BATCH_EVENTS || (count > 0 && bytes > BATCH_BYTES)) break;
      bytes += sizeOf(event);
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  /** Where the ledger can't be written now, it is done with the next ones, or the next session shows them again. */
  #mark(): void {
    const events = this.#toMark;
    if (events.length === 0) return;
    this.#toMark = [];
    this.#marked = this.#session.commits
      .add((tables) => new Events(tables).markShown(events))
      .then(
        () => {
          for (const n of events) this.#read.delete(n);
        },
        () => {
          this.#toMark.push(...events);
        },
      );
  }
}

const sizeOf = ({ body }: ReceivedEvent): number => body.byteLength + EVENT_BYTES;
