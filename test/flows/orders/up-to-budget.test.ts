/** Which rows of a list a budget reaches for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CostFacts, OrderCosts } from '../../../src/flows/orders/cost.ts';
import { PlannedRows } from '../../../src/flows/orders/plan.ts';
import { countAudios, type PlannedOrder, splitRows } from '../../../src/flows/orders/planned-order.ts';
import { parseBudget } from '../../../src/lib/money.ts';

const SKUS = ['TRANS14', 'TRANS6', 'TRANS2'];
const PRICES = [1, 2, 3];

/** Seconds and the kind of a row; a length of zero is not known. */
const row = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.nat({ max: 2 }));

function planned(rows: ReadonlyArray<readonly [number, number]>, perOrder: number): PlannedOrder[] {
  const plan = new PlannedRows(
    { skus: ['TRANS14'], notes: undefined, names: [], test: false, anySku: false, extra: [] },
    { perOrder, manifest: 'm', again: false, skipOrdered: false, numbersRows: true },
  );
  for (const [at, [seconds, kind]] of rows.entries())
    plan.add({
      ...{ at: `m, line ${at + 1}`, url: `https://e.org/${at}.mp3`, skus: [SKUS[kind] ?? ''] },
      seconds: seconds || undefined,
    });
  return [...plan.orders];
}

/** With so many cents to spend. */
function costs(cents: number): Promise<OrderCosts> {
  const facts: CostFacts = {
    ...{ nowMs: Date.parse('2026-11-17T00:00:00Z'), budget: undefined },
    ...{ spent: new Map(), unpriced: new Map(), invoices: [], named: [], lengths: new Map() },
  };
  const prices = Object.fromEntries(SKUS.map((sku, at) => [sku, String(PRICES[at])]));
  const budget = parseBudget(`${cents / 100}/month`);
  const settings = { prices, currency: '', budget, budgetFrom: 'setting' as const };
  return OrderCosts.open(undefined, facts, settings, {
    ...{ maxCost: undefined, allowsUnpriced: false, upToBudget: true },
  });
}

describe('--up-to-budget', () => {
  it('orders the longest beginning of a list that fits', async () => {
    const rows = fc.array(row, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.nat({ max: 20_000 }),
        fc.integer({ min: 1, max: 5 }),
        async (list, cents, per) => {
          const orders = planned(list, per);
          const { firstLeftOut, why, problem } = (await costs(cents)).upToBudget(orders);
          // In millionths, as the ledger adds it up.
          let [left, expected] = [cents * 10_000, 0];
          for (const [seconds, kind] of list) {
            left -= Math.ceil(((PRICES[kind] ?? 0) * seconds * 1_000_000) / 60);
            if (seconds === 0 || left < 0) break;
            expected += 1;
          }
          expect(firstLeftOut ?? list.length).toBe(expected);
          expect([why !== undefined, problem]).toEqual([expected < list.length, undefined]);
          const { before, others } = splitRows(orders, firstLeftOut);
          expect([countAudios(before), countAudios(others)]).toEqual([expected, list.length - expected]);
        },
      ),
    );
  });
});
