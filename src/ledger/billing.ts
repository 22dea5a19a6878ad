/** Writes what purchases cost into the ledger, whenever the service has said something about it. */
import {
  type Fraction,
  fromMillionths,
  type Money,
  parseMoney,
  sharesOf,
  wholeMillionths,
} from '../lib/money.ts';
import {
  type Bill,
  type BilledFile,
  type BillItem,
  type BillLine,
  type BillRefund,
  billFile,
  paidOf,
  refundedOf,
  unpaidOf,
  unreadOf,
} from './bill.ts';
import type { Statement, Store } from './stores/store.ts';
import { groupBy, jsonList } from './table.ts';

/** What is kept of a bill, in millionths. */
interface KeptBill {
  /** Null where the service has not said it. Of a refund below zero. */
  readonly billed: bigint | null;
  /** Null where an invoice that tells it has not been read. */
  readonly unpaid: bigint | null;
  readonly refunded: bigint;
  readonly currency: string;
}

/** As text, so that no digit is lost. */
type KeptTexts = { readonly [name in 'billed' | 'unpaid' | 'refunded']: string | null };

/** A purchase of a file, as far as its cost depends on it. */
interface Purchased {
  readonly kind: 'order' | 'upgrade' | 'refund';
  readonly status: string;
  /** That of a refund is no lower than those of what it covers, whatever the clocks say. */
  readonly turn: number;
  readonly skus: string;
  readonly total_before: string;
  /** In millionths. */
  readonly estimate: number | null;
}

interface ItemRow extends KeptBill, Purchased {
  readonly purchase: string;
  readonly position: number;
  readonly file: string;
}

