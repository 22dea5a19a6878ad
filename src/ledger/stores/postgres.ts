/** A ledger in PostgreSQL. */

import { StenoError } from '../../lib/errors.ts';
import { Mutex } from '../../lib/mutex.ts';
import { monotonicMs } from '../../lib/time.ts';
import { isAboutServer, isConflict, isUnexpected, type PostgresConnection } from './postgres-connection.ts';
import {
  type ColumnInfo,
  CommitUnknown,
  DatabaseError,
  type KnownAccounts,
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

/** What a connection may take. */
export interface ConnectLimits {
  readonly timeoutMs: number;
  readonly queryTimeoutMs: number;
}

/** A connection, and what is known of the ledger it leads to, where that was asked. */
export interface Opened {
  readonly connection: PostgresConnection;
  /** Tells it from every other ledger, wherever it is moved. */
  readonly identity?: string;
  readonly known?: KnownAccounts;
}

/** The sequence of a table's numbers: its values are the table and the column. */
const SEQUENCE = 'pg_get_serial_sequence(?, ?)';

/** The statements of a transaction. */
class PostgresTransaction implements Store {
  readonly isShared = true;
  readonly #open: PostgresConnection;
  #isOver = false;

  constructor(connection: PostgresConnection) {
    this.#open = connection;
  }

  /** What part of the work sends after its end must not be done outside of it. */
  end(): void {
    this.#isOver = true;
  }

  get #connection(): PostgresConnection {
    if (this.#isOver) throw new Error('the transaction is over');
    return this.#open;
  }

  get clockAheadMs(): number {
    return this.#connection.clockAheadMs;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    return (await this.#connection.query(sql, values)).rowCount ?? 0;
  }

  async get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return (await this.#connection.query<Row>(sql, values)).rows[0];
  }

  async all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return (await this.#connection.query<Row>(sql, values)).rows;
  }

  transaction<Result>(work: Work<Result>): Promise<Result> {
    return work(this);
  }

  durable<Result>(work: Work<Result>): Promise<Result> {
    return work(this);
  }

  async batch<Row>(statements: readonly Statement[]): Promise<Row[]> {
    const results = await Promise.all(
      statements.map(({ sql, values, expects }) =>
        this.#connection.query<Row>(expects === undefined ? sql : expecting(sql, expects), values),
      ),
    );
    const result = resultOf(statements);
    return (result && results[statements.indexOf(result)]?.rows) ?? [];
  }

  async lock(name: string): Promise<void> {
    const key = `steno ${this.#connection.schema} ${name}`;
    await this.run('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', key);
  }

  /** Others may take numbers in between, and give them to rows sooner. */
  async newIds(table: NumberedTable, count: number): Promise<number[]> {
    const rows = await this.all<{ id: number }>(
      `SELECT nextval(${SEQUENCE}) AS id FROM generate_series(1, CAST(? AS BIGINT))`,
      ...this.#sequenceOf(table),
      count,
    );
    return rows.map(({ id }) => id);
  }

  #sequenceOf(table: NumberedTable): [string, string] {
    return [`${this.#connection.schema}.${table}`, numberColumn(table)];
  }
}

/** Fails, and so undoes the transaction, where a statement changes another number of rows. */
const expecting = (sql: string, rows: number): string =>
  `WITH done AS (${sql} RETURNING 1) SELECT 1 / (count(*) = ${rows})::integer FROM done`;

type Connect = (limits?: ConnectLimits) => Promise<Opened>;
const CONFLICT_RETRIES = 10;
/** How often a process looks for what others have written. */
const NEWS_INTERVAL_MS = 1_000;
/** A listener must not hang on a server that is gone without a word. */
const LISTENER_LIMITS: ConnectLimits = { timeoutMs: 10_000, queryTimeoutMs: 30_000 };
/** After a connection that failed, a listener, all of whose parts want one, tries the next after this time. */
const LISTENER_PAUSE_MS = 1_000;
/** Work that can do without the ledger waits for a connection no longer, and then tries none for a while. */
const SHORT_WAIT_LIMITS: ConnectLimits = { timeoutMs: 3_000, queryTimeoutMs: 3_000 };
const SHORT_WAIT_PAUSE_MS = 30_000;

