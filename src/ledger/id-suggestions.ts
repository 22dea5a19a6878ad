/** Ids for a shell to complete, newest first, each with a few words about it. */
import { Table } from './table.ts';

export interface IdSuggestion {
  readonly id: string;
  readonly about: string;
}

const MAX_SUGGESTIONS = 50;
/** How many of the latest files are read where no index can be used. */
const MAX_FILES_READ = 1000;
/** Added to a prefix, it sorts after every id that begins with the prefix. */
const AFTER_ALL = '\u{10ffff}';

export class IdSuggestions extends Table {
  suggest(kind: string, prefix: string): Promise<IdSuggestion[]> {
    if (kind === 'order') return this.#orders(prefix);
    if (kind === 'attempt') return this.#attempts(prefix);
    return kind === 'invoice' ? this.#invoices(prefix) : this.#files(prefix);
  }

  #files(prefix: string): Promise<IdSuggestion[]> {
    const about = "trim(state || ' ' || coalesce(nullif(title, ''), url)) AS about";
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
    const found = "SELECT id, skus || ' ' || placed_at AS about FROM orders WHERE profile = ? AND id <> ''";
    return prefix === ''
      ? this.#all(
          `${found} AND id IN (SELECT order_id FROM files WHERE profile = ? ORDER BY seq DESC LIMIT ${MAX_FILES_READ})
           ORDER BY placed_at DESC LIMIT ${MAX_SUGGESTIONS}`,
          this.profile,
        )
      : this.#all(
          `${found} AND id >= ? AND id < ? ORDER BY id LIMIT ${MAX_SUGGESTIONS}`,
          prefix,
          prefix + AFTER_ALL,
        );
  }

  /** Those whose end is not known: few, so that all of them can be read. */
  async #attempts(prefix: string): Promise<IdSuggestion[]> {
    const rows = await this.#all(
      `SELECT CAST(id AS TEXT) AS id, started_at || ' ' || coalesce((SELECT url FROM attempt_urls
         WHERE attempt = attempts.id ORDER BY position LIMIT 1), '') AS about
       FROM attempts WHERE profile = ? AND status IN ('sending', 'uncertain') AND test = 0
       ORDER BY attempts.id DESC`,
    );
    return rows.filter(({ id }) => id.startsWith(prefix)).slice(0, MAX_SUGGESTIONS);
  }

  /** The ledger has no invoices of its own: they are read from the latest files. */
  async #invoices(prefix: string): Promise<IdSuggestion[]> {
    const rows = await this.db.all<{ invoices: string; about: string }>(
      `SELECT invoices, coalesce(nullif(title, ''), url) AS about FROM files
       WHERE profile = ? AND invoices <> '' ORDER BY seq DESC LIMIT ${MAX_FILES_READ}`,
      this.profile,
    );
    const found = new Map<string, string>();
    for (const { invoices, about } of rows) {
      for (const id of invoices.split(',')) if (id.startsWith(prefix) && !found.has(id)) found.set(id, about);
    }
    return [...found].slice(0, MAX_SUGGESTIONS).map(([id, about]) => ({ id, about }));
  }

  #all(sql: string, ...values: string[]): Promise<IdSuggestion[]> {
    return this.db.all<IdSuggestion>(sql, this.profile, ...values);
  }
}
