/** Writes everything that arrived meanwhile in one commit: a flood costs few of them, a single event one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked } from '../lib/sqlite.ts';

interface Job {
  readonly work: () => unknown;
  readonly done: (result: never) => void;
  readonly failed: (error: unknown) => void;
}

/** So long another process may hold the ledger before those who wait are told. */
const PATIENCE = 5_000;
const LARGEST_BATCH = 1_000;

export class GroupCommit {
  readonly #atomically: (work: () => unknown[]) => unknown[];
  #queue: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(atomically: (work: () => unknown[]) => unknown[]) {
    this.#atomically = atomically;
  }

  /** Resolves when the work is committed, rejects when it is not. */
  add<Result>(work: () => Result): Promise<Result> {
    return new Promise((done, failed) => {
      this.#queue.push({ work, done: done as Job['done'], failed });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when all that was added so far is written or given up. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length) {
      // Lets in whatever the sockets have to say by now.
      await new Promise(setImmediate);
      const batch = this.#queue.splice(0, LARGEST_BATCH);
      await this.#write(batch, Date.now() + PATIENCE);
    }
    this.#running = undefined;
  }

  async #write(batch: readonly Job[], deadline: number): Promise<void> {
    for (;;) {
      try {
        const results = this.#atomically(() => batch.map((job) => job.work()));
        batch.forEach((job, at) => void job.done(results[at] as never));
        return;
      } catch (error) {
        if (isLocked(error) && Date.now() < deadline) await sleep(5 + Math.random() * 20);
        else return this.#fail(batch, error);
      }
    }
  }

  /** One that can't be written must not take the others with it. */
  async #fail(batch: readonly Job[], error: unknown): Promise<void> {
    if (batch.length === 1 || isLocked(error)) for (const job of batch) job.failed(error);
    else for (const job of batch) await this.#write([job], 0);
  }
}
