/** A transaction of a ledger in PostgreSQL. */

import {
  assignIds,
  type NumberedTable,
  numberColumn,
  resultOf,
  type Statement,
  type Store,
  type Value,
  type Work,
} from '../store.ts';
import type { PostgresConnection } from './connection.ts';

/** The sequence of a table's numbers: its values are the table and the column. */
const SEQUENCE = 'pg_get_serial_sequence(?, ?)';
/** Numbers that an import may skip to keep its own: about a second of the server. */
const MAX_SKIPPED_NUMBERS = 3_000_000;

/** The statements of a transaction. */
export class PostgresTransaction implements Store {
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

  /**
   * A number is free only where the sequence gave it to us: a row that another process is about to commit has one too.
   * So all numbers up to the highest are taken, unless that would be a great many.
   */
  async idsFor(table: NumberedTable, wanted: readonly number[]): Promise<number[]> {
    const sequence = this.#sequenceOf(table);
    const [{ last = 0 } = {}] = await this.all<{ last: number }>(
      `SELECT coalesce(pg_sequence_last_value(${SEQUENCE}), 0) AS last`,
      ...sequence,
    );
    const count = wanted.reduce((most, n) => Math.max(most, n), 0) - last;
    const free =
      count > 0 && count <= MAX_SKIPPED_NUMBERS
        ? await this.all<{ id: number }>(
            `SELECT id FROM (SELECT nextval(${SEQUENCE}) AS id FROM generate_series(1, CAST(? AS BIGINT))) AS taken
             WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
            ...sequence,
            count,
            JSON.stringify(wanted),
          )
        : [];
    const fresh = new Set(wanted).size === free.length ? [] : await this.newIds(table, wanted.length);
    return assignIds(
      wanted,
      free.map(({ id }) => id),
      fresh,
    );
  }

  #sequenceOf(table: NumberedTable): [string, string] {
    return [`${this.#connection.schema}.${table}`, numberColumn(table)];
  }
}

/** Fails, and so undoes the transaction, where a statement changes another number of rows. */
const expecting = (sql: string, rows: number): string =>
  `WITH done AS (${sql} RETURNING 1) SELECT 1 / (count(*) = ${rows})::integer FROM done`;
