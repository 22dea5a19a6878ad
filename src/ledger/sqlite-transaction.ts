/** What runs within a transaction of a ledger in a SQLite file. */
import type { Database } from '../lib/sqlite.ts';
import {
  assignIds,
  type NumberedTable,
  numberColumn,
  resultOf,
  type Statement,
  type Store,
  type Value,
  type Work,
} from './store.ts';

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

  async idsFor(table: NumberedTable, wanted: readonly number[]): Promise<number[]> {
    const column = numberColumn(table);
    const given = this.#db.all<{ n: number }>(
      `SELECT ${column} AS n FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`,
      JSON.stringify(wanted),
    );
    const isGiven = new Set(given.map(({ n }) => n));
    const free = wanted.filter((n) => n > 0 && !isGiven.has(n));
    const last = free.reduce((most, n) => Math.max(most, n), this.#lastNumber(table));
    return assignIds(wanted, free, numbersAfter(last, wanted.length));
  }

  #lastNumber(table: NumberedTable): number {
    const last =
      this.#db.get<{ n: number | null }>(`SELECT max(${numberColumn(table)}) AS n FROM ${table}`)?.n ?? 0;
    if (table !== 'events') return last;
    // The last events may be pruned: one with the number of those would count as shown.
    const sql = 'SELECT max(shown_up_to) AS n FROM runs WHERE shown_up_to IS NOT NULL';
    return Math.max(last, this.#db.get<{ n: number | null }>(sql)?.n ?? 0);
  }
}

const numbersAfter = (last: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => last + 1 + at);

/** Undoes a batch. */
export class Unexpected extends Error {}
