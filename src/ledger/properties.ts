/** What the ledger remembers about itself. */
import { sha256 } from '../lib/sha256.ts';
import { Table } from './table.ts';

export const SALT = 'salt';

export class Properties extends Table {
  /**
   * Whatever is derived from a secret for the ledger is derived with it. Random, made with the ledger; that of a shared one
   * is made of the account, so that each machine knows it though the database can't be reached.
   */
  async salt(): Promise<string> {
    if (this.db.isShared) return sha256(`steno ${this.profile}`);
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
