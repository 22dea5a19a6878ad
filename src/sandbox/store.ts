import { join } from 'node:path';
import { type Database, openDatabase } from '../lib/sqlite.ts';
import { addSamples } from './samples.ts';
import { migrations, tables } from './schema.ts';

/** One moment of the service: its data, the time by the clock, and how fast new files live. */
export interface Moment {
  readonly db: Database;
  readonly now: number;
  readonly speed: number;
}

export async function openStore(folder: string | undefined): Promise<Database> {
  const db = await openDatabase(folder === undefined ? ':memory:' : join(folder, 'sandbox.db'), migrations);
  if (isEmpty(db)) db.transaction(() => isEmpty(db) && addSamples(db));
  return db;
}

export async function withStore<Result>(folder: string, work: (moment: Moment) => Result): Promise<Result> {
  const db = await openStore(folder);
  try {
    return db.transaction(() => work({ db, now: Date.now(), speed: 1 }));
  } finally {
    db.close();
  }
}

/** Empties the tables and keeps the file, so that it works while other processes have it open. */
export function startAfresh(db: Database): void {
  for (const table of tables) db.exec(`DELETE FROM ${table}`);
  db.exec("DELETE FROM sqlite_sequence WHERE name = 'events'");
  addSamples(db);
}

const isEmpty = (db: Database): boolean => db.get('SELECT 1 FROM counters') === undefined;
