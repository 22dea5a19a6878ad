/** Moves deliveries from the journal of this session into the ledger, without holding up those that come in. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventRow } from '../ledger/events.ts';
import { arrivalsOf, type Journal, type KeptBatch } from '../ledger/journal/journal.ts';
import type { Arrival } from '../ledger/journal/record.ts';
import { monotonicMs } from '../lib/clock.ts';
import { countStreamedBytes, limitHeapGrowth, limitYoungSpace } from '../lib/memory.ts';
import { sleep } from '../lib/sleep.ts';
import type { ArrivalWriter, Written } from './arrival-writer.ts';
import { type OnError, runInBackground } from './timers.ts';

export interface MoverCallbacks {
  readonly onMoved: (rows: readonly EventRow[]) => void;
  /** The ledger can't take deliveries. */
  readonly onTrouble: (error: unknown) => void;
  /** It can again. */
  readonly onTroubleOver: () => void;
  /** This many can't be written though others can. */
  readonly onRefused: (count: number) => void;
  readonly onError: OnError;
}

interface Pending extends KeptBatch {
  readonly keptAtMs: number;
}

/** While deliveries come in, those that are kept wait for a pause of this length, but not for longer than MAX_AGE_MS. */
const QUIET_MS = 20;
const MAX_AGE_MS = 1_000;
/** In one commit: SQLite holds up the receiver for its length. */
const MAX_SLICE = 500;
const MAX_SLICE_BYTES = 2 * 1024 * 1024;
/** What is kept in memory until it is in the ledger; the rest is read back from the file. */
const MAX_HELD_BYTES = 1024 * 1024;
/** What is read back at once: some hundred events. */
const MAX_READ_BYTES = 128 * 1024;
/** From then on the heap is kept small: 200,000 events take 107 MB at most, where it was 139 and grew on. */
const MANY_ARRIVALS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

export class Mover {
  readonly #journal: Journal;
  readonly #writer: ArrivalWriter;
  readonly #callbacks: MoverCallbacks;
  readonly #ending = new AbortController();
  #queue: Pending[] = [];
  #heldBytes = 0;
  #seenArrivals = 0;
  #pauseMs = 0;
  #running: Promise<void> | undefined;
  /** How many deliveries are not in the ledger. */
  pending = 0;

  constructor(journal: Journal, writer: ArrivalWriter, callbacks: MoverCallbacks) {
    this.#journal = journal;
    this.#writer = writer;
    this.#callbacks = callbacks;
  }

  add(batch: KeptBatch): void {
    this.pending += batch.count;
    this.#push({ ...batch, keptAtMs: monotonicMs() });
    if (this.#running !== undefined) return;
    const running = this.#run();
    this.#running = running;
    runInBackground(() => running, this.#callbacks.onError);
  }

  /** Moves what is there at once, and gives up at the first failure. */
  async finish(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  #push(batch: Pending): void {
    const last = this.#queue.at(-1);
    if (batch.bytes && this.#heldBytes + batch.length <= MAX_HELD_BYTES) {
      this.#heldBytes += batch.length;
      this.#queue.push(batch);
    } else if (last && canJoin(last, batch)) {
      const { length, count } = last;
      this.#queue[this.#queue.length - 1] = {
        ...last,
        length: length + batch.length,
        count: count + batch.count,
      };
    } else {
      this.#queue.push({ ...batch, bytes: undefined });
    }
  }

  async #run(): Promise<void> {
    try {
      // The answers go out first.
      await nextTurn();
      while (this.#queue.length) {
        await this.#untilQuiet();
        if (await this.#moveSlice()) continue;
        if (this.#ending.signal.aborted) return;
        await this.#pause(this.#pauseMs);
      }
    } finally {
      this.#running = undefined;
    }
  }

  /** A delivery that comes alone does not wait. */
  async #untilQuiet(): Promise<void> {
    const { signal } = this.#ending;
    const journal = this.#journal;
    if (this.pending === 1 && !journal.isWriting) return;
    while (!signal.aborted && monotonicMs() - (this.#queue[0]?.keptAtMs ?? 0) < MAX_AGE_MS) {
      if (journal.arrivals === this.#seenArrivals && !journal.isWriting) return;
      this.#seenArrivals = journal.arrivals;
      limitYoungSpace();
      if (journal.arrivals > MANY_ARRIVALS) limitHeapGrowth();
      await this.#pause(QUIET_MS);
    }
  }

  /** False if it failed. */
  async #moveSlice(): Promise<boolean> {
    const batches = this.#takeSlice();
    let arrivals: readonly Arrival[][];
    let written: Written;
    try {
      arrivals = batches.map(arrivalsOf);
      written = await this.#writer.write(arrivals.flat(), this.#pauseMs > 0);
    } catch (error) {
      this.#queue.unshift(...batches);
      this.#noteFailure(error);
      return false;
    }
    const { rows, refused } = written;
    const ids = new Set(refused.map(({ id }) => id));
    batches.forEach(({ file, count, bytes, length }, at) => {
      const moved = arrivals[at]?.filter(({ id }) => !ids.has(id)) ?? [];
      this.#journal.markMoved(file, moved.length);
      this.pending -= count;
      if (bytes) this.#heldBytes -= length;
      countStreamedBytes(length);
    });
    this.#noteSuccess(refused.length);
    this.#callbacks.onMoved(rows);
    return true;
  }

  #takeSlice(): Pending[] {
    let count = 0;
    let bytes = 0;
    let end = 0;
    for (const batch of this.#queue) {
      count += batch.count;
      bytes += batch.length;
      if (end > 0 && (count > MAX_SLICE || bytes > MAX_SLICE_BYTES)) break;
      end += 1;
    }
    return this.#queue.splice(0, end);
  }

  #noteFailure(error: unknown): void {
    if (this.#pauseMs === 0) this.#callbacks.onTrouble(error);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2 || FIRST_PAUSE_MS);
  }

  #noteSuccess(refused: number): void {
    if (this.#pauseMs > 0) this.#callbacks.onTroubleOver();
    this.#pauseMs = 0;
    if (refused > 0) this.#callbacks.onRefused(refused);
  }

  /** The end of the session cuts it short. */
  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.#ending.signal).catch(() => {});
  }
}

/** Whether two parts that are only on disk can be read back together. */
const canJoin = (last: Pending, next: Pending): boolean =>
  !last.bytes &&
  last.file === next.file &&
  last.start + last.length === next.start &&
  last.length + next.length <= MAX_READ_BYTES;
