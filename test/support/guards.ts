/** Planned orders, and what the guard is told about the command that sends them. */
import type { GuardOptions } from '../../src/flows/orders/guard.ts';
import type { PlannedOrder } from '../../src/flows/orders/planned-order.ts';
import { audioOf } from './attempts.ts';

/** One order for audios of these names. */
export const planned = (names: string, more: Partial<PlannedOrder> = {}): PlannedOrder => ({
  ...{ audios: names.split(' ').map(audioOf), skus: ['TRANS14'], names: [], test: false, extra: [] },
  ...more,
});

export const usual: GuardOptions = {
  ...{
    again: false,
    skipOrdered: false,
    retryUnclear: false,
    retryEnded: false,
    orExisting: false,
    manifest: false,
    timeout: undefined,
  },
  begunAgoMs: () => 0,
};

/** The names of the audios, order by order. */
export const namesOf = (orders: readonly PlannedOrder[]): string[] =>
  orders.map(({ audios }) => audios.map(({ url: each }) => each.slice(18, -4)).join(' '));
