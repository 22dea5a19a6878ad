/** What the ledger remembers about itself. */
import { Table } from './table.ts';

export class Properties extends Table {
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
