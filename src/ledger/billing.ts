/** Writes what purchases cost into the ledger, whenever the service has said something about it. */
import type { Fraction } from '../lib/fraction.ts';
import { fromMillionths, type Money, millionthsOf, parseMoney } from '../lib/money.ts';
import { type Bill, type BillLine, billFile, paidOf, refundedOf, unpaidOf } from './bill.ts';
import { jsonList } from './json-list.ts';
import type { Statement, Store } from './store.ts';

/** What is kept of a bill, in millionths. */
interface KeptBill {
  /** Null where the service has not said it. */
  readonly billed: number | null;
  readonly unpaid: number;
  readonly refunded: number;
  readonly currency: string;
}

interface ItemRow extends KeptBill {
  readonly purchase: string;
  readonly position: number;
  readonly file: string;
  readonly kind: 'order' | 'upgrade' | 'refund';
  readonly status: string;
  readonly skus: string;
  readonly total_before: string;
}

interface FileRow {
  readonly id: string;
  readonly state: string;
  readonly total: string;
  readonly invoices: string;
}

interface LineRow {
  readonly file: string;
  readonly sku: string;
  readonly amount: number | null;
  readonly currency: string;
  readonly paid: number;
}

/** Files a query: the text of them all stays within some megabytes. */
const FILES_PER_QUERY = 1_000;

/** Brings the cost of what was bought for these files up to date; for use within a transaction. */
export async function updateBills(db: Store, profile: string, files: readonly string[]): Promise<void> {
  const ids = [...new Set(files)].sort();
  for (let at = 0; at < ids.length; at += FILES_PER_QUERY)
    await updateSome(db, profile, ids.slice(at, at + FILES_PER_QUERY));
}

async function updateSome(db: Store, profile: string, ids: readonly string[]): Promise<void> {
  const list = jsonList(ids);
  const of = 'IN (SELECT value FROM json_each(?))';
  const [items, rows, lines] = await Promise.all([
    db.all<ItemRow>(
      `SELECT items.purchase, items.position, items.file, items.billed, items.unpaid, items.refunded, items.currency,
         items.total_before, purchases.kind, purchases.status, purchases.skus
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE items.profile = ? AND items.file <> '' AND items.file ${of} AND purchases.test = 0
         AND purchases.status <> 'refused'
       ORDER BY purchases.kind <> 'order', purchases.started_at, items.purchase, items.position`,
      profile,
      list,
    ),
    db.all<FileRow>(
      `SELECT id, state, total, invoices FROM files WHERE profile = ? AND test = 0 AND id ${of}`,
      profile,
      list,
    ),
    db.all<LineRow>(
      `SELECT file, sku, amount, currency, paid FROM invoice_lines WHERE profile = ? AND file ${of}
       ORDER BY invoice, position`,
      profile,
      list,
    ),
  ]);
  if (items.length === 0) return;
  const known = new Map(rows.map((row) => [row.id, row]));
  const paid = await paidInvoices(db, profile, rows);
  const itemsOf = groupBy(items);
  const linesOf = groupBy(lines);
  const changes = [...itemsOf].flatMap(([file, own]) =>
    changesOf(own, known.get(file), linesOf.get(file) ?? [], paid),
  );
  if (changes.length) await db.batch(changes);
}

/** Of files that were upgraded or refunded: their invoices may have changed, though they are paid. */
export async function renewInvoices(db: Store, profile: string, files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const rows = await db.all<{ invoices: string }>(
    "SELECT invoices FROM files WHERE profile = ? AND invoices <> '' AND id IN (SELECT value FROM json_each(?))",
    profile,
    jsonList(files),
  );
  const ids = rows.flatMap(({ invoices }) => invoices.split(','));
  if (ids.length)
    await db.run(
      'UPDATE kept_invoices SET final = 0 WHERE profile = ? AND id IN (SELECT value FROM json_each(?))',
      profile,
      jsonList(ids),
    );
}

/** Those of the invoices of these files that are paid. */
async function paidInvoices(
  db: Store,
  profile: string,
  files: readonly FileRow[],
): Promise<ReadonlySet<string>> {
  const ids = files.flatMap(({ invoices }) => (invoices ? invoices.split(',') : []));
  if (ids.length === 0) return new Set();
  const rows = await db.all<{ id: string }>(
    'SELECT id FROM kept_invoices WHERE profile = ? AND paid = 1 AND id IN (SELECT value FROM json_each(?))',
    profile,
    jsonList(ids),
  );
  return new Set(rows.map(({ id }) => id));
}

export function groupBy<Row extends { readonly file: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.file);
    if (group) group.push(row);
    else groups.set(row.file, [row]);
  }
  return groups;
}

function changesOf(
  all: readonly ItemRow[],
  file: FileRow | undefined,
  lines: readonly LineRow[],
  paid: ReadonlySet<string>,
): Statement[] {
  const items = all.filter(({ kind }) => kind !== 'refund');
  const bills = billFile({
    items: items.map(({ skus, total_before }) => ({
      skus: skus ? skus.split(',') : [],
      totalBefore: totalOf(total_before)?.amount,
    })),
    lines: lines.map(lineOf),
    total: totalOf(file?.total ?? ''),
    totalIsPaid: (file?.invoices ? file.invoices.split(',') : []).every((id) => paid.has(id)),
    isRefunded:
      file?.state === 'Refunded' || all.some(({ kind, status }) => kind === 'refund' && status === 'placed'),
    isCancelled: file?.state === 'Order Cancelled',
  });
  return items.flatMap((item, at) => {
    const bill = bills[at] && keptForm(bills[at]);
    return bill && isOther(item, bill) ? [setting(item, bill)] : [];
  });
}

/** A total of zero is one that is not final yet. */
export function totalOf(text: string): Money | undefined {
  const total = parseMoney(text);
  return total && total.amount.sign > 0 ? total : undefined;
}

const lineOf = ({ sku, amount, currency, paid }: LineRow): BillLine => ({
  ...{ sku, currency, paid: paid === 1 },
  amount: amount === null ? undefined : fromMillionths(amount),
});

/** A database adds up no larger number; what costs that much is over any budget. */
const millionths = (amount: Fraction): number => millionthsOf(amount) ?? Number.MAX_SAFE_INTEGER;

const keptForm = (bill: Bill): KeptBill => ({
  billed: bill.isKnown ? millionths(paidOf(bill).plus(unpaidOf(bill))) : null,
  unpaid: millionths(unpaidOf(bill)),
  refunded: millionths(refundedOf(bill)),
  currency: bill.currency,
});

const isOther = (one: KeptBill, other: KeptBill): boolean =>
  one.billed !== other.billed ||
  one.unpaid !== other.unpaid ||
  one.refunded !== other.refunded ||
  (other.billed !== null && one.currency !== other.currency);

const setting = (
  { purchase, position }: ItemRow,
  { billed, unpaid, refunded, currency }: KeptBill,
): Statement => ({
  sql: `UPDATE purchase_items SET billed = ?, unpaid = ?, refunded = ?,
      currency = CASE WHEN CAST(? AS BIGINT) IS NULL THEN currency ELSE ? END
    WHERE purchase = ? AND position = ?`,
  values: [billed, unpaid, refunded, billed, currency, purchase, position],
});
