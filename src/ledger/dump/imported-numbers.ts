/** What an import must remember of its rows: in a scratch database, because there may be a great many. */
import type { Database, Value } from '../../lib/sqlite.ts';
import type { NumberedTable, Store } from '../stores/store.ts';

const PAGE_ROWS = 1_000;

/** Rows without an id made by a client: by what they are told from each other, in the order of their numbers. */
const earlier = {
  events: { columns: ['profile', 'received_at', 'event', 'audiofile'], where: 'arrival IS NULL' },
  runs: { columns: ['profile', 'started_at', 'host', 'pid'], where: '1 = 1' },
} as const;

type EarlierTable = keyof typeof earlier;

export class ImportedNumbers {
  readonly #scratch: Database;

  constructor(scratch: Database) {
    this.#scratch = scratch;
    scratch.exec(`
      DROP TABLE IF EXISTS numbers;
      DROP TABLE IF EXISTS twins;
      DROP TABLE IF EXISTS touched;
      DROP TABLE IF EXISTS shown;
      CREATE TABLE numbers (of TEXT, old INTEGER, new INTEGER, PRIMARY KEY (of, old)) WITHOUT ROWID;
      CREATE TABLE twins (event INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TABLE shown (run INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TABLE touched (of TEXT, profile TEXT, id TEXT, PRIMARY KEY (of, profile, id)) WITHOUT ROWID;`);
    for (const [table, { columns }] of Object.entries(earlier))
      scratch.exec(`
        DROP TABLE IF EXISTS earlier_${table};
        CREATE TABLE earlier_${table} (id INTEGER PRIMARY KEY, ${columns.join(', ')});
        CREATE INDEX earlier_${table}_by_columns ON earlier_${table} (${columns.join(', ')});`);
  }

  /** Learns which rows the ledger has that are told only by what they say. Stops after each page. */
  async *learn(db: Store, profiles: readonly string[]): AsyncGenerator<void> {
    for (const [table, { columns, where }] of Object.entries(earlier)) {
      for (let last = 0; ; ) {
        const page = await db.all<Record<string, Value>>(
          `SELECT id, ${columns.join(', ')} FROM ${table}
           WHERE ${where} AND profile IN (SELECT value FROM json_each(?)) AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
          JSON.stringify(profiles),
          last,
        );
        const sql = `INSERT INTO earlier_${table} VALUES (?, ${columns.map(() => '?').join(', ')})`;
        for (const row of page) this.#scratch.run(sql, ...Object.values(row));
        yield;
        if (page.length < PAGE_ROWS) break;
        last = Number(page.at(-1)?.id);
      }
    }
  }

  /** Does the work, or leaves all as it was. */
  async undoable<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#scratch.exec('SAVEPOINT numbers');
    try {
      return await work();
    } catch (error) {
      this.#scratch.exec('ROLLBACK TO numbers');
      throw error;
    } finally {
      this.#scratch.exec('RELEASE numbers');
    }
  }

  add(of: NumberedTable, old: number, now: number): void {
    this.#scratch.run('INSERT INTO numbers (of, old, new) VALUES (?, ?, ?)', of, old, now);
  }

  get(of: NumberedTable, old: number): number | undefined {
    const sql = 'SELECT new FROM numbers WHERE of = ? AND old = ?';
    return this.#scratch.get<{ new: number }>(sql, of, old)?.new;
  }

  /** What has to be derived anew, when all rows are there. */
  touch(of: 'purchases' | 'files', profile: string, ids: readonly string[]): void {
    for (const id of ids)
      this.#scratch.run('INSERT OR IGNORE INTO touched (of, profile, id) VALUES (?, ?, ?)', of, profile, id);
  }

  /** In pages, each of one profile. */
  *touched(of: 'purchases' | 'files'): Generator<{ readonly profile: string; readonly ids: string[] }> {
    const profiles = this.#scratch.all<{ profile: string }>(
      'SELECT DISTINCT profile FROM touched WHERE of = ? ORDER BY profile',
      of,
    );
    for (const { profile } of profiles)
      for (let last = ''; ; ) {
        const page = this.#scratch.all<{ id: string }>(
          `SELECT id FROM touched WHERE of = ? AND profile = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
          ...[of, profile, last],
        );
        if (page.length) yield { profile, ids: page.map(({ id }) => id) };
        if (page.length < PAGE_ROWS) break;
        last = page.at(-1)?.id ?? last;
      }
  }

  /** The rows of the ledger that may be this one of the export, and stand for no other one. */
  earlier(of: EarlierTable, fields: Readonly<Record<string, Value>>): number[] {
    const { columns } = earlier[of];
    const rows = this.#scratch.all<{ id: number }>(
      `SELECT id FROM earlier_${of} WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')} ORDER BY id`,
      ...columns.map((column) => fields[column] ?? null),
    );
    return rows.map(({ id }) => id);
  }

  /** Of equal rows each stands for one. */
  take(of: EarlierTable, id: number): void {
    this.#scratch.run(`DELETE FROM earlier_${of} WHERE id = ?`, id);
  }

  /** The events up to this one were shown by the listener that had to. */
  addShown(run: number, old: number): void {
    this.#scratch.run('INSERT INTO shown (run, old) VALUES (?, ?)', run, old);
  }

  /** Writes what listeners still have to show: what comes before the first of that under its new number is shown. */
  async linkShown(db: Store): Promise<void> {
    const rows = this.#scratch.all<{ run: number; upTo: number | null }>(
      `SELECT run, (SELECT min(new) - 1 FROM numbers WHERE of = 'events' AND numbers.old > shown.old) AS upTo FROM shown`,
    );
    for (const { run, upTo } of rows)
      await db.run('UPDATE runs SET shown_up_to = CAST(? AS BIGINT) WHERE id = ?', upTo, run);
  }

  /** The event may refer to one that comes after it. */
  addTwin(event: number, old: number): void {
    this.#scratch.run('INSERT INTO twins (event, old) VALUES (?, ?)', event, old);
  }

  /** Writes which events refer to each other, under their new numbers. */
  async linkTwins(db: Store): Promise<void> {
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const page = this.#scratch.all<{ event: number; twin: number }>(
        `SELECT event, numbers.new AS twin FROM twins JOIN numbers ON numbers.of = 'events' AND numbers.old = twins.old
         WHERE event > ? ORDER BY event LIMIT ${PAGE_ROWS}`,
        last,
      );
      if (page.length === 0) return;
      await db.run(
        `UPDATE events SET twin = CAST(column2 AS BIGINT) FROM (VALUES ${page.map(() => '(?, ?)').join(', ')}) AS given
         WHERE events.id = CAST(column1 AS BIGINT) AND events.twin IS NULL`,
        ...page.flatMap(({ event, twin }) => [event, twin]),
      );
      last = page.at(-1)?.event ?? last;
    }
  }
}
