/** Planned orders, and a run of them as a command makes it. */
import { OrderCosts } from '../../src/flows/orders/cost.ts';
import { Guard, type GuardOptions } from '../../src/flows/orders/guard.ts';
import type { PlannedOrder } from '../../src/flows/orders/planned-order.ts';
import { OrderRun } from '../../src/flows/orders/run.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { audioOf } from './attempts.ts';

/** One order for audios of these names. */
export const planned = (names: string, more: Partial<PlannedOrder> = {}): PlannedOrder => ({
  ...{ audios: names.split(' ').map(audioOf), skus: ['TRANS14'], names: [], test: false, extra: [] },
  ...more,
});

/** Settings that name a budget and prices, and nothing else. */
export const costSettings = (budget?: string, prices: Readonly<Record<string, string>> = {}): Settings =>
  ({ get: () => ({ value: budget, source: 'settings' }), prices, currency: '' }) as unknown as Settings;

export function runOf(
  orders: readonly PlannedOrder[],
  ledger: Ledger | undefined,
  { timeout, ...options }: Partial<GuardOptions> & { readonly timeout?: number } = {},
): Promise<OrderRun> {
  const guard = new Guard(ledger, {
    ...{ again: false, skipOrdered: false, retryUnclear: false, retryEnded: false },
    ...{ orExisting: false, manifest: false, begunAgoMs: () => 0, ...options },
  });
  const costs = new OrderCosts(undefined, costSettings(), { unpriced: false });
  return OrderRun.of(orders, { ledger, guard, costs, timeout }, async () => {});
}

/** The names of the audios, order by order. */
export const namesOf = (orders: readonly PlannedOrder[]): string[] =>
  orders.map(({ audios }) => audios.map(({ url: each }) => each.slice(18, -4)).join(' '));
