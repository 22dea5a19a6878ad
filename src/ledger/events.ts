/**
 * Every delivery as it came, and events made by us for deliveries that did not come. Of an event only
 * `duplicate` ever changes, and its mark `listener`: the run that has to show it, null once it is shown. Each carries its
 * own mark, so that none is passed over, in whatever order events come.
 */

import { AUDIO_COLUMNS, WITH_AUDIO } from './pairing.ts';
import type { AudioRow } from './purchase.ts';
import { showsOf } from './runs.ts';
import { Conditions, jsonList, spellings, Table } from './table.ts';
import { lastWithin } from './waiting.ts';

/** `test` is the delivery that a listener asked for itself; `found` was made by us for an event that did not come. */
export type Source = 'received' | 'test' | 'found';

export interface EventRow extends Partial<AudioRow> {
  readonly id: number;
  readonly source: Source;
  readonly received_at: string;
  readonly remote: string;
  readonly content_type: string;
  readonly body: Uint8Array;
  readonly event: string;
  readonly version: string;
  readonly audiofile: string;
  readonly order_id: string;
  /** Of its file, if the ledger knows it. */
  readonly title: string | null;
  readonly key: string | null;
  /** Of a delivery: the event that we made before it came. Of an event that we made: the delivery that came later. */
  readonly duplicate: number | null;
  /** The id that a delivery got when it came in; null for an event that we made. */
  readonly arrival: string | null;
}

export interface EventFilter {
  readonly events?: readonly string[];
  readonly file?: string | undefined;
  readonly order?: string | undefined;
  /** ISO 8601: received at this time or later. */
  readonly since?: string | undefined;
  /** Events that we made and whose delivery has not come since, instead of deliveries. */
  readonly found?: boolean;
  /** Each must be in the body, as it is or as a form writes it, or in the name, file or order of the event. */
  readonly words?: readonly string[];
}

export const eventColumns = `events.id, events.source, events.received_at, events.remote, events.content_type, events.body,
  events.event, events.version, events.audiofile, events.order_id, events.duplicate, events.arrival, files.title,
  coalesce(audios.key, '') AS key, ${AUDIO_COLUMNS}`;
export const eventTables = `events LEFT JOIN files ON files.profile = events.profile AND files.id = events.audiofile ${WITH_AUDIO}`;

/** A line break between them, so that no word is found across two. */
const SEARCHED = `(events.event || '\n' || events.audiofile || '\n' || events.order_id || '\n' ||
  CAST(events.body AS TEXT))`;

const foundOnly = "events.source = 'found' AND events.duplicate IS NULL";

