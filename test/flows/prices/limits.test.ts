/** What stops an order: --max-cost, and the setting `budget`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Estimate, estimateCost, pricesFromSettings } from '../../../src/flows/prices/estimate.ts';
import {
  type BudgetCheck,
  budgetState,
  checkBudget,
  checkMaxCost,
} from '../../../src/flows/prices/limits.ts';
import { StenoError } from '../../../src/lib/errors.ts';
import { amountText, checkAmount, Fraction, parseBudget } from '../../../src/lib/money.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

const money = (text: string) => checkAmount(text, 'amount');

/** An order of so many minutes at one a minute; with SKUs that have no price, its cost is not known. */
const estimate = (minutes: number, currency = 'USD', skus = ['TRANS14']): Estimate =>
  estimateCost(
    [{ name: 'a.mp3', skus, minutes: Fraction.of(minutes) }],
    pricesFromSettings({ TRANS14: '1' }, currency),
  );

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof StenoError) return `${error.exitCode}: ${error.message}`;
    throw error;
  }
  return 'passes';
};

/** A price is set, and the length is not known. */
const unmeasured = estimateCost(
  [{ name: 'a.mp3', skus: ['TRANS14'], minutes: undefined }],
  pricesFromSettings({ TRANS14: '1' }, 'USD'),
);

/** What people are told to do under a budget. */
function hintOf(planned: Estimate): string | undefined {
  try {
    checkBudget({
      ...{ budget: parseBudget('200/month'), from: 'setting', spent: { amounts: [], unpriced: [] } },
      ...{ estimate: planned, allowsUnpriced: false, now: NOW },
    });
  } catch (error) {
    if (error instanceof StenoError) return error.hint;
  }
  return undefined;
}

describe('--max-cost', () => {
  it('lets pass what costs no more', () => {
    expect(refusal(() => checkMaxCost(estimate(20), money('20')))).toBe('passes');
    expect(refusal(() => checkMaxCost(estimate(20), money('20.00 USD')))).toBe('passes');
    expect(refusal(() => checkMaxCost(estimate(20, ''), money('20 EUR')))).toBe('passes');
  });

  it('stops what costs more, by however little', () => {
    expect(refusal(() => checkMaxCost(estimate(20), money('19.999999')))).toBe(
      '2: the estimate of 20.00 USD exceeds --max-cost 19.999999; nothing was ordered',
    );
  });

  it('stops what is not known, and says which part', () => {
    expect(refusal(() => checkMaxCost(estimate(1, 'USD', ['TRANS14', 'DIFFQ2']), money('1000')))).toBe(
      "2: Can't check --max-cost 1000.00: the price of DIFFQ2 is unknown: no invoice lists it",
    );
  });

  it('compares no two currencies', () => {
    expect(refusal(() => checkMaxCost(estimate(1), money('1000 EUR')))).toBe(
      "2: prices are in USD, which can't be compared with --max-cost 1000.00 EUR",
    );
  });

  it('is exact for any two amounts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 ** 6 }),
        fc.integer({ min: 0, max: 10 ** 8 }),
        (minutes, cents) => {
          const limit = { amount: Fraction.of(cents, 100), currency: 'USD' };
          const passes = refusal(() => checkMaxCost(estimate(minutes), limit)) === 'passes';
          expect(passes).toBe(minutes * 100 <= cents);
        },
      ),
    );
  });
});

