/** Learns the price of a minute of each SKU from what the service has billed before. */

import { productOf } from '../../catalog/skus.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Fraction, least, type Money, most, parseMoney, parseNumber } from '../../lib/money.ts';
import { parseServiceTime } from '../../lib/time.ts';
import { groupBy } from '../bulk.ts';
import type { Billing, Ground, KnownPrice, Price } from './estimate.ts';
import type { BilledLine } from './invoices.ts';

// What an invoice item says about the price of a minute. The API document says that `total` is `price` multiplied by
// `quantity`, and that a file's `duration` is in minutes; it does not say what a quantity counts. So it is never taken
// for minutes unless it agrees with the duration of its file.

/** Texts as the service sent them; empty where a field is missing. */
export interface BilledItem extends BilledLine {
  readonly invoice: string;
  /** When the invoice was created. */
  readonly created: string;
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

/** Undefined for what teaches no price: a credit, something free, an unknown length, or fields that contradict. */
function itemSample(item: BilledItem, duration: string, currency: string): Sample | undefined {
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
function fileSample(file: BilledFile): Sample | undefined {
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

/** Older ones say little about the next order. */
const MAX_SOURCES = 50;
/** After a price has changed, this many invoices have to agree before it counts as the new one. */
const MIN_AGREEING = 3;
/** A quantity of one may be one piece. From two on, one that agrees with the duration is that of minutes. */
const MIN_TELLING_QUANTITY = Fraction.of(2);

/** A service may round a total to cents. */
const CENT = Fraction.of(1, 100);

/** `currency` is that of amounts which say none; empty where it is not known. */
export function learnPrices(
  { items, files }: { readonly items: readonly BilledItem[]; readonly files: readonly BilledFile[] },
  currency: string,
): Map<string, Price> {
  const durations = new Map(files.map(({ id, duration }) => [id, duration]));
  const ofItems = items.flatMap(
    (item) => itemSample(item, durations.get(item.audiofile) ?? '', currency) ?? [],
  );
  const ofFiles = files.flatMap((file) => fileSample(file) ?? []);
  const prices = new Map<string, Price>();
  // An invoice tells more than the sum of a file, so files count only for what no invoice has.
  for (const [sku, samples] of bySku(ofFiles)) prices.set(sku, learnPrice(sku, samples, 'files'));
  for (const [sku, samples] of bySku(ofItems)) prices.set(sku, learnPrice(sku, samples, 'invoices'));
  for (const { sku } of items)
    if (sku && !prices.has(productOf(sku)))
      prices.set(productOf(sku), { sku: productOf(sku), reason: 'no invoice shows its price per minute' });
  return prices;
}

const bySku = (samples: readonly Sample[]): Map<string, Sample[]> => groupBy(samples, ({ sku }) => sku);

function learnPrice(sku: string, all: readonly Sample[], from: 'invoices' | 'files'): Price {
  const samples = newest(all);
  const currencies = new Set(samples.map(({ currency }) => currency));
  const [currency = ''] = currencies;
  if (currencies.size > 1)
    return {
      sku,
      reason: `${from} list it in ${[...currencies].map((each) => each || 'no currency').join(' and ')}`,
    };
  const found = areMinutes(samples) ? byQuantity(samples) : byProportion(samples);
  if (!found) return { sku, reason: `its price on ${from} is not proportional to the minutes` };
  const { used, ...price } = found;
  return { sku, currency, ...price, ground: groundOf(used, from) };
}

type Range = Pick<KnownPrice, 'low' | 'high'>;

interface Found extends Range, Pick<KnownPrice, 'billing'> {
  readonly used: readonly Sample[];
}

/** Newest first; one without a time counts as the oldest. */
function newest(samples: readonly Sample[]): Sample[] {
  const sorted = [...samples].sort((one, other) => ((one.at ?? '') < (other.at ?? '') ? 1 : -1));
  const sources = new Set([...new Set(sorted.map(({ source }) => source))].slice(0, MAX_SOURCES));
  return sorted.filter(({ source }) => sources.has(source));
}

/** Whether the quantities are minutes: each is less than one from the length of its audio, however it was rounded. */
function areMinutes(samples: readonly Sample[]): boolean {
  return (
    samples.every(({ unit, minutes }) => unit && isWithinOne(unit.quantity, minutes)) &&
    samples.some(({ unit }) => unit && unit.quantity.compare(MIN_TELLING_QUANTITY) >= 0)
  );
}

function isWithinOne(one: Fraction, other: Fraction): boolean {
  const difference = one.minus(other);
  return difference.compare(Fraction.one) < 0 && Fraction.of(-1).compare(difference) < 0;
}

/** Where the newest do not agree, the price is anything between the lowest and the highest. */
function byQuantity(samples: readonly Sample[]): Found | undefined {
  const priceOf = ({ unit }: Sample): Fraction => unit?.price ?? Fraction.zero;
  const latest = samples[0];
  if (!latest) return undefined;
  const differs = samples.findIndex((each) => !priceOf(each).equals(priceOf(latest)));
  const agreeing = differs < 0 ? samples : samples.slice(0, differs);
  const used = differs < 0 || sourcesOf(agreeing) >= MIN_AGREEING ? agreeing : samples;
  const prices = used.map(priceOf);
  return { low: prices.reduce(least), high: prices.reduce(most), billing: billingOf(used), used };
}

function billingOf(samples: readonly Sample[]): Billing {
  const broken = samples.filter(({ minutes }) => !minutes.floor().equals(minutes));
  if (broken.length === 0) return 'not known';
  if (broken.every(({ unit, minutes }) => unit?.quantity.equals(minutes))) return 'exact';
  if (broken.every(({ unit, minutes }) => unit?.quantity.equals(minutes.ceiling()))) return 'whole minutes';
  return 'not known';
}

/**
 * Whatever a quantity counts: if the same price of a minute gives the cost of each, to the cent, then it is by the minute.
 * That takes audios of different lengths; a fixed price for each audio fails here.
 */
function byProportion(samples: readonly Sample[]): Found | undefined {
  let range: Range | undefined;
  let used = 0;
  for (const { cost, minutes } of samples) {
    const low = most(Fraction.zero, cost.minus(CENT)).over(minutes);
    const high = cost.plus(CENT).over(minutes);
    const next: Range = range ? { low: most(range.low, low), high: least(range.high, high) } : { low, high };
    if (next.low.compare(next.high) >= 0) break;
    range = next;
    used += 1;
  }
  const agreeing = samples.slice(0, used);
  if (!range || mayBeFixed(agreeing)) return undefined;
  if (used < samples.length && sourcesOf(agreeing) < MIN_AGREEING) return undefined;
  return { ...exactIn(range, agreeing), billing: 'exact', used: agreeing };
}

/** Whether one price for each audio, whatever its length, would explain the costs as well. */
function mayBeFixed(samples: readonly Sample[]): boolean {
  const costs = samples.map(({ cost }) => cost);
  return costs.reduce(most).minus(costs.reduce(least)).compare(CENT.plus(CENT)) <= 0;
}

/** Where one price gives every cost without any rounding, it is that one. */
function exactIn(range: Range, samples: readonly Sample[]): Range {
  const [first] = samples.map(({ cost, minutes }) => cost.over(minutes));
  const isExact = first && samples.every(({ cost, minutes }) => first.times(minutes).equals(cost));
  return isExact ? { low: first, high: first } : range;
}

const sourcesOf = (samples: readonly Sample[]): number => new Set(samples.map(({ source }) => source)).size;

function groundOf(samples: readonly Sample[], from: 'invoices' | 'files'): Ground {
  const times = samples.map(({ at }) => at);
  // One that can't be read may be the oldest.
  const since = times.includes(undefined) ? undefined : times.at(-1);
  return { from, count: sourcesOf(samples), since };
}

// What the service has said that the latest files cost.

/** Older ones say little about the next order. */
const MAX_FILES = 500;

/** `onlyUnderBudget`: none where the ledger has no budget. */
export async function billedFiles(ledger: Ledger, onlyUnderBudget = false): Promise<BilledFile[]> {
  const rows = await new Files(ledger).page({ states: ['Delivered'], onlyUnderBudget }, MAX_FILES);
  return rows.flatMap(({ id, skus, duration, total, ordered_at: ordered, test }) =>
    test ? [] : [{ id, skus: skus ? skus.split(',') : [], ordered, duration, total }],
  );
}
