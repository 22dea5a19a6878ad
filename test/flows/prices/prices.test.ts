/** What the next order will cost, from what earlier ones cost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkPrice,
  type Estimate,
  estimateCost,
  groundTexts,
  type PlannedAudio,
  type Price,
  pricesFromSettings,
  totalText,
  unknownTexts,
} from '../../../src/flows/prices/estimate.ts';
import { type BilledItem, learnPrices } from '../../../src/flows/prices/learn.ts';
import { amountText, Fraction, parseNumber } from '../../../src/lib/money.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

/** A file and its length. */
const file = (id: string, duration: string): readonly [string, string] => [id, duration];

let invoices = 0;
/** An item for a file; invoices are numbered, and each is a day after the last. */
function item(
  audiofile: string,
  quantity: string,
  price: string,
  more: Partial<BilledItem> = {},
): BilledItem {
  invoices += 1;
  const created = new Date(Date.UTC(2026, 7, invoices % 90)).toISOString();
  return {
    invoice: String(invoices),
    created,
    sku: 'TRANS14',
    price,
    quantity,
    total: '',
    audiofile,
    ...more,
  };
}

const learn = (
  items: readonly BilledItem[],
  files: ReadonlyArray<readonly [string, string]>,
  currency = '',
): Price | undefined => learnPrices(items, new Map(files), currency).get('TRANS14');

const perMinute = (price: Price | undefined): string => {
  if (!price) return 'none';
  if ('reason' in price) return price.reason;
  const [low, high] = [amountText(price.low), amountText(price.high)];
  return `${low === high ? low : `${low} to ${high}`}${price.currency && ` ${price.currency}`}, ${price.exact ? 'exact' : 'not known'}`;
};

const groundOf = (price: Price | undefined): string =>
  groundTexts({ prices: [price] } as unknown as Estimate, NOW)
    .join()
    .replace(/.*\((.*)\)/, '$1');

const minutes = (text: string): Fraction => parseNumber(text) ?? Fraction.zero;

