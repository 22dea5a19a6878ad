/** What planned orders will cost, for --json. */
import type { Estimate } from '../flows/prices/estimate.ts';
import type { Fraction } from '../lib/fraction.ts';
import { type Json, JsonNumber, toJson } from '../lib/json.ts';
import { amountText } from '../lib/money.ts';
import {
  arrayOf,
  described,
  maybeInteger,
  maybeNumber,
  maybeText,
  number,
  object,
  type Schema,
  text,
} from './schema.ts';

export const estimateSchema: Schema = object({
  low: described('null where a part is not known', maybeNumber),
  high: maybeNumber,
  currency: maybeText,
  known: described(
    'what is known of it, by currency',
    arrayOf(object({ amount: number, currency: maybeText })),
  ),
  prices: arrayOf(
    object({
      sku: text,
      low: number,
      high: number,
      currency: maybeText,
      billing: described('whether it counts by the minute or by the file', text),
      from: described('how the price is known', text),
      count: described('from how many invoice items', maybeInteger),
      since: maybeText,
    }),
  ),
  unpriced: arrayOf(object({ sku: text, reason: text })),
  unmeasured: described('audios of unknown length', arrayOf(text)),
});

/** `low` and `high` are the same where all is known; null where a part is not. */
export function estimateJson({ total, known, prices, unpriced, unmeasured }: Estimate): Json {
  return toJson({
    low: total ? amount(total.low) : null,
    high: total ? amount(total.high) : null,
    currency: total?.currency || null,
    known: known.map((each) => ({ amount: amount(each.amount), currency: each.currency || null })),
    prices: prices.map(({ sku, low, high, currency, billing, ground }) => ({
      sku,
      low: amount(low),
      high: amount(high),
      currency: currency || null,
      billing,
      from: ground.from,
      count: ground.from === 'setting' ? null : ground.count,
      since: ground.from === 'setting' ? null : (ground.since ?? null),
    })),
    unpriced: unpriced.map(({ sku, reason }) => ({ sku, reason })),
    unmeasured: [...unmeasured],
  });
}

const amount = (value: Fraction): JsonNumber => new JsonNumber(amountText(value));
