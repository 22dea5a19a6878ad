/** The files of the orders: what is known of each, and which are open, that is, may still change. */
import { findFileState } from '../catalog/states.ts';
import { correctPairing, type PairedFile } from './file-pairing.ts';
import type { Store, Value } from './store.ts';
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

const columns = `files.seq, files.id, files.order_id, files.url, files.test, files.state, files.ended, files.title,
  files.invoices, files.ordered_at, files.changed_at, files.checked_at, files.heard_at,
  files.remark, files.hint, files.answer, files.key,
  orders.skus, orders.names, orders.notes, orders.hold, orders."user", orders.host, orders.job`;
/** An event named the file since the service was last asked about it; as in the index. */
const hasNews = "heard_at >= coalesce(checked_at, '')";
const tables = 'files LEFT JOIN orders ON orders.profile = files.profile AND orders.id = files.order_id';

export class Files extends Table {
  get(id: string): Promise<FileRow | undefined> {
    return this.db.get<FileRow>(
      `SELECT ${columns} FROM ${tables} WHERE files.profile = ? AND files.id = ?`,
      this.profile,
      id,
    );
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
    return this.ids(
      `SELECT id FROM files WHERE ${where} AND ended = '' AND test = 0 ORDER BY seq`,
      ...values,
    );
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
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND ended = 'delivered' AND test = 0 AND NOT EXISTS (
           SELECT 1 FROM downloads WHERE downloads.profile = files.profile AND file = files.id AND ext = ? AND folder = ?
             AND draft IS NULL)
         ORDER BY seq`,
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
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Those of these files that have ended, or that an event named since the service was last asked about them. */
  withNews(ids: readonly string[]): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))
       AND (ended <> '' OR ${hasNews})`,
      this.profile,
      JSON.stringify(ids),
    );
  }

  /**
   * Files to ask the service about: first those that an event named, ended or not, then open ones that it was not asked
   * about since `before`; none of `except`.
   */
  async dueForRefresh(before: string, limit: number, except: readonly string[]): Promise<string[]> {
    const rest = 'AND test = 0 AND id NOT IN (SELECT value FROM json_each(?))';
    const named = await this.ids(
      `SELECT id FROM files WHERE profile = ? AND ${hasNews} ${rest} ORDER BY heard_at LIMIT ?`,
      this.profile,
      JSON.stringify(except),
      limit,
    );
    if (before === '' || named.length === limit) return named;
    const others = await this.ids(
      `SELECT id FROM files WHERE profile = ? AND ended = '' AND coalesce(checked_at, '') < ? ${rest}
       ORDER BY coalesce(checked_at, '') LIMIT ?`,
      this.profile,
      this.byItsClock(before),
      JSON.stringify([...except, ...named]),
      limit - named.length,
    );
    return [...named, ...others];
  }

  /** Keeps what the service said of a file that was ordered here; gives the state before, if it was another. */
  update(seen: ServiceAnswer): Promise<string | undefined> {
    return this.db.transaction(async (db) => {
      const before = await db.get<PairedFile & { state: string; hold: string | null }>(
        `SELECT files.id, files.order_id, files.url, files.key, files.state, orders.hold FROM ${tables}
         WHERE files.profile = ? AND files.id = ?`,
        this.profile,
        seen.id,
      );
      if (!before) return undefined;
      await correctPairing(db, this.profile, before, this.hide(seen.link));
      const known = findFileState(seen.state);
      const state = known?.name ?? this.hide(seen.state);
      const changed = before.state !== state;
      await this.#keep(db, seen, state, changed);
      if (before.hold !== null && known && !known.held) await this.#endHold(db, before.order_id);
      return changed ? before.state : undefined;
    });
  }

  #keep(
    db: Store,
    { id, state: said, title, invoices, answer, askedAt }: ServiceAnswer,
    state: string,
    changed: boolean,
  ): Promise<number> {
    const asked = this.byItsClock(askedAt);
    return db.run(
      `UPDATE files SET state = ?, ended = ?, title = ?, invoices = coalesce(nullif(?, ''), invoices), answer = ?,
         checked_at = ?, hint = CASE WHEN heard_at >= ? THEN hint ELSE '' END,
         changed_at = CASE WHEN ? = 1 THEN ? ELSE changed_at END
       WHERE profile = ? AND id = ?`,
      state,
      findFileState(said)?.end ?? '',
      this.hide(title),
      invoices.join(','),
      this.hide(answer),
      asked,
      asked,
      Number(changed),
      this.timestamp(),
      this.profile,
      id,
    );
  }

  /** Work on one of its files means that the order is not on hold any more, whoever said that it was. */
  #endHold(db: Store, order: string): Promise<number> {
    return db.run('UPDATE orders SET hold = NULL WHERE profile = ? AND id = ?', this.profile, order);
  }

  /** All states that files are in. */
  async states(): Promise<string[]> {
    const sql = 'SELECT DISTINCT state FROM files WHERE profile = ?';
    return (await this.db.all<{ state: string }>(sql, this.profile)).map(({ state }) => state);
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
