/**
 * Events that no listener has shown yet, and the run that has to. An event leaves the table once it is shown, so that none
 * is passed over, in whatever order events come.
 */
import { type EventRow, eventColumns, eventTables, lastWithin } from './events.ts';
import { showsOf } from './runs.ts';
import { jsonList, Table } from './table.ts';

/** Of what is read at once. */
const PAGE = 500;
const PAGE_BYTES = 2 * 1024 * 1024;

const these = '(SELECT CAST(value AS BIGINT) FROM json_each(?))';

export class Unshown extends Table {
  /** For use within the transaction that adds the events. */
  add(events: readonly number[], run: number): Promise<number> {
    const sql = 'INSERT INTO unshown (event, run) SELECT CAST(value AS BIGINT), ? FROM json_each(?)';
    return this.db.run(sql, run, JSON.stringify(events));
  }

  /** Some of what a run has to show after an event, in the order of the numbers. */
  async next(run: number, after: number): Promise<EventRow[]> {
    const sizes = await this.db.all<{ id: number; bytes: number }>(
      `SELECT events.id, length(events.body) AS bytes FROM unshown JOIN events ON events.id = unshown.event
       WHERE unshown.run = ? AND unshown.event > ? ORDER BY unshown.event LIMIT ${PAGE}`,
      ...[run, after],
    );
    const last = lastWithin(sizes, PAGE_BYTES);
    if (!last) return [];
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} JOIN unshown ON unshown.event = events.id
       WHERE unshown.run = ? AND unshown.event > ? AND unshown.event <= ? ORDER BY unshown.event`,
      ...[run, after, last.id],
    );
  }

  /** These are shown, or not to be shown. */
  remove(events: readonly number[]): Promise<number> {
    return this.db.run(`DELETE FROM unshown WHERE event IN ${these}`, JSON.stringify(events));
  }

  /** Takes over what ended listeners that show the same events have not shown; gives the number of events. */
  takeOver(own: number, only: readonly string[], gone: readonly number[]): Promise<number> {
    return this.db.run(
      `UPDATE unshown SET run = ? WHERE run IN (
         SELECT id FROM runs WHERE profile = ? AND shows = ? AND id <> ?
         AND (ended_at IS NOT NULL OR id IN ${these}))`,
      ...[own, this.profile, showsOf(only), own, JSON.stringify(gone)],
    );
  }

  /** How many events a run leaves to the next listener, of those that are to be shown. */
  async count(run: number, only: readonly string[]): Promise<number> {
    const wanted = only.length ? 'AND events.event IN (SELECT value FROM json_each(?))' : '';
    const row = await this.db.get<{ n: number }>(
      `SELECT count(*) AS n FROM unshown JOIN events ON events.id = unshown.event WHERE unshown.run = ? ${wanted}`,
      ...[run, ...(only.length ? [jsonList(only)] : [])],
    );
    return row?.n ?? 0;
  }
}
