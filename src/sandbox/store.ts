import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../lib/sqlite.ts';
import { addSamples } from './samples.ts';
import { migrations, tables } from './schema.ts';

/** What a call works with: the data, the time, and the speed of new files. */
export interface ServiceContext {
  readonly db: Database;
  readonly now: number;
  readonly speed: number;
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
    return db.transaction(() => work({ db, now: Date.now(), speed: 1 }));
  } finally {
    db.close();
  }
}

/** Empties the tables and keeps the file, which other processes may have open. */
export function resetStore(db: Database): void {
  for (const table of tables) db.exec(`DELETE FROM ${table}`);
  db.exec("DELETE FROM sqlite_sequence WHERE name = 'events'");
  addSamples(db);
}

const isEmpty = (db: Database): boolean => db.get('SELECT 1 FROM counters') === undefined;
