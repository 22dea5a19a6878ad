import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import { nextId } from './ids.ts';
import { planInvoice } from './lifecycle.ts';
import { money, priceOf } from './prices.ts';
import { Refusal } from './refusal.ts';
import { addSteps, currentStep, type Subject, startStep } from './steps.ts';
import type { ServiceContext } from './store.ts';

export interface InvoiceLine {
  readonly file: string;
  readonly sku: string;
  readonly minutes: number;
}

interface Item {
  readonly id: string;
  readonly file: string;
  readonly sku: string;
  readonly quantity: number;
  readonly cents: number;
}

export const costOf = (lines: readonly InvoiceLine[]): number =>
  lines.reduce((sum, { sku, minutes }) => sum + priceOf(sku) * minutes, 0);

export function addInvoice(
  { db, now, speed }: ServiceContext,
  lines: readonly InvoiceLine[],
  held = false,
): void {
  const id = nextId(db, 'invoice');
  db.run('INSERT INTO invoices (id) VALUES (?)', id);
  for (const { file, sku, minutes } of lines) {
    db.run(
      'INSERT INTO items (id, invoice, file, sku, quantity, cents) VALUES (?, ?, ?, ?, ?, ?)',
      nextId(db, 'item'),
      id,
      file,
      sku,
      minutes,
      priceOf(sku),
    );
  }
  const subject: Subject = `invoice/${id}`;
  addSteps(db, subject, planInvoice(held, speed));
  startStep(db, subject, 0, now);
}

export function invoiceJson({ db, now }: ServiceContext, id: string): JsonObject {
  if (!db.get('SELECT 1 FROM invoices WHERE id = ?', id))
    throw new Refusal(404, `There is no invoice ${id}.`);
  const items = db.all<Item>('SELECT * FROM items WHERE invoice = ? ORDER BY rowid', id);
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
