/** What was ordered and what became of it, for one account. The service keeps no list, so this is the only one. */
import { accountName } from '../lib/names.ts';
import type { LedgerStore } from './stores/store.ts';
import type { Hide, TableContext } from './table.ts';
import type { Waiting } from './waiting.ts';

/** An open ledger. Each of its tables is a class that is made over it: `new Files(ledger).get(id)`. */
export class Ledger implements TableContext {
  readonly db: LedgerStore;
  /** Whose rows it shows and changes: a profile, or an account of a shared ledger. */
  readonly profile: string;
  readonly hide: Hide;
  readonly waiting: Waiting | undefined;
  #withShortLockWait: Ledger | undefined;

  constructor(db: LedgerStore, profile: string, hide: Hide, waiting?: Waiting) {
    this.db = db;
    this.profile = accountName(profile);
    this.hide = hide;
    this.waiting = waiting;
  }

  /** Does all of the work or none of it; the work must use the context that it is given, which is in the transaction. */
  transaction<Result>(work: (tables: TableContext) => Promise<Result>): Promise<Result> {
    return this.db.transaction((db) => work({ db, profile: this.profile, hide: this.hide }));
  }

  /** The same ledger for work that can do without it: waits for other processes only some seconds in all. */
  withShortLockWait(signal: AbortSignal): Ledger {
    this.#withShortLockWait ??= new Ledger(this.db.withShortLockWait(signal), this.profile, this.hide);
    return this.#withShortLockWait;
  }

  /** For events: every commit is durable, a lock is an error at once, and the first use connects. */
  async openSecondConnection(): Promise<Ledger> {
    return new Ledger(await this.db.openSecondConnection(), this.profile, this.hide);
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
