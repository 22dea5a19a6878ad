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

export interface RemoveOptions {
  readonly whole: boolean;
  /** Events a transaction. */
  readonly atOnce?: number;
}

interface Removed {
  readonly counts: PruneCounts;
  /** How many events were looked at, how many of them are old, and which was the last. */
  readonly read: number;
  readonly due: number;
  readonly last: number;
}

/** Some milliseconds, in which no listener can write. */
const EVENTS_AT_ONCE = 500;
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
   * Removes older events in short transactions; after each the caller may do something else. Unless `whole`, it ends at
   * the first of them that finds no old event: they are numbered as they come.
   */
  *removeEvents(before: string, { whole, atOnce = EVENTS_AT_ONCE }: RemoveOptions): Generator<PruneCounts> {
    for (let last = 0; ; ) {
      const { read, due, ...step } = this.db.transaction(() => this.#removeSome(last, before, atOnce));
      yield step.counts;
      last = step.last;
      if (read < atOnce || (!whole && due === 0)) return;
    }
  }

  #removeSome(after: number, before: string, limit: number): Removed {
    const rows = this.db.all<{ id: number; due: number; free: number }>(
      `SELECT id, received_at < ? AS due, CASE WHEN received_at < ? THEN ${isFree} ELSE 0 END AS free
       FROM events WHERE profile = ? AND id > ? ORDER BY id LIMIT ?`,
      before,
      before,
      this.profile,
      after,
      limit,
    );
    const ids = JSON.stringify(rows.filter(({ free }) => free).map(({ id }) => id));
    const remove = (table: string, column: string): number =>
      this.db.run(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`, ids);
    const actions = remove('actions', 'event');
    remove('event_files', 'event');
    const events = remove('events', 'id');
    const due = rows.filter((row) => row.due).length;
    const last = rows.at(-1)?.id ?? after;
    return { counts: { events, actions, runs: 0, kept: due - events }, read: rows.length, due, last };
  }

  /** Removes the listeners that ended before and that nothing refers to; gives their number. */
  removeRuns(before: string): number {
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

  /** Gives unused pages back to the disk, in short steps, if there are more than `moreThan`. */
  *shrink(moreThan = 0): Generator<void> {
    const freePages = (): number =>
      this.db.get<{ freelist_count: number }>('PRAGMA freelist_count')?.freelist_count ?? 0;
    let before = freePages();
    if (before <= moreThan) return;
    while (before > 0) {
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
