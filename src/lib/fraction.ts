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

  /** `digits` over ten to the power of `scale`: 1250 and 2 are 12.50. */
  static ofDigits(digits: bigint, scale: number): Fraction {
    const power = 10n ** BigInt(Math.abs(scale));
    return scale < 0 ? new Fraction(digits * power, 1n) : new Fraction(digits, power);
  }

  plus(other: Fraction): Fraction {
    if (this.#denominator === other.#denominator)
      return new Fraction(this.#numerator + other.#numerator, this.#denominator);
    return reduced(
      this.#numerator * other.#denominator + other.#numerator * this.#denominator,
      this.#denominator * other.#denominator,
      (top, bottom) => new Fraction(top, bottom),
    );
  }

  minus(other: Fraction): Fraction {
    return this.plus(new Fraction(-other.#numerator, other.#denominator));
  }

  times(other: Fraction): Fraction {
    return reduced(
      this.#numerator * other.#numerator,
      this.#denominator * other.#denominator,
      (top, bottom) => new Fraction(top, bottom),
    );
  }

  /** Throws a RangeError where `other` is zero. */
  over(other: Fraction): Fraction {
    return this.times(Fraction.of(other.#denominator, other.#numerator));
  }

  /** Below, at or above zero as this is less than, equal to or more than the other. */
  compare(other: Fraction): number {
    const difference = this.#numerator * other.#denominator - other.#numerator * this.#denominator;
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

function reduced<T>(top: bigint, bottom: bigint, make: (top: bigint, bottom: bigint) => T): T {
  const divisor = gcd(top, bottom);
  return make(top / divisor, bottom / divisor);
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
