/** What is known of prices, and what planned orders will cost. Unknown is said, and is never zero. */
import { productOf } from '../../catalog/skus.ts';
import { usage } from '../../lib/errors.ts';
import { amountText, Fraction, type Money, MoneySums, moneyText, parseMoney } from '../../lib/money.ts';
import { plural } from '../../lib/text.ts';
import { monthName, nowMs } from '../../lib/time.ts';

/** Where a price comes from: a setting of the user's, or what the service has charged before. */
export type Ground =
  | { readonly from: 'setting' }
  | {
      readonly from: 'invoices';
      readonly count: number;
      /** The time of the oldest one, in ISO 8601; undefined where it can't be read. */
      readonly since: string | undefined;
    };

/** How minutes are billed, as far as earlier bills show it: to the fraction, or each begun minute as a whole one. */
export type Billing = 'exact' | 'whole minutes' | 'not known';

/** The price of a minute. `low` and `high` differ where earlier bills do. */
export interface KnownPrice {
  readonly sku: string;
  readonly low: Fraction;
  readonly high: Fraction;
  readonly currency: string;
  readonly billing: Billing;
  readonly ground: Ground;
}

interface UnknownPrice {
  readonly sku: string;
  /** What is missing: `no invoice lists it`. */
  readonly reason: string;
}

export type Price = KnownPrice | UnknownPrice;

export const isKnown = (price: Price): price is KnownPrice => 'ground' in price;

/** `from 14 invoices since August` */
export function groundText(ground: Ground, now: number): string {
  if (ground.from === 'setting') return 'from the settings';
  if (ground.since === undefined) return `from ${plural(ground.count, 'invoice')}`;
  const month = monthName(ground.since, now);
  return ground.count === 1
    ? `from 1 ${month} invoice`
    : `from ${plural(ground.count, 'invoice')} since ${month}`;
}

export interface PlannedAudio {
  /** What people know it by: its title, file name or URL. */
  readonly name: string;
  readonly skus: readonly string[];
  /** The length of the audio; undefined where it is not known. */
  readonly minutes: Fraction | undefined;
}

export interface Estimate {
  /** Undefined where a part is not known, or where parts have different currencies. */
  readonly total: { readonly low: Fraction; readonly high: Fraction; readonly currency: string } | undefined;
  /** What is known, by currency, whatever is unknown beside it. */
  readonly known: readonly Money[];
  readonly prices: readonly KnownPrice[];
  readonly unpriced: readonly { readonly sku: string; readonly reason: string }[];
  /** Names of the audios whose length is not known. */
  readonly unmeasured: readonly string[];
}

/** The settings `price.SKU`, with values like `0.86` or `1.25 EUR`, as prices of a minute. */
export function pricesFromSettings(
  settings: Readonly<Record<string, string>>,
  currency: string,
): Map<string, Price> {
  return new Map(
    Object.entries(settings).map(([sku, text]) => {
      const price = checkPrice(sku, text);
      const [low, name] = [price.amount, productOf(sku)];
      const ground = { from: 'setting' } as const;
      return [
        name,
        { sku: name, low, high: low, currency: price.currency || currency, billing: 'exact', ground },
      ];
    }),
  );
}

export function checkPrice(sku: string, text: string): Money {
  const price = parseMoney(text);
  if (price && price.amount.sign > 0) return price;
  throw usage(
    `the price of ${sku} must be an amount above zero, not '${text}'`,
    'write the price per minute, like 0.86',
  );
}

/** `prices` by SKU; those of the settings go before those that were learned. */
export function estimateCost(
  audios: Iterable<PlannedAudio>,
  prices: ReadonlyMap<string, Price>,
  fallbackCurrency = '',
): Estimate {
  const [low, high] = [new MoneySums(), new MoneySums()];
  const used = new Map<string, KnownPrice>();
  const unpriced = new Map<string, string>();
  const add = (sku: string, minutes: Fraction | undefined): void => {
    const price = prices.get(sku);
    if (!price || !isKnown(price)) return void unpriced.set(sku, price?.reason ?? 'no invoice lists it');
    used.set(sku, price);
    if (!minutes) return;
    const billed = billedMinutes(minutes, price);
    low.add({ amount: price.low.times(billed.low), currency: price.currency });
    high.add({ amount: price.high.times(billed.high), currency: price.currency });
  };
  const unmeasured: string[] = [];
  for (const audio of audios) {
    const minutes = isMeasured(audio) ? audio.minutes : undefined;
    for (const sku of new Set(audio.skus.map(productOf))) add(sku, minutes);
    if (!minutes) unmeasured.push(audio.name);
  }
  const known = high.all();
  return {
    total: unpriced.size || unmeasured.length ? undefined : totalOf(low, known, fallbackCurrency),
    known,
    prices: [...used.values()],
    unpriced: [...unpriced].map(([sku, reason]) => ({ sku, reason })),
    unmeasured,
  };
}

/** A length of zero is one that is not known yet. */
const isMeasured = ({ minutes }: PlannedAudio): boolean => minutes !== undefined && minutes.sign > 0;

function totalOf(low: MoneySums, high: readonly Money[], fallbackCurrency: string): Estimate['total'] {
  const [only, ...more] = high;
  // Nothing is planned, which costs nothing.
  if (!only) return { low: Fraction.zero, high: Fraction.zero, currency: fallbackCurrency };
  if (more.length) return undefined;
  return { low: low.get(only.currency), high: only.amount, currency: only.currency };
}

function billedMinutes(minutes: Fraction, { billing }: KnownPrice): { low: Fraction; high: Fraction } {
  if (billing === 'exact') return { low: minutes, high: minutes };
  const high = minutes.ceiling();
  if (billing === 'whole minutes') return { low: high, high };
  // Rounded down it would be free.
  return { low: minutes.compare(Fraction.one) < 0 ? minutes : minutes.floor(), high };
}

/** How many names a line shows. */
const MAX_NAMES = 3;

/** `12.90 USD`, `12.04 to 12.90 USD`, or `unknown`. */
export function totalText({ total }: Estimate): string {
  if (!total) return 'unknown';
  const [low, high] = [amountText(total.low), amountText(total.high)];
  const range = low === high ? high : `${low} to ${high}`;
  return total.currency ? `${range} ${total.currency}` : range;
}

/** Where the estimate comes from: a text for each SKU. */
export const groundTexts = ({ prices }: Estimate, now: number): string[] =>
  prices.map(({ sku, low, high, currency, ground }) => {
    const price = totalText({ total: { low, high, currency } } as Estimate);
    return `${sku} at ${price}/min (${groundText(ground, now)})`;
  });

/** What is not known: a text for each part; none where all is known. */
export function unknownTexts({ known, unpriced, unmeasured }: Estimate): string[] {
  const texts = unpriced.map(({ sku, reason }) => `the price of ${sku} is unknown: ${reason}`);
  if (unmeasured.length) texts.push(unmeasuredText(unmeasured));
  if (known.length > 1)
    texts.push(`prices are in different currencies: ${known.map((each) => moneyText(each)).join(', ')}`);
  return texts;
}

function unmeasuredText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `the length of ${plural(names.length, 'audio file')} is unknown: ${shown}${more}`;
}

/** What people are told before they order. */
export const estimateLines = (estimate: Estimate, now = nowMs()): string[] => [
  `estimate: ${totalText(estimate)}`,
  ...groundTexts(estimate, now),
  ...unknownTexts(estimate),
];
