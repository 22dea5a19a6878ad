/** Which row of the export became which row of this ledger, by their numbers: kept in a temporary table. */
import type { Database, Value } from '../../lib/sqlite.ts';
import type { NumberedTable } from './tables.ts';

export class ImportedNumbers {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    db.exec(`
      CREATE TEMP TABLE numbers (of TEXT, old INTEGER, new INTEGER, PRIMARY KEY (of, old)) WITHOUT ROWID;
      CREATE TEMP TABLE twins (event INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TEMP TABLE earlier_attempts (id INTEGER PRIMARY KEY, profile, started_at);
      INSERT INTO temp.earlier_attempts SELECT id, profile, started_at FROM main.attempts WHERE token IS NULL;
      CREATE INDEX temp.earlier_attempts_by_time ON earlier_attempts (started_at, profile);
      CREATE TEMP TABLE earlier_events (id INTEGER PRIMARY KEY, profile, received_at, event, audiofile);
      INSERT INTO temp.earlier_events SELECT id, profile, received_at, event, audiofile FROM main.events
        WHERE arrival IS NULL;
      CREATE INDEX temp.earlier_events_by_time ON earlier_events (received_at, profile, event, audiofile);
      CREATE TEMP TABLE earlier_runs (id INTEGER PRIMARY KEY, profile, started_at, host, pid);
      INSERT INTO temp.earlier_runs SELECT id, profile, started_at, host, pid FROM main.runs;
      CREATE INDEX temp.earlier_runs_by_time ON earlier_runs (started_at, profile);`);
  }

  drop(): void {
    for (const table of ['numbers', 'twins', 'earlier_attempts', 'earlier_events', 'earlier_runs'])
      this.#db.exec(`DROP TABLE IF EXISTS temp.${table}`);
  }

  add(of: NumberedTable, old: number, now: number): void {
    this.#db.run('INSERT INTO temp.numbers (of, old, new) VALUES (?, ?, ?)', of, old, now);
  }

  get(of: NumberedTable, old: number): number | undefined {
    return this.#db.get<{ new: number }>('SELECT new FROM temp.numbers WHERE of = ? AND old = ?', of, old)
      ?.new;
  }

  /** The row of this ledger that this SQL finds among the earlier ones; of equal rows each stands for one. */
  takeEarlier(of: NumberedTable, sql: string, ...values: Value[]): number | undefined {
    const id = this.#db.get<{ id: number }>(`${sql} LIMIT 1`, ...values)?.id;
    if (id !== undefined) this.#db.run(`DELETE FROM temp.earlier_${of} WHERE id = ?`, id);
    return id;
  }

  /** The event may refer to one that comes after it. */
  addTwin(event: number, old: number): void {
    this.#db.run('INSERT INTO temp.twins (event, old) VALUES (?, ?)', event, old);
  }

  linkTwins(): void {
    this.#db.run(
      `UPDATE main.events SET twin = numbers.new FROM temp.twins CROSS JOIN temp.numbers
       WHERE events.id = twins.event AND numbers.of = 'events' AND numbers.old = twins.old AND events.twin IS NULL`,
    );
  }
}
