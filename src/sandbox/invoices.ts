import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import type { Database } from '../lib/sqlite.ts';
import { Refusal } from './calls.ts';
import { addEvent } from './events.ts';
import {
  addSteps,
  currentStep,
  dollars,
  dropEffects,
  type FileRow,
  money,
  type Payment,
  planInvoice,
  priceOf,
  START_BALANCE_CENTS,
  type Subject,
  startStep,
  timeEffects,
} from './files.ts';
import { insert, nextId, type ServiceContext } from './store.ts';

export interface InvoiceLine {
  readonly file: string;
  readonly sku: string;
  readonly minutes: number;
}

interface Item {
  readonly id: string;
  readonly invoice: string;
  readonly file: string;
  readonly sku: string;
  readonly quantity: number;
  readonly cents: number;
}

/** A minute that has begun is billed, so that a price multiplied by a quantity is always a whole number of cents. */
const quantityOf = ({ minutes }: InvoiceLine): number => Math.ceil(minutes);

export const costOf = (lines: readonly InvoiceLine[]): number =>
  lines.reduce((sum, line) => sum + priceOf(line.sku) * quantityOf(line), 0);

export function addInvoice(
  { db, now, speed }: ServiceContext,
  lines: readonly InvoiceLine[],
  payment: Payment,
): void {
  const id = nextId(db, 'invoice');
  insert(db, 'invoices', { id });
  for (const line of lines) {
    const { file, sku } = line;
    const item = { invoice: id, file, sku, quantity: quantityOf(line), cents: priceOf(sku) };
    // Without a step, it is on its invoice from the start.
    addItem(db, item, { step: null, at: now });
  }
  const subject: Subject = `invoice/${id}`;
  addSteps(db, subject, planInvoice(payment, speed));
  startStep(db, subject, 0, now);
}

/** Takes everything that the file was billed for off its invoices, when the file's step begins. */
export function addCredits(db: Database, file: string, step: number): void {
  const billed = db.all<Item>('SELECT * FROM items WHERE file = ? ORDER BY rowid', file);
  for (const item of billed) addItem(db, { ...item, quantity: -item.quantity }, { step, at: null });
}

const addItem = (
  db: Database,
  item: Omit<Item, 'id'>,
  when: { readonly step: number | null; readonly at: number | null },
): void => insert(db, 'items', { ...item, ...when, id: nextId(db, 'item'), subject: `file/${item.file}` });

export function invoiceJson({ db, now }: ServiceContext, id: string): JsonObject {
  if (!db.get('SELECT 1 FROM invoices WHERE id = ?', id))
    throw new Refusal(404, `There is no invoice ${id}.`);
  const items = db.all<Item>('SELECT * FROM items WHERE invoice = ? AND at <= ? ORDER BY rowid', id, now);
  const { state, at } = currentStep(db, `invoice/${id}`, now);
  const created = db.get<{ at: number }>('SELECT at FROM steps WHERE subject = ? AND n = 0', `invoice/${id}`);
  return toJson({
    id: new JsonNumber(id),
    purchase_order: null,
    createtime: new Date(created?.at ?? at).toISOString(),
    paidtime: state === 'PAID' ? new Date(at).toISOString() : null,
    total: money(items.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0)),
    items: items.map(itemJson),
    state,
    message: `Invoice ${id} is ${state}.`,
  }) as JsonObject;
}

const itemJson = ({ id, sku, quantity, cents, file }: Item) => ({
  id: new JsonNumber(id),
  sku,
  quantity,
  price: money(cents),
  audiofile: new JsonNumber(file),
  total: money(quantity * cents),
});

/** Adds a transaction that takes place when the file's step begins: below zero a charge, above it a refund. */
export function addTransaction(db: Database, file: string, step: number, cents: number): string {
  const id = nextId(db, 'transaction');
  const subject: Subject = `file/${file}`;
  insert(db, 'transactions', { id, file, subject, step, cents });
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
