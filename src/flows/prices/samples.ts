/**
 * What an invoice item says about the price of a minute. The API document says that `total` is `price` multiplied by
 * `quantity`, and that a file's `duration` is in minutes; it does not say what a quantity counts. So it is never taken
 * for minutes unless it agrees with the duration of its file.
 */
import { productOf } from '../../catalog/skus.ts';
import { Fraction } from '../../lib/fraction.ts';
import { type Money, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/service-time.ts';

/** Texts as the service sent them; empty where a field is missing. */
export interface BilledItem {
  readonly invoice: string;
  /** When the invoice was created. */
  readonly created: string;
  readonly sku: string;
  readonly price: string;
  readonly quantity: string;
  readonly total: string;
  readonly audiofile: string;
}

export interface BilledFile {
  readonly id: string;
  readonly skus: readonly string[];
  /** In minutes, as the service says it. */
  readonly duration: string;
  /** In dollars, as the service says it. */
  readonly total: string;
  /** When it was ordered. */
  readonly ordered: string;
}

/** One thing that was paid for, by the length of its audio. */
export interface Sample {
  readonly sku: string;
  /** The invoice or file that it is from. */
  readonly source: string;
  readonly at: string | undefined;
  readonly cost: Fraction;
  readonly currency: string;
  readonly minutes: Fraction;
  /** Only where the item says both. */
  readonly unit?: { readonly price: Fraction; readonly quantity: Fraction } | undefined;
}

/** A service may round a total to cents. */
const CENT = Fraction.of(1, 100);

/** Undefined for what teaches no price: a credit, something free, an unknown length, or fields that contradict. */
export function itemSample(item: BilledItem, duration: string, currency: string): Sample | undefined {
  const minutes = lengthOf(duration);
  const [price, total] = [parseMoney(item.price), parseMoney(item.total)];
  const quantity = parseNumber(item.quantity);
  const product = price && quantity && { ...price, amount: price.amount.times(quantity) };
  if (!minutes || !item.sku || contradicts(product, total)) return undefined;
  const cost = product ?? total;
  if (!cost || cost.amount.sign <= 0 || (quantity && quantity.sign <= 0)) return undefined;
  return {
    sku: productOf(item.sku),
    source: item.invoice,
    at: parseServiceTime(item.created),
    cost: cost.amount,
    currency: cost.currency || total?.currency || currency,
    minutes,
    unit: price && quantity && { price: price.amount, quantity },
  };
}

function contradicts(product: Money | undefined, total: Money | undefined): boolean {
  if (!product || !total) return false;
  if (product.currency && total.currency && product.currency !== total.currency) return true;
  const difference = product.amount.minus(total.amount);
  return difference.compare(CENT) >= 0 || Fraction.zero.minus(difference).compare(CENT) >= 0;
}

/** A file with several SKUs does not tell what each of them cost. */
export function fileSample(file: BilledFile): Sample | undefined {
  const minutes = lengthOf(file.duration);
  const total = parseMoney(file.total);
  const [sku, ...more] = new Set(file.skus.map(productOf));
  if (!minutes || !total || total.amount.sign <= 0 || sku === undefined || more.length) return undefined;
  const at = parseServiceTime(file.ordered);
  // The document says dollars of this amount, and of no other but the balance.
  return { sku, source: file.id, at, cost: total.amount, currency: total.currency || 'USD', minutes };
}

/** Zero is a length that is not known yet. */
function lengthOf(minutes: string): Fraction | undefined {
  const length = parseNumber(minutes);
  return length && length.sign > 0 ? length : undefined;
}
