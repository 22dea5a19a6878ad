/**
 * What each purchase of a file costs, from what the service says: the lines of its invoices, its total, its state. A pure
 * function of these facts, so that it gives the same whatever was learned first.
 */
import { productOf } from '../catalog/skus.ts';
import { Fraction, least, type Money, most, sumOf } from '../lib/money.ts';

/** A line of an invoice about the file. */
export interface BillLine {
  readonly sku: string;
  /** Below zero for a credit; undefined where it can't be read. */
  readonly amount: Fraction | undefined;
  readonly currency: string;
  /** The invoice is paid. */
  readonly paid: boolean;
  /** It names no file: this is a share of it. Below zero, it is a discount, unless the file is refunded. */
  readonly isShared?: boolean;
}

/** What was bought for the file: its order first, then what came later. */
export interface BillItem {
  readonly skus: readonly string[];
  /** The total of the file when this was bought; undefined where it was not known. */
  readonly totalBefore: Fraction | undefined;
  /** The first refund of the file after this was bought: one for all that it covers. */
  readonly refund?: BillRefund | undefined;
}

export interface BillRefund {
  /** The total of the file when it was refunded; undefined where it was not known. */
  readonly total: Money | undefined;
}

/** `unread`: the invoice that tells it has not been read. */
export type Payment = 'paid' | 'unpaid' | 'unread';

export interface BilledFile<Line extends BillLine = BillLine> {
  readonly items: readonly BillItem[];
  readonly lines: readonly Line[];
  /** Undefined where the service says none yet. */
  readonly total: Money | undefined;
  /** Of all invoices that the file names: paid where it names none, as with a prepaid account. */
  readonly totalPayment: Payment;
  /** Of what the lines leave of the total. */
  readonly restPayment: Payment;
  /** The file names invoices, and all of them were read. */
  readonly areInvoicesRead: boolean;
  readonly isCancelled: boolean;
}

/** A part of what a purchase costs: what a line says, or what the total of the file says. */
export interface BillPart<Line extends BillLine = BillLine> {
  /** Undefined for what only the total says. */
  readonly line: Line | undefined;
  readonly paid: Fraction;
  readonly unpaid: Fraction;
  readonly unread: Fraction;
  readonly refunded: Fraction;
}

export interface Bill<Line extends BillLine = BillLine> {
  /** The service has said what it costs. */
  readonly isKnown: boolean;
  readonly parts: readonly BillPart<Line>[];
  readonly currency: string;
}

/** What was billed is paid, unpaid or unread; what was spent is what was paid and did not come back. */
export const paidOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ paid }) => paid));
export const unpaidOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ unpaid }) => unpaid));
export const unreadOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ unread }) => unread));
export const refundedOf = ({ parts }: Bill): Fraction => sumOf(parts.map(({ refunded }) => refunded));

type Part<Line extends BillLine> = { -readonly [Name in keyof BillPart<Line>]: BillPart<Line>[Name] };

class Charge<Line extends BillLine> {
  readonly parts: Part<Line>[] = [];
  isKnown = false;

  add(amount: Fraction, payment: Payment, line?: Line): void {
    this.addPart(line)[payment] = amount;
    this.isKnown = true;
  }

  /** By itself, it is for money that came back of a cost that is not known. */
  addPart(line: Line | undefined): Part<Line> {
    const { zero } = Fraction;
    const part = { line, paid: zero, unpaid: zero, unread: zero, refunded: zero };
    this.parts.push(part);
    return part;
  }

  has(product: string): boolean {
    return this.parts.some(({ line }) => line && productOf(line.sku) === product);
  }

  /** What was paid came back, and what may have been; what was not is not asked for any more. */
  refund(): void {
    for (const part of this.parts) {
      part.paid = part.paid.plus(part.unread);
      part.refunded = most(part.refunded, part.paid);
      part.unpaid = Fraction.zero;
      part.unread = Fraction.zero;
    }
  }
}

export function billFile<Line extends BillLine>(file: BilledFile<Line>): Bill<Line>[] {
  const { items, lines } = file;
  // After a refund, a service may say that the total is zero.
  const total = file.total ?? (lines.length ? undefined : items.at(-1)?.refund?.total);
  const currency = lines.find((line) => line.currency)?.currency ?? total?.currency ?? '';
  const isOwn = (each: string): boolean => !each || each === currency;
  const isReadable = lines.every((line) => line.amount && isOwn(line.currency));
  const ownTotal = total && isOwn(total.currency) ? total.amount : undefined;
  const charges = items.map(() => new Charge<Line>());
  if (lines.length && isReadable) chargeLines(charges, file, ownTotal);
  else chargeTotal(charges, file, ownTotal);
  if (lines.length === 0 && !ownTotal && isOver(file)) for (const charge of charges) charge.isKnown = true;
  // Credits say what came back; without any, it is all that was charged before the refund.
  const refunded = isReadable && lines.some(isCredit) ? [] : charges.filter((_, at) => items[at]?.refund);
  for (const charge of refunded) charge.refund();
  return charges.map(({ isKnown, parts }) => ({ isKnown, parts, currency }));
}

