/**
 * What each purchase of a file costs, from what the service says: the lines of its invoices, its total, its state. A pure
 * function of these facts, so that it gives the same whatever was learned first.
 */
import { productOf } from '../catalog/skus.ts';
import { Fraction, least, most, sumOf } from '../lib/fraction.ts';

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
  /** The same, and one of them has no line about the file: what the lines leave of the total is on it. */
  readonly restIsPaid: boolean;
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

  /** For money that came back of a cost that is not known. */
  addCredit(line: Line): Part<Line> {
    const part = { line, paid: Fraction.zero, unpaid: Fraction.zero, refunded: Fraction.zero };
    this.parts.push(part);
    return part;
  }

  has(product: string): boolean {
    return this.parts.some(({ line }) => line && productOf(line.sku) === product);
  }

  /** What was paid came back; what was not is not asked for any more. */
  refund(): void {
    for (const part of this.parts) {
      part.refunded = most(part.refunded, part.paid);
      part.unpaid = Fraction.zero;
    }
    this.isKnown = true;
  }
}

export function billFile<Line extends BillLine>(file: BilledFile<Line>): Bill<Line>[] {
  const { items, lines, total, isRefunded, isCancelled } = file;
  const currency = lines.find((line) => line.currency)?.currency ?? total?.currency ?? '';
  const isOwn = (each: string): boolean => !each || each === currency;
  const isReadable = lines.every((line) => line.amount && isOwn(line.currency));
  const ownTotal = total && isOwn(total.currency) ? total.amount : undefined;
  const charges = items.map(() => new Charge<Line>());
  if (lines.length && isReadable) chargeLines(charges, file, ownTotal);
  else if (ownTotal) chargeTotal(charges, file, ownTotal);
  // Nothing is billed for it, and nothing will be.
  else if (isCancelled && lines.length === 0) for (const charge of charges) charge.isKnown = true;
  if (isRefunded) for (const charge of charges) charge.refund();
  return charges.map(({ isKnown, parts }) => ({ isKnown, parts, currency }));
}

const amountOf = ({ amount }: BillLine): Fraction => amount ?? Fraction.zero;

function chargeLines<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, lines, restIsPaid }: BilledFile<Line>,
  total: Fraction | undefined,
): void {
  const [first] = charges;
  const debits = lines.filter((line) => amountOf(line).sign >= 0);
  const unmatched = debits.filter((line) => {
    const charge = line.sku === '' ? first : chargeOf(line, items, charges);
    charge?.add(amountOf(line), line.paid, line);
    return !charge;
  });
  // The SKU on an invoice may differ from the one that was asked for.
  for (const line of unmatched) {
    const charge = charges.find(({ isKnown }) => !isKnown) ?? first;
    charge?.add(amountOf(line), line.paid, line);
  }
  const credits = lines.filter((line) => amountOf(line).sign < 0);
  // Those that no money came back for go first, so that the order of the lines does not matter.
  for (const line of [...credits.filter(({ paid }) => !paid), ...credits.filter(({ paid }) => paid)])
    credit(charges, line);
  if (!total) return;
  // What the total has more than the lines is of purchases that are not all on them yet.
  let rest = most(total.minus(sumOf(debits.map(amountOf))), Fraction.zero);
  for (const [at, charge] of charges.entries()) {
    const { skus = [], totalBefore } = items[at] ?? {};
    const isWhole = charge.isKnown && (charge.parts.length >= skus.length || rest.sign === 0);
    if (isWhole || hasNotGrown(total, totalBefore)) continue;
    charge.add(rest, restIsPaid);
    rest = Fraction.zero;
  }
}

/** A total that has not grown since a purchase does not have it yet. */
const hasNotGrown = (total: Fraction, before: Fraction | undefined): boolean =>
  before !== undefined && total.compare(before) <= 0;

/** The purchase that asked for the SKU of a line: the first that has no line with it yet, if there is one. */
function chargeOf<Line extends BillLine>(
  { sku }: BillLine,
  items: readonly BillItem[],
  charges: readonly Charge<Line>[],
): Charge<Line> | undefined {
  const product = productOf(sku);
  const asked = charges.filter((_, at) => items[at]?.skus.some((each) => productOf(each) === product));
  return asked.find((charge) => !charge.has(product)) ?? asked[0];
}

/**
 * On a paid invoice it is money that came back, beyond what was paid too; before that, it settles what is to be paid. On
 * another invoice it lowers what is to be paid, and no money came back yet.
 */
function credit<Line extends BillLine>(charges: readonly Charge<Line>[], line: Line): void {
  const all = charges.flatMap(({ parts }) => parts);
  const parts = [...all.filter((part) => part.line?.sku === line.sku), ...all];
  let left = Fraction.zero.minus(amountOf(line));
  const take = (amount: Fraction): Fraction => {
    const some = least(left, amount);
    left = left.minus(some);
    return some;
  };
  if (line.paid)
    for (const part of parts) part.refunded = part.refunded.plus(take(part.paid.minus(part.refunded)));
  for (const part of parts) part.unpaid = part.unpaid.minus(take(part.unpaid));
  if (!line.paid || left.sign === 0) return;
  const [first = charges[0]?.addCredit(line)] = parts;
  if (first) first.refunded = first.refunded.plus(left);
}

/** Without lines, the total is all that is known: what it was before an upgrade is the cost of what came before. */
function chargeTotal<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, totalIsPaid }: BilledFile<Line>,
  total: Fraction,
): void {
  let end = total;
  for (const [at, charge] of [...charges.entries()].reverse()) {
    const { totalBefore } = items[at] ?? {};
    // Where nothing was known before, the total came after it, and has it in it.
    const start = at === 0 ? Fraction.zero : least(totalBefore ?? end, end);
    if (at === 0 || !hasNotGrown(total, totalBefore)) charge.add(end.minus(start), totalIsPaid);
    end = start;
  }
}
