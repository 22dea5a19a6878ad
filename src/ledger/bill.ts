/**
 * What each purchase of a file costs, from what the service says: the lines of its invoices, its total, its state. A pure
 * function of these facts, so that it gives the same whatever was learned first.
 */
import { productOf } from '../catalog/skus.ts';

/** A line of an invoice about the file. */
export interface BillLine {
  readonly sku: string;
  /** In millionths, below zero for a credit; null where it can't be read. */
  readonly amount: number | null;
  readonly currency: string;
  /** The invoice is paid. */
  readonly paid: boolean;
}

/** What was bought for the file: its order first, then what came later. */
export interface BillItem {
  readonly kind: 'order' | 'upgrade';
  readonly skus: readonly string[];
  /** The total of the file when this was bought, in millionths; undefined where it was not known. */
  readonly totalBefore: number | undefined;
}

export interface BilledFile {
  readonly items: readonly BillItem[];
  readonly lines: readonly BillLine[];
  /** Undefined where the service says none yet. */
  readonly total: { readonly amount: number; readonly currency: string } | undefined;
  /** Every invoice that the file names is paid; also where it names none, as with a prepaid account. */
  readonly totalIsPaid: boolean;
  readonly isRefunded: boolean;
  readonly isCancelled: boolean;
}

/** In millionths. What was spent is `billed` without `unpaid` and `refunded`. */
export interface Bill {
  /** Null where the service has not said it. */
  readonly billed: number | null;
  readonly unpaid: number;
  readonly refunded: number;
  readonly currency: string;
}

interface Charge {
  paid: number;
  unpaid: number;
  refunded: number;
  isKnown: boolean;
  /** The SKUs of its lines. */
  readonly skus: Set<string>;
}

const newCharge = (): Charge => ({ paid: 0, unpaid: 0, refunded: 0, isKnown: false, skus: new Set() });

export function billFile(file: BilledFile): Bill[] {
  const { items, lines, isRefunded, isCancelled } = file;
  const currency = lines.find((line) => line.currency)?.currency ?? file.total?.currency ?? '';
  const isReadable = lines.every(
    (line) => line.amount !== null && (!line.currency || line.currency === currency),
  );
  const charges = items.map(newCharge);
  if (isReadable && lines.length) chargeLines(charges, file);
  else if (lines.length === 0 && file.total) chargeTotal(charges, file, file.total.amount);
  // Nothing is billed for it, and nothing will be.
  else if (lines.length === 0 && (isRefunded || isCancelled))
    for (const charge of charges) charge.isKnown = true;
  if (isRefunded && !lines.some(({ amount }) => (amount ?? 0) < 0))
    for (const charge of charges) refund(charge);
  return charges.map(({ paid, unpaid, refunded, isKnown }) => ({
    ...{ billed: isKnown ? paid + unpaid : null, unpaid, refunded, currency },
  }));
}

/** What was paid came back; what was not is not asked for any more. */
function refund(charge: Charge): void {
  charge.refunded = charge.paid;
  charge.unpaid = 0;
  charge.isKnown = true;
}

function chargeLines(charges: readonly Charge[], { items, lines, total }: BilledFile): void {
  const debits = lines.filter(({ amount }) => Number(amount) >= 0);
  const unmatched = debits.filter((line) => {
    const charge = chargeOf(line, items, charges);
    if (charge) add(charge, line);
    return !charge;
  });
  // The SKU on an invoice may differ from the one that was asked for.
  for (const line of unmatched) {
    const charge = charges.find(({ isKnown }) => !isKnown) ?? charges[0];
    if (charge) add(charge, line);
  }
  const gross = debits.reduce((sum, { amount }) => sum + Number(amount), 0);
  for (const line of lines) if (Number(line.amount) < 0) credit(charges, line);
  if (!total) return;
  // A total that is more than the lines: the rest is not on an invoice yet. One that is not has everything in it.
  let rest = Math.max(0, total.amount - gross);
  for (const charge of charges) {
    if (charge.isKnown) continue;
    charge.unpaid = rest;
    charge.isKnown = true;
    rest = 0;
  }
}

/** The purchase that ordered the SKU of a line, and has no line with it yet. */
function chargeOf(
  { sku }: BillLine,
  items: readonly BillItem[],
  charges: readonly Charge[],
): Charge | undefined {
  const product = productOf(sku);
  const at = items.findIndex(
    ({ skus }, n) => skus.some((each) => productOf(each) === product) && !charges[n]?.skus.has(product),
  );
  charges[at]?.skus.add(product);
  return charges[at];
}

function add(charge: Charge, { amount, paid }: BillLine): void {
  charge[paid ? 'paid' : 'unpaid'] += Number(amount);
  charge.isKnown = true;
}

/** Of a paid invoice it is money that came back; of another one it lowers what is to be paid. */
function credit(charges: readonly Charge[], { sku, amount, paid }: BillLine): void {
  const part = paid ? 'paid' : 'unpaid';
  const of = (charge: Charge): number => (paid ? charge.paid - charge.refunded : charge.unpaid);
  const product = productOf(sku);
  const own = charges.filter((charge) => charge.skus.has(product));
  let left = -Number(amount);
  for (const charge of [...own, ...charges]) {
    const some = Math.min(left, of(charge));
    if (some <= 0) continue;
    if (part === 'paid') charge.refunded += some;
    else charge.unpaid -= some;
    left -= some;
  }
}

/** Without lines, the total is all that is known: what it was before an upgrade is the cost of what came before. */
function chargeTotal(charges: readonly Charge[], { items, totalIsPaid }: BilledFile, total: number): void {
  for (const [at, charge] of charges.entries()) {
    const start = at === 0 ? 0 : items[at]?.totalBefore;
    const end =
      items.slice(at + 1).find(({ totalBefore }) => totalBefore !== undefined)?.totalBefore ?? total;
    // The total came after it, and has it in it.
    const cost = start === undefined ? 0 : Math.max(0, end - start);
    // A total that did not change since is one in which it is not yet.
    if (at > 0 && start !== undefined && cost === 0 && end === total) continue;
    charge[totalIsPaid ? 'paid' : 'unpaid'] = cost;
    charge.isKnown = true;
  }
}
