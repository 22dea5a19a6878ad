import { JsonNumber } from '../lib/json.ts';

/** The price of a minute of audio by SKU. */
const centsPerMinute: Readonly<Record<string, number>> = {
  TRANS14: 86,
  TRANS6: 125,
  TRANS2: 250,
  EMSR02: 10,
  DIFFQ2: 100,
  TSTMP1: 50,
  CAPTION1: 100,
  VERBATIM1: 50,
  EDIT01: 75,
  UPGRD1: 39,
  UPGRD2: 164,
  UPGRD3: 125,
};

export const START_BALANCE_CENTS = 2_500_000;

export function priceOf(sku: string): number {
  const cents = centsPerMinute[sku];
  if (cents === undefined) throw new Error(`no price for ${sku}`);
  return cents;
}

export function dollars(cents: number): string {
  const sign = cents < 0 ? '-' : '';
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export const money = (cents: number): JsonNumber => new JsonNumber(dollars(cents));
