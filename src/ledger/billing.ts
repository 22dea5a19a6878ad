/** Writes what purchases cost into the ledger, whenever the service has said something about it. */
import type { Fraction } from '../lib/fraction.ts';
import { fromMillionths, type Money, millionthsOf, parseMoney } from '../lib/money.ts';
import {
  type Bill,
  type BilledFile,
  type BillItem,
  type BillLine,
  billFile,
  paidOf,
  refundedOf,
  unpaidOf,
} from './bill.ts';
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
  /** Its own id. */
  readonly invoice: string;
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
      `SELECT file, invoice, sku, amount, currency, paid FROM invoice_lines WHERE profile = ? AND file ${of}
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

/** The own ids of those of the invoices of these files that are paid, by the ids that the files name. */
async function paidInvoices(
  db: Store,
  profile: string,
  files: readonly FileRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = files.flatMap(({ invoices }) => (invoices ? invoices.split(',') : []));
  if (ids.length === 0) return new Map();
  const rows = await db.all<{ id: string; own_id: string }>(
    'SELECT id, own_id FROM kept_invoices WHERE profile = ? AND paid = 1 AND id IN (SELECT value FROM json_each(?))',
    profile,
    jsonList(ids),
  );
  return new Map(rows.map(({ id, own_id }) => [id, own_id]));
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
  paid: ReadonlyMap<string, string>,
): Statement[] {
  const items = all.filter(({ kind }) => kind !== 'refund');
  const isOrderedHere = items.some(({ kind }) => kind === 'order');
  const bought = items.map(({ skus, total_before }) => ({
    skus: skus ? skus.split(',') : [],
    totalBefore: totalOf(total_before)?.amount,
  }));
  const bills = billFile({
    items: isOrderedHere ? bought : [ORDERED_ELSEWHERE, ...bought],
    lines: lines.map(lineOf),
    total: totalOf(file?.total ?? ''),
    ...paymentOf(
      file?.invoices ? file.invoices.split(',') : [],
      paid,
      new Set(lines.map(({ invoice }) => invoice)),
    ),
    isRefunded:
      file?.state === 'Refunded' || all.some(({ kind, status }) => kind === 'refund' && status === 'placed'),
    isCancelled: file?.state === 'Order Cancelled',
  });
  const own = bills.slice(bills.length - items.length);
  return items.flatMap((item, at) => {
    const bill = own[at] && keptForm(own[at]);
    return bill && isOther(item, bill) ? [setting(item, bill)] : [];
  });
}

/** The order of a file that was only upgraded here: what it cost is not the cost of the upgrade. */
const ORDERED_ELSEWHERE: BillItem = { skus: [], totalBefore: undefined };

/** Whether what a file costs is paid: `paid` has the own ids of paid invoices, by the ids that the file names. */
export function paymentOf(
  named: readonly string[],
  paid: ReadonlyMap<string, string>,
  withLines: ReadonlySet<string>,
): Pick<BilledFile, 'totalIsPaid' | 'restIsPaid'> {
  const totalIsPaid = named.every((id) => paid.has(id));
  const isSilent = (id: string): boolean => !withLines.has(paid.get(id) ?? id);
  return { totalIsPaid, restIsPaid: totalIsPaid && named.some(isSilent) };
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
