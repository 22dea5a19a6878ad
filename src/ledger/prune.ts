/**
 * Removes received history: events, what was done about them, and the listeners that did it. Orders, files, attempts and
 * downloads stay for good: they keep people from buying twice.
 */
import { dumpTables } from './dump-tables.ts';
import type { Ledger } from './ledger.ts';
import { Runs } from './runs.ts';
import type { LedgerFile, Store } from './stores/store.ts';
import { Table } from './table.ts';

export interface PruneCounts {
  readonly events: number;
  readonly actions: number;
  readonly runs: number;
  /** Events that are old enough, but were not shown, have actions to be done or stand in for a delivery that has not come. */
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
    WHERE files.profile = events.profile AND files.id = events.audiofile AND files.found = events.id)
  AND events.listener IS NULL`;
const isDueRun = `profile = ? AND coalesce(ended_at, seen_at) < ?
  AND NOT EXISTS (SELECT 1 FROM events WHERE events.listener = runs.id)`;
const areThese = 'IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

/** Every profile that has rows. */
export async function profilesIn({ db }: Ledger): Promise<string[]> {
  const all = ['purchases', 'files', 'downloads', 'events', 'runs'].map(
    (table) => `SELECT profile FROM ${table}`,
  );
  const rows = await db.all<{ profile: string }>(`${all.join(' UNION ')} ORDER BY profile`);
  return rows.map(({ profile }) => profile);
}

/** Deletes everything of this profile, but the runs of its listeners. */
export async function clearLedger({ db, profile }: Ledger): Promise<void> {
  await db.transaction(async (store) => {
    await store.run('DELETE FROM actions WHERE event IN (SELECT id FROM events WHERE profile = ?)', profile);
    // What others refer to goes last.
    for (const { name, ofProfile } of dumpTables.toReversed())
      await store.run(`DELETE FROM ${name} WHERE ${ofProfile}`, profile);
  });
}

export class Pruning extends Table {
  readonly #runs: Runs;
  readonly #file: LedgerFile | undefined;

  constructor(ledger: Ledger, profile = ledger.profile) {
    super({ ...ledger, profile });
    this.#runs = new Runs(this.context);
    this.#file = ledger.db.file;
  }

  /** What would be removed. */
  async count(before: string): Promise<PruneCounts> {
    const value = async (sql: string): Promise<number> =>
      (await this.db.get<{ n: number }>(sql, this.profile, before))?.n ?? 0;
    const due = await value(`SELECT count(*) AS n FROM events WHERE ${isDue}`);
    const events = await value(`SELECT count(*) AS n FROM events WHERE ${isDue} AND ${isFree}`);
    const actions = await value(
      `SELECT count(*) AS n FROM events JOIN actions ON actions.event = events.id WHERE ${isDue} AND ${isFree}`,
    );
    // Those that are left without an action when the others are removed.
    const runs = await this.#dueRuns(
      before,
      `SELECT 1 FROM actions JOIN events ON events.id = actions.event
       WHERE actions.run = runs.id AND NOT (${isDue} AND ${isFree})`,
      [this.profile, before],
    );
    return { events, actions, runs: runs.length, kept: due - events };
  }

  /**
   * Removes older events in short transactions; after each the caller may do something else. Unless `whole`, it ends at
   * the first of them that finds no old event: they are numbered as they come.
   */
  async *removeEvents(
    before: string,
    { whole, atOnce = EVENTS_AT_ONCE }: RemoveOptions,
  ): AsyncGenerator<PruneCounts> {
    for (let last = 0; ; ) {
      const from = last;
      const { read, due, ...step } = await this.db.transaction((db) =>
        this.#removeSome(db, from, before, atOnce),
      );
      yield step.counts;
      last = step.last;
      if (read < atOnce || (!whole && due === 0)) return;
    }
  }

  async #removeSome(db: Store, after: number, before: string, limit: number): Promise<Removed> {
    const rows = await db.all<{ id: number; due: number; free: number }>(
      `SELECT id, CASE WHEN received_at < ? THEN 1 ELSE 0 END AS due,
         CASE WHEN received_at < ? AND ${isFree} THEN 1 ELSE 0 END AS free
       FROM events WHERE profile = ? AND id > ? ORDER BY id LIMIT ?`,
      before,
      before,
      this.profile,
      after,
      limit,
    );
    const ids = JSON.stringify(rows.filter(({ free }) => free).map(({ id }) => id));
    const remove = (table: string, column: string): Promise<number> =>
      db.run(`DELETE FROM ${table} WHERE ${column} ${areThese}`, ids);
    const actions = await remove('actions', 'event');
    await remove('event_files', 'event');
    const events = await remove('events', 'id');
    const due = rows.filter((row) => row.due).length;
    const last = rows.at(-1)?.id ?? after;
    return { counts: { events, actions, runs: 0, kept: due - events }, read: rows.length, due, last };
  }

  /** Removes the listeners that ended before and that nothing refers to; gives their number. */
  async removeRuns(before: string): Promise<number> {
    const due = await this.#dueRuns(before, 'SELECT 1 FROM actions WHERE actions.run = runs.id');
    const ids = JSON.stringify(due);
    // First what they did for others: if their numbers are given again, it would count as that of a living one.
    await this.db.run(`DELETE FROM leader_tasks WHERE run ${areThese}`, ids);
    return this.db.run(`DELETE FROM runs WHERE id ${areThese}`, ids);
  }

  /** Listeners that ended before, and for which this SQL finds no row that needs them. */
  async #dueRuns(before: string, needing: string, values: readonly string[] = []): Promise<number[]> {
    const running = await this.#runs.running();
    const rows = await this.db.all<{ id: number }>(
      `SELECT id FROM runs WHERE ${isDueRun} AND NOT EXISTS (${needing})`,
      ...[this.profile, before, ...values],
    );
    return rows.map(({ id }) => id).filter((id) => !running.includes(id));
  }

  /** Gives unused pages back to the disk, in short steps, if there are more than `moreThan`. */
  async *shrink(moreThan = 0): AsyncGenerator<void> {
    const file = this.#file;
    if (!file) return;
    const freePages = (): Promise<number> =>
      file.alone(
        (database) => database.get<{ freelist_count: number }>('PRAGMA freelist_count')?.freelist_count ?? 0,
      );
    let before = await freePages();
    if (before <= moreThan) return;
    while (before > 0) {
      await file.alone((database) => database.exec(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`));
      yield;
      const now = await freePages();
      // A file that another program has written anew may give none back.
      if (now >= before) break;
      before = now;
    }
    // The file gets smaller only with this. Where another process reads just now, a later one does it.
    await file.alone((database) => database.get('PRAGMA wal_checkpoint(TRUNCATE)'));
  }
}
