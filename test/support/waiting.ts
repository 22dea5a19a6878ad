/** What waits for a user's ledger, and a ledger that takes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { ledgerOf, queryLedger } from './ledger.ts';
import type { User } from './steno.ts';

export const waitingOf = (user: User): string => join(user.env.STENO_STATE_DIR ?? '', 'waiting.db');

/** Runs one statement on what waits; gives its rows, none where nothing does. */
export function queryWaiting<Row>(user: User, sql: string, ...values: string[]): Row[] {
  if (!existsSync(waitingOf(user))) return [];
  const db = new DatabaseSync(waitingOf(user));
  try {
    db.exec('PRAGMA busy_timeout = 5000');
    return db.prepare(sql).all(...values) as Row[];
  } finally {
    db.close();
  }
}

/** The bodies of the deliveries that wait, oldest first. */
export const waitingIn = (user: User, profile = 'default'): string[] =>
  queryWaiting<{ body: Uint8Array }>(
    user,
    "SELECT body FROM waiting WHERE kind = 'event' AND account = ? ORDER BY n",
    profile,
  ).map(({ body }) => Buffer.from(body).toString());

/** The outcomes of purchases that wait. */
export const outcomesOf = (user: User): Array<Record<string, unknown>> =>
  queryWaiting<{ content: string }>(
    user,
    "SELECT content FROM waiting WHERE kind = 'outcome' ORDER BY n",
  ).map(({ content }) => JSON.parse(content) as Record<string, unknown>);

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
