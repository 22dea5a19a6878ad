/** The files of the orders: what is known of each, and which are open, that is, may still change. */
import { findFileState } from '../catalog/states.ts';
import { correctPairings, type PairedFile } from './file-pairing.ts';
import { jsonList } from './json-list.ts';
import { orderIdIn } from './new-order.ts';
import type { Statement, Store, Value } from './store.ts';
import { Table } from './table.ts';

export interface FileRow {
  readonly seq: number;
  readonly id: string;
  readonly order_id: string;
  readonly url: string;
  readonly test: number;
  readonly state: string;
  readonly ended: '' | 'delivered' | 'unfinished';
  readonly title: string;
  readonly invoices: string;
  readonly ordered_at: string;
  readonly changed_at: string | null;
  readonly checked_at: string | null;
  readonly heard_at: string | null;
  readonly remark: string;
  /** What an event said of it since the service was asked; empty: nothing. */
  readonly hint: string;
  readonly answer: string | null;
  readonly skus: string | null;
  readonly names: string | null;
  readonly notes: string | null;
  readonly hold: string | null;
  /** Who ordered it; null or empty where it was not ordered with this ledger. */
  readonly user: string | null;
  readonly host: string | null;
  readonly job: string | null;
  /** What tells its audio from others in place of the URL; empty where the URL does. */
  readonly key: string;
  /** What the feed or the file of its audio says; see audio-details.ts. */
  readonly details: string;
}

export interface FileFilter {
  readonly states?: readonly string[];
  readonly order?: string | undefined;
  /** ISO 8601: ordered at this time or later. */
  readonly since?: string | undefined;
}

/** What the service said of a file. */
export interface ServiceAnswer {
  readonly id: string;
  readonly state: string;
  readonly title: string;
  readonly invoices: readonly string[];
  /** The audio that it was made of; empty where the service does not say. */
  readonly link: string;
  readonly answer: string;
  /** When it was asked (ISO 8601): an event that came since then is news. */
  readonly askedAt: string;
}

/** What is known of a file that an event names. */
export interface KnownFile {
  readonly title: string;
  /** The event that was made in place of the file's delivery, as long as that has not come. */
  readonly found: number | null;
}

const columns = `files.seq, files.id, ${orderIdIn('files.order_id')} AS order_id, files.url, files.test, files.state, files.ended, files.title,
  files.invoices, files.ordered_at, files.changed_at, files.checked_at, files.heard_at,
  files.remark, files.hint, files.answer, files.key, files.details,
  orders.skus, orders.names, orders.notes, orders.hold, orders."user", orders.host, orders.job`;
/** An event named the file since the service was last asked about it; as in the index. */
export const hasNews = "heard_at >= coalesce(checked_at, '')";
const tables = 'files LEFT JOIN orders ON orders.profile = files.profile AND orders.id = files.order_id';

/** A file before the service was asked. */
interface SeenBefore extends PairedFile {
  readonly state: string;
  readonly hold: string | null;
}

/** The order of a file, if it was on hold and a known state says that there is work again. */
function resumedOrder(before: SeenBefore | undefined, said: string): string[] {
  const state = findFileState(said);
  return before && before.hold !== null && state && !state.held ? [before.order_id] : [];
}

export class Files extends Table {
  get(id: string): Promise<FileRow | undefined> {
    return this.db.get<FileRow>(
      `SELECT ${columns} FROM ${tables} WHERE files.profile = ? AND files.id = ?`,
      this.profile,
      id,
    );
  }

