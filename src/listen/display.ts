/**
 * Shows events in their order: each that this session keeps, and what sessions with the same filter left unshown when
 * they ended. Where what is shown is not read, it keeps only the numbers of what comes, and takes the events from the
 * ledger later: receiving never waits for a reader, and nothing piles up in memory.
 */

import { Events, type Unshown } from '../ledger/events.ts';
import { Runs } from '../ledger/runs.ts';
import { errorMessage } from '../lib/errors.ts';
import { sleep } from '../lib/time.ts';
import { runInBackground } from './background.ts';
import { ReceivedEvent } from './event.ts';
import type { SessionContext } from './session-run.ts';

/** Shown together, and read from the ledger together. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 1024 * 1024;
/** Events that wait in memory; those after them are read from the ledger. */
const MAX_WAITING_BYTES = 4 * BATCH_BYTES;
/** What an event takes beside its body. */
const EVENT_BYTES = 1024;
const RETRY_MS = 1_000;

export class Display {
  readonly #session: SessionContext;
  /** Called once. */
  readonly #onReaderGone: () => void;
  readonly #stop = new AbortController();
  #waiting: ReceivedEvent[] = [];
  #waitingBytes = 0;
  /** Numbers of the events that come after those in memory. */
  readonly #later = new NumberRanges();
  #work: Promise<void> | undefined;
  #isReaderGone = false;
  /** By ended session whose events this one shows: the last event that was read. */
  readonly #readUpTo = new Map<number, number>();
  #noted: Promise<void> | undefined;

  constructor(session: SessionContext, onReaderGone: () => void) {
    this.#session = session;
    this.#onReaderGone = onReaderGone;
  }

  add(events: readonly ReceivedEvent[]): void {
    for (const event of events) {
      if (this.#later.size > 0 || this.#waitingBytes > MAX_WAITING_BYTES) this.#later.add(event.n);
      else this.#push(event);
    }
    if (this.#work || !this.#hasMore) return;
    const work = this.#showAll();
    this.#work = work;
    runInBackground(() => work, this.#session.onError);
  }

  /** Takes over what ended sessions have not shown; gives their events, oldest first, a page at a time. */
  async *takeOver(gone: readonly number[]): AsyncGenerator<ReceivedEvent[]> {
    const { commits, run, plan } = this.#session;
    if (!run.isBegun) return;
    for (const unshown of await commits.add((tables) =>
      new Runs(tables).takeUnshown(run.id, plan.only, gone),
    ))
      yield* this.#pages(unshown);
  }

  /** Each page once, however often they are asked for. */
  async *#pages({ run, only, after }: Unshown): AsyncGenerator<ReceivedEvent[]> {
    const { ledger, commits } = this.#session;
    const readUpTo = this.#readUpTo.get(run) ?? after;
    const rows = await new Events(ledger).toShow({ run, only, after: readUpTo });
    const last = rows.at(-1)?.id;
    this.#readUpTo.set(run, last ?? readUpTo);
    if (last !== undefined) {
      yield rows.map((row) => new ReceivedEvent(row));
      yield* this.#pages({ run, only, after: last });
    } else if (after >= readUpTo) await commits.add((tables) => new Runs(tables).unshown(run, only));
  }

  /** Waits until all are shown; once the signal has fired, for this long at most. */
  async finish(interrupt: AbortSignal, graceMs: number): Promise<void> {
    const onInterrupt = (): void => {
      const stop = (): void => this.#stop.abort();
      void sleep(graceMs, this.#stop.signal).then(stop, stop);
    };
    if (interrupt.aborted) onInterrupt();
    else interrupt.addEventListener('abort', onInterrupt, { once: true });
    await this.#work;
    interrupt.removeEventListener('abort', onInterrupt);
    this.#stop.abort();
  }

  /** Gives the number of events that are left to the next session. */
  async countLeft(): Promise<number> {
    const { commits, run, plan } = this.#session;
    await this.#noted;
    const all = [...this.#readUpTo.keys(), ...(run.isBegun ? [run.id] : [])];
    return commits.add(async (tables) => {
      let left = 0;
      for (const each of all) left += await new Runs(tables).unshown(each, plan.only);
      return left;
    });
  }

  #push(event: ReceivedEvent): void {
    this.#waiting.push(event);
    this.#waitingBytes += sizeOf(event);
  }

  get #hasMore(): boolean {
    return this.#waiting.length + this.#later.size > 0 && !this.#stop.signal.aborted && !this.#isReaderGone;
  }

  async #showAll(): Promise<void> {
    try {
      while (this.#hasMore) await this.#showBatch();
    } finally {
      this.#work = undefined;
    }
  }

  async #showBatch(): Promise<void> {
    const { screen } = this.#session.callbacks;
    if (this.#waiting.length === 0) await this.#readLater();
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    await screen.show(batch);
    if (await screen.isTaken(this.#stop.signal)) return this.#noteShown(batch);
    if (!screen.isGone()) return;
    this.#isReaderGone = true;
    this.#onReaderGone();
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

  /** One that is no longer in the ledger was removed there by the user. */
  async #readLater(): Promise<void> {
    const { ledger, callbacks } = this.#session;
    try {
      for (let count = 0; count < BATCH_EVENTS && this.#waitingBytes < BATCH_BYTES; count += 1) {
        const n = this.#later.first;
        if (n === undefined) return;
        const row = await new Events(ledger).get(n);
        this.#later.removeFirst();
        if (row) this.#push(new ReceivedEvent(row));
      }
    } catch (error) {
      callbacks.onWarning(`can't read the events to show: ${errorMessage(error)}`);
      // It rejects when the display is stopped, which its loop sees.
      await sleep(RETRY_MS, this.#stop.signal).catch(() => {});
    }
  }

  /** The ledger knows up to where each session's events were shown; those of a session come in the order of their numbers. */
  #noteShown(events: readonly ReceivedEvent[]): void {
    const last = new Map(events.map(({ run, n }) => [run, n]));
    const noted = this.#session.commits.add(async (tables) => {
      for (const [run, upTo] of last) await new Runs(tables).setShown(run, upTo);
    });
    // A ledger that can't be written now: the next event that is shown tells it all, or the next session shows them again.
    this.#noted = noted.catch(() => {});
  }
}

const sizeOf = ({ body }: ReceivedEvent): number => body.byteLength + EVENT_BYTES;

/** Numbers in the order in which they were added; those that follow each other take no more room than one. */
export class NumberRanges {
  readonly #ranges: Array<{ from: number; to: number }> = [];
  size = 0;

  add(n: number): void {
    const last = this.#ranges.at(-1);
    if (last && last.to + 1 === n) last.to = n;
    else this.#ranges.push({ from: n, to: n });
    this.size += 1;
  }

  get first(): number | undefined {
    return this.#ranges[0]?.from;
  }

  removeFirst(): void {
    const [range] = this.#ranges;
    if (!range) return;
    this.size -= 1;
    range.from += 1;
    if (range.from > range.to) this.#ranges.shift();
  }
}
