/** An estimate as JSON: null for what is not known, never zero. */
import { expect, it } from 'vitest';
import { estimateCost, pricesFromSettings } from '../../src/flows/prices/estimate.ts';
import { learnPrices } from '../../src/flows/prices/learn.ts';
import { formatJson } from '../../src/lib/json.ts';
import { Fraction } from '../../src/lib/money.ts';
import { estimateRecord } from '../../src/views/money.ts';

const audio = (minutes: Fraction | undefined, ...skus: string[]) => ({ name: 'a.mp3', skus, minutes });

it('has its sum, and the prices that it is made of with their ground', () => {
  const items = [
    {
      invoice: '7',
      created: '2026-08-02',
      sku: 'TRANS14',
      price: '0.860',
      quantity: '11',
      total: '',
      audiofile: '1',
    },
  ];
  const prices = new Map([
    ...learnPrices(items, new Map([['1', '10.5']]), 'USD'),
    ...pricesFromSettings({ TSTMP1: '0.5' }, 'USD'),
  ]);
  expect(
    formatJson(estimateRecord.json(estimateCost([audio(Fraction.of(5, 2), 'TRANS14', 'TSTMP1')], prices)), 0),
  ).toBe(
    '{"low":3.40,"high":3.83,"currency":"USD","known":[{"amount":3.83,"currency":"USD"}],"prices":[' +
      '{"sku":"TRANS14","low":0.86,"high":0.86,"currency":"USD","billing":"not known","from":"invoices","count":1,"since":"2026-08-02T00:00:00.000Z"},' +
      '{"sku":"TSTMP1","low":0.50,"high":0.50,"currency":"USD","billing":"exact","from":"setting","count":null,"since":null}],' +
      '"unpriced":[],"unmeasured":[]}',
  );
});

it('has null for a sum of which a part is not known', () => {
  const estimate = estimateCost(
    [audio(undefined, 'TRANS14'), audio(Fraction.one, 'X')],
    pricesFromSettings({ TRANS14: '1' }, ''),
  );
  expect(formatJson(estimateRecord.json(estimate), 0)).toMatch(
    /^\{"low":null,"high":null,"currency":null,"known":\[\],.*"unpriced":\[\{"sku":"X","reason":"no invoice lists it"\}\],"unmeasured":\["a.mp3"\]\}$/,
  );
});