describe('the price of a minute', () => {
  it('is that of the unit where quantities are the lengths of the files', () => {
    invoices = 0;
    const items = [item('1', '10', '0.86'), item('2', '7.5', '0.86', { total: '6.45' })];
    const price = learn(items, [file('1', '10'), file('2', '7.5')]);
    expect(perMinute(price)).toBe('0.86, exact');
    expect(groundOf(price)).toBe('from 2 invoices since August');
  });

  it('is the same however minutes were rounded, which is kept beside it', () => {
    const lengths = [file('1', '10.2'), file('2', '6.9')];
    expect(perMinute(learn([item('1', '11', '0.86'), item('2', '7', '0.86')], lengths))).toBe(
      '0.86, not known',
    );
    expect(perMinute(learn([item('1', '10', '0.86'), item('2', '7', '0.86')], lengths))).toBe(
      '0.86, not known',
    );
    expect(perMinute(learn([item('1', '10', '0.86')], [file('1', '10')]))).toBe('0.86, not known');
  });

  it.each([
    ['a fixed price for each audio', [item('1', '1', '5.00'), item('2', '1', '5.00')]],
    ['one piece, whose audio tells no unit', [item('1', '1', '8.60')]],
    ['quantities in seconds', [item('1', '600', '0.015'), item('2', '1200', '0.015')]],
    ['totals alone', [item('1', '', '', { total: '10.00' }), item('2', '', '', { total: '20.00' })]],
  ])('is not known for %s', (_, items) => {
    expect(perMinute(learn(items, [file('1', '10'), file('2', '20')]))).toBe(
      'no invoice shows its price per minute',
    );
  });

  it('is not taken from one piece of a minute, which may be a piece', () => {
    expect(perMinute(learn([item('1', '1', '5')], [file('1', '1')]))).toMatch(/no invoice shows/);
  });

  it.each([
    ['a credit', item('1', '-10', '0.86')],
    ['a credit by its price', item('1', '10', '-0.86')],
    ['a refund without a quantity', item('1', '', '', { total: '-8.60' })],
    ['a quantity of zero', item('1', '0', '0.86')],
    ['something free', item('1', '10', '0')],
    ['a total that contradicts', item('1', '10', '0.86', { total: '9.99' })],
    ['a total of another currency', item('1', '10', '0.86 EUR', { total: '$8.60' })],
    ['no price', item('1', '10', '')],
    ['no audiofile', item('', '10', '0.86')],
    ['an unknown file', item('404', '10', '0.86')],
    ['words in place of numbers', item('1', 'ten', 'cheap')],
  ])('is not learned from %s', (_, odd) => {
    expect(perMinute(learn([odd], [file('1', '10')]))).toBe('no invoice shows its price per minute');
    const good = [item('2', '20', '1.00'), odd];
    expect(perMinute(learn(good, [file('1', '10'), file('2', '20')]))).toBe('1.00, not known');
  });

  it('is not learned while the length is not known', () => {
    for (const duration of ['', '0', '-1', 'long'])
      expect(perMinute(learn([item('1', '10', '0.86')], [file('1', duration)]))).toMatch(/no invoice shows/);
  });

  it('is the new one after it has changed, once three invoices agree', () => {
    invoices = 0;
    const files = [file('1', '10')];
    const old = Array.from({ length: 5 }, () => item('1', '10', '0.80'));
    const once = [...old, item('1', '10', '0.90')];
    expect(perMinute(learn(once, files))).toBe('0.80 to 0.90, not known');
    const thrice = [...once, item('1', '10', '0.90'), item('1', '10', '0.90')];
    const price = learn(thrice, files);
    expect(perMinute(price)).toBe('0.90, not known');
    expect(groundOf(price)).toBe('from 3 invoices since August');
    expect(perMinute(learn([...thrice].reverse(), files))).toBe('0.90, not known');
  });

  it('has the currency that amounts say, else that of the settings, else none', () => {
    const files = [file('1', '10'), file('2', '20')];
    expect(perMinute(learn([item('1', '10', '0.86')], files))).toBe('0.86, not known');
    expect(perMinute(learn([item('1', '10', '0.86')], files, 'EUR'))).toBe('0.86 EUR, not known');
    expect(perMinute(learn([item('1', '10', '$0.86')], files, 'EUR'))).toBe('0.86 USD, not known');
    const both = [item('1', '10', '€0.86'), item('2', '20', '$0.86')];
    expect(perMinute(learn(both, files))).toBe('invoices list it in USD and EUR');
  });

  it('is that of one product under both of its names', () => {
    const prices = learnPrices([item('1', '10', '1.25', { sku: 'TRANS7' })], new Map([file('1', '10')]), '');
    expect([...prices.keys()]).toEqual(['TRANS6']);
  });

  it('is learned for each SKU of an order alone', () => {
    const items = [item('1', '10', '0.86'), item('1', '10', '0.50', { sku: 'TSTMP1' })];
    const prices = learnPrices(items, new Map([file('1', '10')]), '');
    expect([...prices].map(([sku, price]) => [sku, perMinute(price)])).toEqual([
      ['TRANS14', '0.86, not known'],
      ['TSTMP1', '0.50, not known'],
    ]);
  });

  it('names no time where one can not be read', () => {
    const items = [item('1', '10', '0.86', { created: '1786356000' }), item('1', '10', '0.86')];
    const price = learn(items, [file('1', '10')]);
    expect(groundOf(price)).toBe('from 2 invoices');
  });

  it('is learned or not, whatever comes', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('', '0', '-1', '1e9', '€5', '$1', '0.86', '12,5', 'null'),
    );
    const items = fc.record({
      invoice: text,
      created: text,
      sku: fc.constantFrom('', 'TRANS14', '<b>'),
      price: text,
      quantity: text,
      total: text,
      audiofile: fc.constantFrom('1', '2', ''),
    });
    fc.assert(
      fc.property(fc.array(items), text, text, (billed, one, other) => {
        for (const price of learnPrices(billed, new Map([file('1', one), file('2', other)]), '').values())
          if ('reason' in price) expect(price.reason).not.toBe('');
          else expect([price.low.sign >= 0, price.high.sign]).toEqual([true, 1]);
      }),
    );
  });
});

const set = (prices: Record<string, string>, currency = 'USD'): Map<string, Price> =>
  pricesFromSettings(prices, currency);

const audio = (name: string, length?: string, skus: readonly string[] = ['TRANS14']): PlannedAudio => ({
  name,
  skus,
  minutes: length === undefined ? undefined : minutes(length),
});

