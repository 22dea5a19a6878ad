/** Every write of a session to the ledger: all that were asked for meanwhile go into one commit, which is durable. */
import { Batcher } from '../ledger/batcher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { TableContext } from '../ledger/table.ts';
import { isLocked } from '../lib/sqlite.ts';

/** It must use the tables that it is given: they are in the transaction, and those of the ledger wait for its end. */
export type Work<Result> = (tables: TableContext) => Promise<Result>;

/** A session outlives its ledger: one that was replaced or lost is opened anew. */
interface SessionHooks {
  /** Whether `begin` has been done in the ledger. */
  readonly isBegun: boolean;
  /** What comes first in a ledger. */
  readonly begin: () => Promise<void>;
  readonly onCommitted: () => void;
}

const MAX_BATCH = 1_000;
/** How long another process may hold the ledger before a write counts as failed. */
const LOCK_WAIT_MS = 5_000;

export class Commits extends Batcher<Work<unknown>, unknown> {
  /** Whether it is the ledger that can't be used now: then the work itself can be done later. */
  readonly isUnusable: (error: unknown) => boolean;

  /** The ledger is a connection that syncs every commit and does not wait for locks. */
  constructor(ledger: Ledger, session?: SessionHooks) {
    const isUnusable = (error: unknown): boolean => isLocked(error) || ledger.isDown(error);
    let isBegun = session?.isBegun ?? true;
    const prepare = async ({ begin }: SessionHooks): Promise<void> => {
      if (!ledger.isInPlace && (await ledger.reopen())) isBegun = false;
      if (!isBegun) await begin();
      isBegun = true;
    };
    super({
      write: async (works) => {
        if (session && !(isBegun && ledger.isInPlace)) await prepare(session);
        ledger.checkInPlace();
        const results = await ledger.transaction((tables) => doAll(works, tables));
        session?.onCommitted();
        return results;
      },
      maxItems: MAX_BATCH,
      mayBeOfOne: (error) => !isUnusable(error),
    });
    this.isUnusable = isUnusable;
  }

  /** Resolves when the work is committed, rejects when it is not. It may be called again after a lock. */
  override add<Result>(work: Work<Result>, lockWaitMs = LOCK_WAIT_MS): Promise<Result> {
    return super.add(work, lockWaitMs) as Promise<Result>;
  }
}

async function doAll(works: readonly Work<unknown>[], tables: TableContext): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const work of works) results.push(await work(tables));
  return results;
}
