/** Learns the price of a minute of each SKU from what the service has billed before. */
import { productOf } from '../../catalog/skus.ts';
import { Fraction, least, most } from '../../lib/fraction.ts';
import type { Billing, Ground, KnownPrice, Price } from './estimate.ts';
import { type BilledFile, type BilledItem, fileSample, itemSample, type Sample } from './samples.ts';

/** Older ones say little about the next order. */
const MAX_SOURCES = 50;
/** After a price has changed, this many invoices have to agree before it counts as the new one. */
const MIN_AGREEING = 3;
/** A quantity of one may be one piece. From two on, one that agrees with the duration is that of minutes. */
const MIN_TELLING_QUANTITY = Fraction.of(2);

const CENT = Fraction.of(1, 100);

export interface Billed {
  readonly items: readonly BilledItem[];
  readonly files: readonly BilledFile[];
}

/** `currency` is that of amounts which say none; empty where it is not known. */
export function learnPrices({ items, files }: Billed, currency: string): Map<string, Price> {
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
      prices.set(productOf(sku), { sku: productOf(sku), reason: 'no invoice tells its price by the minute' });
  return prices;
}

function bySku(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = groups.get(sample.sku);
    if (group) group.push(sample);
    else groups.set(sample.sku, [sample]);
  }
  return groups;
}

function learnPrice(sku: string, all: readonly Sample[], from: 'invoices' | 'files'): Price {
  const samples = newest(all);
  const currencies = new Set(samples.map(({ currency }) => currency));
  const [currency = ''] = currencies;
  if (currencies.size > 1)
    return {
      sku,
      reason: `${from} have it in ${[...currencies].map((each) => each || 'no currency').join(' and ')}`,
    };
  const found = areMinutes(samples) ? byQuantity(samples) : byProportion(samples);
  if (!found) return { sku, reason: `its price on ${from} does not follow the minutes` };
  const { used, ...price } = found;
  return { sku, currency, ...price, ground: groundOf(used, from) };
}

interface Found extends Pick<KnownPrice, 'low' | 'high' | 'billing'> {
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
  let range: { low: Fraction; high: Fraction } | undefined;
  let used = 0;
  for (const { cost, minutes } of samples) {
    const low = most(Fraction.zero, cost.minus(CENT)).over(minutes);
    const high = cost.plus(CENT).over(minutes);
    const next: { low: Fraction; high: Fraction } = range
      ? { low: most(range.low, low), high: least(range.high, high) }
      : { low, high };
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
function exactIn(
  range: { readonly low: Fraction; readonly high: Fraction },
  samples: readonly Sample[],
): { low: Fraction; high: Fraction } {
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