describe('an estimate', () => {
  const both = (estimate: Estimate): string[] => [totalText(estimate), ...unknownTexts(estimate)];

  it('is the sum of all minutes and all SKUs', () => {
    const prices = set({ TRANS14: '0.86', TSTMP1: '0.5' });
    const estimate = estimateCost([audio('a', '10'), audio('b', '2.5', ['TRANS14', 'TSTMP1'])], prices);
    expect(both(estimate)).toEqual(['12.00 USD']);
    expect(groundTexts(estimate, NOW)).toEqual([
      'TRANS14 at 0.86 USD/min (from the settings)',
      'TSTMP1 at 0.50 USD/min (from the settings)',
    ]);
  });

  it('loses nothing of a length in seconds', () => {
    const third = { name: 'a', skus: ['TRANS14'], minutes: Fraction.of(20, 60) };
    expect(totalText(estimateCost([third, third, third], set({ TRANS14: '1' })))).toBe('1.00 USD');
    expect(totalText(estimateCost([third], set({ TRANS14: '1' })))).toBe('0.3334 USD');
  });

  it('names few of many', () => {
    const estimate = estimateCost(
      Array.from({ length: 9 }, (_, at) => audio(`${at}.mp3`)),
      set({ TRANS14: '1' }),
    );
    expect(unknownTexts(estimate)).toEqual([
      'the length of 9 audio files is unknown: 0.mp3, 1.mp3, 2.mp3 and 6 more',
    ]);
  });

  it('is a range where it is not known how minutes are billed, or which price holds', () => {
    const learned = learnPrices([item('1', '10', '0.86')], new Map([file('1', '10')]), 'USD');
    expect(totalText(estimateCost([audio('a', '2.5')], learned))).toBe('2.15 to 2.58 USD');
    expect(totalText(estimateCost([audio('a', '2')], learned))).toBe('1.72 USD');
    expect(totalText(estimateCost([audio('a', '0.5')], learned))).toBe('0.43 to 0.86 USD');
    const whole = learnPrices([item('1', '11', '0.86')], new Map([file('1', '10.5')]), '');
    expect(totalText(estimateCost([audio('a', '2.5')], whole))).toBe('2.15 to 2.58 USD');
  });

  it('is not added up over currencies', () => {
    const prices = new Map([...set({ TRANS14: '1 EUR' }), ...set({ TRANS2: '2' })]);
    expect(both(estimateCost([audio('a', '1'), audio('b', '1', ['TRANS2'])], prices))).toEqual([
      'unknown',
      'prices are in different currencies: 1.00 EUR, 2.00 USD',
    ]);
  });

  it('takes TRANS7 for TRANS6, and a SKU that is there twice once', () => {
    expect(totalText(estimateCost([audio('a', '2', ['TRANS7', 'TRANS6'])], set({ TRANS6: '1.25' })))).toBe(
      '2.50 USD',
    );
    expect(totalText(estimateCost([audio('a', '2', ['TRANS6'])], set({ TRANS7: '1.25' })))).toBe('2.50 USD');
  });

  it('of nothing is zero', () => {
    expect(totalText(estimateCost([], new Map(), 'USD'))).toBe('0.00 USD');
  });

  it('is zero for nothing else, whatever is known', () => {
    const length = fc.option(fc.integer({ min: -1, max: 600 }), { nil: undefined });
    const skus = fc.subarray(['TRANS14', 'TSTMP1', 'DIFFQ2'], { minLength: 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(length, skus), { minLength: 1 }), (list) => {
        const audios = list.map(([at, each]) => audio('a', at === undefined ? undefined : String(at), each));
        const { total } = estimateCost(audios, set({ TRANS14: '0.86', TSTMP1: '0.01' }));
        const isComplete = list.every(([at, each]) => at !== undefined && at > 0 && !each.includes('DIFFQ2'));
        expect(total !== undefined).toBe(isComplete);
        if (total) expect(total.low.sign).toBe(1);
      }),
    );
  });
});

it.each(['', '0', '-1', 'x', '1,5'])('a price of %j in the settings is refused', (text) => {
  expect(() => checkPrice('TRANS14', text)).toThrow('the price of TRANS14');
});
