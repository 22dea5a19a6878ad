/** A ledger in a SQLite file. */
import { monotonicMs } from '../lib/clock.ts';
import { StenoError } from '../lib/errors.ts';
import { Mutex } from '../lib/mutex.ts';
import { type Database, openDatabase } from '../lib/sqlite.ts';
import { sizeOf } from '../lib/sqlite-file.ts';
import { OpenedFile } from '../lib/sqlite-replaced.ts';
import { refuseLoss, rescueHint, restoreHint } from './backups.ts';
import { type LockWait, Patience, waitForEach, waitForNone } from './patience.ts';
import { migrations } from './schema.ts';
import { SqliteTransaction, Unexpected } from './sqlite-transaction.ts';
import type {
  ColumnInfo,
  LedgerFile,
  LedgerStore,
  NumberedTable,
  Snapshot,
  Statement,
  Value,
  Work,
} from './store.ts';

export class SqliteStore implements LedgerStore {
  readonly isShared = false;
  readonly clockAheadMs = 0;
  readonly identity = '';
  readonly file: LedgerFile;
  readonly #db: Database;
  readonly #inTransaction: SqliteTransaction;
  readonly #mutex: Mutex;
  readonly #lockWait: LockWait;
  /** Of one that can be opened anew. */
  #opened: OpenedFile | undefined;

  static async open(path: string, signal?: AbortSignal): Promise<SqliteStore> {
    const hints = { hintIfEmpty: () => restoreHint(path), hintIfDamaged: () => rescueHint(path) };
    return new SqliteStore(
      await openDatabase(path, migrations, {
        ...{ ...hints, signal },
        beforeMaking: () => refuseLoss(path),
      }),
    );
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

  idsFor(table: NumberedTable, wanted: readonly number[]): Promise<number[]> {
    return this.transaction((store) => store.idsFor(table, wanted));
  }

  async version(): Promise<number> {
    return this.#db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  get isInPlace(): boolean {
    return this.#db.isInPlace();
  }

  checkInPlace(): void {
    if (!this.isInPlace)
      throw new StenoError('failed', `${this.#db.path} was deleted or replaced while it was in use`);
  }

  async reopen(): Promise<boolean> {
    const { path } = this.#db;
    if (sizeOf(path) === undefined) this.checkInPlace();
    this.#opened?.checkLog();
    await this.#mutex.run(async () => this.#db.replaceBy(await openSynced(path)));
    this.#opened?.close();
    this.#opened = new OpenedFile(path);
    return true;
  }

  isDown(): boolean {
    return false;
  }

  async prepareForOrders(): Promise<void> {}

  impatient(signal: AbortSignal): SqliteStore {
    return new SqliteStore(this.#db, this.#mutex, new Patience(signal));
  }

  async another(): Promise<SqliteStore> {
    const store = new SqliteStore(await openSynced(this.#db.path), new Mutex(), waitForNone);
    store.#opened = new OpenedFile(this.#db.path);
    return store;
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

async function openSynced(path: string): Promise<Database> {
  const db = await openDatabase(path, migrations, {
    hintIfDamaged: () => rescueHint(path),
    beforeMaking: () => refuseLoss(path),
  });
  db.setBusyTimeout(0);
  db.syncEveryCommit();
  return db;
}
