import type { Database } from '../lib/sqlite.ts';
import { nextId } from './ids.ts';
import { START_BALANCE_CENTS } from './prices.ts';
import type { Subject } from './steps.ts';
import type { ServiceContext } from './store.ts';

/** Adds a transaction that takes place when the file's step begins: below zero a charge, above it a refund. */
export function addTransaction(db: Database, file: string, step: number, cents: number): string {
  const id = nextId(db, 'transaction');
  const subject: Subject = `file/${file}`;
  db.run(
    'INSERT INTO transactions (id, file, subject, step, cents) VALUES (?, ?, ?, ?, ?)',
    id,
    file,
    subject,
    step,
    cents,
  );
  return id;
}

/** Charges now, whatever the file's steps do later. */
export function chargeNow({ db, now }: ServiceContext, file: string, step: number, cents: number): void {
  const id = addTransaction(db, file, step, -cents);
  db.run('UPDATE transactions SET at = ? WHERE id = ?', now, id);
}

export function balanceCents({ db, now }: ServiceContext): number {
  const row = db.get<{ cents: number }>(
    'SELECT coalesce(sum(cents), 0) AS cents FROM transactions WHERE at <= ?',
    now,
  );
  return START_BALANCE_CENTS + (row?.cents ?? 0);
}

/** What was paid for a file so far, and the id of its first transaction. */
export function paidFor({ db, now }: ServiceContext, file: string): { cents: number; transaction: string } {
  const rows = db.all<{ id: string; cents: number }>(
    'SELECT id, cents FROM transactions WHERE file = ? AND at <= ? ORDER BY rowid',
    file,
    now,
  );
  return { cents: -rows.reduce((sum, { cents }) => sum + cents, 0), transaction: rows[0]?.id ?? '' };
}