/** What is not billed for it by now will never be. */
const isOver = ({ items, isCancelled, areInvoicesRead }: BilledFile): boolean =>
  isCancelled || (areInvoicesRead && items.at(-1)?.refund !== undefined);

const amountOf = ({ amount }: BillLine): Fraction => amount ?? Fraction.zero;
const isNegative = (line: BillLine): boolean => amountOf(line).sign < 0;
const isCredit = (line: BillLine): boolean => isNegative(line) && !line.isShared;

function chargeLines<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  file: BilledFile<Line>,
  total: Fraction | undefined,
): void {
  const { items, lines } = file;
  const [first] = charges;
  const unmatched = lines
    .filter((line) => !isNegative(line))
    .filter((line) => {
      const charge = line.sku === '' ? first : chargeOf(line, items, charges);
      charge?.add(amountOf(line), line.paid ? 'paid' : 'unpaid', line);
      return !charge;
    });
  // The SKU on an invoice may differ from the one that was asked for.
  for (const line of unmatched) {
    const isIncomplete = ({ parts }: Charge<Line>, at: number): boolean =>
      parts.length < (items[at]?.skus.length ?? 0);
    const own = line.isShared
      ? undefined
      : (charges.find(({ isKnown }) => !isKnown) ?? charges.find(isIncomplete));
    const charge = own ?? first;
    charge?.add(amountOf(line), line.paid ? 'paid' : 'unpaid', line);
  }
  const isDiscount = (line: Line): boolean => line.isShared === true && !items[0]?.refund;
  // Those that no money came back for go first, so that the order of the lines does not matter.
  const rank = (line: Line): number => (line.paid ? 1 : 0) + (isDiscount(line) ? 0 : 2);
  for (const line of lines.filter(isNegative).sort((one, other) => rank(one) - rank(other)))
    credit(charges, line, isDiscount(line));
  if (total) chargeRest(charges, file, total);
}

/** What the total has more than the lines is of purchases that are not all on them yet. */
function chargeRest<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, lines, restPayment }: BilledFile<Line>,
  total: Fraction,
): void {
  const { refund } = items[0] ?? {};
  // The total may have what came back, or not.
  if (refund && (items.at(-1)?.refund !== refund || lines.some(isCredit))) return;
  const debits = lines.filter((line) => !isNegative(line));
  let rest = most(total.minus(sumOf(debits.map(amountOf))), Fraction.zero);
  for (const [at, charge] of charges.entries()) {
    const { skus = [], totalBefore } = items[at] ?? {};
    const isWhole = charge.isKnown && (charge.parts.length >= skus.length || rest.sign === 0);
    if (isWhole || hasNotGrown(total, totalBefore)) continue;
    charge.add(rest, restPayment);
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
 * another invoice it lowers what is to be paid, and no money came back yet. A discount lowers what was paid.
 */
function credit<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  line: Line,
  isDiscount: boolean,
): void {
  const all = charges.flatMap(({ parts }) => parts);
  const parts = [...all.filter((part) => part.line?.sku === line.sku), ...all];
  let left = Fraction.zero.minus(amountOf(line));
  const take = (amount: Fraction): Fraction => {
    const some = least(left, amount);
    left = left.minus(some);
    return some;
  };
  if (line.paid)
    for (const part of parts) {
      const some = take(part.paid.minus(part.refunded));
      if (isDiscount) part.paid = part.paid.minus(some);
      else part.refunded = part.refunded.plus(some);
    }
  for (const part of parts) part.unpaid = part.unpaid.minus(take(part.unpaid));
  if (!line.paid || left.sign === 0) return;
  const [first = charges[0]?.addPart(line)] = parts;
  if (first) first.refunded = first.refunded.plus(left);
}

/**
 * Without lines, the total is all that is known: what it was before an upgrade is the cost of what came before. A refund
 * begins a new sum.
 */
function chargeTotal<Line extends BillLine>(
  charges: readonly Charge<Line>[],
  { items, totalPayment }: Pick<BilledFile, 'items' | 'totalPayment'>,
  total: Fraction | undefined,
): void {
  const first = items.findIndex(({ refund }) => refund === items.at(-1)?.refund);
  const before = items[first]?.totalBefore;
  if (first > 0) {
    const until = items[first - 1]?.refund?.total?.amount ?? before;
    chargeTotal(charges.slice(0, first), { items: items.slice(0, first), totalPayment }, until);
  }
  let end = total;
  for (let at = items.length - 1; end && at >= first; at -= 1) {
    const totalBefore = at === 0 ? undefined : items[at]?.totalBefore;
    // Where nothing was known before, the total came after it, and has it in it.
    const start = least(totalBefore ?? (at === first ? Fraction.zero : end), end);
    if (total && !hasNotGrown(total, totalBefore)) charges[at]?.add(end.minus(start), totalPayment);
    end = start;
  }
}
