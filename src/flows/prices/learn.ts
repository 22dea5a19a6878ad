/** Learns the price of a minute of each SKU from lines of invoices that name one SKU and the minutes of its file. */
import { productOf } from '../../catalog/skus.ts';
import { Fraction, least, most, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/time.ts';
import { groupBy } from '../bulk.ts';
import type { Price } from './estimate.ts';
import type { BilledLine } from './invoices.ts';

/** Texts as the service sent them; empty where a field is missing. */
export interface BilledItem extends BilledLine {
  readonly invoice: string;
  readonly created: string;
}

/** A line whose quantity is the minutes of its file. */
interface Sample {
  readonly invoice: string;
  /** Undefined where it can't be read: such an invoice counts as the oldest. */
  readonly at: string | undefined;
  readonly price: Fraction;
  readonly currency: string;
  /** Whether a length with a fraction was billed to the fraction; undefined for whole minutes, which don't tell. */
  readonly exact: boolean | undefined;
}

/** Prices change: older invoices say little about the next order. */
const NEWEST_INVOICES = 3;
/** A quantity of one may be one piece. From two on, one that agrees with the length is that of minutes. */
const MIN_QUANTITY = Fraction.of(2);
const CENT = Fraction.of(1, 100);

/** `lengths`: of files, in minutes. `currency` is that of amounts which say none; empty where it is not known. */
export function learnPrices(
  items: readonly BilledItem[],
  lengths: ReadonlyMap<string, string>,
  currency: string,
): Map<string, Price> {
  const bySku = groupBy(items, ({ sku }) => productOf(sku));
  bySku.delete('');
  return new Map(
    [...bySku].map(([sku, own]) => [
      sku,
      priceOf(
        sku,
        own.flatMap((item) => sampleOf(item, lengths.get(item.audiofile) ?? '', currency) ?? []),
      ),
    ]),
  );
}

/**
 * The API document does not say what a quantity counts, so it is taken for minutes only where it is the length of its file,
 * however that was rounded.
 */
function sampleOf(item: BilledItem, duration: string, currency: string): Sample | undefined {
  const [price, total] = [parseMoney(item.price), parseMoney(item.total)];
  const [quantity, minutes] = [parseNumber(item.quantity), parseNumber(duration)];
  if (!price || !quantity || !minutes) return undefined;
  if (price.amount.sign <= 0 || quantity.compare(MIN_QUANTITY) < 0) return undefined;
  if (!isWithin(Fraction.one, quantity, minutes)) return undefined;
  if (total && !isWithin(CENT, price.amount.times(quantity), total.amount)) return undefined;
  if (total?.currency && price.currency && total.currency !== price.currency) return undefined;
  return {
    ...{ invoice: item.invoice, at: parseServiceTime(item.created), price: price.amount },
    currency: price.currency || total?.currency || currency,
    exact: minutes.floor().equals(minutes) ? undefined : quantity.equals(minutes),
  };
}

function isWithin(limit: Fraction, one: Fraction, other: Fraction): boolean {
  const difference = one.minus(other);
  return difference.compare(limit) < 0 && Fraction.zero.minus(limit).compare(difference) < 0;
}

/** Where the newest invoices do not agree, the price is anything between the lowest and the highest. */
function priceOf(sku: string, all: readonly Sample[]): Price {
  const sorted = [...all].sort((one, other) => ((one.at ?? '') < (other.at ?? '') ? 1 : -1));
  const newest = [...new Set(sorted.map(({ invoice }) => invoice))].slice(0, NEWEST_INVOICES);
  const samples = sorted.filter(({ invoice }) => newest.includes(invoice));
  const [currency, ...others] = new Set(samples.map((each) => each.currency));
  if (currency === undefined) return { sku, reason: 'no invoice shows its price per minute' };
  if (others.length)
    return {
      sku,
      reason: `invoices list it in ${[currency, ...others].map((each) => each || 'no currency').join(' and ')}`,
    };
  const prices = samples.map(({ price }) => price);
  return {
    ...{ sku, currency, low: prices.reduce(least), high: prices.reduce(most) },
    exact: samples.some(({ exact }) => exact) && samples.every(({ exact }) => exact !== false),
    // One that can't be read may be the oldest.
    ground: { count: newest.length, since: samples.some(({ at }) => !at) ? undefined : samples.at(-1)?.at },
  };
}