/** Whether COMMIT is sent with the statements, or after all of them have succeeded. */
type Commits = 'at once' | 'after';

/** A connection that stores share, and what runs on it. */
class Link {
  opened: Opened | undefined;
  opening: Promise<PostgresConnection> | undefined;
  failed: { readonly error: unknown; readonly atMs: number } | undefined;
  readonly mutex = new Mutex();
}

export class PostgresStore implements LedgerStore {
  #isEnding = false;
  readonly isShared = true;
  readonly #connect: Connect;
  readonly #pauseMs: number;
  readonly #link: Link;

  /** `pauseMs`: for this long after a connection failed, none is tried. */
  constructor(connect: Connect, pauseMs = 0, link = new Link()) {
    this.#connect = connect;
    this.#pauseMs = pauseMs;
    this.#link = link;
  }

  get isInPlace(): boolean {
    return this.#link.opened !== undefined && !this.#link.opened.connection.isLost;
  }

  get clockAheadMs(): number {
    return this.#link.opened?.connection.clockAheadMs ?? 0;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    return (await this.#alone(sql, values)).rowCount ?? 0;
  }

  async get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined> {
    return (await this.#alone<Row>(sql, values)).rows[0];
  }

  async all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
    return (await this.#alone<Row>(sql, values)).rows;
  }

  /** Always durable: what a shared ledger says must hold for the others too. */
  transaction<Result>(work: Work<Result>): Promise<Result> {
    return this.#link.mutex.run(() => this.#transact(work));
  }

  durable<Result>(work: Work<Result>): Promise<Result> {
    return this.transaction(work);
  }

  /** The transaction is one round trip: nothing waits for the answer to the statement before. */
  async batch<Row>(statements: readonly Statement[]): Promise<Row[] | undefined> {
    try {
      return await this.#link.mutex.run(() =>
        this.#transact((store) => store.batch<Row>(statements), 'at once'),
      );
    } catch (error) {
      if (isUnexpected(error)) return undefined;
      throw error;
    }
  }

  /** Polling is the promise: a pooler swallows notifications. */
  async version(): Promise<number> {
    return Math.floor(monotonicMs() / NEWS_INTERVAL_MS);
  }

  /** Tells the ledger from every other; empty before it was reached. */
  get identity(): string {
    return this.#link.opened?.identity ?? '';
  }

  get known(): KnownAccounts | undefined {
    return this.#link.opened?.known;
  }

  checkInPlace(): void {}

  async reopen(): Promise<void> {
    await this.connect();
  }

  isDown(error: unknown): boolean {
    return error === this.#link.failed?.error || isAboutServer(error);
  }

  async lock(): Promise<void> {
    throw new Error('a lock is held by a transaction');
  }

  newIds(table: NumberedTable, count: number): Promise<number[]> {
    return this.transaction((store) => store.newIds(table, count));
  }

  /** A connection of its own, which other work does not wait for. */
  async snapshot(): Promise<Snapshot> {
    const { connection } = await this.#connect();
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const transaction = new PostgresTransaction(connection);
    return {
      get: (sql, ...values) => transaction.get(sql, ...values),
      all: (sql, ...values) => transaction.all(sql, ...values),
      columns: (table) => columnInfos(connection, table),
      end: async () => {
        await connection.query('COMMIT').catch(() => {});
        await connection.close();
      },
    };
  }

