/**
 * What each purchase of a file costs, from what the service says: the lines of its invoices, its total, its state. A pure
 * function of these facts, so that it gives the same whatever was learned first.
 */
import { productOf } from '../catalog/skus.ts';
import { Fraction, least, sumOf } from '../lib/fraction.ts';

/** A line of an invoice about the file. */
export interface BillLine {
  readonly sku: string;
  /** Below zero for a credit; undefined where it can't be read. */
  readonly amount: Fraction | undefined;
  readonly currency: string;
  /** The invoice is paid. */
  readonly paid: boolean;
}

/** What was bought for the file: its order first, then what came later. */
export interface BillItem {
  readonly skus: readonly string[];
  /** The total of the file when this was bought; undefined where it was not known. */
  readonly totalBefore: Fraction | undefined;
}

export interface BilledFile<Line extends BillLine = BillLine> {
  readonly items: readonly BillItem[];
  readonly lines: readonly Line[];
  /** Undefined where the service says none yet. */
  readonly total: { readonly amount: Fraction; readonly currency: string } | undefined;
  /** Every invoice that the file names is paid; also where it names none, as with a prepaid account. */
  readonly totalIsPaid: boolean;
  readonly isRefunded: boolean;
  readonly isCancelled: boolean;
}

/** A part of what a purchase costs: what a line says, or what the total of the file says. */
export interface BillPart<Line extends BillLine = BillLine> {
  /** Undefined for what only the total says. */
  readonly line: Line | undefined;
  readonly paid: Fraction;
  readonly unpaid: Fraction;
  readonly refunded: Fraction;
}

export interface Bill<Line extends BillLine = BillLine> {
  /** The service has said what it costs. */
  readonly isKnown: boolean;
  readonly parts: readonly BillPart<Line>[];
  readonly currency: string;
}

/** What was billed is what was paid and what is to be paid; what was spent is what was paid and did not come back. */
export const paidOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ paid }) => paid));
export const unpaidOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ unpaid }) => unpaid));
export const refundedOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ refunded }) => refunded));

interface Part<Line extends BillLine> {
  readonly line: Line | undefined;
  readonly paid: Fraction;
  unpaid: Fraction;
  refunded: Fraction;
}

class Charge<Line extends BillLine> {
  readonly parts: Part<Line>[] = [];
  isKnown = false;

  add(amount: Fraction, isPaid: boolean, line?: Line): void {
    const [paid, unpaid] = isPaid ? [amount, Fraction.zero] : [Fraction.zero, amount];
    this.parts.push({ line, paid, unpaid, refunded: Fraction.zero });
    this.isKnown = true;
  }

  has(product: string): boolean {
    return this.parts.some(({ line }) => line && productOf(line.sku) === product);
  }

  /** What was paid came back; what was not is not asked for any more. */
  refund(): void {
    for (const part of this.parts) {
      part.refunded = part.paid;
      part.unpaid = Fraction.zero;
    }
    this.isKnown = true;
  }
}

export function billFile<Line extends BillLine>(file: BilledFile<Line>): Bill<Line>[] {
  const { items, lines, total, isRefunded, isCancelled } = file;
  const currency = lines.find((line) => line.currency)?.currency ?? total?.currency ?? '';
  const isReadable = lines.every((line) => line.amount && (!line.currency || line.currency === currency));
  const charges = items.map(() => new Charge<Line>());
  if (lines.length) {
    if (isReadable) chargeLines(charges, file);
  } else if (total) chargeTotal(charges, file, total.amount);
  // Nothing is billed for it, and nothing will be.
  else if (isRefunded || isCancelled) for (const charge of charges) charge.isKnown = true;
  const isCredited = lines.some(({ amount }) => amount && amount.sign < 0);
  if (isRefunded && !isCredited) for (const charge of charges) charge.refund();
  return charges.map(({ isKnown, parts }) => ({ isKnown, parts, currency }));
}

const amountOf = ({ amount }: BillLine): Fraction => amount ?? Fraction.zero;

function chargeLines<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, lines, total }: BilledFile<Line>,
): void {
  const debits = lines.filter((line) => amountOf(line).sign >= 0);
  const unmatched = debits.filter((line) => {
    const charge = chargeOf(line, items, charges);
    charge?.add(amountOf(line), line.paid, line);
    return !charge;
  });
  // The SKU on an invoice may differ from the one that was asked for.
  for (const line of unmatched) {
    const charge = charges.find(({ isKnown }) => !isKnown) ?? charges[0];
    charge?.add(amountOf(line), line.paid, line);
  }
  for (const line of lines) if (amountOf(line).sign < 0) credit(charges, line);
  if (!total) return;
  // A total that is more than the lines: the rest is on no invoice yet. One that is not has everything in it.
  let rest = total.amount.minus(sumOf(debits.map(amountOf)));
  for (const charge of charges) {
    if (charge.isKnown) continue;
    if (rest.sign > 0) charge.add(rest, false);
    charge.isKnown = true;
    rest = Fraction.zero;
  }
}

/** The purchase that asked for the SKU of a line, and has no line with it yet. */
function chargeOf<Line extends BillLine>(
  { sku }: BillLine,
  items: readonly BillItem[],
  charges: readonly Charge<Line>[],
): Charge<Line> | undefined {
  const product = productOf(sku);
  const asked = items.map(({ skus }) => skus.some((each) => productOf(each) === product));
  return charges.find((charge, at) => asked[at] && !charge.has(product));
}

/** Of a paid invoice it is money that came back; of another one it lowers what is to be paid. */
function credit<Line extends BillLine>(charges: readonly Charge<Line>[], line: Line): void {
  const parts = charges.flatMap((charge) => charge.parts);
  const isOwn = (part: Part<Line>): boolean => part.line !== undefined && part.line.sku === line.sku;
  let left = Fraction.zero.minus(amountOf(line));
  for (const part of [...parts.filter(isOwn), ...parts]) {
    const some = least(left, line.paid ? part.paid.minus(part.refunded) : part.unpaid);
    if (some.sign <= 0) continue;
    if (line.paid) part.refunded = part.refunded.plus(some);
    else part.unpaid = part.unpaid.minus(some);
    left = left.minus(some);
  }
}

/** Without lines, the total is all that is known: what it was before an upgrade is the cost of what came before. */
function chargeTotal<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, totalIsPaid }: BilledFile<Line>,
  total: Fraction,
): void {
  for (const [at, charge] of charges.entries()) {
    const start = at === 0 ? Fraction.zero : items[at]?.totalBefore;
    const end = items.slice(at + 1).find(({ totalBefore }) => totalBefore)?.totalBefore ?? total;
    // Where nothing was known before, the total came after it, and has it in it.
    const cost = start ? end.minus(start) : Fraction.zero;
    // A total that did not change since is one in which it is not yet.
    if (at > 0 && start && cost.sign <= 0 && end.equals(total)) continue;
    charge.add(cost.sign > 0 ? cost : Fraction.zero, totalIsPaid);
  }
}
