/** The spool of a user's listeners as it lies on disk, and a ledger that takes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { ledgerOf, queryLedger } from './ledger.ts';
import type { User } from './steno.ts';

export const spoolOf = (user: User): string => join(user.env.STENO_STATE_DIR ?? '', 'spool.db');

/** Runs one statement on the spool; gives its rows, none where there is no spool. */
export function querySpool<Row>(user: User, sql: string, ...values: string[]): Row[] {
  if (!existsSync(spoolOf(user))) return [];
  const db = new DatabaseSync(spoolOf(user));
  try {
    db.exec('PRAGMA busy_timeout = 5000');
    return db.prepare(sql).all(...values) as Row[];
  } finally {
    db.close();
  }
}

/** The bodies of the deliveries in the spool, oldest first. */
export const spooledIn = (user: User, profile = 'default'): string[] =>
  querySpool<{ body: Uint8Array }>(
    user,
    'SELECT body FROM arrivals JOIN listeners ON listeners.id = listener WHERE profile = ? ORDER BY seq',
    profile,
  ).map(({ body }) => Buffer.from(body).toString());

/** The files that deliveries in the ledger are about, in the order of their numbers. */
export const keptIn = (user: User): string[] =>
  queryLedger<{ audiofile: string }>(user, 'SELECT audiofile FROM events ORDER BY id').map(
    ({ audiofile }) => audiofile,
  );

export interface LedgerLock {
  release(): void;
}

/** Holds the ledger as another process would: it can be read, and takes nothing. */
export function lockLedger(user: User): LedgerLock {
  const db = new DatabaseSync(ledgerOf(user));
  db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  return {
    release() {
      db.exec('ROLLBACK');
      db.close();
    },
  };
}
