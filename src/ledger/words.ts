/** Ids for a shell to offer, newest first, with a word on each. */
import type { Database } from '../lib/sqlite.ts';

export interface Word {
  readonly id: string;
  readonly about: string;
}

const MOST = 50;
/** So many files are looked at where no index leads to the answer. */
const LATEST = 1000;
/** Sorts after every id that begins with the prefix. */
const LAST = '\u{10ffff}';

export class Words {
  readonly #db: Database;
  readonly #profile: string;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  find(kind: string, prefix: string): Word[] {
    if (kind === 'order') return this.#orders(prefix);
    return kind === 'invoice' ? this.#invoices(prefix) : this.#files(prefix);
  }

  #files(prefix: string): Word[] {
    const about = "trim(state || ' ' || coalesce(nullif(title, ''), url)) AS about";
    return prefix === ''
      ? this.#all(`SELECT id, ${about} FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${MOST}`)
      : this.#all(
          `SELECT id, ${about} FROM files WHERE profile = ? AND id >= ? AND id < ? ORDER BY id LIMIT ${MOST}`,
          prefix,
          prefix + LAST,
        );
  }

  #orders(prefix: string): Word[] {
    const found = "SELECT id, skus || ' ' || placed_at AS about FROM orders WHERE profile = ? AND id <> ''";
    return prefix === ''
      ? this.#all(
          `${found} AND id IN (SELECT order_id FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${LATEST})
           ORDER BY placed_at DESC LIMIT ${MOST}`,
          this.#profile,
        )
      : this.#all(`${found} AND id >= ? AND id < ? ORDER BY id LIMIT ${MOST}`, prefix, prefix + LAST);
  }

  /** Invoices are known from the files that they are for: of the latest, those that fit. */
  #invoices(prefix: string): Word[] {
    const rows = this.#db.all<{ invoices: string; about: string }>(
      `SELECT invoices, coalesce(nullif(title, ''), url) AS about FROM files
       WHERE profile = ? AND invoices <> '' ORDER BY seq DESC LIMIT ${LATEST}`,
      this.#profile,
    );
    const found = new Map<string, string>();
    for (const { invoices, about } of rows) {
      for (const id of invoices.split(',')) if (id.startsWith(prefix) && !found.has(id)) found.set(id, about);
    }
    return [...found].slice(0, MOST).map(([id, about]) => ({ id, about }));
  }

  #all(sql: string, ...values: string[]): Word[] {
    return this.#db.all<Word>(sql, this.#profile, ...values);
  }
}
