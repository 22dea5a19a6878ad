/** Exact numbers, amounts with their currency, budgets, and times as the service may write them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountText,
  budgetPeriods,
  budgetText,
  checkAmount,
  checkCurrency,
  compareAmounts,
  Fraction,
  least,
  MoneySums,
  moneyText,
  most,
  parseBudget,
  parseMoney,
  parseNumber,
  periodAt,
  sumOf,
} from '../../src/lib/money.ts';
import { monthName, parseServiceTime } from '../../src/lib/time.ts';

const whole = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
const fraction = fc
  .tuple(whole, fc.bigInt({ min: 1n, max: 10n ** 9n }))
  .map(([top, bottom]) => Fraction.of(top, bottom));

describe('a fraction', () => {
  it('adds, takes away, multiplies and divides without losing anything', () => {
    fc.assert(
      fc.property(fraction, fraction, fraction, (a, b, c) => {
        expect(a.plus(b).minus(b).equals(a)).toBe(true);
        expect(
          a
            .plus(b)
            .times(c)
            .equals(a.times(c).plus(b.times(c))),
        ).toBe(true);
        if (b.sign !== 0) expect(a.over(b).times(b).equals(a)).toBe(true);
        expect(a.compare(b)).toBe(-b.compare(a) + 0);
        expect(sumOf([a, b, c]).equals(c.plus(b).plus(a))).toBe(true);
        expect(least(a, b).compare(most(a, b))).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('is written exactly, or not at all', () => {
    expect(Fraction.of(1, 8).toExact()).toBe('0.125');
    expect(Fraction.of(1, 3).toExact()).toBeUndefined();
    expect(Fraction.of(3).toExact(2)).toBe('3.00');
    expect(Fraction.of(6, 3).toExact()).toBe('2');
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 12 }), (digits, scale) => {
        const value = Fraction.ofDigits(digits, scale);
        const text = value.toExact();
        expect(text && parseNumber(text)?.equals(value)).toBe(true);
      }),
    );
  });

  it('is rounded up where that is asked for, by less than one of the last place', () => {
    expect([Fraction.of(1, 3).roundedUp(2), Fraction.of(-1, 3).roundedUp(2)]).toEqual(['0.34', '-0.33']);
    expect(Fraction.of(1, 1000).roundedUp(0)).toBe('1');
    fc.assert(
      fc.property(fraction, fc.integer({ min: 0, max: 6 }), (value, decimals) => {
        const rounded = parseNumber(value.roundedUp(decimals));
        const added = rounded?.minus(value);
        expect(added && added.sign >= 0 && added.compare(Fraction.ofDigits(1n, decimals)) < 0).toBe(true);
      }),
    );
  });

  it('knows the whole numbers around it', () => {
    fc.assert(
      fc.property(fraction, (value) => {
        const [below, above] = [value.floor(), value.ceiling()];
        expect(below.compare(value) <= 0 && value.compare(above) <= 0).toBe(true);
        expect(above.minus(below).compare(Fraction.one)).toBeLessThanOrEqual(0);
        expect(below.decimals).toBe(0);
      }),
    );
  });

  it('is never one over zero', () => {
    expect(() => Fraction.of(1, 0)).toThrow(RangeError);
    expect(() => Fraction.one.over(Fraction.zero)).toThrow(RangeError);
  });

  it('is near enough to draw it, however many digits it has', () => {
    expect(Fraction.of(10n ** 400n, 10n ** 400n * 4n).toNumber()).toBe(0.25);
  });
});

describe('money', () => {
  it.each([
    ['12', '12.00', ''],
    ['12.5', '12.50', ''],
    ['.5', '0.50', ''],
    ['1e3', '1000.00', ''],
    ['$1,234.50', '1234.50', 'USD'],
    ['US$ 7', '7.00', 'USD'],
    ['-$3', '-3.00', 'USD'],
    ['$-3', '-3.00', 'USD'],
    ['€5', '5.00', 'EUR'],
    ['5 €', '5.00', 'EUR'],
    ['£1,234,567.891', '1234567.891', 'GBP'],
    ['EUR 12.30', '12.30', 'EUR'],
    ['12.30 chf', '12.30', 'CHF'],
    ['12USD', '12.00', 'USD'],
  ])('%s is %s %s', (text, amount, currency) => {
    const money = parseMoney(text);
    expect(money && [amountText(money.amount), money.currency]).toEqual([amount, currency]);
  });

  it.each([
    '',
    ' ',
    '.',
    '-',
    '1,5',
    '1.234,50',
    '12,34.5',
    'ten',
    'USD',
    '1.2.3',
    '0x10',
    '1 000',
    'NaN',
    'Infinity',
    '$5 USD',
    'USD 5 USD',
    '--5',
    '-$-5',
    '5 dollars',
    '1e9999',
    '¥5',
    'A$5',
    '１２',
    '200min',
    '5 DEM',
    'ABC 5',
    '5 XXX',
  ])('%j is none', (text) => {
    expect(parseMoney(text)).toBeUndefined();
  });

  it('is what an amount is elsewhere', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }).map(String), (text) => {
        const money = parseMoney(text);
        expect(money && compareAmounts(amountText(money.amount), text)).toBe(0);
      }),
    );
  });

  it('is read or not, whatever comes, and soon', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseMoney(text)));
    expect(parseMoney(`1${' '.repeat(1_000_000)}x`)).toBeUndefined();
    expect(parseMoney('1'.repeat(1_001))).toBeUndefined();
  });

  it('is written with two decimals, or with as many as it takes', () => {
    const written = ['3', '0.125', '-0.5'].map((text) => amountText(parseNumber(text) ?? Fraction.zero));
    expect(written).toEqual(['3.00', '0.125', '-0.50']);
    expect(moneyText({ amount: Fraction.of(1, 3), currency: 'EUR' })).toBe('0.3334 EUR');
  });

  it('is added up by currency alone', () => {
    const sums = new MoneySums();
    for (const text of ['0.1', '0.2', '€1', '$5', '2 EUR'])
      sums.add(parseMoney(text) ?? { amount: Fraction.zero, currency: '?' });
    expect(sums.all().map(moneyText)).toEqual(['0.30', '3.00 EUR', '5.00 USD']);
  });

  it('that a person types is not below zero', () => {
    expect(moneyText(checkAmount('0', '--max-cost'))).toBe('0.00');
    expect(() => checkAmount('-1', '--max-cost')).toThrow("--max-cost '-1' is not an amount");
    expect(() => checkAmount('cheap', '--max-cost')).toThrow('is not an amount');
  });

  it('has a currency of three letters', () => {
    expect(checkCurrency(' eur ')).toBe('EUR');
    for (const text of ['', 'E', 'EURO', '€', 'U5D'])
      expect(() => checkCurrency(text)).toThrow('is not a currency');
  });
});

describe('a budget', () => {
  it.each([
    ['200/month', '200.00/month'],
    ['$50 / Week', '50.00 USD/week'],
    ['1,000.5 EUR/year', '1000.50 EUR/year'],
    ['0/day', '0.00/day'],
  ])('%s is %s', (text, expected) => {
    expect(budgetText(parseBudget(text))).toBe(expected);
  });

  it.each(['', '200', '200/', '/month', '200/decade', '-5/month', 'x/month', '200/month/day', '200 month'])(
    '%j is none',
    (text) => {
      expect(() => parseBudget(text)).toThrow('is not a budget');
    },
  );

  it.each([
    ['day', '2026-11-15', '2026-11-16'],
    ['week', '2026-11-09', '2026-11-16'],
    ['month', '2026-11-01', '2026-12-01'],
    ['year', '2026-01-01', '2027-01-01'],
  ] as const)('of a %s counts from %s to %s', (period, start, end) => {
    // A Sunday, the last second of the day and of the week.
    const found = periodAt(period, Date.parse('2026-11-15T23:59:59.999Z'));
    expect(found).toEqual({ start: `${start}T00:00:00.000Z`, end: `${end}T00:00:00.000Z` });
  });

  it('has periods that follow each other without a gap', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...budgetPeriods),
        fc.date({ min: new Date('1990-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
        (period, date) => {
          const { start, end } = periodAt(period, date.getTime());
          expect(Date.parse(start)).toBeLessThanOrEqual(date.getTime());
          expect(Date.parse(end)).toBeGreaterThan(date.getTime());
          expect(periodAt(period, Date.parse(end)).start).toBe(end);
          expect(periodAt(period, Date.parse(start) - 1).end).toBe(start);
        },
      ),
    );
  });
});

describe('a time of the service', () => {
  it.each([
    ['2026-08-01', '2026-08-01T00:00:00.000Z'],
    ['2026-08-01 10:20', '2026-08-01T10:20:00.000Z'],
    ['2026-08-01T10:20:30.5Z', '2026-08-01T10:20:30.500Z'],
    ['2026-08-01 10:20:30 UTC', '2026-08-01T10:20:30.000Z'],
    ['2026-08-01T10:20:30+02:00', '2026-08-01T08:20:30.000Z'],
    ['2026-08-01T10:20:30-0700', '2026-08-01T17:20:30.000Z'],
    ['Sat, 1 Aug 2026 10:20:30 GMT', '2026-08-01T10:20:30.000Z'],
    ['1 August 2026', '2026-08-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseServiceTime(text)).toBe(expected);
  });

  it.each([
    '',
    '0',
    '1786356000',
    '03/04/2026',
    '2026-02-30',
    '2026-08-01T25:00Z',
    'yesterday',
    '1 Foo 2026',
    '31 Feb 2026',
  ])('%j is not read: it may mean another, or none', (text) => {
    expect(parseServiceTime(text)).toBeUndefined();
  });

  it('is named by its month, and by its year where that is another', () => {
    const now = Date.parse('2026-11-15T00:00:00Z');
    expect(monthName('2026-08-31T23:59:59.000Z', now)).toBe('August');
    expect(monthName('2025-01-01T00:00:00.000Z', now)).toBe('January 2025');
  });
});