interface FileRow {
  readonly id: string;
  readonly state: string;
  readonly changed_at: string | null;
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

interface FileLine extends BillLine {
  readonly file: string;
  readonly invoice: string;
}

/** SQL: what was bought for a file, the order that made it first. */
export const IN_TURN =
  "purchases.kind <> 'order', items.turn, purchases.started_at, purchases.id, items.position";

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
    db.all<Omit<ItemRow, keyof KeptTexts> & KeptTexts>(
      `SELECT items.purchase, items.position, items.file, items.currency, items.total_before,
         CAST(items.billed AS TEXT) AS billed, CAST(items.unpaid AS TEXT) AS unpaid,
         CAST(items.refunded AS TEXT) AS refunded, items.estimate, purchases.kind, purchases.status, items.turn, purchases.skus
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE items.profile = ? AND items.file <> '' AND items.file ${of} AND purchases.test = 0
         AND purchases.status <> 'refused'
       ORDER BY ${IN_TURN}`,
      profile,
      list,
    ),
    db.all<FileRow>(
      `SELECT id, state, changed_at, total, invoices FROM files WHERE profile = ? AND test = 0 AND id ${of}`,
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
  const read = await readInvoices(db, profile, rows);
  const shared = await sharedLines(db, profile, [...read.values()]);
  const others = shared.map(({ file }) => file).filter((file) => !known.has(file));
  // Their shares are others now.
  if (others.length) return updateSome(db, profile, [...new Set([...ids, ...others])]);
  const itemsOf = groupBy(items.map(itemOf), ({ file }) => file);
  const linesOf = groupBy([...lines.map(lineOf), ...shared], ({ file }) => file);
  const changes = [...itemsOf].flatMap(([file, own]) =>
    changesOf(own, known.get(file), linesOf.get(file) ?? [], read),
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

/** An invoice that was read, as far as payment depends on it. */
export interface ReadInvoice {
  readonly ownId: string;
  readonly isPaid: boolean;
  /** It is not to be read again. */
  readonly isFinal: boolean;
}

interface KeptInvoice extends ReadInvoice {
  /** It has lines that name no file. */
  readonly isShared: boolean;
}

/** Those of the invoices of these files that were read, by the ids that the files name. */
async function readInvoices(
  db: Store,
  profile: string,
  files: readonly FileRow[],
): Promise<ReadonlyMap<string, KeptInvoice>> {
  const ids = files.flatMap(({ invoices }) => (invoices ? invoices.split(',') : []));
  if (ids.length === 0) return new Map();
  const rows = await db.all<{ id: string; own_id: string; paid: number; final: number; shared: number }>(
    `SELECT id, own_id, paid, final, CASE WHEN EXISTS (SELECT 1 FROM invoice_lines AS lines
         WHERE lines.profile = kept_invoices.profile AND invoice = own_id AND file = '') THEN 1 ELSE 0 END AS shared
     FROM kept_invoices WHERE profile = ? AND id IN (SELECT value FROM json_each(?))`,
    profile,
    jsonList(ids),
  );
  return new Map(
    rows.map(({ id, own_id, paid, final, shared }) => [
      id,
      { ownId: own_id, isPaid: paid === 1, isFinal: final === 1, isShared: shared === 1 },
    ]),
  );
}

/** Lines of these invoices that name no file: all files that name the invoice share them. */
async function sharedLines(
  db: Store,
  profile: string,
  invoices: readonly KeptInvoice[],
): Promise<FileLine[]> {
  const ids = jsonList([...new Set(invoices.filter(({ isShared }) => isShared).map(({ ownId }) => ownId))]);
  if (!invoices.some(({ isShared }) => isShared)) return [];
  const listed = 'IN (SELECT value FROM json_each(?))';
  const [lines, names, files] = await Promise.all([
    db.all<LineRow>(
      `SELECT file, invoice, sku, amount, currency, paid FROM invoice_lines
       WHERE profile = ? AND file = '' AND invoice ${listed} ORDER BY invoice, position`,
      profile,
      ids,
    ),
    db.all<{ id: string; own_id: string }>(
      `SELECT id, own_id FROM kept_invoices WHERE profile = ? AND own_id ${listed}`,
      profile,
      ids,
    ),
    db.all<{ id: string; invoices: string }>(
      "SELECT id, invoices FROM files WHERE profile = ? AND test = 0 AND invoices <> ''",
      profile,
    ),
  ]);
  const ownIds = new Map(names.map(({ id, own_id }) => [id, own_id]));
  const naming = (invoice: string): string[] =>
    files
      .filter((file) => file.invoices.split(',').some((id) => ownIds.get(id) === invoice))
      .map(({ id }) => id);
  return lines.flatMap((line) => sharedBy(lineOf(line), naming(line.invoice)));
}

/** The share that each of these files has of a line that names none. */
export function sharedBy<Line extends BillLine>(
  line: Line,
  files: readonly string[],
): Array<Line & { readonly file: string }> {
  const shares = line.amount && sharesOf(line.amount, files.length);
  const isShared = files.length > 1 || (line.amount?.sign ?? 0) < 0;
  return [...files].sort().map((file, at) => ({ ...line, file, amount: shares?.[at], isShared }));
}

function changesOf(
  all: readonly ItemRow[],
  file: FileRow | undefined,
  lines: readonly FileLine[],
  read: ReadonlyMap<string, ReadInvoice>,
): Statement[] {
  const items = billItems(all, file);
  const bills = costsOf(file, items, lines, file?.invoices ? file.invoices.split(',') : [], read);
  const kept = bills.map((bill, at) => keptForm(bill, items[at]));
  return all.flatMap((row) => {
    const own = kept.filter((_, at) => (row.kind === 'refund' ? items[at]?.refund : items[at])?.row === row);
    const bill = row.kind === 'refund' ? refundOf(own) : own[0];
    return bill && isOther(row, bill) ? [setting(row, bill)] : [];
  });
}

export interface PurchasedItem<Row> extends BillItem {
  /** Undefined for an order that was placed elsewhere: what it cost is not the cost of an upgrade. */
  readonly row: Row | undefined;
  readonly refund: (BillRefund & { readonly row: Row | undefined }) | undefined;
}

/**
 * What was bought for a file, each with the refund that covers it: the first since it was known, and for the order
 * that made the file the first of all. The state alone covers what was bought before anybody asked for a refund.
 */
export function billItems<Row extends Purchased>(
  rows: readonly Row[],
  file: { readonly state: string } | undefined,
): PurchasedItem<Row>[] {
  const placed = rows.filter(({ kind, status }) => kind === 'refund' && status === 'placed');
  const refunds = placed.map((row) => ({ row, total: totalOf(row.total_before) }));
  const ofService = { row: undefined, total: undefined };
  const byState = file?.state === 'Refunded' && placed.length === 0 ? ofService : undefined;
  const made = rows.find(({ kind }) => kind === 'order');
  const items: PurchasedItem<Row>[] = rows
    .filter(({ kind }) => kind !== 'refund')
    .map((row) => ({
      row,
      skus: row.skus ? row.skus.split(',') : [],
      totalBefore: totalOf(row.total_before)?.amount,
      refund: refunds.find((refund) => row === made || refund.row.turn >= row.turn) ?? byState,
    }));
  if (!items.some(({ row }) => row?.kind === 'order'))
    items.unshift({ row: undefined, skus: [], totalBefore: undefined, refund: refunds[0] ?? byState });
  return items;
}

/** What each purchase of a file costs: the one function for budget, log, report and page. `named`: the invoices of the file. */
export const costsOf = <Line extends BillLine & { readonly invoice: string }>(
  file: Pick<FileRow, 'state' | 'total'> | undefined,
  items: readonly BillItem[],
  lines: readonly Line[],
  named: readonly string[],
  read: ReadonlyMap<string, ReadInvoice>,
): Bill<Line>[] =>
  billFile({
    items,
    lines,
    total: totalOf(file?.total ?? ''),
    isCancelled: file?.state === 'Order Cancelled',
    ...paymentOf(named, read, new Set(lines.map(({ invoice }) => invoice))),
  });

/** Whether what a file costs is paid, by the invoices that it names. */
function paymentOf(
  named: readonly string[],
  read: ReadonlyMap<string, ReadInvoice>,
  withLines: ReadonlySet<string>,
): Pick<BilledFile, 'totalPayment' | 'restPayment' | 'areInvoicesRead'> {
  const invoices = named.map((id) => read.get(id));
  const isUnread = invoices.includes(undefined);
  const isPaid = invoices.every((invoice) => invoice?.isPaid);
  const unpaid = isUnread ? 'unread' : 'unpaid';
  const totalPayment = isPaid ? 'paid' : unpaid;
  // One that is paid may have been added to since it was read.
  if (isUnread || invoices.some((invoice) => invoice?.isPaid && !invoice.isFinal))
    return { totalPayment, restPayment: 'unread', areInvoicesRead: false };
  const isSilent = invoices.some((invoice) => invoice && !withLines.has(invoice.ownId));
  const restPayment = isPaid && isSilent ? 'paid' : 'unpaid';
  return { totalPayment, restPayment, areInvoicesRead: named.length > 0 };
}

/** A total of zero is one that is not final yet. */
export function totalOf(text: string): Money | undefined {
  const total = parseMoney(text);
  return total && total.amount.sign > 0 ? total : undefined;
}

const itemOf = ({
  billed,
  unpaid,
  refunded,
  ...row
}: Omit<ItemRow, keyof KeptTexts> & KeptTexts): ItemRow => ({
  ...row,
  billed: billed === null ? null : BigInt(billed),
  unpaid: unpaid === null ? null : BigInt(unpaid),
  refunded: BigInt(refunded ?? 0),
});

const lineOf = ({ file, invoice, sku, amount, currency, paid }: LineRow): FileLine => ({
  ...{ file, invoice, sku, currency, paid: paid === 1 },
  amount: amount === null ? undefined : fromMillionths(amount),
});

/** Databases still add up dozens of these; what costs more is over any budget. */
const MOST = 10n ** 17n;

function millionths(amount: Fraction): bigint {
  const whole = wholeMillionths(amount);
  return whole > MOST ? MOST : whole;
}

/** What was only estimated when it was refunded is not spent either. */
function keptForm(bill: Bill, item: PurchasedItem<Purchased> | undefined): KeptBill {
  const [paid, unpaid, unread, refunded] = [paidOf(bill), unpaidOf(bill), unreadOf(bill), refundedOf(bill)];
  const estimate = bill.isKnown || !item?.refund ? 0n : BigInt(item.row?.estimate ?? 0);
  return {
    billed: bill.isKnown ? millionths(paid.plus(unpaid).plus(unread)) : null,
    unpaid: unread.sign ? null : millionths(unpaid),
    refunded: millionths(refunded) > estimate ? millionths(refunded) : estimate,
    currency: bill.currency,
  };
}

/** What came back with a refund, by what was refunded: where only estimates are known, it is not billed. */
function refundOf(own: readonly KeptBill[]): KeptBill {
  const all = own.reduce((sum, { refunded }) => sum + refunded, 0n);
  const isKnown = own.every(({ billed }) => billed !== null);
  const refunded = own.every((each) => each.billed !== null || each.refunded > 0n) ? all : 0n;
  return { billed: isKnown ? -all : null, unpaid: 0n, refunded, currency: own[0]?.currency ?? '' };
}

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
