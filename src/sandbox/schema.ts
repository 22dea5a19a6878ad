import type { Migration } from '../lib/sqlite.ts';

/** A step's `wait` is in milliseconds after the step before it; NULL means that only `advance` starts it. */
export const migrations: readonly Migration[] = [
  {
    name: '001-service',
    sql: `
      CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
      CREATE TABLE counters (name TEXT PRIMARY KEY, last INTEGER NOT NULL);
      CREATE TABLE orders (id TEXT PRIMARY KEY, skus TEXT NOT NULL, held INTEGER NOT NULL, unpaid INTEGER NOT NULL);
      CREATE TABLE files (
        id TEXT PRIMARY KEY, "order" TEXT REFERENCES orders (id), link TEXT NOT NULL, title TEXT NOT NULL,
        names TEXT NOT NULL, notes TEXT NOT NULL, minutes REAL NOT NULL, stars INTEGER NOT NULL,
        sku TEXT NOT NULL, extras TEXT NOT NULL, test INTEGER NOT NULL
      );
      CREATE INDEX files_by_link ON files (link);
      CREATE INDEX files_by_order ON files ("order");
      CREATE TABLE steps (
        subject TEXT NOT NULL, n INTEGER NOT NULL, state TEXT NOT NULL, wait INTEGER, at INTEGER,
        PRIMARY KEY (subject, n)
      );
      CREATE TABLE transactions (
        id TEXT PRIMARY KEY, file TEXT NOT NULL REFERENCES files (id), subject TEXT NOT NULL, step INTEGER NOT NULL,
        cents INTEGER NOT NULL, at INTEGER
      );
      CREATE INDEX transactions_by_file ON transactions (file);
      CREATE INDEX transactions_by_step ON transactions (subject, step);
      CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, step INTEGER NOT NULL,
        form TEXT NOT NULL, due INTEGER, claimed INTEGER
      );
      CREATE INDEX events_by_step ON events (subject, step);
      CREATE INDEX events_to_send ON events (due) WHERE claimed IS NULL;
      CREATE TABLE invoices (id TEXT PRIMARY KEY);
      CREATE TABLE items (
        id TEXT PRIMARY KEY, invoice TEXT NOT NULL REFERENCES invoices (id), file TEXT NOT NULL REFERENCES files (id),
        subject TEXT NOT NULL, step INTEGER, sku TEXT NOT NULL, quantity INTEGER NOT NULL, cents INTEGER NOT NULL,
        at INTEGER
      );
      CREATE INDEX items_by_invoice ON items (invoice);
      CREATE INDEX items_by_file ON items (file);
      CREATE INDEX items_by_step ON items (subject, step);`,
  },
];

/** Children before their parents, because of the foreign keys. */
export const tables = [
  'items',
  'invoices',
  'events',
  'transactions',
  'steps',
  'files',
  'orders',
  'counters',
  'settings',
] as const;
