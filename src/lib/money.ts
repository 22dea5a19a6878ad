/** Amounts of money with their currency, and budgets. Exact, never floating-point numbers. */
import { usage } from './errors.ts';

/**
 * Exact numbers: a whole number over another one. No sum, product or division loses a digit, and rounding happens only
 * where a caller asks for it by name.
 */
export class Fraction {
  static readonly zero = new Fraction(0n, 1n);
  static readonly one = new Fraction(1n, 1n);
  readonly #numerator: bigint;
  /** Above zero. */
  readonly #denominator: bigint;

  private constructor(numerator: bigint, denominator: bigint) {
    this.#numerator = numerator;
    this.#denominator = denominator;
  }

  static of(numerator: bigint | number, denominator: bigint | number = 1n): Fraction {
    const [top, bottom] = [BigInt(numerator), BigInt(denominator)];
    if (bottom === 0n) throw new RangeError('a fraction over zero');
    return bottom < 0n ? new Fraction(-top, -bottom) : new Fraction(top, bottom);
  }

  static #reduced(top: bigint, bottom: bigint): Fraction {
    const divisor = gcd(top, bottom);
    return new Fraction(top / divisor, bottom / divisor);
  }

  /** `digits` over ten to the power of `scale`: 1250 and 2 are 12.50. */
  static ofDigits(digits: bigint, scale: number): Fraction {
    const power = 10n ** BigInt(Math.abs(scale));
    return scale < 0 ? new Fraction(digits * power, 1n) : new Fraction(digits, power);
  }

  plus(other: Fraction): Fraction {
    if (other.#numerator === 0n) return this;
    if (this.#numerator === 0n) return other;
    if (this.#denominator === other.#denominator)
      return new Fraction(this.#numerator + other.#numerator, this.#denominator);
    return Fraction.#reduced(
      this.#numerator * other.#denominator + other.#numerator * this.#denominator,
      this.#denominator * other.#denominator,
    );
  }

  minus(other: Fraction): Fraction {
    return this.plus(new Fraction(-other.#numerator, other.#denominator));
  }

  times(other: Fraction): Fraction {
    return Fraction.#reduced(this.#numerator * other.#numerator, this.#denominator * other.#denominator);
  }

  /** Throws a RangeError where `other` is zero. */
  over(other: Fraction): Fraction {
    return this.times(Fraction.of(other.#denominator, other.#numerator));
  }

  /** Below, at or above zero as this is less than, equal to or more than the other. */
  compare(other: Fraction): number {
    const difference =
      this.#denominator === other.#denominator
        ? this.#numerator - other.#numerator
        : this.#numerator * other.#denominator - other.#numerator * this.#denominator;
    return Number(difference > 0n) - Number(difference < 0n);
  }

  equals(other: Fraction): boolean {
    return this.compare(other) === 0;
  }

  /** -1, 0 or 1. */
  get sign(): number {
    return Number(this.#numerator > 0n) - Number(this.#numerator < 0n);
  }

  /** The next whole number at or below it. */
  floor(): Fraction {
    const whole = this.#numerator / this.#denominator;
    const isAbove = whole * this.#denominator > this.#numerator;
    return new Fraction(isAbove ? whole - 1n : whole, 1n);
  }

  /** The next whole number at or above it. */
  ceiling(): Fraction {
    const below = this.floor();
    return below.equals(this) ? below : below.plus(Fraction.one);
  }

  /** How many decimals it takes to write it exactly; undefined where no number of them is enough, as for a third. */
  get decimals(): number | undefined {
    let rest = this.#denominator / gcd(this.#numerator, this.#denominator);
    let decimals = 0;
    for (const divisor of [10n, 5n, 2n])
      while (rest % divisor === 0n) {
        rest /= divisor;
        decimals += 1;
      }
    return rest === 1n ? decimals : undefined;
  }

  /** Written exactly, with at least `minDecimals` decimals; undefined where that can't be done. */
  toExact(minDecimals = 0): string | undefined {
    const { decimals } = this;
    return decimals === undefined ? undefined : this.roundedUp(Math.max(decimals, minDecimals));
  }

  /** Written with this many decimals, rounded up: 0.001 with two decimals is 0.01. */
  roundedUp(decimals: number): string {
    const scaled = this.times(new Fraction(10n ** BigInt(decimals), 1n)).ceiling().#numerator;
    const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
    const at = digits.length - decimals;
    return `${scaled < 0n ? '-' : ''}${digits.slice(0, at)}${decimals ? `.${digits.slice(at)}` : ''}`;
  }

  /** For drawing alone: as near as a floating-point number comes. */
  toNumber(): number {
    const divisor = gcd(this.#numerator, this.#denominator);
    return Number(this.#numerator / divisor) / Number(this.#denominator / divisor);
  }
}

/** Never zero, because `b` is not. */
function gcd(a: bigint, b: bigint): bigint {
  let [large, small] = [a < 0n ? -a : a, b];
  while (small) [large, small] = [small, large % small];
  return large;
}

export const sumOf = (values: Iterable<Fraction>): Fraction => {
  let sum = Fraction.zero;
  for (const value of values) sum = sum.plus(value);
  return sum;
};

export const least = (first: Fraction, second: Fraction): Fraction =>
  first.compare(second) <= 0 ? first : second;

export const most = (first: Fraction, second: Fraction): Fraction =>
  first.compare(second) >= 0 ? first : second;

/** The currencies of ISO 4217 that are in use. */
const CODES =
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF ' +
  'CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD ' +
  'HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD ' +
  'MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN ' +
  'PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD ' +
  'TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG';

/** Whether three capital letters are a currency. */
export const isCurrency = (code: string): boolean => /^[A-Z]{3}$/.test(code) && CODES.includes(code);

export interface Money {
  readonly amount: Fraction;
  /** Three letters of ISO 4217; empty where nothing says it. */
  readonly currency: string;
}

/** The API document calls every amount dollars. */
export const DEFAULT_CURRENCY = 'USD';

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

/** An amount as databases add it up: in millionths, what is beyond them rounded up. */
export const wholeMillionths = (amount: Fraction): bigint => BigInt(amount.times(MILLION).roundedUp(0));

/** The same as a number; undefined for more than one keeps exactly. */
export function millionthsOf(amount: Fraction): number | undefined {
  const millionths = Number(wholeMillionths(amount));
  return Number.isSafeInteger(millionths) ? millionths : undefined;
}

/** Equal parts in whole millionths, rounded towards zero; the first has what is left. */
export function sharesOf(amount: Fraction, count: number): Fraction[] {
  const sign = Fraction.of(amount.sign);
  const each = amount.times(sign).times(MILLION).over(Fraction.of(count)).floor().over(MILLION).times(sign);
  const first = amount.minus(each.times(Fraction.of(count - 1)));
  return Array.from({ length: count }, (_, at) => (at ? each : first));
}

export const fromMillionths = (millionths: number | bigint): Fraction => Fraction.of(millionths, 1_000_000);

/** Reads `12`, `12.50`, `.5`, `-3`, `$1,234.50` or `1e3`; dollars alone, as the balance is in. */
function parse(text: string): Fraction | undefined {
  const money = parseMoney(text);
  return money?.currency === '' || money?.currency === 'USD' ? money.amount : undefined;
}

export const isAmount = (text: string): boolean => parse(text) !== undefined;

/** Below, at or above zero as `a` is less than, equal to or more than `b`; undefined if one is not an amount. */
export function compareAmounts(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  return left && right && left.compare(right);
}

export const budgetPeriods = ['day', 'week', 'month', 'year'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** How much may be spent in a day, a week, a month or a year. */
export interface Budget {
  readonly limit: Money;
  readonly period: BudgetPeriod;
}

/** A span of time, in ISO 8601; `end` is the first moment after it. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

/** Reads `200/month`, `$50 / week` or `1000 EUR/year`. */
export function parseBudget(text: string): Budget {
  const slash = text.lastIndexOf('/');
  const limit = slash < 0 ? undefined : parseMoney(text.slice(0, slash));
  const name = text
    .slice(slash + 1)
    .trim()
    .toLowerCase();
  const period = budgetPeriods.find((each) => each === name);
  if (limit && period && limit.amount.sign >= 0) return { limit, period };
  throw usage(
    `'${text}' is not a budget`,
    'write it like 200/month; a budget is for a day, week, month or year',
  );
}

/** Of a budget that names none. */
export const withCurrency = ({ limit, period }: Budget, currency: string): Budget => ({
  limit: { ...limit, currency: limit.currency || currency },
  period,
});

export const budgetText = ({ limit, period }: Budget): string => `${moneyText(limit)}/${period}`;

/** The period that a time lies in. In UTC, so that all who share a ledger mean the same; a week begins on Monday. */
export function periodAt(period: BudgetPeriod, now: number): Period {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const weekDay = (at.getUTCDay() + 6) % 7;
  switch (period) {
    case 'day':
      return span([year, month, day], [year, month, day + 1]);
    case 'week':
      return span([year, month, day - weekDay], [year, month, day - weekDay + 7]);
    case 'month':
      return span([year, month, 1], [year, month + 1, 1]);
    case 'year':
      return span([year, 0, 1], [year + 1, 0, 1]);
  }
}

type Day = readonly [year: number, month: number, day: number];

const span = (start: Day, end: Day): Period => ({ start: iso(start), end: iso(end) });

/** Days and months beyond their end lead into the next one. */
const iso = ([year, month, day]: Day): string => new Date(Date.UTC(year, month, day)).toISOString();
