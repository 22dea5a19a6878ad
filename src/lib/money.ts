/** Amounts of money with the currency that they are said to be in. Exact, never floating-point numbers. */
import { isCurrency } from './currencies.ts';
import { usage } from './errors.ts';
import { Fraction } from './fraction.ts';

export interface Money {
  readonly amount: Fraction;
  /** Three letters of ISO 4217; empty where nothing says it. */
  readonly currency: string;
}

/** No amount is longer; the patterns below would take very long for a megabyte of blanks. */
const MAX_LENGTH = 1_000;

/** Signs that mean one currency alone; the service calls its own amounts dollars. */
const signs: Readonly<Record<string, string>> = { $: 'USD', US$: 'USD', '€': 'EUR', '£': 'GBP' };

const number = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;
const thousands = /,(?=\d{3}(?:[,.\s]|$))/g;

/** Reads a plain number such as `12`, `12.50`, `.5`, `-3` or `1e3`. */
export function parseNumber(text: string): Fraction | undefined {
  const match = text.length > MAX_LENGTH ? null : number.exec(text.trim());
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  return Fraction.ofDigits(sign === '-' ? -digits : digits, fraction.length - Number(exponent));
}

/** Reads `12.50`, `$1,234.50`, `-€3`, `EUR 12` or `12 EUR`; undefined if it is no amount. */
export function parseMoney(text: string): Money | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const match = /^([+-]?)(US\$|[$€£]|[A-Z]{3}(?=[\s\d.-]))?\s*(\S+?)\s*(?<=[\d.\s])([A-Z]{3}|[$€£])?$/i.exec(
    text.trim(),
  );
  if (!match) return undefined;
  const [, sign, before = '', digits = '', after = ''] = match;
  // Twice a currency, or twice a sign, is no amount.
  if ((before && after) || (sign && /^[+-]/.test(digits))) return undefined;
  const amount = parseNumber(sign + withoutThousands(digits));
  const currency = currencyOf(before || after);
  return amount && currency !== undefined ? { amount, currency } : undefined;
}

/** Undefined where it is none: `200min` is no amount of money. */
function currencyOf(mark: string): string | undefined {
  const code = signs[mark.toUpperCase()] ?? mark.toUpperCase();
  return code === '' || isCurrency(code) ? code : undefined;
}

/** `1,234.50` without its comma; `1,5` stays as it is, and is no amount. */
const withoutThousands = (digits: string): string =>
  /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(digits) ? digits.replace(thousands, '') : digits;

/** The value of the setting `currency`. */
export function checkCurrency(text: string): string {
  const code = text.trim().toUpperCase();
  if (isCurrency(code)) return code;
  throw usage(`'${text}' is not a currency`, 'write its three letters, like USD or EUR');
}

/** An amount that a person typed: nothing below zero. `what` names it in the error. */
export function checkAmount(text: string, what: string): Money {
  const money = parseMoney(text);
  if (money && money.amount.sign >= 0) return money;
  throw usage(`${what} '${text}' is not an amount`, 'write it like 20, 19.50 or 20 EUR');
}

/** With two decimals, or more where it takes more to be exact; with four, rounded up, where no number is enough. */
export const amountText = (amount: Fraction): string => amount.toExact(2) ?? amount.roundedUp(4);

export const moneyText = ({ amount, currency }: Money): string =>
  currency ? `${amountText(amount)} ${currency}` : amountText(amount);

/** Sums of amounts, one for each currency: an amount of which none is known is added to no other. */
export class MoneySums {
  readonly #sums = new Map<string, Fraction>();

  add({ amount, currency }: Money): this {
    this.#sums.set(currency, (this.#sums.get(currency) ?? Fraction.zero).plus(amount));
    return this;
  }

  get(currency: string): Fraction {
    return this.#sums.get(currency) ?? Fraction.zero;
  }

  /** By currency, in order. */
  all(): Money[] {
    return [...this.#sums]
      .map(([currency, amount]) => ({ amount, currency }))
      .sort((one, other) => (one.currency < other.currency ? -1 : 1));
  }
}

const MILLION = Fraction.of(1_000_000);

/**
 * An amount as databases add it up: in millionths, what is beyond them rounded up. Undefined for more than a database
 * adds up exactly.
 */
export function millionthsOf(amount: Fraction): number | undefined {
  const millionths = Number(amount.times(MILLION).ceiling().toExact());
  return Number.isSafeInteger(millionths) ? millionths : undefined;
}

/** Equal parts in whole millionths, rounded towards zero; the first has what is left. */
export function sharesOf(amount: Fraction, count: number): Fraction[] {
  const sign = Fraction.of(amount.sign);
  const each = amount.times(sign).times(MILLION).over(Fraction.of(count)).floor().over(MILLION).times(sign);
  const first = amount.minus(each.times(Fraction.of(count - 1)));
  return Array.from({ length: count }, (_, at) => (at ? each : first));
}

export const fromMillionths = (millionths: number): Fraction => Fraction.of(millionths, 1_000_000);
