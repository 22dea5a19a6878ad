/** The journals of a user's listeners as they lie on disk, and a ledger that takes nothing. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { JournalFolder } from '../../src/ledger/journal/journal-folder.ts';
import type { Arrival } from '../../src/ledger/journal/record.ts';
import { ledgerOf, queryLedger } from './ledger.ts';
import type { User } from './steno.ts';

export const journalFolder = (user: User): string => join(user.env.STENO_STATE_DIR ?? '', 'journal');

export const journalFiles = (user: User): string[] =>
  existsSync(journalFolder(user)) ? readdirSync(journalFolder(user)).sort() : [];

/** The deliveries in all journals, in the order of each file. */
export const arrivalsIn = (user: User, profile = 'default'): Arrival[] => [
  ...new JournalFolder(journalFolder(user), profile).arrivals(),
];

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