describe('a budget', () => {
  const check = (more: Partial<BudgetCheck> & { spent?: BudgetCheck['spent'] } = {}): string => {
    const base: BudgetCheck = {
      budget: parseBudget('200/month'),
      from: 'setting',
      spent: { amounts: [money('150')], unpriced: [] },
      estimate: estimate(50),
      allowsUnpriced: false,
      now: NOW,
    };
    return refusal(() => checkBudget({ ...base, ...more }));
  };

  it('lets pass what is left of it, and no cent more', () => {
    expect(check()).toBe('passes');
    expect(check({ spent: { amounts: [money('150.01')], unpriced: [] } })).toBe(
      '2: the estimate of 50.00 USD exceeds what is left of the budget of 200.00/month: 49.99',
    );
  });

  it('is in the currency of prices that name none', () => {
    const budget = parseBudget('200 EUR/month');
    const spent = { amounts: [], unpriced: [] };
    expect(check({ budget, spent, estimate: estimate(200, '') })).toBe('passes');
    expect(check({ budget, spent, estimate: estimate(201, '') })).toMatch(/201\.00 exceeds what is left/);
  });

  it('stops what has no known price, unless that is allowed', () => {
    const unknown = estimate(10, 'USD', ['TRANS14', 'DIFFQ2']);
    expect(check({ estimate: unknown })).toMatch(/^2: Can't check the budget of 200.00\/month:/);
    expect(check({ estimate: unknown, allowsUnpriced: true })).toBe('passes');
    const dear = estimate(51, 'USD', ['TRANS14', 'DIFFQ2']);
    expect(check({ estimate: dear, allowsUnpriced: true })).toMatch(/51\.00 USD exceeds what is left/);
  });

  it('stops everything while the cost of a purchase is not known, and says which and what is missing', () => {
    const unpriced = [
      { what: 'attempt 12 (talk.mp3)', skus: ['TRANS14'], lacksLength: false, hasFile: true },
      { what: 'attempt 11', skus: [], lacksLength: true, hasFile: true },
      { what: 'attempt 10', skus: ['TRANS14'], lacksLength: true, hasFile: true },
      { what: 'attempt 9', skus: ['TRANS6'], lacksLength: false, hasFile: true },
    ];
    const spent = { amounts: [money('150')], unpriced };
    expect(check({ spent })).toBe(
      '2: the budget of 200.00/month is set, but the cost of 4 purchases is unknown: ' +
        'attempt 12 (talk.mp3): no price for TRANS14; attempt 11: no length; ' +
        'attempt 10: no price for TRANS14 and no length and 1 more',
    );
    expect(check({ spent, estimate: estimate(49), allowsUnpriced: true })).toBe('passes');
    expect(check({ spent, allowsUnpriced: true })).toBe(
      '2: the budget of 200.00/month is used up: nothing is left for orders of unknown cost',
    );
  });

  it('of zero allows nothing of unknown cost', () => {
    const unknown = estimate(10, 'USD', ['DIFFQ2']);
    const none = { budget: parseBudget('0/month'), spent: { amounts: [], unpriced: [] } };
    expect(check({ ...none, estimate: unknown, allowsUnpriced: true })).toBe(
      '2: the budget of 0.00/month is used up: nothing is left for orders of unknown cost',
    );
  });

  it.each([
    [estimate(1, 'USD', ['DIFFQ2']), /^set the price per minute: steno config set price\.DIFFQ2 <amount>;/],
    [unmeasured, /^give the length: --minutes, or the column minutes of a manifest;/],
  ])('names what is missing, and nothing else', (planned, hint) => {
    expect(hintOf(planned)).toMatch(hint);
    expect(hintOf(planned)).toMatch(/^[^;]+; or add --unpriced$/);
  });

  it('counts no other currency as its own', () => {
    const budget = parseBudget('200 EUR/month');
    expect(check({ budget, spent: { amounts: [money('1 USD')], unpriced: [] } })).toBe(
      "2: 1.00 USD can't be counted against the budget of 200.00 EUR/month: the currencies differ",
    );
    expect(check({ budget, spent: { amounts: [], unpriced: [] } })).toMatch(
      /prices are in USD, which can't be compared/,
    );
  });

  it('is overdrawn where more was spent', () => {
    const state = budgetState(
      parseBudget('10/day'),
      { amounts: [money('4'), money('7.5')], unpriced: [] },
      NOW,
    );
    expect([amountText(state.spent), amountText(state.left), state.start]).toEqual([
      '11.50',
      '-1.50',
      '2026-11-15T00:00:00.000Z',
    ]);
  });

  it('has left what was not spent, to the last digit', () => {
    const amounts = fc.array(
      fc.integer({ min: 0, max: 10 ** 9 }).map((n) => ({ amount: Fraction.of(n, 1000), currency: '' })),
    );
    fc.assert(
      fc.property(amounts, (list) => {
        const { spent, left } = budgetState(parseBudget('123.45/year'), { amounts: list, unpriced: [] }, NOW);
        expect(amountText(spent.plus(left))).toBe('123.45');
      }),
    );
  });
});
