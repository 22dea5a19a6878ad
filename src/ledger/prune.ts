/**
 * Removes received history: events, what was done about them, and the listeners that did it. Orders, files, attempts and
 * downloads stay for good: they keep people from buying twice.
 */
import type { Database } from '../lib/sqlite.ts';
import { Runs } from './runs.ts';
import { Table, type TableContext } from './table.ts';

export interface PruneCounts {
  readonly events: number;
  readonly actions: number;
  readonly runs: number;
  /** Events that are old enough, but have actions to be done or stand in for a delivery that has not come. */
  readonly kept: number;
}

/** Events a transaction: some milliseconds, in which no listener can write. */
const WINDOW = 500;
/** Pages a transaction that are given back to the disk. */
const PAGES_PER_STEP = 256;

const isDue = 'events.profile = ? AND events.received_at < ?';
const isFree = `NOT EXISTS (SELECT 1 FROM actions WHERE actions.event = events.id AND actions.status = 'pending')
  AND NOT EXISTS (SELECT 1 FROM files
    WHERE files.profile = events.profile AND files.id = events.audiofile AND files.found = events.id)`;
// A number may be given again, and the webhook that its run had borrowed would count as that of a living one.
const isDueRun = `profile = ? AND coalesce(ended_at, seen_at) < ?
  AND NOT EXISTS (SELECT 1 FROM webhook_loans WHERE webhook_loans.run = runs.id)`;

export class Pruning extends Table {
  readonly #runs: Runs;
  readonly #database: Database;

  constructor(context: TableContext, database: Database) {
    super(context);
    this.#runs = new Runs(context);
    this.#database = database;
  }

  /** What would be removed. */
  count(before: string): PruneCounts {
    const value = (sql: string): number => this.db.get<{ n: number }>(sql, this.profile, before)?.n ?? 0;
    const due = value(`SELECT count(*) AS n FROM events WHERE ${isDue}`);
    const events = value(`SELECT count(*) AS n FROM events WHERE ${isDue} AND ${isFree}`);
    const actions = value(
      `SELECT count(*) AS n FROM events JOIN actions ON actions.event = events.id WHERE ${isDue} AND ${isFree}`,
    );
    // Those that are left without an action when the others are removed.
    const runs = this.#dueRuns(
      before,
      `SELECT DISTINCT run FROM actions JOIN events ON events.id = actions.event WHERE NOT (${isDue} AND ${isFree})`,
    ).length;
    return { events, actions, runs, kept: due - events };
  }

  /**
   * Removes what is older, in short transactions; after each the caller may do something else. Unless
   * `whole`, it ends at the first window without an old event: events are numbered as they come.
   */
  *remove(before: string, { whole }: { readonly whole: boolean }): Generator<PruneCounts, void> {
    const last = this.db.get<{ n: number | null }>('SELECT max(id) AS n FROM events')?.n ?? 0;
    for (let from = this.#firstId(); from <= last; from += WINDOW) {
      const step = this.#removeWindow(from, before);
      yield step;
      if (!whole && step.events + step.kept === 0) break;
    }
    yield { events: 0, actions: 0, runs: this.#removeRuns(before), kept: 0 };
  }

  #firstId(): number {
    return this.db.get<{ n: number | null }>('SELECT min(id) AS n FROM events')?.n ?? 1;
  }

  #removeWindow(from: number, before: string): PruneCounts {
    return this.db.transaction(() => {
      const rows = this.db.all<{ id: number; free: number }>(
        `SELECT id, ${isFree} AS free FROM events WHERE ${isDue} AND id >= ? AND id < ?`,
        this.profile,
        before,
        from,
        from + WINDOW,
      );
      const ids = JSON.stringify(rows.filter(({ free }) => free).map(({ id }) => id));
      const remove = (table: string, column: string): number =>
        this.db.run(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`, ids);
      const actions = remove('actions', 'event');
      remove('event_files', 'event');
      const events = remove('events', 'id');
      return { events, actions, runs: 0, kept: rows.length - events };
    });
  }

  #removeRuns(before: string): number {
    const due = this.#dueRuns(before, 'SELECT DISTINCT run FROM actions');
    // Without the check of the foreign key, which would read all actions once for each run: none of them has one.
    this.#database.exec('PRAGMA foreign_keys = OFF');
    try {
      const ids = JSON.stringify(due);
      return this.db.run('DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?))', ids);
    } finally {
      this.#database.exec('PRAGMA foreign_keys = ON');
    }
  }

  /** Listeners that ended before, and are not among those that this SQL gives. */
  #dueRuns(before: string, needed: string): number[] {
    const running = this.#runs.running();
    const values = [this.profile, before, ...(needed.includes('?') ? [this.profile, before] : [])];
    return this.db
      .all<{ id: number }>(`SELECT id FROM runs WHERE ${isDueRun} AND id NOT IN (${needed})`, ...values)
      .map(({ id }) => id)
      .filter((id) => !running.includes(id));
  }

  /** Gives pages that are no longer used back to the disk, in short steps. */
  *shrink(): Generator<void> {
    const freePages = (): number =>
      this.db.get<{ freelist_count: number }>('PRAGMA freelist_count')?.freelist_count ?? 0;
    for (let before = freePages(); before > 0; ) {
      this.#database.exec(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`);
      yield;
      const now = freePages();
      // Ledgers of earlier versions give no pages back before they are written anew.
      if (now >= before) break;
      before = now;
    }
    this.#emptyLog();
  }

  /** The file gets smaller only with this. Where another process reads just now, a later one does it. */
  #emptyLog(): void {
    this.#database.withoutBlocking(() => this.#database.get('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  /** Whether the file can get smaller by `shrink`. */
  get canShrink(): boolean {
    return this.db.get<{ auto_vacuum: number }>('PRAGMA auto_vacuum')?.auto_vacuum === 2;
  }

  /** Writes the whole file anew, in which no other process can write meanwhile; from then on it can shrink. */
  rewrite(): void {
    this.#database.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
  }
}
