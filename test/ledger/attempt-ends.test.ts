/** How an attempt to order ends, and what may be spent, in both kinds of ledger. */

import { describe, expect, it } from 'vitest';
import { finishMove, markMoved, unmarkMoved } from '../../src/ledger/moved.ts';
import { OpenAttempts } from '../../src/ledger/open-attempts.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { TrackedFiles } from '../../src/ledger/tracked-files.ts';
import {
  begin,
  beginFree,
  costing,
  inMillionths,
  newOrder,
  placedAs,
  type Sent,
  TestLedger,
  url,
} from '../support/attempts.ts';
import { FILES } from '../support/ledger.ts';
import { storeKinds } from '../support/open-ledger.ts';

describe.each(storeKinds.filter(({ isThere }) => isThere))('a ledger $name', (kind) => {
  const here = new TestLedger(kind);

  describe('the outcome', () => {
    it('placed keeps the order and its files', async () => {
      const sent = await here.begin('a b');
      const found = await here.markPlaced(sent, {
        ...placedAs('o1', '1', '2'),
        hold: 'billing',
      });
      expect(found).toMatchObject({ problem: undefined, remark: undefined });
      expect(await here.rows('SELECT id, order_id, test, state FROM files ORDER BY id')).toEqual([
        { id: '1', order_id: 'o1', test: 0, state: 'On Hold' },
        { id: '2', order_id: 'o1', test: 0, state: 'On Hold' },
      ]);
      expect(await here.rows('SELECT order_id, skus, names, notes, hold FROM purchases')).toEqual([
        { order_id: 'o1', skus: 'TRANS14,SPKR2', names: 'Ann|Bob', notes: 'loud', hold: 'billing' },
      ]);
      expect(await here.attempt(sent)).toMatchObject({
        status: 'placed',
        order: 'o1',
        detail: '',
      });
      expect(await here.attempts.list()).toEqual([]);
    });

    it('placed without files stays open, and its audios held', async () => {
      const sent = await here.begin('a b');
      const found = await here.markPlaced(sent, placedAs('o1'));
      expect(found.problem).toContain('names no audiofile for 2 URLs');
      expect(await here.attempt(sent)).toMatchObject({
        ...{ status: 'unclear', order: 'o1', detail: expect.stringContaining('no audiofile') },
      });
      expect(await here.holderOf('b')).toMatchObject({ status: 'unclear', order: 'o1' });
    });

    it('placed with a file that another account has keeps it, as its own', async () => {
      const other = await here.other();
      const theirs = await beginFree(other, newOrder('x'));
      await new Purchases(other).markPlaced(theirs, theirs.purchase, placedAs('o9', '1'));
      const order = newOrder('a', { notes: undefined });
      const sent = await beginFree(here.ledger, order);
      const found = await here.markPlaced(sent, placedAs('o1', '1'));
      expect(found.problem).toBeUndefined();
      expect(await here.rows("SELECT notes FROM purchases WHERE order_id = 'o1'")).toEqual([{ notes: '' }]);
    });

    it('placed with too few files keeps those without a URL, and stays open; not where it is a test', async () => {
      const sent = await here.begin('a b c');
      await (await here.store()).run(`UPDATE purchases SET "user" = 'somebody else'`);
      const later = await here.begin('x y z');
      await here.markPlaced(later, placedAs('o2', '1', '2'));
      expect(await here.rows(`SELECT id, url FROM ${FILES} ORDER BY id`)).toEqual([
        { id: '1', url: '' },
        { id: '2', url: '' },
      ]);
      expect(
        await here.rows(`SELECT "user" FROM purchases WHERE order_id = 'o2' AND "user" = 'somebody else'`),
      ).toEqual([]);
      expect((await here.attempt(sent)).status).toBe('being sent');
      const test = await here.begin('t', { test: true });
      await here.markPlaced(test, placedAs('t1'));
      expect(await here.rows(`SELECT status FROM purchases WHERE id = '${test.id}'`)).toEqual([
        { status: 'placed' },
      ]);
    });

    it('placed with a file that the ledger has of another audio keeps that file, and stays open', async () => {
      await here.place('a', 'o1', '1');
      const sent = await here.begin('b c');
      const found = await here.markPlaced(sent, placedAs('o2', '1', '2'));
      expect(found.problem).toContain('the ledger has audiofile 1 as the file of');
      expect(await here.rows(`SELECT id, order_id, url FROM ${FILES} ORDER BY id`)).toEqual([
        { id: '1', order_id: 'o1', url: url('a') },
        { id: '2', order_id: 'o2', url: url('c') },
      ]);
      expect((await here.attempt(sent)).status).toBe('unclear');
    });

    it('placed with a known file of a test takes it, and a test takes no real file', async () => {
      const test = await here.begin('t', { test: true });
      await here.markPlaced(test, placedAs('t1', '1'));
      await here.place('a', 'o1', '1');
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '1', order_id: 'o1', test: 0 },
      ]);
      const later = await here.begin('t', { test: true });
      const found = await here.markPlaced(later, placedAs('t2', '1'));
      expect(found.problem).toBeUndefined();
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '1', order_id: 'o1', test: 0 },
      ]);
    });

    it('placed opens a file again that was ordered before, of the same audio', async () => {
      await here.place('a', 'o1', '1');
      await (await here.store()).run("UPDATE files SET state = 'Delivered', ended = 'delivered'");
      const sent = await here.anyway('a');
      const found = await here.markPlaced(sent, placedAs('o2', '1'));
      expect(found.problem).toBeUndefined();
      expect(await here.rows('SELECT id, order_id, state, ended FROM files')).toEqual([
        { id: '1', order_id: 'o2', state: '', ended: '' },
      ]);
    });

    it('placed takes the names that it lost meanwhile, unless another holds them', async () => {
      const sent = await here.begin('a b');
      await here.settleNotPlaced(sent);
      const other = await here.begin('b');
      await here.markPlaced(sent, placedAs('o1', '1', '2'));
      expect(await here.holderOf('a')).toMatchObject({ id: sent.id, status: 'placed' });
      expect(
        await here.rows(`SELECT name FROM item_names WHERE holds = 1 AND purchase = '${other.id}'`),
      ).toHaveLength(1);
    });

    it('refused frees the audios, and says why', async () => {
      const sent = await here.begin('a');
      await here.begin('b');
      await here.markRefused(sent, `no\n${'x'.repeat(700)}`);
      const found = await here.attempt(sent);
      expect(found).toMatchObject({ status: 'refused', later: [] });
      expect(found?.detail).toMatch(/^no x+…$/);
      expect(found?.detail).toHaveLength(601);
      expect([await here.holderOf('a'), (await here.holderOf('b'))?.status]).toEqual([
        undefined,
        'being sent',
      ]);
    });

    it('refused or unclear changes nothing where somebody has settled it meanwhile', async () => {
      const [first, second] = [await here.begin('a'), await here.begin('b')];
      await here.settlePlaced(first, 'o1');
      await here.settlePlaced(second, 'o2');
      await here.markRefused(first);
      await here.markUncertain(second);
      expect((await here.attempt(first)).status).toBe('placed');
      expect((await here.attempt(second)).status).toBe('placed');
      expect([(await here.holderOf('a'))?.order, (await here.holderOf('b'))?.order]).toEqual(['o1', 'o2']);
    });
  });

  describe('an attempt without a known end', () => {
    it('is listed, the newest first, with what was ordered of it later', async () => {
      const order = (sent: Sent, id: string) => here.markPlaced(sent, placedAs(id, id.slice(1)));
      const first = await here.unclear('a b');
      await order(await here.anyway('a'), 'o2');
      await order(await here.begin('a', { test: true }), 'o5');
      const second = await here.anyway('b');
      await here.markUncertain(second);
      const placed = await here.place('d', 'o3', '3');
      const third = await here.anyway('d');
      await here.markUncertain(third);
      const other = await here.other();
      const theirs = await beginFree(other, newOrder('a'));
      await new Purchases(other).markPlaced(theirs, theirs.purchase, placedAs('o4', '4'));
      await beginFree(other, newOrder('q'));
      expect(await here.attempts.list()).toMatchObject([
        { id: third.id, status: 'unclear', urls: [url('d')], later: [] },
        { id: second.id, status: 'unclear', later: [] },
        { id: first.id, status: 'unclear', later: [{ order: 'o2', tracked: false }] },
      ]);
      expect([await here.attempts.countUnclear(), await here.attempts.countBeingSent()]).toEqual([3, 0]);
      await (await here.store()).run("UPDATE purchases SET order_id = '' WHERE order_id = 'o2'");
      expect((await here.attempt(first)).later).toEqual([{ order: '', tracked: false }]);
      await order(await here.anyway('d'), 'o6');
      expect((await here.attempt(placed)).later).toEqual([]);
    });

    it('is settled as placed, once, with its files', async () => {
      const [sent, other] = [await here.unclear('a'), await here.unclear('b')];
      const files = [{ id: '7', position: 0, known: true }];
      expect(await here.settlePlaced(sent, 'o7', files)).toBe(true);
      expect(await here.settlePlaced(sent, 'o8', files)).toBe(false);
      expect(await here.settleNotPlaced(sent)).toBe(false);
      expect(await here.holderOf('a')).toMatchObject({ id: sent.id, status: 'placed', order: 'o7' });
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '7', order_id: 'o7', test: 0 },
      ]);
      expect(await here.rows("SELECT skus, names, notes FROM purchases WHERE order_id = 'o7'")).toEqual([
        { skus: 'TRANS14,SPKR2', names: 'Ann|Bob', notes: 'loud' },
      ]);
      expect((await here.attempt(other)).status).toBe('unclear');
    });

    it('is settled as not placed, once, and its audio is free', async () => {
      const [sent, other] = [await here.unclear('a'), await here.unclear('b')];
      expect(await here.settleNotPlaced(sent)).toBe(true);
      expect(await here.settleNotPlaced(sent)).toBe(false);
      expect([await here.holderOf('a'), (await here.holderOf('b'))?.id]).toEqual([undefined, other.id]);
      expect(await here.attempt(sent)).toMatchObject({ status: 'refused', isSettled: true });
    });

    it('that was begun by a process which is gone can be settled too', async () => {
      const sent = await here.begin('a');
      expect(await here.settleNotPlaced(sent)).toBe(true);
      const placed = await here.begin('b');
      expect(await here.settlePlaced(placed, 'o1')).toBe(true);
    });

    it('keeps the hold and the SKUs of its own order', async () => {
      await here.begin('x', { skus: ['OTHER'] });
      const sent = await here.begin('a b');
      const placed = { ...placedAs('o1'), hold: 'billing' };
      await here.markPlaced(sent, placed);
      const theirs = await beginFree(await here.other(), newOrder('a b', { skus: ['OTHER'] }));
      await new Purchases(await here.other()).markPlaced(theirs, theirs.purchase, {
        ...placed,
        hold: 'other',
      });
      await here.settlePlaced(sent, 'o1', [{ id: '1', position: 0, known: true }]);
      expect(
        await here.rows("SELECT hold, skus FROM purchases WHERE profile = 'default' AND order_id = 'o1'"),
      ).toEqual([{ hold: 'billing', skus: 'TRANS14,SPKR2' }]);
      expect(await here.rows('SELECT state FROM files')).toEqual([{ state: 'On Hold' }]);
    });

    it('lacks those files of its own order that are not known', async () => {
      const sent = await here.begin('a b');
      await here.markPlaced(sent, placedAs('o1'));
      const missing = () => here.attempts.missingFiles('o1');
      expect(await missing()).toMatchObject({ count: 2, urls: [url('a'), url('b')] });
      await here.place('c', 'o2', '3');
      const test = await here.begin('a b t', { test: true });
      await here.markPlaced(test, placedAs('o1', '7', '8', '9'));
      const other = await here.other();
      const theirs = await beginFree(other, newOrder('a b x'));
      await new Purchases(other).markPlaced(theirs, theirs.purchase, placedAs('o1', '4', '5', '6'));
      expect(await missing()).toMatchObject({ count: 2 });
      await (await here.store()).run(`UPDATE files SET link = '${url('a')}' WHERE order_id = 'o2'`);
      expect(await missing()).toMatchObject({ count: 2 });
      await here.settlePlaced(sent, 'o1', [{ id: '1', position: 0, known: true }]);
      expect(await missing()).toMatchObject({ count: 1, urls: [url('b')] });
      await new TrackedFiles(here.ledger).add({ id: '2', order: 'o1', link: url('b'), names: '', notes: '' });
      expect(await missing()).toBeUndefined();
      await new TrackedFiles(here.ledger).add({
        id: '10',
        order: 'o9',
        link: url('z'),
        names: '',
        notes: '',
      });
      await (await here.store()).run("DELETE FROM files WHERE id = '10'");
      expect(await here.attempts.missingFiles('o9')).toBeUndefined();
    });

    it('is not the order of another attempt, unless that was refused, a test, or taken in with track', async () => {
      const sent = await here.unclear('a');
      const first = await here.place('b', 'o1', '1');
      await here.place('c', 'o1', '2');
      expect(await here.attempts.otherOfOrder('o1', await here.attempt(sent))).toBe(first.attempt);
      expect(await here.attempts.otherOfOrder('o2', await here.attempt(sent))).toBeUndefined();
      const test = await here.begin('t', { test: true });
      await here.markPlaced(test, placedAs('o3', '3'));
      expect(await here.attempts.otherOfOrder('o3', await here.attempt(sent))).toBeUndefined();
      await new TrackedFiles(here.ledger).add({ id: '9', order: 'o4', link: url('d'), names: '', notes: '' });
      expect(await here.attempts.otherOfOrder('o4', await here.attempt(sent))).toBeUndefined();
      expect(await here.attempts.missingFiles('o4')).toBeUndefined();
      expect(await here.holderOf('d')).toMatchObject({ status: 'placed', order: 'o4', tracked: true });
      const own = await here.place('e', 'o5', '5');
      expect(await here.attempts.otherOfOrder('o5', await here.attempt(own))).toBeUndefined();
      const other = await here.other();
      expect(await new OpenAttempts(other).otherOfOrder('o1', await here.attempt(sent))).toBeUndefined();
    });
  });

  describe('a limit of what may be spent', () => {
    const since = '2026-01-01T00:00:00.000Z';
    const within = (name: string, cost: number, millionths: number) =>
      begin(
        here.ledger,
        costing(name, cost),
        [],
        [{ millionths: String(millionths), since, allowsUnknown: false }],
      );
    const spent = { billed: 0, estimated: 100, refunded: 0 };

    it('takes what fits in, to the last millionth, and nothing beyond', async () => {
      await beginFree(here.ledger, costing('z', 0));
      expect(await here.rows('SELECT profile FROM budgets')).toEqual([]);
      expect(await within('a', 60, 100)).toBeDefined();
      // The row that makes those under a limit wait for each other.
      expect(await here.rows('SELECT profile FROM budgets')).toEqual([{ profile: 'default' }]);
      expect(await within('b', 41, 100)).toBeUndefined();
      expect(await here.holderOf('b')).toBeUndefined();
      expect(await within('b', 40, 100)).toBeDefined();
      expect((await here.budgets.spentSince(since)).map(inMillionths)).toEqual([
        { ...spent, currency: 'USD' },
      ]);
    });

    it('does not count tests, refusals, other accounts and what was before', async () => {
      const first = await beginFree(here.ledger, costing('a', 90));
      await here.markRefused(first);
      await beginFree(here.ledger, { ...costing('t', 90), test: true });
      await beginFree(await here.other(), costing('o', 90));
      const old = await beginFree(here.ledger, costing('old', 90));
      await (await here.store()).run(
        "UPDATE purchase_items SET counted_at = '2025-12-31T23:59:59.999Z' WHERE purchase = ?",
        old.id,
      );
      expect(await within('b', 100, 100)).toBeDefined();
      await here.begin('c');
      const found = await here.budgets.spentSince(since);
      expect(found.map(inMillionths)).toEqual([{ ...spent, currency: 'USD' }]);
      expect(await here.budgets.unpriced(since)).toHaveLength(1);
    });
  });

  it.runIf(!kind.isShared)('orders nothing after it has moved', async () => {
    const sent = await here.begin('a');
    const unsent = await here.unclear('b');
    const moved = { to: 'postgres://db', identity: 'p', account: 'acme', at: '2026-11-01' };
    await markMoved(await here.other(), moved, async () => {});
    expect(await here.renew(sent)).toBe(true);
    await markMoved(here.ledger, moved, async () => {});
    await expect(here.again('c')).rejects.toThrow(
      /the copy of this ledger to postgres:\/\/db was interrupted \d+\w ago: /,
    );
    await finishMove(here.ledger);
    expect(await here.renew(sent)).toBe(false);
    await expect(here.again('c')).rejects.toThrow(/this ledger moved to postgres:\/\/db \d+\w ago: /);
    await expect(here.settlePlaced(unsent, 'o1')).rejects.toThrow('this ledger moved to postgres://db');
    await expect(here.settleNotPlaced(unsent)).rejects.toThrow('this ledger moved to postgres://db');
    expect(await here.rows('SELECT id FROM purchases')).toHaveLength(2);
    expect((await here.attempt(unsent)).status).toBe('unclear');
    await expect(markMoved(here.ledger, { ...moved, identity: 'q' }, async () => {})).rejects.toThrow(
      'this ledger moved to postgres://db',
    );
    await unmarkMoved(here.ledger);
    expect(await here.again('c')).toBeDefined();
  });
});
