/**
 * Shows events in their order. Where what is shown is not read, it keeps only the numbers of what comes, and takes the
 * events from the ledger later: receiving never waits for a reader, and nothing piles up in memory.
 */
import { Events } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { errorMessage } from '../lib/errors.ts';
import { sleep } from '../lib/sleep.ts';
import { ReceivedEvent } from './event.ts';
import { NumberRanges } from './number-ranges.ts';
import { type OnError, runInBackground } from './timers.ts';

/** Where events are shown. */
export interface EventScreen {
  readonly show: (events: readonly ReceivedEvent[]) => Promise<void>;
  /** Whether all that was shown has left this process; false where its reader has gone, or the signal fires before. */
  readonly isTaken: (signal: AbortSignal) => Promise<boolean>;
  /** The reader has gone: nothing more can be shown. */
  readonly isGone: () => boolean;
}

/** Shown together, and read from the ledger together. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 1024 * 1024;
/** Events that wait in memory; those after them are read from the ledger. */
const MAX_WAITING_BYTES = 4 * BATCH_BYTES;
/** What an event takes beside its body. */
const EVENT_BYTES = 1024;
const RETRY_MS = 1_000;

interface FeedOptions {
  readonly ledger: Ledger;
  readonly screen: EventScreen;
  readonly onShown: (events: readonly ReceivedEvent[]) => void;
  /** Called once. */
  readonly onReaderGone: () => void;
  readonly warn: (text: string) => void;
  readonly onError: OnError;
}

export class EventFeed {
  readonly #options: FeedOptions;
  readonly #stop = new AbortController();
  #waiting: ReceivedEvent[] = [];
  #waitingBytes = 0;
  /** Numbers of the events that come after those in memory. */
  readonly #later = new NumberRanges();
  #work: Promise<void> | undefined;
  #isReaderGone = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  add(events: readonly ReceivedEvent[]): void {
    for (const event of events) {
      if (this.#later.size > 0 || this.#waitingBytes > MAX_WAITING_BYTES) this.#later.add(event.n);
      else this.#push(event);
    }
    if (this.#work || this.left === 0 || this.#isReaderGone) return;
    const work = this.#run();
    this.#work = work;
    runInBackground(() => work, this.#options.onError);
  }

  /** How many wait to be shown. */
  get left(): number {
    return this.#waiting.length + this.#later.size;
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

  #push(event: ReceivedEvent): void {
    this.#waiting.push(event);
    this.#waitingBytes += sizeOf(event);
  }

  async #run(): Promise<void> {
    try {
      while (this.left > 0 && !this.#stop.signal.aborted && !this.#isReaderGone) await this.#showBatch();
    } finally {
      this.#work = undefined;
    }
  }

  async #showBatch(): Promise<void> {
    const { screen, onShown, onReaderGone } = this.#options;
    const { signal } = this.#stop;
    if (this.#waiting.length === 0) await this.#readLater();
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    await screen.show(batch);
    if (await screen.isTaken(signal)) return onShown(batch);
    if (!screen.isGone()) return;
    this.#isReaderGone = true;
    onReaderGone();
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
    const { ledger, warn } = this.#options;
    try {
      for (let count = 0; count < BATCH_EVENTS && this.#waitingBytes < BATCH_BYTES; count += 1) {
        const n = this.#later.first;
        if (n === undefined) return;
        const row = await new Events(ledger).get(n);
        this.#later.removeFirst();
        if (row) this.#push(new ReceivedEvent(row));
      }
    } catch (error) {
      warn(`can't read the events that are to be shown: ${errorMessage(error)}`);
      // It rejects when the feed is stopped, which its loop sees.
      await sleep(RETRY_MS, this.#stop.signal).catch(() => {});
    }
  }
}

const sizeOf = ({ body }: ReceivedEvent): number => body.byteLength + EVENT_BYTES;
