/** What is known of prices, and what planned orders will cost. Unknown is said, and is never zero. */
import { productOf } from '../../catalog/skus.ts';
import { usage } from '../../lib/errors.ts';
import {
  amountText,
  DEFAULT_CURRENCY,
  Fraction,
  type Money,
  MoneySums,
  moneyText,
  parseMoney,
} from '../../lib/money.ts';
import { plural } from '../../lib/text.ts';
import { monthName, nowMs } from '../../lib/time.ts';

/** The price of a minute. `low` and `high` differ where invoices do. */
export interface KnownPrice {
  readonly sku: string;
  readonly low: Fraction;
  readonly high: Fraction;
  readonly currency: string;
  /** Minutes are billed to the fraction; else a begun minute may count as a whole one. */
  readonly exact: boolean;
  /** The invoices that show it, and the time of the oldest (ISO 8601), where it can be read; absent: it is set. */
  readonly ground?: { readonly count: number; readonly since: string | undefined };
}

interface UnknownPrice {
  readonly sku: string;
  /** What is missing: `no invoice lists it`. */
  readonly reason: string;
}

export type Price = KnownPrice | UnknownPrice;

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
  readonly unpriced: readonly UnknownPrice[];
  /** Names of the audios whose length is not known. */
  readonly unmeasured: readonly string[];
}

/** The settings `price.SKU`, with values like `0.86` or `1.25 EUR`, as prices of a minute. */
export const pricesFromSettings = (
  settings: Readonly<Record<string, string>>,
  currency: string,
): Map<string, Price> =>
  new Map(
    Object.entries(settings).map(([name, text]) => {
      const { amount, currency: own } = checkPrice(name, text);
      const sku = productOf(name);
      return [sku, { sku, low: amount, high: amount, currency: own || currency, exact: true }];
    }),
  );

export function checkPrice(sku: string, text: string): Money {
  const price = parseMoney(text);
  if (price && price.amount.sign > 0) return price;
  throw usage(
    `the price of ${sku} must be an amount above zero, not '${text}'`,
    'write the price per minute, like 0.86',
  );
}

export function estimateCost(
  audios: Iterable<PlannedAudio>,
  prices: ReadonlyMap<string, Price>,
  fallbackCurrency = '',
): Estimate {
  const [low, high] = [new MoneySums(), new MoneySums()];
  const used = new Map<string, KnownPrice>();
  const unpriced = new Map<string, UnknownPrice>();
  const unmeasured: string[] = [];
  const add = (sku: string, minutes: Fraction | undefined): void => {
    const price = prices.get(sku) ?? { sku, reason: 'no invoice lists it' };
    if ('reason' in price) return void unpriced.set(sku, price);
    used.set(sku, price);
    const { currency, exact } = price;
    if (!minutes) return;
    low.add({ amount: price.low.times(minutes), currency });
    high.add({ amount: price.high.times(exact ? minutes : minutes.ceiling()), currency });
  };
  for (const { name, skus, minutes } of audios) {
    // A length of zero is one that is not known yet.
    const measured = minutes && minutes.sign > 0 ? minutes : undefined;
    if (!measured) unmeasured.push(name);
    for (const sku of new Set(skus.map(productOf))) add(sku, measured);
  }
  const known = high.all();
  const isWhole = unpriced.size === 0 && unmeasured.length === 0 && known.length < 2;
  const { currency, amount } = known[0] ?? { currency: fallbackCurrency, amount: Fraction.zero };
  return {
    total: isWhole ? { low: low.get(currency), high: amount, currency } : undefined,
    known,
    prices: [...used.values()],
    unpriced: [...unpriced.values()],
    unmeasured,
  };
}

const MAX_NAMES = 3;

/** `12.90 USD`, `12.04 to 12.90 USD`, or `unknown`. */
export const totalText = ({ total }: Pick<Estimate, 'total'>): string =>
  total ? rangeText(total, DEFAULT_CURRENCY) : 'unknown';

export function rangeText({ low, high, currency }: NonNullable<Estimate['total']>, otherwise = ''): string {
  const [from, to] = [amountText(low), amountText(high)];
  return [from === to ? to : `${from} to ${to}`, currency || otherwise].join(' ').trim();
}

/** Where the estimate comes from: a text for each SKU. */
export const groundTexts = ({ prices }: Estimate, now: number): string[] =>
  prices.map((price) => `${price.sku} at ${rangeText(price)}/min (${groundText(price, now)})`);

/** `from 3 invoices since August` */
function groundText({ ground }: KnownPrice, now: number): string {
  if (!ground) return 'from the settings';
  if (ground.since === undefined) return `from ${plural(ground.count, 'invoice')}`;
  const month = monthName(ground.since, now);
  return ground.count === 1
    ? `from 1 ${month} invoice`
    : `from ${plural(ground.count, 'invoice')} since ${month}`;
}

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

export const estimateLines = (estimate: Estimate, now = nowMs()): string[] => [
  `estimate: ${totalText(estimate)}`,
  ...groundTexts(estimate, now),
  ...unknownTexts(estimate),
];
