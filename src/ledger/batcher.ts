/** Gathers what is to be written, and writes all of it that has come at once: each write waits for a disk or a network. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, LOCK_PAUSES } from '../lib/backoff.ts';
import { isLocked } from '../lib/sqlite.ts';
import { monotonicMs } from '../lib/time.ts';

/** A write begins when so many items wait, or the first one has waited for so long. */
export interface Gathering {
  readonly count: number;
  readonly waitMs: number;
}

export interface BatcherOptions<Item, Result> {
  /** Writes all of them or none; gives a result for each. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly maxItems: number;
  /** Absent: a write begins as soon as the last one has ended. */
  readonly gathering?: Gathering;
  readonly maxBytes?: number;
  readonly sizeOf?: (item: Item) => number;
  /** Whether the error may be about one item alone: then each is tried by itself. Absent: never. */
  readonly mayBeOfOne?: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  /** From then on a lock is no longer waited for. */
  readonly deadline: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const AT_ONCE: Gathering = { count: 1, waitMs: 0 };

export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue: Waiting<Item, Result>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** For locks, in all that is left to do. */
  #waitLeftMs = Number.POSITIVE_INFINITY;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Resolves when it is written, rejects when it is not. For so long it is tried again while the database is locked. */
  add(item: Item, lockWaitMs = 0): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, deadline: monotonicMs() + lockWaitMs, resolve, reject });
      this.#writeWhenDue();
    });
  }

  /** Waits as long as there is more to write than one write begins with. */
  async room(): Promise<void> {
    const { gathering = AT_ONCE } = this.#options;
    while (this.#writing && this.#queue.length + 1 >= gathering.count) await this.#writing;
  }

  /** Writes all that is left; resolves when each item is written or has failed. */
  async finish(): Promise<void> {
    while (this.#writing || this.#queue.length) {
      this.#begin();
      await this.#writing;
    }
  }

  /** From now on all waiting for locks together takes at most this long. */
  limitLockWait(milliseconds: number): void {
    this.#waitLeftMs = milliseconds;
  }

  #writeWhenDue(): void {
    const { count, waitMs } = this.#options.gathering ?? AT_ONCE;
    if (this.#writing || this.#queue.length === 0) return;
    if (this.#queue.length >= count) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), waitMs);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      // What came meanwhile must not wait for the next one.
      this.#writeWhenDue();
    });
  }

  async #writeBatch(): Promise<void> {
    // What has arrived by then comes into the same batch.
    await new Promise(setImmediate);
    const batch = this.#queue.splice(0, this.#batchLength());
    try {
      await this.#write(batch);
    } catch (error) {
      if (isLocked(error)) await this.#waitForLock(batch, error);
      else await this.#fail(batch, error);
    }
  }

  #batchLength(): number {
    const { maxItems, maxBytes = 0, sizeOf } = this.#options;
    if (!sizeOf) return maxItems;
    let bytes = 0;
    const end = this.#queue.findIndex(({ item }, at) => {
      bytes += sizeOf(item);
      return at > 0 && (at >= maxItems || bytes > maxBytes);
    });
    return end < 0 ? this.#queue.length : end;
  }

  async #write(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const results = await this.#options.write(batch.map(({ item }) => item));
    batch.forEach(({ resolve }, at) => void resolve(results[at] as Result));
  }

  /** What may still wait for it is tried again, before all that came meanwhile. */
  async #waitForLock(batch: readonly Waiting<Item, Result>[], error: unknown): Promise<void> {
    const now = this.#waitLeftMs > 0 ? monotonicMs() : Number.POSITIVE_INFINITY;
    for (const { deadline, reject } of batch) if (deadline <= now) reject(error);
    const waiting = batch.filter(({ deadline }) => deadline > now);
    if (waiting.length === 0) return;
    this.#queue.unshift(...waiting);
    const pauseMs = backoffMs(1, LOCK_PAUSES);
    this.#waitLeftMs -= pauseMs;
    await sleep(pauseMs);
  }

  /** One that can't be written must not fail the others. */
  async #fail(batch: readonly Waiting<Item, Result>[], error: unknown): Promise<void> {
    const mayBeOfOne = batch.length > 1 && this.#options.mayBeOfOne?.(error);
    for (const each of batch) {
      if (mayBeOfOne) await this.#write([each]).catch(each.reject);
      else each.reject(error);
    }
  }
}
