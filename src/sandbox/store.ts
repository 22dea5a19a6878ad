import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type Migration, openDatabase } from '../lib/sqlite.ts';

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

/** The kinds of ids begin far apart, so that a reader can tell them apart. */
const firstNumbers = { file: 1000, order: 0, invoice: 5000, item: 20_000, transaction: 70_000 } as const;
export type IdKind = keyof typeof firstNumbers;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHORT_IDS = alphabet.length ** 3;
/** Shares no factor with SHORT_IDS, so that every short id comes up once before any is used twice. */
const STRIDE = 82_457;

export function nextId(db: Database, kind: IdKind): string {
  const row = db.get<{ last: number }>(
    `INSERT INTO counters (name, last) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING last`,
    kind,
    firstNumbers[kind] + 1,
  );
  const last = row?.last ?? firstNumbers[kind];
  return kind === 'order' ? orderId(last) : String(last);
}

/** A short mixed-case id such as `4nX`; neighbouring ids look different. */
export function orderId(count: number): string {
  const round = Math.floor(count / SHORT_IDS);
  const short = inAlphabet((count * STRIDE) % SHORT_IDS).padStart(3, '0');
  return round === 0 ? short : inAlphabet(round) + short;
}

function inAlphabet(value: number): string {
  const rest = Math.floor(value / alphabet.length);
  return (rest > 0 ? inAlphabet(rest) : '') + alphabet.charAt(value % alphabet.length);
}

/** Adds a row. */
export function insert(
  db: Database,
  table: string,
  row: Readonly<Record<string, string | number | null>>,
): void {
  const columns = Object.keys(row).map((name) => `"${name}"`);
  const marks = columns.map(() => '?');
  db.run(`INSERT INTO ${table} (${columns.join()}) VALUES (${marks.join()})`, ...Object.values(row));
}

/** The files for tests of an upgrade or a refund. */
export const sampleFiles: readonly string[] = ['100', '101'];

/** The fields of a test delivery. */
export const SAMPLE = { audiofile: '100', order: '4nX', link: 'https://example.com/sample-100.mp3' } as const;

export function addSamples(db: Database): void {
  nextId(db, 'transaction');
  for (const id of sampleFiles) {
    insert(db, 'files', {
      ...{ id, order: null, link: `https://example.com/sample-${id}.mp3`, title: `Sample ${id}` },
      ...{ names: 'Ada|Ben', notes: '', minutes: 3, stars: 5, sku: 'TRANS14', extras: '', test: 1 },
    });
    insert(db, 'steps', { subject: `file/${id}`, n: 0, state: 'Delivered', at: 0 });
  }
}

/** What a call works with. */
export interface ServiceContext {
  readonly db: Database;
  /** The time by the sandbox's clock. */
  readonly now: number;
  /** How fast new files move. */
  readonly speed: number;
  /** The minutes of audios by their URL, where the caller has said them. */
  readonly lengths: ReadonlyMap<string, number>;
}

const fileIn = (folder: string): string => join(folder, 'sandbox.db');

export const hasStore = (folder: string): boolean => existsSync(fileIn(folder));

export async function openStore(folder: string | undefined): Promise<Database> {
  const db = await openDatabase(folder === undefined ? ':memory:' : fileIn(folder), migrations);
  if (isEmpty(db)) db.transaction(() => isEmpty(db) && addSamples(db));
  return db;
}

export async function withStore<Result>(
  folder: string,
  work: (context: ServiceContext) => Result,
): Promise<Result> {
  const db = await openStore(folder);
  try {
    return db.transaction(() => work({ db, now: readClock(db), speed: 1, lengths: new Map() }));
  } finally {
    db.close();
  }
}

export const readClock = (db: Database): number => Date.now() + clockAheadMs(db);

/** How far `advance --by` has moved the sandbox's clock ahead of the machine's. */
export const clockAheadMs = (db: Database): number =>
  Number(db.get<{ value: string }>("SELECT value FROM settings WHERE name = 'clock'")?.value ?? 0);

export function moveClock(db: Database, milliseconds: number): void {
  const ahead = String(clockAheadMs(db) + milliseconds);
  db.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('clock', ?)", ahead);
}

/** Empties the tables and keeps the file, which other processes may have open. */
export function resetStore(db: Database): void {
  // Rows refer to each other: that is checked when all are gone.
  db.exec('PRAGMA defer_foreign_keys = ON');
  const tables = db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations'",
  );
  for (const { name } of tables) db.exec(`DELETE FROM ${name}`);
  addSamples(db);
}

const isEmpty = (db: Database): boolean => db.get('SELECT 1 FROM counters') === undefined;
