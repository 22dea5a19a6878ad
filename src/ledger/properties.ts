/** What the ledger remembers about itself. */
import { Table } from './table.ts';

export const SALT = 'salt';
/** Marks of the keys that were taken out; only a ledger that an earlier version wrote has this. */
export const CLEANED_KEYS = 'cleaned_keys';
/** Rows were changed, and the file may still hold what was in them. */
export const REWRITE_DUE = 'rewrite_due';

export class Properties extends Table {
  /** Random, made with the ledger: whatever is derived from a secret for the ledger is derived with it. */
  async salt(): Promise<string> {
    return (await this.get(SALT)) ?? '';
  }

  async get(name: string): Promise<string | undefined> {
    const sql = 'SELECT value FROM properties WHERE name = ?';
    return (await this.db.get<{ value: string }>(sql, name))?.value;
  }

  set(name: string, value: string): Promise<number> {
    const sql = `INSERT INTO properties (name, value) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    return this.db.run(sql, name, value);
  }

  remove(name: string): Promise<number> {
    return this.db.run('DELETE FROM properties WHERE name = ?', name);
  }
}
