/** Amounts as people and programs read them. */
import type { Fraction } from '../lib/fraction.ts';
import { JsonNumber } from '../lib/json.ts';
import { amountText, type Money, parseMoney } from '../lib/money.ts';

/** More than this is a mistake of the service, which must not push out every other amount. */
const MAX_DECIMALS = 8;

/** As many as the most exact of them takes, so that points stand below each other. */
const commonDecimals = (amounts: readonly Fraction[], atLeast = 2): number =>
  amounts.reduce((decimals, amount) => Math.max(decimals, amount.decimals ?? 0), atLeast);

/** The currency that an amount names, else the one that is known; empty where it is not known or is no amount. */
export const currencyOf = (text: string, known: string): string => {
  const money = parseMoney(text);
  return money ? money.currency || known : '';
};

/** An amount with its currency, where that is known. What is no amount stays as it is. */
export const amountWithCurrency = (text: string, known: string): string =>
  alignAmounts([text], known)[0] ?? '';

/** Amounts that stand below each other, with their currency where that is known. */
export function alignAmounts(texts: readonly string[], known = '', atLeast = 2): string[] {
  const read = texts.map(readable);
  const decimals = commonDecimals(
    read.flatMap((money) => money?.amount ?? []),
    atLeast,
  );
  return texts.map((text, at) => {
    const money = read[at];
    if (!money) return text;
    const currency = money.currency || known;
    return money.amount.roundedUp(decimals) + (currency && ` ${currency}`);
  });
}

function readable(text: string): Money | undefined {
  const money = parseMoney(text);
  const decimals = money?.amount.decimals;
  return decimals === undefined || decimals > MAX_DECIMALS ? undefined : money;
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** To the digit; null where it is not known or can't be read. */
export function amountJson(text: string): JsonNumber | null {
  if (jsonNumber.test(text)) return new JsonNumber(text);
  const money = parseMoney(text);
  return money ? new JsonNumber(amountText(money.amount)) : null;
}
