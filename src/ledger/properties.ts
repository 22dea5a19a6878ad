/** What the ledger remembers about itself. */
import { Table } from './table.ts';

/** Marks of the keys that were taken out; only a ledger that an earlier version wrote has this. */
export const CLEANED_KEYS = 'cleaned_keys';
/** Rows were changed, and the file may still hold what was in them. */
export const REWRITE_DUE = 'rewrite_due';

export class Properties extends Table {
  /** Random, made with the ledger: whatever is derived from a secret for the ledger is derived with it. */
  get salt(): string {
    return this.get('salt') ?? '';
  }

  get(name: string): string | undefined {
    return this.db.get<{ value: string }>('SELECT value FROM properties WHERE name = ?', name)?.value;
  }

  set(name: string, value: string): void {
    this.db.run('INSERT OR REPLACE INTO properties (name, value) VALUES (?, ?)', name, value);
  }

  remove(name: string): void {
    this.db.run('DELETE FROM properties WHERE name = ?', name);
  }
}