const insert = `INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version,
  audiofile, order_id, arrival, listener) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Of what is read at once to be shown. */
const PAGE = 500;
const PAGE_BYTES = 2 * 1024 * 1024;

const these = '(SELECT CAST(value AS BIGINT) FROM json_each(?))';

export class Events extends Table {
  /** Numbers for new events; for use within a transaction. */
  newIds(count: number): Promise<number[]> {
    return this.db.newIds('events', count);
  }

  /**
   * Until the transaction ends, no other one adds events. So numbers become visible in their order, and whatever reads
   * on from a number skips none.
   */
  lock(): Promise<void> {
    return this.db.lock('events');
  }

  /** Keeps events under their new numbers, each marked as not shown yet by this run; for use within a transaction. */
  async add(rows: readonly EventRow[], run: number): Promise<void> {
    await Promise.all(
      rows.map((row) =>
        this.db.run(
          insert,
          ...[row.id, this.profile, row.source, row.received_at, row.remote, row.content_type, row.body],
          ...[row.event, row.version, row.audiofile, row.order_id, row.arrival],
          // A test is not to be shown.
          row.source === 'test' ? null : run,
        ),
      ),
    );
  }

  /** An event may be about more files than the one it names first. */
  addFile(event: number, file: string): Promise<number> {
    const sql = 'INSERT INTO event_files (audiofile, event) VALUES (?, ?) ON CONFLICT DO NOTHING';
    return this.db.run(sql, file, event);
  }

  get(id: number): Promise<EventRow | undefined> {
    return this.db.get<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} WHERE events.profile = ? AND events.id = ?`,
      this.profile,
      id,
    );
  }

  /** Those of these deliveries that the ledger has. */
  async ofArrivals(arrivals: readonly string[]): Promise<EventRow[]> {
    if (arrivals.length === 0) return [];
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} WHERE events.profile = ? AND events.arrival IS NOT NULL
       AND events.arrival IN (SELECT value FROM json_each(?)) ORDER BY events.id`,
      this.profile,
      jsonList(arrivals),
    );
  }

  /** A page of events, newest first, older than `before`; without the `skipped` newest of them. */
  page(
    filter: EventFilter,
    size: number,
    before = Number.MAX_SAFE_INTEGER,
    skipped = 0,
  ): Promise<EventRow[]> {
    const { where, values } = this.#where(filter);
    const order = 'ORDER BY events.id DESC LIMIT ? OFFSET ?';
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} WHERE ${where} AND events.id < ? ${order}`,
      ...values,
      before,
      size,
      skipped,
    );
  }

  /** Events newer than `after`, oldest first. */
  following(filter: EventFilter, after: number, size: number): Promise<EventRow[]> {
    const { where, values } = this.#where(filter);
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} WHERE ${where} AND events.id > ? ORDER BY events.id LIMIT ?`,
      ...values,
      after,
      size,
    );
  }

  /** Those of these names that events of the ledger have. */
  async withNames(names: readonly string[]): Promise<ReadonlySet<string>> {
    const has = async (name: string): Promise<boolean> =>
      (await this.db.get(
        'SELECT 1 FROM events WHERE profile = ? AND event = ? LIMIT 1',
        this.profile,
        name,
      )) !== undefined;
    const kept = await Promise.all(names.map(has));
    return new Set(names.filter((_, at) => kept[at]));
  }

  /** The number of the latest one. */
  async latest(): Promise<number> {
    const sql = 'SELECT coalesce(max(id), 0) AS id FROM events WHERE profile = ?';
    return (await this.db.get<{ id: number }>(sql, this.profile))?.id ?? 0;
  }

  /** The first of a name after a number. */
  async firstAfter(n: number, name: string): Promise<number | undefined> {
    const sql = 'SELECT min(id) AS id FROM events WHERE profile = ? AND id > ? AND event = ?';
    return (await this.db.get<{ id: number | null }>(sql, this.profile, n, name))?.id ?? undefined;
  }

  /** Some of what a run has to show after an event, in the order of the numbers. */
  async toShow(run: number, after: number): Promise<EventRow[]> {
    const sizes = await this.db.all<{ id: number; bytes: number }>(
      `SELECT id, length(body) AS bytes FROM events WHERE listener = ? AND id > ? ORDER BY id LIMIT ${PAGE}`,
      ...[run, after],
    );
    const last = lastWithin(sizes, PAGE_BYTES);
    if (!last) return [];
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables}
       WHERE events.listener = ? AND events.id > ? AND events.id <= ? ORDER BY events.id`,
      ...[run, after, last.id],
    );
  }

  /** These are shown, or not to be shown. */
  markShown(events: readonly number[]): Promise<number> {
    return this.db.run(`UPDATE events SET listener = NULL WHERE id IN ${these}`, JSON.stringify(events));
  }

  /** Takes over what ended listeners that show the same events have not shown; gives the number of events. */
  takeOver(run: number, only: readonly string[], gone: readonly number[]): Promise<number> {
    return this.db.run(
      `UPDATE events SET listener = ? WHERE listener IN (
         SELECT id FROM runs WHERE profile = ? AND shows = ? AND id <> ?
         AND (ended_at IS NOT NULL OR id IN ${these}))`,
      ...[run, this.profile, showsOf(only), run, JSON.stringify(gone)],
    );
  }

  /** Deliveries that a run has not shown, or not done everything about. */
  unfinished(run: number): Promise<EventRow[]> {
    return this.db.all<EventRow>(
      `SELECT ${eventColumns} FROM ${eventTables} WHERE events.source = 'received' AND (events.listener = ?
         OR events.id IN (SELECT event FROM actions WHERE run = ? AND status = 'pending')) ORDER BY events.id`,
      ...[run, run],
    );
  }

  /** How many events a run leaves to the next listener, of those that are to be shown. */
  async countToShow(run: number, only: readonly string[]): Promise<number> {
    const wanted = only.length ? 'AND event IN (SELECT value FROM json_each(?))' : '';
    const sql = `SELECT count(*) AS n FROM events WHERE listener = ? ${wanted}`;
    const row = await this.db.get<{ n: number }>(sql, run, ...(only.length ? [jsonList(only)] : []));
    return row?.n ?? 0;
  }

  async count(filter: EventFilter): Promise<number> {
    const { where, values } = this.#where(filter);
    const sql = `SELECT count(*) AS n FROM events WHERE ${where}`;
    return (await this.db.get<{ n: number }>(sql, ...values))?.n ?? 0;
  }

  #where({ events = [], file, order, since, found = false, words = [] }: EventFilter): Conditions {
    const all = new Conditions()
      .add('events.profile = ?', this.profile)
      .add(found ? foundOnly : "events.source <> 'found'");
    if (events.length) all.add(`events.event IN (${events.map(() => '?').join(', ')})`, ...events);
    if (file !== undefined)
      all.add(
        `events.id IN (SELECT id FROM events WHERE audiofile = ? AND audiofile <> ''
          UNION ALL SELECT event FROM event_files WHERE audiofile = ?)`,
        ...[file, file],
      );
    if (order !== undefined) all.add("events.order_id = ? AND events.order_id <> ''", order);
    if (since !== undefined) all.add('events.received_at >= ?', since);
    for (const word of words)
      all.addWord(SEARCHED, [...spellings(word), encodeURIComponent(word).toLowerCase()]);
    return all;
  }
}
