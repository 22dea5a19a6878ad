/** Which rows of a list a budget reaches for. */

import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrderCosts } from '../../../src/flows/orders/cost.ts';
import { PlannedRows } from '../../../src/flows/orders/plan.ts';
import { countAudios, type PlannedOrder, splitRows } from '../../../src/flows/orders/planned-order.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { freshFolder } from '../../support/files.ts';
import { costSettings } from '../../support/guards.ts';

const SKUS = ['TRANS14', 'TRANS6', 'TRANS2'];
const PRICES = [1, 2, 3];

/** Seconds and the kind of a row; a length of zero is not known. */
const row = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.nat({ max: 2 }));

function planned(rows: ReadonlyArray<readonly [number, number]>, perOrder: number): PlannedOrder[] {
  const plan = new PlannedRows(
    {
      sku: ['TRANS14'],
      name: [],
      tag: [],
      param: [],
      test: false,
      anySku: false,
      again: false,
      upToBudget: true,
    },
    { perOrder, manifest: 'm', notes: undefined, skipOrdered: false },
  );
  for (const [at, [seconds, kind]] of rows.entries())
    plan.add({
      ...{ at: `m, line ${at + 1}`, url: `https://e.org/${at}.mp3`, skus: [SKUS[kind] ?? ''] },
      seconds: seconds || undefined,
    });
  return [...plan.orders];
}

const prices = Object.fromEntries(SKUS.map((sku, at) => [sku, String(PRICES[at])]));

let ledger: Ledger;

beforeAll(async () => {
  ledger = await openLedger(join(freshFolder(), 'ledger.db'), 'default', (text) => text);
});
afterAll(() => ledger.close());

/** With so many cents to spend. */
async function costs(cents: number): Promise<OrderCosts> {
  const settings = costSettings(`${cents / 100}/month`, prices);
  const found = new OrderCosts(ledger, settings, { unpriced: false, upToBudget: true });
  await found.read();
  return found;
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
          const { firstLeftOut, why, problem } = (await costs(cents)).coverage(orders);
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
