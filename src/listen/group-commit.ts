/**
 * Speed: does all writes to the ledger that were asked for meanwhile in one commit, because each commit waits for the
 * disk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../ledger/ledger.ts';
import type { TableContext } from '../ledger/table.ts';
import { monotonicMs } from '../lib/clock.ts';
import { isLocked } from '../lib/sqlite-errors.ts';

/** It must use the tables that it is given: they are in the transaction, and those of the ledger wait for its end. */
export type Work<Result> = (tables: TableContext) => Promise<Result>;

interface CommitOptions {
  readonly transaction: (work: Work<unknown[]>) => Promise<unknown[]>;
  /** Called before each transaction. */
  readonly prepare?: () => Promise<void> | undefined;
  /** Whether the error is about the database, which no work can use now. */
  readonly isDown: (error: unknown) => boolean;
  readonly onCommitted?: () => void;
}

interface Job {
  readonly work: Work<unknown>;
  /** From then on a lock is no longer waited for. */
  readonly deadline: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** How long another process may hold the ledger before the work counts as failed. */
const LOCK_WAIT_MS = 5_000;
const MAX_BATCH = 1_000;

export class GroupCommit {
  readonly #options: CommitOptions;
  #queue: Job[] = [];
  #running: Promise<void> | undefined;
  /** For locks, in all that is left to do. */
  #waitLeftMs = Number.POSITIVE_INFINITY;

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  /** Whether it is the ledger that can't be used now: then the work itself can be done later. */
  isUnusable(error: unknown): boolean {
    return isLocked(error) || this.#options.isDown(error);
  }

  /** Resolves when the work is committed, rejects when it is not. It may be called again after a lock. */
  add<Result>(work: Work<Result>, lockWaitMs = LOCK_WAIT_MS): Promise<Result> {
    return new Promise((resolve, reject) => {
      const deadline = monotonicMs() + lockWaitMs;
      this.#queue.push({ work, deadline, resolve: resolve as Job['resolve'], reject });
      this.#running ??= this.#run();
    });
  }

  /** From now on all waiting for locks together takes at most this long. */
  limitWait(milliseconds: number): void {
    this.#waitLeftMs = milliseconds;
  }

  /** Resolves when everything added so far is committed or has failed. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length) {
      // Requests that have arrived by now come into the same commit.
      await new Promise(setImmediate);
      const batch = this.#queue.slice(0, MAX_BATCH);
      try {
        await this.#commit(batch);
        this.#queue.splice(0, batch.length);
      } catch (error) {
        if (isLocked(error)) await this.#waitForLock(error);
        else await this.#fail(this.#queue.splice(0, batch.length), error);
      }
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly Job[]): Promise<void> {
    const { prepare, transaction, onCommitted } = this.#options;
    await prepare?.();
    const results = await transaction((tables) => workOf(batch, tables));
    onCommitted?.();
    batch.forEach((job, at) => void job.resolve(results[at] as never));
  }

  async #waitForLock(error: unknown): Promise<void> {
    const now = this.#waitLeftMs > 0 ? monotonicMs() : Number.POSITIVE_INFINITY;
    for (const job of this.#queue) if (job.deadline <= now) job.reject(error);
    this.#queue = this.#queue.filter(({ deadline }) => deadline > now);
    const pauseMs = 5 + Math.random() * 20;
    this.#waitLeftMs -= pauseMs;
    if (this.#queue.length) await sleep(pauseMs);
  }

  /** Tries each job alone, so that one that can't be written does not fail the others. */
  async #fail(batch: readonly Job[], error: unknown): Promise<void> {
    const isOfAll = batch.length === 1 || this.isUnusable(error);
    for (const job of batch) {
      if (isOfAll) job.reject(error);
      else await this.#commit([job]).catch(job.reject);
    }
  }
}

async function workOf(batch: readonly Job[], tables: TableContext): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { work } of batch) results.push(await work(tables));
  return results;
}

/** For a connection that syncs every commit. */
export const durableCommits = (ledger: Ledger): GroupCommit =>
  new GroupCommit({
    transaction: (work) => transactionInPlace(ledger, work),
    isDown: (error) => ledger.isDown(error),
  });

export interface ReopeningOptions {
  readonly ledger: Ledger;
  /** Whether `begin` has been done in the ledger. */
  readonly isBegun: boolean;
  /** What comes first in a ledger. */
  readonly begin: () => Promise<void>;
  readonly onCommitted: () => void;
}

/** The same for a process that outlives its ledger: one that was replaced or lost is opened anew. */
export function reopeningCommits({ ledger, begin, onCommitted, ...begun }: ReopeningOptions): GroupCommit {
  let { isBegun } = begun;
  const reopen = async (): Promise<void> => {
    if (!ledger.isInPlace && (await ledger.reopen())) isBegun = false;
    if (!isBegun) await begin();
    isBegun = true;
  };
  return new GroupCommit({
    transaction: (work) => transactionInPlace(ledger, work),
    prepare: () => (isBegun && ledger.isInPlace ? undefined : reopen()),
    isDown: (error) => ledger.isDown(error),
    onCommitted,
  });
}

async function transactionInPlace(ledger: Ledger, work: Work<unknown[]>): Promise<unknown[]> {
  ledger.checkInPlace();
  return ledger.transaction(work);
}