  withShortLockWait(): PostgresStore {
    const connect = (): Promise<Opened> => this.#connect(SHORT_WAIT_LIMITS);
    return new PostgresStore(connect, SHORT_WAIT_PAUSE_MS, this.#link);
  }

  async openSecondConnection(): Promise<PostgresStore> {
    return new PostgresStore(() => this.#connect(LISTENER_LIMITS), LISTENER_PAUSE_MS);
  }

  endWithin(silenceMs: number): void {
    this.#isEnding = true;
    this.#link.opened?.connection.limitSilence(silenceMs);
  }

  async close(): Promise<void> {
    void this.#link.opening?.then((connection) => connection.close()).catch(() => {});
    await this.#link.opened?.connection.close();
  }

  async connect(): Promise<PostgresConnection> {
    const { opened, opening, failed } = this.#link;
    if (opened && !opened.connection.isLost) return opened.connection;
    if (this.#isEnding && !opening)
      throw failed?.error ?? new DatabaseError('network', 'the shared ledger does not answer');
    this.#link.opening ??= this.#open().finally(() => {
      this.#link.opening = undefined;
    });
    return this.#link.opening;
  }

  async #open(): Promise<PostgresConnection> {
    const failed = this.#link.failed;
    if (failed && monotonicMs() - failed.atMs < this.#pauseMs) throw failed.error;
    try {
      this.#link.opened = await this.#connect();
      return this.#link.opened.connection;
    } catch (error) {
      this.#link.failed = { error, atMs: monotonicMs() };
      throw error;
    }
  }

  /** A statement of its own is done again after a lost connection only where it reads. */
  async #alone<Row>(sql: string, values: readonly Value[]) {
    let connection: PostgresConnection;
    do {
      await this.#link.mutex.idle();
      connection = await this.connect();
      // A transaction that began meanwhile would take it in.
    } while (this.#link.mutex.isBusy);
    try {
      return await connection.query<Row>(sql, values);
    } catch (error) {
      if (!connection.isLost || !/^\s*SELECT\b/i.test(sql)) throw error;
      return await (await this.connect()).query<Row>(sql, values);
    }
  }

  async #transact<Result>(work: Work<Result>, commits: Commits = 'after'): Promise<Result> {
    for (let n = 0; ; n += 1) {
      const connection = await this.connect();
      try {
        return await this.#transactOnce(connection, work, commits);
      } catch (error) {
        // Before COMMIT a lost connection has undone everything; one is lost for good after one more.
        const isUndone =
          isConflict(error) || (connection.isLost && !(error instanceof CommitUnknown) && n === 0);
        if (!isUndone || n >= CONFLICT_RETRIES) throw error;
      }
    }
  }

  async #transactOnce<Result>(
    connection: PostgresConnection,
    work: Work<Result>,
    commits: Commits,
  ): Promise<Result> {
    // Not awaited: they share the round trip of the first statement of the work.
    const begun = Promise.all([
      connection.query('BEGIN'),
      connection.query(
        // A machine that vanishes in the middle holds up others no longer than that.
        "SELECT set_config('synchronous_commit', 'on', true), set_config('idle_in_transaction_session_timeout', '60s', true)",
      ),
    ]);
    begun.catch(() => {});
    const transaction = new PostgresTransaction(connection);
    const working = work(transaction);
    // After a failed statement it undoes the transaction.
    const committed = commits === 'at once' ? commit(connection) : undefined;
    committed?.catch(() => {});
    let result: Result;
    try {
      result = await working;
      await begun;
    } catch (error) {
      transaction.end();
      if (committed !== undefined) await committed;
      else if (!connection.isLost) await connection.query('ROLLBACK').catch(() => {});
      throw error;
    }
    transaction.end();
    await (committed ?? commit(connection));
    return result;
  }
}

/** As SQLite would name the types. */
async function columnInfos(connection: PostgresConnection, table: string): Promise<ColumnInfo[]> {
  const { rows } = await connection.query<ColumnInfo>(
    `SELECT column_name AS name,
       CASE data_type WHEN 'bytea' THEN 'BLOB' WHEN 'text' THEN 'TEXT' WHEN 'bigint' THEN 'INTEGER'
         ELSE upper(data_type) END AS type
     FROM information_schema.columns
     WHERE table_schema = ? AND table_name = ? AND column_name <> 'rowid' ORDER BY ordinal_position`,
    [connection.schema, table],
  );
  return rows;
}

async function commit(connection: PostgresConnection): Promise<void> {
  try {
    await connection.query('COMMIT');
  } catch (error) {
    if (!connection.isLost) throw error;
    const message = error instanceof StenoError ? error.message : String(error);
    throw new CommitUnknown('network', message, { cause: error });
  }
}