  /** Those of these files that are in the ledger, by id. */
  async getAll(ids: readonly string[]): Promise<ReadonlyMap<string, FileRow>> {
    const rows = await this.db.all<FileRow>(
      `SELECT ${columns} FROM ${tables}
       WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))`,
      this.profile,
      jsonList(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** A page of files, newest first, older than the one at `before`. */
  page(filter: FileFilter, size: number, before = Number.MAX_SAFE_INTEGER): Promise<FileRow[]> {
    const { where, values } = this.#where(filter);
    return this.db.all<FileRow>(
      `SELECT ${columns} FROM ${tables} WHERE ${where} AND files.seq < ? ORDER BY files.seq DESC LIMIT ?`,
      ...values,
      before,
      size,
    );
  }

  async count(filter: FileFilter): Promise<number> {
    const { where, values } = this.#where(filter);
    const row = await this.db.get<{ n: number }>(`SELECT count(*) AS n FROM files WHERE ${where}`, ...values);
    return row?.n ?? 0;
  }

  async ofOrder(order: string): Promise<FileRow[]> {
    return (await this.page({ order }, 100_000)).reverse();
  }

  /** Whether the ledger has the order, with or without files. */
  async hasOrder(order: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM orders WHERE profile = ? AND id = ?';
    return (await this.db.get(sql, this.profile, order)) !== undefined;
  }

  /** Ids of the files that may still change, oldest first; test orders are never transcribed. */
  open(filter: FileFilter = {}): Promise<string[]> {
    const { where, values } = this.#where(filter);
    return this.fileIds(`${where} AND ended = '' AND test = 0`, ...values);
  }

  /** The same, then those that have ended and that an event named since: the service may say something else now. */
  async toRefresh(filter: FileFilter = {}): Promise<string[]> {
    const { where, values } = this.#where(filter);
    const named = await this.ids(
      `SELECT id FROM files WHERE ${where} AND ${hasNews} AND ended <> '' AND test = 0 ORDER BY heard_at`,
      ...values,
    );
    return (await this.open(filter)).concat(named);
  }

  /** Whether the service has said that the file is delivered; an event does not count. */
  async isDelivered(id: string): Promise<boolean> {
    const sql = "SELECT 1 FROM files WHERE profile = ? AND id = ? AND ended = 'delivered'";
    return (await this.db.get(sql, this.profile, id)) !== undefined;
  }

  /** Ids of delivered files of which this folder has at most a draft in this format, oldest first. */
  notDownloaded(ext: string, folder: string): Promise<string[]> {
    return this.fileIds(
      `profile = ? AND ended = 'delivered' AND test = 0 AND NOT EXISTS (
         SELECT 1 FROM downloads WHERE downloads.profile = files.profile AND file = files.id AND ext = ? AND folder = ?
           AND draft IS NULL)`,
      this.profile,
      ext,
      folder,
    );
  }

  /** Those of these files that are in the ledger. */
  async known(ids: readonly string[]): Promise<ReadonlyMap<string, KnownFile>> {
    const rows = await this.db.all<KnownFile & { id: string }>(
      'SELECT id, title, found FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))',
      this.profile,
      jsonList(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Those of these files that have ended, or that an event named since the service was last asked about them. */
  withNews(ids: readonly string[]): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))
       AND (ended <> '' OR ${hasNews})`,
      this.profile,
      jsonList(ids),
    );
  }

  /** Keeps what the service said of a file that was ordered here; gives the state before, if it was another. */
  async update(seen: ServiceAnswer): Promise<string | undefined> {
    return (await this.updateMany([seen]))[0];
  }

  /** The same for many, in one transaction: nothing waits for each of them. */
  updateMany(seen: readonly ServiceAnswer[]): Promise<ReadonlyArray<string | undefined>> {
    return this.db.transaction(async (db) => {
      const rows = await db.batch<SeenBefore>([this.#before(seen), ...this.#keeping(seen)]);
      const before = new Map(rows?.map((row) => [row.id, row]));
      const linked = seen.flatMap(({ id, link }) => {
        const file = before.get(id);
        return file ? [{ file, link: this.hide(link) }] : [];
      });
      await correctPairings(db, this.profile, linked);
      const resumed = seen.flatMap(({ id, state }) => resumedOrder(before.get(id), state));
      if (resumed.length) await this.#endHolds(db, resumed);
      return seen.map(({ id, state }) => {
        const previous = before.get(id)?.state;
        return previous === this.#stateName(state) ? undefined : previous;
      });
    });
  }

  #before(seen: readonly ServiceAnswer[]): Statement {
    return {
      sql: `SELECT files.id, files.order_id, files.url, files.key, files.details, files.state, orders.hold
        FROM ${tables}
        WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))`,
      values: [this.profile, jsonList(seen.map(({ id }) => id))],
      isResult: true,
    };
  }

  /** In the order of their ids, so that no two processes wait for each other. */
  #keeping(seen: readonly ServiceAnswer[]): Statement[] {
    const now = this.timestamp();
    const sorted = [...seen].sort((one, other) => (one.id < other.id ? -1 : 1));
    return sorted.map(({ id, state: said, title, invoices, answer, askedAt }) => {
      const state = this.#stateName(said);
      const asked = this.byItsClock(askedAt);
      return {
        sql: `UPDATE files SET state = ?, ended = ?, title = ?, invoices = coalesce(nullif(?, ''), invoices), answer = ?,
            checked_at = ?, looked_at = ?, due_since = CASE WHEN due_since = '' OR due_since > ? THEN due_since ELSE ? END,
            hint = CASE WHEN heard_at >= ? THEN hint ELSE '' END,
            changed_at = CASE WHEN state <> ? THEN ? ELSE changed_at END
          WHERE profile = ? AND id = ?`,
        values: [
          ...[state, findFileState(said)?.end ?? '', this.hide(title), invoices.join(','), this.hide(answer)],
          ...[asked, asked, asked, asked, asked, state, now, this.profile, id],
        ],
      };
    });
  }

  #stateName(said: string): string {
    return findFileState(said)?.name ?? this.hide(said);
  }

  /** Work on one of its files means that an order is not on hold any more, whoever said that it was. */
  #endHolds(db: Store, orders: readonly string[]): Promise<number> {
    return db.run(
      'UPDATE orders SET hold = NULL WHERE profile = ? AND id IN (SELECT value FROM json_each(?))',
      this.profile,
      jsonList(orders),
    );
  }

  /** Ids of all invoices that files name, of the newest files first. */
  async invoices(): Promise<string[]> {
    const rows = await this.db.all<{ invoices: string }>(
      "SELECT invoices FROM files WHERE profile = ? AND invoices <> '' ORDER BY seq DESC",
      this.profile,
    );
    return [...new Set(rows.flatMap(({ invoices }) => invoices.split(',')))];
  }

  /** All states that files are in. From one to the next by the index: DISTINCT would go through all files. */
  async states(): Promise<string[]> {
    const rows = await this.db.all<{ state: string }>(
      `WITH RECURSIVE found (state) AS (
         SELECT min(state) FROM files WHERE profile = ?
         UNION ALL
         SELECT (SELECT min(files.state) FROM files WHERE files.profile = ? AND files.state > found.state)
         FROM found WHERE found.state IS NOT NULL)
       SELECT state FROM found WHERE state IS NOT NULL`,
      this.profile,
      this.profile,
    );
    return rows.map(({ state }) => state);
  }

  #where({ states = [], order, since }: FileFilter): { where: string; values: Value[] } {
    const parts = ['files.profile = ?'];
    const values: Value[] = [this.profile];
    if (order !== undefined) {
      parts.push('files.order_id = ?');
      values.push(order);
    }
    if (states.length) {
      parts.push(`files.state IN (${states.map(() => '?').join(', ')})`);
      values.push(...states);
    }
    if (since !== undefined) {
      parts.push('files.ordered_at >= ?');
      values.push(since);
    }
    return { where: parts.join(' AND '), values };
  }
}
