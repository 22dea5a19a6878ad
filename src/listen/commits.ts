/** Every write of a session to the ledger: all that were asked for meanwhile go into one commit, which is durable. */
import { Batcher } from '../ledger/batcher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { TableContext } from '../ledger/table.ts';
import { isLocked } from '../lib/sqlite.ts';

/** It must use the tables that it is given: they are in the transaction, and those of the ledger wait for its end. */
export type Work<Result> = (tables: TableContext) => Promise<Result>;

interface SessionHooks {
  /** What comes first: a shared ledger is reached later than the session begins. */
  readonly prepare: () => Promise<void>;
  readonly onCommitted: () => void;
  /** The file of the ledger was deleted or replaced: what is written to it would be lost. */
  readonly onReplaced: (error: unknown) => void;
}

const MAX_BATCH = 1_000;
/** How long another process may hold the ledger before a write counts as failed. */
const LOCK_WAIT_MS = 5_000;

export class Commits extends Batcher<Work<unknown>, unknown> {
  readonly #ledger: Ledger;
  readonly #session: SessionHooks | undefined;

  /** The ledger is a connection that syncs every commit and does not wait for locks. */
  constructor(ledger: Ledger, session?: SessionHooks) {
    super({
      write: (works) => this.#write(works),
      maxItems: MAX_BATCH,
      mayBeOfOne: (error) => !this.isUnusable(error),
    });
    this.#ledger = ledger;
    this.#session = session;
  }

  /** Whether it is the ledger that can't be used now: then the work itself can be done later. */
  isUnusable(error: unknown): boolean {
    return isLocked(error) || this.#ledger.db.isDown(error);
  }

  /** Resolves when the work is committed, rejects when it is not. It may be called again after a lock. */
  override add<Result>(work: Work<Result>, lockWaitMs = LOCK_WAIT_MS): Promise<Result> {
    return super.add(work, lockWaitMs) as Promise<Result>;
  }

  /** Throws if the file of the ledger is not the one that was opened. */
  checkInPlace(): void {
    try {
      this.#ledger.db.checkInPlace();
    } catch (error) {
      this.#session?.onReplaced(error);
      throw error;
    }
  }

  async #write(works: readonly Work<unknown>[]): Promise<unknown[]> {
    await this.#session?.prepare();
    this.checkInPlace();
    const results = await this.#ledger.transaction(async (tables) => {
      const done: unknown[] = [];
      for (const work of works) done.push(await work(tables));
      return done;
    });
    // It may have been replaced in that very moment.
    this.checkInPlace();
    this.#session?.onCommitted();
    return results;
  }
}
