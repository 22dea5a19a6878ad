/** The files of the orders: what is known of each, and which are open, that is, may still change. */
import { findFileState } from '../catalog/states.ts';
import type { Value } from '../lib/sqlite.ts';
import { Table, timestamp } from './table.ts';

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
  readonly answer: string | null;
  readonly skus: string | null;
  readonly names: string | null;
  readonly notes: string | null;
  readonly hold: string | null;
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
  readonly answer: string;
}

/** What is known of a file that an event names. */
export interface KnownFile {
  readonly title: string;
  /** The event that was made in place of the file's delivery, as long as that has not come. */
  readonly found: number | null;
}

const columns = `files.seq, files.id, files.order_id, files.url, files.test, files.state, files.ended, files.title,
  files.invoices, files.ordered_at, files.changed_at, files.checked_at, files.heard_at,
  files.remark, files.answer, files.key,
  orders.skus, orders.names, orders.notes, orders.hold`;
const tables = 'files LEFT JOIN orders ON orders.profile = files.profile AND orders.id = files.order_id';

export class Files extends Table {
  get(id: string): FileRow | undefined {
    return this.db.get<FileRow>(
      `SELECT ${columns} FROM ${tables} WHERE files.profile = ? AND files.id = ?`,
      this.profile,
      id,
    );
  }

  /** A page of files, newest first, older than the one at `before`. */
  page(filter: FileFilter, size: number, before = Number.MAX_SAFE_INTEGER): FileRow[] {
    const { where, values } = this.#where(filter);
    return this.db.all<FileRow>(
      `SELECT ${columns} FROM ${tables} WHERE ${where} AND files.seq < ? ORDER BY files.seq DESC LIMIT ?`,
      ...values,
      before,
      size,
    );
  }

  count(filter: FileFilter): number {
    const { where, values } = this.#where(filter);
    return this.db.get<{ n: number }>(`SELECT count(*) AS n FROM files WHERE ${where}`, ...values)?.n ?? 0;
  }

  ofOrder(order: string): FileRow[] {
    return this.page({ order }, 100_000).reverse();
  }

  /** Whether the ledger has the order, with or without files. */
  hasOrder(order: string): boolean {
    return (
      this.db.get('SELECT 1 FROM orders WHERE profile = ? AND id = ?', this.profile, order) !== undefined
    );
  }

  /** Ids of the files that may still change, oldest first; test orders are never transcribed. */
  open(filter: FileFilter = {}): string[] {
    const { where, values } = this.#where(filter);
    return this.ids(
      `SELECT id FROM files WHERE ${where} AND ended = '' AND test = 0 ORDER BY seq`,
      ...values,
    );
  }

  /** Whether the service has said that the file is delivered; an event does not count. */
  isDelivered(id: string): boolean {
    const sql = "SELECT 1 FROM files WHERE profile = ? AND id = ? AND ended = 'delivered'";
    return this.db.get(sql, this.profile, id) !== undefined;
  }

  /** Ids of delivered files of which this folder has at most a draft in this format, oldest first. */
  notDownloaded(ext: string, folder: string): string[] {
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
  known(ids: readonly string[]): ReadonlyMap<string, KnownFile> {
    const rows = this.db.all<KnownFile & { id: string }>(
      'SELECT id, title, found FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))',
      this.profile,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Those of these files that have ended, or that an event named since the service was last asked about them. */
  withNews(ids: readonly string[]): string[] {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))
       AND (ended <> '' OR heard_at >= coalesce(checked_at, ''))`,
      this.profile,
      JSON.stringify(ids),
    );
  }

  /** Open files to ask the service about: first those that an event named, then those not asked about since `before`. */
  dueForRefresh(before: string, limit: number): string[] {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND ended = '' AND test = 0
       AND (coalesce(checked_at, '') < ? OR heard_at >= coalesce(checked_at, ''))
       ORDER BY heard_at >= coalesce(checked_at, '') DESC, coalesce(checked_at, '') LIMIT ?`,
      this.profile,
      before,
      limit,
    );
  }

  /** Keeps what the service said of a file that was ordered here; gives the state before, if it was another. */
  update(seen: ServiceAnswer): string | undefined {
    return this.db.transaction(() => {
      const before = this.db.get<{ state: string }>(
        'SELECT state FROM files WHERE profile = ? AND id = ?',
        this.profile,
        seen.id,
      );
      if (!before) return undefined;
      const now = timestamp();
      const known = findFileState(seen.state);
      const state = known?.name ?? this.hide(seen.state);
      const changed = before.state !== state;
      this.db.run(
        `UPDATE files SET state = ?, ended = ?, title = ?, invoices = coalesce(nullif(?, ''), invoices), answer = ?, checked_at = ?,
           changed_at = CASE WHEN ? THEN ? ELSE changed_at END
         WHERE profile = ? AND id = ?`,
        state,
        known?.end ?? '',
        this.hide(seen.title),
        seen.invoices.join(','),
        this.hide(seen.answer),
        now,
        Number(changed),
        now,
        this.profile,
        seen.id,
      );
      return changed ? before.state : undefined;
    });
  }

  /** All states that files are in. */
  states(): string[] {
    return this.db
      .all<{ state: string }>('SELECT DISTINCT state FROM files WHERE profile = ?', this.profile)
      .map(({ state }) => state);
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
