import type { Database } from '../lib/sqlite.ts';
import { addEvent } from './events.ts';
import type { FileRow } from './files.ts';
import { nextId } from './ids.ts';
import { addCredits } from './invoices.ts';
import { dollars, START_BALANCE_CENTS } from './prices.ts';
import { dropEffects, type Subject, timeEffects } from './steps.ts';
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

/** The step at which the file's money comes back, if it does: no file has more than one. */
export const findRefundStep = (db: Database, subject: Subject): number | undefined =>
  db.get<{ n: number }>(
    "SELECT n FROM steps WHERE subject = ? AND state IN ('Refunded', 'Order Cancelled')",
    subject,
  )?.n;

/**
 * When this step of the file begins, everything that the file was billed for is taken off its invoices, and what was
 * paid of it goes back to the balance; returns those cents. What was planned for this step before is forgotten.
 */
export function planRefund(db: Database, { id, order }: Pick<FileRow, 'id' | 'order'>, step: number): number {
  const subject: Subject = `file/${id}`;
  dropEffects(db, subject, step);
  addCredits(db, id, step);
  const charges = db.all<{ id: string; cents: number }>(
    'SELECT id, cents FROM transactions WHERE file = ? ORDER BY rowid',
    id,
  );
  const [first] = charges;
  const cents = -charges.reduce((sum, charge) => sum + charge.cents, 0);
  if (first && order !== null) {
    addEvent(db, subject, step, 'REFUND_ISSUED', {
      amount: dollars(cents),
      audiofile: id,
      order,
      original_transaction: first.id,
      transaction: addTransaction(db, id, step, cents),
    });
  }
  timeEffects(db, subject, step);
  return cents;
}
