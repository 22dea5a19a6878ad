/** Ids for a shell to complete, newest first, each with a few words about it. */
import { URL_OF_FILE } from './pairing.ts';
import { Table } from './table.ts';

export interface IdSuggestion {
  readonly id: string;
  readonly about: string;
}

const MAX_SUGGESTIONS = 50;
/** How many of the latest files are read where no index can be used. */
const MAX_READ = 1000;
const TITLE = `coalesce(nullif(title, ''), ${URL_OF_FILE})`;
const FILE = `trim(state || ' ' || ${TITLE}) AS about`;
/** With a mark on one that is held, and the title of its first file. */
const OF_ORDER = 'FROM files WHERE files.profile = purchases.profile AND files.order_id = purchases.order_id';
const IS_HELD = `EXISTS (SELECT 1 ${OF_ORDER} AND state = 'On Hold')`;
const ORDER = `order_id AS id, CASE WHEN ${IS_HELD} THEN 'On Hold ' ELSE '' END || skus || ' ' || started_at
  || coalesce((SELECT ' ' || ${TITLE} ${OF_ORDER} ORDER BY seq LIMIT 1), '') AS about`;
const EVENT = `SELECT CAST(id AS TEXT) AS id, event || ' ' || coalesce(nullif(audiofile, ''), order_id) || ' ' || received_at AS about
  FROM events WHERE profile = ?`;
const LATEST_EVENTS = `ORDER BY events.id DESC LIMIT ${MAX_SUGGESTIONS}`;

/** By kind: the latest, of which those that begin with the prefix are given. */
const latest: Readonly<Record<string, string>> = {
  file: `SELECT id, ${FILE} FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${MAX_SUGGESTIONS}`,
  order: `SELECT ${ORDER} FROM purchases WHERE profile = ? AND order_id <> '' AND kind = 'order'
    ORDER BY started_at DESC LIMIT ${MAX_SUGGESTIONS}`,
  'held-order': `SELECT ${ORDER} FROM purchases WHERE profile = ? AND order_id <> '' AND kind = 'order'
    AND ${IS_HELD} ORDER BY started_at DESC`,
  event: `${EVENT} ${LATEST_EVENTS}`,
  // Those whose end is not known: few.
  attempt: `SELECT CAST(number AS TEXT) AS id, kind || ' ' || started_at || ' ' || coalesce((SELECT url FROM purchase_items
      WHERE purchase = purchases.id ORDER BY position LIMIT 1), '') AS about
    FROM purchases WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0 ORDER BY purchases.number DESC`,
};

/** By kind: those that begin with a prefix, found by an index. */
const ofPrefix: Readonly<Record<string, string>> = {
  file: `SELECT id, ${FILE} FROM files WHERE profile = ? AND id >= ? AND id < ? ORDER BY id LIMIT ${MAX_SUGGESTIONS}`,
  order: `SELECT ${ORDER} FROM purchases WHERE profile = ? AND order_id >= ? AND order_id < ? AND kind = 'order'
    ORDER BY order_id LIMIT ${MAX_SUGGESTIONS}`,
};

/** Event numbers are far from it; each digit more is one query more. */
const MAX_NUMBER = 1e9;
/** Added to a prefix, it sorts after every id that begins with the prefix. */
const AFTER_ALL = '\u{10ffff}';

export class IdSuggestions extends Table {
  async suggest(kind: string, prefix: string): Promise<IdSuggestion[]> {
    if (kind === 'invoice') return this.#invoices(prefix);
    if (kind === 'event' && prefix !== '') return this.#events(prefix);
    const known = latest[kind] === undefined ? 'file' : kind;
    const byIndex = prefix === '' ? undefined : ofPrefix[known];
    if (byIndex) return this.db.all<IdSuggestion>(byIndex, this.profile, prefix, prefix + AFTER_ALL);
    const rows = await this.db.all<IdSuggestion>(latest[known] ?? '', this.profile);
    return rows.filter(({ id }) => id.startsWith(prefix)).slice(0, MAX_SUGGESTIONS);
  }

  /** By their numbers: those that begin with 12 are 12, 120 to 129, 1200 to 1299 and so on. */
  async #events(prefix: string): Promise<IdSuggestion[]> {
    if (!/^[1-9]\d{0,14}$/.test(prefix)) return [];
    const found: IdSuggestion[] = [];
    for (let [first, size] = [Number(prefix), 1]; first <= MAX_NUMBER && found.length < MAX_SUGGESTIONS; ) {
      const sql = `${EVENT} AND events.id >= ? AND events.id < ? ${LATEST_EVENTS}`;
      found.push(...(await this.db.all<IdSuggestion>(sql, this.profile, first, first + size)));
      [first, size] = [first * 10, size * 10];
    }
    return found.slice(0, MAX_SUGGESTIONS);
  }

  /** Those that the latest files name, then those that were fetched. */
  async #invoices(prefix: string): Promise<IdSuggestion[]> {
    const [named, kept] = await Promise.all([
      this.db.all<{ invoices: string; about: string }>(
        `SELECT invoices, ${TITLE} AS about FROM files
         WHERE profile = ? AND invoices <> '' ORDER BY seq DESC LIMIT ${MAX_READ}`,
        this.profile,
      ),
      this.db.all<IdSuggestion>(
        `SELECT id, CASE final WHEN 1 THEN 'paid' ELSE 'not paid yet' END || ', fetched ' || fetched_at AS about
         FROM kept_invoices WHERE profile = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT ${MAX_SUGGESTIONS}`,
        ...[this.profile, prefix, prefix + AFTER_ALL],
      ),
    ]);
    const all = named.flatMap(({ invoices, about }) => invoices.split(',').map((id) => ({ id, about })));
    const found = new Map<string, string>();
    for (const { id, about } of [...all, ...kept])
      if (id.startsWith(prefix) && !found.has(id)) found.set(id, about);
    return [...found].slice(0, MAX_SUGGESTIONS).map(([id, about]) => ({ id, about }));
  }
}
