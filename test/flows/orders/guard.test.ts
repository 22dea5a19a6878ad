/** What the ledger lets through of planned orders. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlannedOrder } from '../../../src/flows/orders/planned-order.ts';
import type { OrderRun } from '../../../src/flows/orders/run.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { type Attempt, OpenAttempts } from '../../../src/ledger/open-attempts.ts';
import { type Audio, makeEpisode } from '../../../src/ledger/purchase.ts';
import { Purchases } from '../../../src/ledger/purchases.ts';
import { beginFree, newOrder, placedAs, type Sent, url } from '../../support/attempts.ts';
import { freshFolder } from '../../support/files.ts';
import { namesOf, planned, runOf } from '../../support/guards.ts';

let ledger: Ledger;
let path: string;

beforeEach(async () => {
  path = join(freshFolder(), 'ledger.db');
  ledger = await openLedger(path, 'default', (text) => text);
});
afterEach(() => ledger.close());

const guardOf = (
  orders: readonly PlannedOrder[],
  options: Parameters<typeof runOf>[2] = {},
): Promise<OrderRun> => runOf(orders, ledger, options);
const begin = (names: string): Promise<Sent> => beginFree(ledger, newOrder(names));
const markPlaced = (sent: Sent, ...given: Parameters<typeof placedAs>): Promise<unknown> =>
  new Purchases(ledger).markPlaced(sent, sent.purchase, placedAs(...given));
const markRefused = (sent: Sent): Promise<void> =>
  new Purchases(ledger).markRefused(sent, sent.purchase, 'no');
const markUncertain = (sent: Sent): Promise<void> =>
  new Purchases(ledger).markUncertain(sent, sent.purchase, 'no answer');
const placed = async (name: string, order: string): Promise<void> =>
  void (await markPlaced(await begin(name), order, order.slice(1)));
const unclear = async (names: string): Promise<Sent> => {
  const sent = await begin(names);
  await markUncertain(sent);
  return sent;
};
const waiting = { signal: new AbortController().signal, onWait: () => {} };
const all = async (guard: OrderRun, given: Partial<typeof waiting> = {}): Promise<PlannedOrder[]> => {
  const found: PlannedOrder[] = [];
  for await (const order of guard.orders({ ...waiting, ...given })) found.push(order);
  return found;
};

describe('the guard', () => {
  it('looks at all of them, also where there are more than it asks about at a time', async () => {
    const many = Array.from({ length: 20_001 }, (_, at) => `n${at}`);
    for (const held of ['n0', 'n9999', 'n10000', 'n20000']) await placed(held, `o${held}`);
    const guard = await guardOf([planned(many.join(' '))], { skipOrdered: true });
    expect([guard.leftOut.length, guard.ready[0]?.audios.length]).toEqual([4, 20_001 - 4]);
  });

  it('orders again what was unclear when it began, with --retry-unclear, and only that', async () => {
    const before = await unclear('a');
    const accepted = await begin('b');
    await markPlaced(accepted, 'o1');
    await placed('d', 'o2');
    await new Promise((done) => setTimeout(done, 30));
    const guard = await guardOf([planned('a b c d')], { retryUnclear: true, skipOrdered: true });
    const [order] = guard.ready as [PlannedOrder];
    expect([namesOf([order]), order.takeOver, guard.leftOut.length]).toEqual([['a c'], [before.id], 1]);
    expect(guard.failures.map(({ what }) => what)).toEqual([url('b')]);
    const later = await unclear('e');
    await guard.putBack(planned('e'));
    expect(guard.failures.map(({ what }) => what)).toEqual([url('b'), url('e')]);
    const begunBefore = { retryUnclear: true, skipOrdered: true, begunAgoMs: () => 60_000 };
    expect((await guardOf([planned('a e')], begunBefore)).ready).toEqual([]);
    expect((await guardOf([planned('e')], { skipOrdered: true })).ready).toEqual([]);
    expect(later.attempt).toBeGreaterThan(before.attempt);
  });

  it('does not order again what was being sent when it began, or was placed since', async () => {
    const [sent, open] = [await begin('a'), await unclear('b')];
    await new Promise((done) => setTimeout(done, 30));
    const guard = await guardOf([planned('a'), planned('b')], { retryUnclear: true, skipOrdered: true });
    expect([namesOf(guard.ready), namesOf(guard.deferred)]).toEqual([['b'], ['a']]);
    await markUncertain(sent);
    await new OpenAttempts(ledger).settlePlaced(
      (await new OpenAttempts(ledger).get(open.attempt)) as Attempt,
      '',
      [],
    );
    expect(namesOf(await all(guard))).toEqual(['b']);
    await guard.putBack(planned('b'));
    expect([namesOf(await all(guard)), guard.leftOut.length, guard.failures.length]).toEqual([[], 1, 1]);
  });

  it('judges an audio of several names by the strongest of their holders', async () => {
    const audio: Audio = makeEpisode(url('a'), [`url ${url('b')}`, `url ${url('c')}`], {});
    await unclear('a');
    await begin('b');
    const sent = await guardOf([planned('x', { audios: [audio] })], { skipOrdered: true });
    expect([sent.deferred.length, sent.failures, sent.leftOut.length]).toEqual([1, [], 0]);
    await placed('c', 'o1');
    const guard = await guardOf([planned('x', { audios: [audio] })], { skipOrdered: true });
    expect([guard.deferred.length, guard.failures, guard.leftOut.length]).toEqual([0, [], 1]);
  });

  it('puts back what another process was faster with', async () => {
    const skipping = await guardOf([planned('a')], { skipOrdered: true });
    const listed = await guardOf([planned('a')], { manifest: true });
    await placed('a', 'o1');
    await listed.putBack(planned('a'));
    expect([listed.leftOut.length, listed.failures.length]).toEqual([0, 1]);
    await skipping.putBack(planned('a'));
    expect([skipping.leftOut.length, skipping.unsent]).toEqual([1, 1]);
  });
});

describe('what another process is sending', () => {
  const skipping = { skipOrdered: true };

  it('does not hold up what others have ended', async () => {
    await begin('a');
    const second = await begin('b');
    const guard = await guardOf([planned('a'), planned('b')], { ...skipping, timeout: 5_000 });
    await markRefused(second);
    const next = guard.orders(waiting);
    expect(namesOf([(await next.next()).value as PlannedOrder])).toEqual(['b']);
    expect(namesOf(guard.deferred)).toEqual(['a']);
    await next.return(undefined);
    const third = await begin('c');
    const both = await guardOf([planned('a c')], { ...skipping, timeout: 5_000 });
    await markRefused(third);
    expect(namesOf([(await both.orders(waiting).next()).value as PlannedOrder])).toEqual(['c']);
    expect(namesOf(both.deferred)).toEqual(['a']);
  });
});
