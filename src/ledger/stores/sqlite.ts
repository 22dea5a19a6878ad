/** A ledger in a SQLite file. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, LOCK_PAUSES } from '../../lib/backoff.ts';
import { StenoError } from '../../lib/errors.ts';
import { Mutex } from '../../lib/mutex.ts';
import { type Database, isLocked, openDatabase } from '../../lib/sqlite.ts';
import { sizeOf } from '../../lib/sqlite-file.ts';
import { monotonicMs, sleep } from '../../lib/time.ts';
import { refuseLoss, restoreHint } from './backups.ts';
import { migrations } from './schema.ts';
import {
  type ColumnInfo,
  type LedgerFile,
  type LedgerStore,
  type NumberedTable,
  numberColumn,
  resultOf,
  type Snapshot,
  type Statement,
  type Store,
  type Value,
  type Work,
} from './store.ts';

/** What to do after a statement failed: waits where another process holds the ledger, else throws the error. */
interface LockWait {
  /** `sinceMs`: when the statement failed first. */
  afterFailure(error: unknown, sinceMs: number): Promise<void>;
  afterSuccess(): void;
}

/** How long each statement of work that can't do without the ledger waits. */
const STATEMENT_WAIT_MS = 10_000;

/** For work that can't do without the ledger. */
const waitForEach: LockWait = {
  async afterFailure(error, sinceMs) {
    if (!isLocked(error) || monotonicMs() - sinceMs >= STATEMENT_WAIT_MS) throw error;
    await pause(backoffMs(1, LOCK_PAUSES));
  },
  afterSuccess() {},
};

/** For a listener, which does something else meanwhile. */
const waitForNone: LockWait = {
  async afterFailure(error) {
    throw error;
  },
  afterSuccess() {},
};

/** Each waiting counts, but time in which several wait counts once. */
const TOTAL_WAIT_MS = 5_000;

/** For work that can do without it: waits some seconds in all, over all its statements, and not after an interruption. */
class LockWaitBudget implements LockWait {
  readonly #signal: AbortSignal;
  #leftMs = TOTAL_WAIT_MS;
  /** Since when it is known to be held. */
  #heldSince: number | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async afterFailure(error: unknown): Promise<void> {
    const signal = this.#signal;
    if (!isLocked(error) || signal.aborted || !this.#mayWait()) throw error;
    // An interruption leads to one last try.
    await sleep(backoffMs(2, LOCK_PAUSES), signal).catch(() => {});
  }

  afterSuccess(): void {
    if (this.#heldSince === undefined) return;
    this.#leftMs = Math.max(0, this.#leftMs - (monotonicMs() - this.#heldSince));
    this.#heldSince = undefined;
  }

  #mayWait(): boolean {
    this.#heldSince ??= monotonicMs();
    return monotonicMs() - this.#heldSince < this.#leftMs;
  }
}

/** The statements of a transaction; other work of this process waits for its end. */
export class SqliteTransaction implements Store {
  readonly isShared = false;
  readonly clockAheadMs = 0;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    return this.#db.run(sql, ...values);
  }

  async get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return this.#db.get<Row>(sql, ...values);
  }

  async all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#db.all<Row>(sql, ...values);
  }

  transaction<Result>(work: Work<Result>): Promise<Result> {
    return work(this);
  }

  durable<Result>(work: Work<Result>): Promise<Result> {
    return work(this);
  }

  async batch<Row>(statements: readonly Statement[]): Promise<Row[]> {
    const result = resultOf(statements);
    let rows: Row[] = [];
    for (const statement of statements) {
      const { sql, values, expects } = statement;
      if (statement === result && expects === undefined) {
        rows = this.#db.all<Row>(sql, ...values);
        continue;
      }
      const changed = this.#db.run(sql, ...values);
      if (expects !== undefined && changed !== expects) throw new Unexpected();
    }
    return rows;
  }

  /** No other process writes during a transaction. */
  async lock(): Promise<void> {}

  async newIds(table: NumberedTable, count: number): Promise<number[]> {
    return numbersAfter(this.#lastNumber(table), count);
  }

  #lastNumber(table: NumberedTable): number {
    // The last events may be pruned, and their numbers are not used again.
    const sql =
      table === 'events'
        ? "SELECT seq AS n FROM sqlite_sequence WHERE name = 'events'"
        : `SELECT max(${numberColumn(table)}) AS n FROM ${table}`;
    return this.#db.get<{ n: number | null }>(sql)?.n ?? 0;
  }
}

const numbersAfter = (last: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => last + 1 + at);

/** Undoes a batch. */
class Unexpected extends Error {}

export class SqliteStore implements LedgerStore {
  readonly isShared = false;
  readonly clockAheadMs = 0;
  readonly identity = '';
  readonly known = undefined;
  readonly file: LedgerFile;
  readonly #db: Database;
  readonly #inTransaction: SqliteTransaction;
  readonly #mutex: Mutex;
  readonly #lockWait: LockWait;

