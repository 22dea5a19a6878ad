import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../lib/sqlite.ts';
import { addSamples } from './samples.ts';
import { migrations, tables } from './schema.ts';

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
  for (const table of tables) db.exec(`DELETE FROM ${table}`);
  db.exec("DELETE FROM sqlite_sequence WHERE name = 'events'");
  addSamples(db);
}

const isEmpty = (db: Database): boolean => db.get('SELECT 1 FROM counters') === undefined;
