/** What an import must remember of its rows: in a scratch database, because there may be a great many. */
import type { Database } from '../../lib/sqlite.ts';
import type { NumberedTable, Store } from '../stores/store.ts';

const PAGE_ROWS = 1_000;

export class ImportedNumbers {
  readonly #scratch: Database;

  constructor(scratch: Database) {
    this.#scratch = scratch;
    // A transaction that met another one is done again.
    for (const table of ['numbers', 'twins', 'shown', 'touched'])
      scratch.exec(`DROP TABLE IF EXISTS ${table}`);
    scratch.exec(`
      CREATE TABLE numbers (of TEXT, old INTEGER, new INTEGER, PRIMARY KEY (of, old)) WITHOUT ROWID;
      CREATE INDEX numbers_by_new ON numbers (of, new);
      CREATE TABLE twins (event INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TABLE shown (run INTEGER PRIMARY KEY, old INTEGER NOT NULL);
      CREATE TABLE touched (of TEXT, profile TEXT, id TEXT, PRIMARY KEY (of, profile, id)) WITHOUT ROWID;`);
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

  /** Whether a row of the ledger stands for one of the export. */
  isTaken(of: NumberedTable, now: number): boolean {
    return this.#scratch.get('SELECT 1 FROM numbers WHERE of = ? AND new = ?', of, now) !== undefined;
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