  static async open(path: string, signal?: AbortSignal): Promise<SqliteStore> {
    return new SqliteStore(await openDatabase(path, migrations, { ...openOptions(path), signal }));
  }

  constructor(db: Database, mutex = new Mutex(), lockWait = waitForEach) {
    this.#db = db;
    this.#mutex = mutex;
    this.#lockWait = lockWait;
    db.setBusyTimeout(0);
    this.#inTransaction = new SqliteTransaction(db);
    this.file = { path: db.path, alone: (work) => this.#mutex.run(async () => work(db)) };
  }

  run(sql: string, ...values: Value[]): Promise<number> {
    return this.#alone(() => this.#db.run(sql, ...values));
  }

  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return this.#alone(() => this.#db.get<Row>(sql, ...values));
  }

  all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.#alone(() => this.#db.all<Row>(sql, ...values));
  }

  transaction<Result>(work: Work<Result>): Promise<Result> {
    return this.#mutex.run(() => this.#transact(work));
  }

  durable<Result>(work: Work<Result>): Promise<Result> {
    return this.#mutex.run(async () => {
      this.#db.setDurable(true);
      try {
        return await this.#transact(work);
      } finally {
        this.#db.setDurable(false);
      }
    });
  }

  async batch<Row>(statements: readonly Statement[]): Promise<Row[] | undefined> {
    try {
      return await this.durable((store) => store.batch<Row>(statements));
    } catch (error) {
      if (error instanceof Unexpected) return undefined;
      throw error;
    }
  }

  async lock(): Promise<void> {}

  newIds(table: NumberedTable, count: number): Promise<number[]> {
    return this.transaction((store) => store.newIds(table, count));
  }

  async version(): Promise<number> {
    return this.#db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  get isInPlace(): boolean {
    return this.#db.isInPlace();
  }

  checkInPlace(): void {
    if (!this.isInPlace)
      throw new StenoError('failed', `${this.#db.path} was deleted or replaced while in use`);
  }

  async reopen(): Promise<void> {
    const { path } = this.#db;
    if (sizeOf(path) === undefined) this.checkInPlace();
    // Closed before: SQLite would write the log of the old file into the new one.
    await this.#mutex.run(async () => this.#db.replaceBy(() => openSynced(path)));
  }

  isDown(): boolean {
    return false;
  }

  withShortLockWait(signal: AbortSignal): SqliteStore {
    return new SqliteStore(this.#db, this.#mutex, new LockWaitBudget(signal));
  }

  async openSecondConnection(): Promise<SqliteStore> {
    return new SqliteStore(await openSynced(this.#db.path), new Mutex(), waitForNone);
  }

  endWithin(): void {}

  /** Other work of this process waits for its end. */
  async snapshot(): Promise<Snapshot> {
    const db = this.#db;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    await new Promise<void>((resolve, reject) => {
      this.#mutex
        .run(async () => {
          db.exec('BEGIN');
          resolve();
          await ended;
          db.exec('COMMIT');
        })
        .catch(reject);
    });
    return {
      get: async <Row>(sql: string, ...values: Value[]) => db.get<Row>(sql, ...values),
      all: async <Row>(sql: string, ...values: Value[]) => db.all<Row>(sql, ...values),
      columns: async (table) => columnInfos(db, table),
      end: async () => end(),
    };
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  async #transact<Result>(work: Work<Result>): Promise<Result> {
    await this.#whenFree(() => this.#db.run('BEGIN IMMEDIATE'));
    try {
      const result = await work(this.#inTransaction);
      this.#db.run('COMMIT');
      return result;
    } catch (error) {
      this.#db.rollBack();
      throw error;
    }
  }

  /** Runs a statement of its own, never within the transaction of others. */
  #alone<Result>(statement: () => Result): Promise<Result> {
    return this.#whenFree(statement, this.#mutex);
  }

  /** Tries again as long as this store waits for other processes, each time after other work of this one. */
  async #whenFree<Result>(statement: () => Result, mutex?: Mutex): Promise<Result> {
    let since: number | undefined;
    for (;;) {
      while (mutex?.isBusy) await mutex.idle();
      try {
        const result = statement();
        this.#lockWait.afterSuccess();
        return result;
      } catch (error) {
        since ??= monotonicMs();
        await this.#lockWait.afterFailure(error, since);
      }
    }
  }
}

/** The columns of a table in this ledger. */
export const columnInfos = (db: Database, table: string): ColumnInfo[] =>
  db.all<ColumnInfo>('SELECT name, type FROM pragma_table_info(?) ORDER BY cid', table);

const openOptions = (path: string) => ({
  hintIfDamaged: () => restoreHint(path),
  beforeMaking: () => refuseLoss(path),
});

async function openSynced(path: string): Promise<Database> {
  const db = await openDatabase(path, migrations, openOptions(path));
  db.setBusyTimeout(0);
  db.syncEveryCommit();
  return db;
}
