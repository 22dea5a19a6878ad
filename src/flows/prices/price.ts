/** What is known of a price, and where it comes from. */
import type { Fraction } from '../../lib/fraction.ts';
import { monthName } from '../../lib/service-time.ts';
import { plural } from '../../lib/text.ts';

/** Where a price comes from: a setting of the user's, or what the service has charged before. */
export type Ground =
  | { readonly from: 'setting' }
  | {
      readonly from: 'invoices' | 'files';
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

export interface UnknownPrice {
  readonly sku: string;
  /** What is missing: `no invoice has it`. */
  readonly reason: string;
}

export type Price = KnownPrice | UnknownPrice;

export const isKnown = (price: Price): price is KnownPrice => 'ground' in price;

/** `from 14 invoices since August` */
export function groundText(ground: Ground, now: number): string {
  if (ground.from === 'setting') return 'from the settings';
  const noun = ground.from === 'invoices' ? 'invoice' : 'file';
  const count = `from ${plural(ground.count, noun)}`;
  if (ground.since === undefined) return count;
  return `${count} ${ground.count === 1 ? 'of' : 'since'} ${monthName(ground.since, now)}`;
}
