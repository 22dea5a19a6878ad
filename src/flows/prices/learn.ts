/** Learns the price of a minute of each SKU from lines of invoices that say it; from nothing else. */
import { productOf } from '../../catalog/skus.ts';
import { Fraction, least, most, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/time.ts';
import { groupBy } from '../bulk.ts';
import type { Billing, Price } from './estimate.ts';
import type { BilledLine } from './invoices.ts';

/** Texts as the service sent them; empty where a field is missing. */
export interface BilledItem extends BilledLine {
  readonly invoice: string;
  /** When the invoice was created. */
  readonly created: string;
}

/** A line whose quantity is the minutes of its file. */
interface Sample {
  readonly sku: string;
  readonly invoice: string;
  readonly at: string | undefined;
  readonly price: Fraction;
  readonly quantity: Fraction;
  readonly currency: string;
  readonly minutes: Fraction;
}

/** Older ones say little about the next order. */
const MAX_INVOICES = 50;
/** After a price has changed, this many invoices have to agree before it counts as the new one. */
const MIN_AGREEING = 3;
/** A quantity of one may be one piece. From two on, one that agrees with the length is that of minutes. */
const MIN_QUANTITY = Fraction.of(2);
/** A service may round a total to cents. */
const CENT = Fraction.of(1, 100);

/**
 * The API document does not say what a quantity counts, so it is taken for minutes only where it is the length of its file,
 * however that was rounded.
 */
function sampleOf(item: BilledItem, duration: string, currency: string): Sample | undefined {
  const [price, total] = [parseMoney(item.price), parseMoney(item.total)];
  const [quantity, minutes] = [parseNumber(item.quantity), parseNumber(duration)];
  if (!item.sku || !price || !quantity || !minutes) return undefined;
  if (price.amount.sign <= 0 || quantity.compare(MIN_QUANTITY) < 0) return undefined;
  if (!isWithin(Fraction.one, quantity, minutes)) return undefined;
  if (total && !isWithin(CENT, price.amount.times(quantity), total.amount)) return undefined;
  if (total?.currency && price.currency && total.currency !== price.currency) return undefined;
  return {
    ...{ sku: productOf(item.sku), invoice: item.invoice, at: parseServiceTime(item.created) },
    ...{ price: price.amount, quantity, minutes, currency: price.currency || total?.currency || currency },
  };
}

function isWithin(limit: Fraction, one: Fraction, other: Fraction): boolean {
  const difference = one.minus(other);
  return difference.compare(limit) < 0 && Fraction.zero.minus(limit).compare(difference) < 0;
}

/** `lengths`: of files, in minutes. `currency` is that of amounts which say none; empty where it is not known. */
export function learnPrices(
  items: readonly BilledItem[],
  lengths: ReadonlyMap<string, string>,
  currency: string,
): Map<string, Price> {
  const samples = items.flatMap((item) => sampleOf(item, lengths.get(item.audiofile) ?? '', currency) ?? []);
  const billed = items.flatMap(({ sku }) => (sku ? [productOf(sku)] : []));
  const unknown = billed.map((sku): [string, Price] => [
    sku,
    { sku, reason: 'no invoice shows its price per minute' },
  ]);
  const known = [...groupBy(samples, ({ sku }) => sku)].map(([sku, own]): [string, Price] => [
    sku,
    priceOf(sku, own),
  ]);
  return new Map([...unknown, ...known]);
}

/** Where the newest do not agree, the price is anything between the lowest and the highest. */
function priceOf(sku: string, all: readonly Sample[]): Price {
  // One without a time counts as the oldest.
  const sorted = [...all].sort((one, other) => ((one.at ?? '') < (other.at ?? '') ? 1 : -1));
  const newest = new Set([...new Set(sorted.map(({ invoice }) => invoice))].slice(0, MAX_INVOICES));
  const samples = sorted.filter(({ invoice }) => newest.has(invoice));
  const currencies = new Set(samples.map(({ currency }) => currency));
  const [currency = ''] = currencies;
  if (currencies.size > 1)
    return {
      sku,
      reason: `invoices list it in ${[...currencies].map((each) => each || 'no currency').join(' and ')}`,
    };
  const latest = samples[0]?.price ?? Fraction.zero;
  const differs = samples.findIndex(({ price }) => !price.equals(latest));
  const agreeing = samples.slice(0, differs);
  const used = differs < 0 || invoicesOf(agreeing) < MIN_AGREEING ? samples : agreeing;
  const prices = used.map(({ price }) => price);
  const times = used.map(({ at }) => at);
  // One that can't be read may be the oldest.
  const since = times.includes(undefined) ? undefined : times.at(-1);
  const ground = { from: 'invoices' as const, count: invoicesOf(used), since };
  return {
    ...{ sku, currency, ground, billing: billingOf(used) },
    ...{ low: prices.reduce(least), high: prices.reduce(most) },
  };
}

const invoicesOf = (samples: readonly Sample[]): number =>
  new Set(samples.map(({ invoice }) => invoice)).size;

function billingOf(samples: readonly Sample[]): Billing {
  const broken = samples.filter(({ minutes }) => !minutes.floor().equals(minutes));
  if (broken.length === 0) return 'not known';
  if (broken.every(({ quantity, minutes }) => quantity.equals(minutes))) return 'exact';
  return broken.every(({ quantity, minutes }) => quantity.equals(minutes.ceiling()))
    ? 'whole minutes'
    : 'not known';
}
