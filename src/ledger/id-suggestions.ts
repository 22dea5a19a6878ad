/** Ids for a shell to complete, newest first, each with a few words about it. */
import { URL_OF_FILE } from './pairing.ts';
import { Table } from './table.ts';

export interface IdSuggestion {
  readonly id: string;
  readonly about: string;
}

const MAX_SUGGESTIONS = 50;
/** How many of the latest files are read where no index can be used. */
const MAX_FILES_READ = 1000;
/** Event numbers are far from it; each digit more is one query more. */
const MAX_NUMBER = 1e9;
const IS_HELD = "state = 'On Hold'";
/** Added to a prefix, it sorts after every id that begins with the prefix. */
const AFTER_ALL = '\u{10ffff}';

export class IdSuggestions extends Table {
  suggest(kind: string, prefix: string): Promise<IdSuggestion[]> {
    if (kind === 'order') return this.#orders(prefix);
    if (kind === 'held-order') return this.#heldOrders(prefix);
    if (kind === 'attempt') return this.#attempts(prefix);
    if (kind === 'event') return this.#events(prefix);
    return kind === 'invoice' ? this.#invoices(prefix) : this.#files(prefix);
  }

  #files(prefix: string): Promise<IdSuggestion[]> {
    const about = `trim(state || ' ' || coalesce(nullif(title, ''), ${URL_OF_FILE})) AS about`;
    return prefix === ''
      ? this.#all(
          `SELECT id, ${about} FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${MAX_SUGGESTIONS}`,
        )
      : this.#all(
          `SELECT id, ${about} FROM files WHERE profile = ? AND id >= ? AND id < ? ORDER BY id LIMIT ${MAX_SUGGESTIONS}`,
          prefix,
          prefix + AFTER_ALL,
        );
  }

  #orders(prefix: string): Promise<IdSuggestion[]> {
    const found =
      "SELECT order_id AS id, skus, started_at AS placed_at FROM purchases WHERE profile = ? AND order_id <> '' AND kind = 'order'";
    return prefix === ''
      ? this.#described(
          `${found} AND order_id IN (SELECT order_id FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${MAX_FILES_READ})
           ORDER BY started_at DESC LIMIT ${MAX_SUGGESTIONS}`,
          'placed_at DESC',
          this.profile,
        )
      : this.#described(
          `${found} AND order_id >= ? AND order_id < ? ORDER BY order_id LIMIT ${MAX_SUGGESTIONS}`,
          'id',
          prefix,
          prefix + AFTER_ALL,
        );
  }

  /** Orders with a mark on those that are held, and the title of their first file. The inner query limits how many. */
  #described(orders: string, order: string, ...values: string[]): Promise<IdSuggestion[]> {
    const ofOrder = 'FROM files WHERE profile = ? AND order_id = found.id';
    return this.db.all<IdSuggestion>(
      `SELECT id, CASE WHEN EXISTS (SELECT 1 ${ofOrder} AND ${IS_HELD}) THEN 'On Hold ' ELSE '' END
         || skus || ' ' || placed_at || coalesce((SELECT ' ' || coalesce(nullif(title, ''), ${URL_OF_FILE}) ${ofOrder}
           ORDER BY seq LIMIT 1), '') AS about
       FROM (${orders}) AS found ORDER BY ${order}`,
      ...[this.profile, this.profile, this.profile, ...values],
    );
  }

  async #heldOrders(prefix: string): Promise<IdSuggestion[]> {
    const rows = await this.#described(
      `SELECT order_id AS id, skus, started_at AS placed_at FROM purchases
         WHERE profile = ? AND kind = 'order' AND order_id <> '' AND order_id IN (SELECT order_id FROM files
         WHERE profile = ? AND ${IS_HELD} ORDER BY seq DESC LIMIT ${MAX_FILES_READ})`,
      'placed_at DESC',
      this.profile,
    );
    return rows.filter(({ id }) => id.startsWith(prefix)).slice(0, MAX_SUGGESTIONS);
  }

  /** By their numbers: those that begin with 12 are 12, 120 to 129, 1200 to 1299 and so on. */
  async #events(prefix: string): Promise<IdSuggestion[]> {
    if (!/^([1-9]\d{0,14})?$/.test(prefix)) return [];
    const select = `SELECT CAST(id AS TEXT) AS id, event || ' ' || coalesce(nullif(audiofile, ''), order_id)
      || ' ' || received_at AS about FROM events WHERE profile = ?`;
    const latest = `ORDER BY events.id DESC LIMIT ${MAX_SUGGESTIONS}`;
    if (prefix === '') return this.#all(`${select} ${latest}`);
    const found: IdSuggestion[] = [];
    for (let [first, size] = [Number(prefix), 1]; first <= MAX_NUMBER && found.length < MAX_SUGGESTIONS; ) {
      const rows = await this.db.all<IdSuggestion>(
        `${select} AND events.id >= ? AND events.id < ? ${latest}`,
        ...[this.profile, first, first + size],
      );
      found.push(...rows);
      [first, size] = [first * 10, size * 10];
    }
    return found.slice(0, MAX_SUGGESTIONS);
  }

  /** Those whose end is not known: few, so that all of them can be read. */
  async #attempts(prefix: string): Promise<IdSuggestion[]> {
    const rows = await this.#all(
      `SELECT CAST(number AS TEXT) AS id, kind || ' ' || started_at || ' ' || coalesce((SELECT url FROM purchase_items
         WHERE purchase = purchases.id ORDER BY position LIMIT 1), '') AS about
       FROM purchases WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0
       ORDER BY purchases.number DESC`,
    );
    return rows.filter(({ id }) => id.startsWith(prefix)).slice(0, MAX_SUGGESTIONS);
  }

  /** Those that the latest files name, then those that were fetched. */
  async #invoices(prefix: string): Promise<IdSuggestion[]> {
    const keeping = this.db.all<{ id: string; about: string }>(
      `SELECT id, CASE final WHEN 1 THEN 'paid' ELSE 'not paid yet' END || ', fetched ' || fetched_at AS about
       FROM kept_invoices WHERE profile = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT ${MAX_SUGGESTIONS}`,
      ...[this.profile, prefix, prefix + AFTER_ALL],
    );
    const rows = await this.db.all<{ invoices: string; about: string }>(
      `SELECT invoices, coalesce(nullif(title, ''), ${URL_OF_FILE}) AS about FROM files
       WHERE profile = ? AND invoices <> '' ORDER BY seq DESC LIMIT ${MAX_FILES_READ}`,
      this.profile,
    );
    const found = new Map<string, string>();
    for (const { invoices, about } of rows) {
      for (const id of invoices.split(',')) if (id.startsWith(prefix) && !found.has(id)) found.set(id, about);
    }
    for (const { id, about } of await keeping) if (!found.has(id)) found.set(id, about);
    return [...found].slice(0, MAX_SUGGESTIONS).map(([id, about]) => ({ id, about }));
  }

  #all(sql: string, ...values: string[]): Promise<IdSuggestion[]> {
    return this.db.all<IdSuggestion>(sql, this.profile, ...values);
  }
}
