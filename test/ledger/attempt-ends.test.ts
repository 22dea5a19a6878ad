/** How an attempt to order ends, and what may be spent, in both kinds of ledger. */
import { describe, expect, it } from 'vitest';
import type { NewOrder } from '../../src/ledger/new-order.ts';
import { newOrder, placedAs, TestLedger, url } from '../support/attempts.ts';
import { storeKinds } from '../support/open-ledger.ts';

describe.each(storeKinds.filter(({ isThere }) => isThere))('a ledger $name', (kind) => {
  const here = new TestLedger(kind);

  describe('the outcome', () => {
    it('placed keeps the order and its files', async () => {
      const attempt = await here.begin('a b');
      const found = await here.ledger.attempts.markPlaced(attempt, newOrder('a b'), {
        ...placedAs('o1', '1', '2'),
        hold: 'billing',
      });
      expect(found).toMatchObject({ problem: undefined, remark: undefined });
      expect(await here.rows('SELECT id, order_id, url, test, state FROM files ORDER BY id')).toEqual([
        { id: '1', order_id: 'o1', url: url('a'), test: 0, state: 'On Hold' },
        { id: '2', order_id: 'o1', url: url('b'), test: 0, state: 'On Hold' },
      ]);
      expect(await here.rows('SELECT id, skus, names, notes, hold FROM orders')).toEqual([
        { id: 'o1', skus: 'TRANS14,SPKR2', names: 'Ann|Bob', notes: 'loud', hold: 'billing' },
      ]);
      expect(await here.ledger.openAttempts.get(attempt)).toMatchObject({
        status: 'placed',
        order: 'o1',
        detail: '',
      });
      expect(await here.ledger.openAttempts.list()).toEqual([]);
    });

    it('placed without files stays open, and its audios held', async () => {
      const attempt = await here.begin('a b');
      const found = await here.ledger.attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1'));
      expect(found.problem).toContain('names no audiofile for 2 URLs');
      expect(await here.ledger.openAttempts.get(attempt)).toMatchObject({
        ...{ status: 'unclear', order: 'o1', detail: expect.stringContaining('no audiofile') },
      });
      expect(await here.holderOf('b')).toMatchObject({ status: 'unclear', order: 'o1' });
    });

    it('placed with a file that another account has keeps it, as its own', async () => {
      const other = await here.other();
      const theirs = Number(await other.attempts.begin(newOrder('x'), []));
      await other.attempts.markPlaced(theirs, newOrder('x'), placedAs('o9', '1'));
      const order = newOrder('a', { notes: undefined });
      const attempt = Number(await here.ledger.attempts.begin(order, []));
      const found = await here.ledger.attempts.markPlaced(attempt, order, placedAs('o1', '1'));
      expect(found.problem).toBeUndefined();
      expect(await here.rows("SELECT notes FROM orders WHERE id = 'o1'")).toEqual([{ notes: '' }]);
    });

    it('placed with too few files keeps those without a URL, and stays open; not where it is a test', async () => {
      const attempt = await here.begin('a b c');
      await (await here.store()).run(`UPDATE attempts SET "user" = 'somebody else'`);
      const later = await here.begin('x y z');
      await here.ledger.attempts.markPlaced(later, newOrder('x y z'), placedAs('o2', '1', '2'));
      expect(await here.rows('SELECT id, url FROM files ORDER BY id')).toEqual([
        { id: '1', url: '' },
        { id: '2', url: '' },
      ]);
      expect(await here.rows(`SELECT "user" FROM orders WHERE "user" = 'somebody else'`)).toEqual([]);
      expect((await here.ledger.openAttempts.get(attempt))?.status).toBe('being sent');
      const test = Number(await here.again('t', [], { test: true }));
      await here.ledger.attempts.markPlaced(test, newOrder('t', { test: true }), placedAs('t1'));
      expect(await here.rows(`SELECT status FROM attempts WHERE id = ${test}`)).toEqual([
        { status: 'placed' },
      ]);
    });

    it('placed with a file that the ledger has of another audio keeps that file, and stays open', async () => {
      await here.place('a', 'o1', '1');
      const attempt = await here.begin('b c');
      const found = await here.ledger.attempts.markPlaced(attempt, newOrder('b c'), placedAs('o2', '1', '2'));
      expect(found.problem).toContain('audiofile 1 is the file of');
      expect(await here.rows('SELECT id, order_id, url FROM files ORDER BY id')).toEqual([
        { id: '1', order_id: 'o1', url: url('a') },
        { id: '2', order_id: 'o2', url: url('c') },
      ]);
      expect((await here.ledger.openAttempts.get(attempt))?.status).toBe('unclear');
    });

    it('placed with a known file of a test takes it, and a test takes no real file', async () => {
      const test = Number(await here.again('t', [], { test: true }));
      await here.ledger.attempts.markPlaced(test, newOrder('t', { test: true }), placedAs('t1', '1'));
      await here.place('a', 'o1', '1');
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '1', order_id: 'o1', test: 0 },
      ]);
      const later = Number(await here.again('t', [], { test: true }));
      const found = await here.ledger.attempts.markPlaced(
        later,
        newOrder('t', { test: true }),
        placedAs('t2', '1'),
      );
      expect(found.problem).toBeUndefined();
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '1', order_id: 'o1', test: 0 },
      ]);
    });

    it('placed opens a file again that was ordered before, of the same audio', async () => {
      await here.place('a', 'o1', '1');
      await (await here.store()).run("UPDATE files SET state = 'Delivered', ended = 'delivered'");
      const attempt = Number(await here.again('a', 'any'));
      const found = await here.ledger.attempts.markPlaced(attempt, newOrder('a'), placedAs('o2', '1'));
      expect(found.problem).toBeUndefined();
      expect(await here.rows('SELECT id, order_id, state, ended FROM files')).toEqual([
        { id: '1', order_id: 'o2', state: '', ended: '' },
      ]);
    });

    it('placed takes the names that it lost meanwhile, unless another holds them', async () => {
      const attempt = await here.begin('a b');
      await here.ledger.openAttempts.settleNotPlaced(attempt);
      const other = await here.begin('b');
      await here.ledger.attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1', '1', '2'));
      expect(await here.holderOf('a')).toMatchObject({ attempt, status: 'placed' });
      expect(await here.rows(`SELECT name FROM claims WHERE attempt = ${other}`)).toHaveLength(1);
    });

    it('refused frees the audios, and says why', async () => {
      const attempt = await here.begin('a');
      await here.begin('b');
      await here.ledger.attempts.markRefused(attempt, `no\n${'x'.repeat(700)}`);
      const found = await here.ledger.openAttempts.get(attempt);
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
      await here.ledger.openAttempts.settlePlaced(first, 'o1', []);
      await here.ledger.openAttempts.settlePlaced(second, 'o2', []);
      await here.ledger.attempts.markRefused(first, 'no');
      await here.ledger.attempts.markUncertain(second, 'no answer');
      expect((await here.ledger.openAttempts.get(first))?.status).toBe('placed');
      expect((await here.ledger.openAttempts.get(second))?.status).toBe('placed');
      expect([(await here.holderOf('a'))?.order, (await here.holderOf('b'))?.order]).toEqual(['o1', 'o2']);
    });
  });

  describe('an attempt without a known end', () => {
    it('is listed, the newest first, with what was ordered of it later', async () => {
      const order = (attempt: number, name: string, id: string, test = false) =>
        here.ledger.attempts.markPlaced(attempt, newOrder(name, { test }), placedAs(id, id.slice(1)));
      const first = await here.unclear('a b');
      await order(Number(await here.again('a', 'any')), 'a', 'o2');
      await order(Number(await here.again('a', [], { test: true })), 'a', 'o5', true);
      const second = Number(await here.again('b', 'any'));
      await here.ledger.attempts.markUncertain(second, 'no answer');
      const placed = await here.place('d', 'o3', '3');
      const third = Number(await here.again('d', 'any'));
      await here.ledger.attempts.markUncertain(third, 'no answer');
      const other = await here.other();
      const theirs = Number(await other.attempts.begin(newOrder('a'), []));
      await other.attempts.markPlaced(theirs, newOrder('a'), placedAs('o4', '4'));
      await other.attempts.begin(newOrder('q'), []);
      expect(await here.ledger.openAttempts.list()).toMatchObject([
        { attempt: third, status: 'unclear', urls: [url('d')], later: [] },
        { attempt: second, status: 'unclear', later: [] },
        { attempt: first, status: 'unclear', later: [{ order: 'o2', tracked: false }] },
      ]);
      expect([
        await here.ledger.openAttempts.countUnclear(),
        await here.ledger.openAttempts.countBeingSent(),
      ]).toEqual([3, 0]);
      await (await here.store()).run("UPDATE attempts SET order_id = NULL WHERE order_id = 'o2'");
      expect((await here.ledger.openAttempts.get(first))?.later).toEqual([{ order: '', tracked: false }]);
      await order(Number(await here.again('d', 'any')), 'd', 'o6');
      expect((await here.ledger.openAttempts.get(placed))?.later).toEqual([]);
    });

    it('is settled as placed, once, with its files', async () => {
      const [attempt, other] = [await here.unclear('a'), await here.unclear('b')];
      const files = [{ id: '7', audio: { url: url('a') } }];
      expect(await here.ledger.openAttempts.settlePlaced(attempt, 'o7', files)).toBe(true);
      expect(await here.ledger.openAttempts.settlePlaced(attempt, 'o8', files)).toBe(false);
      expect(await here.ledger.openAttempts.settleNotPlaced(attempt)).toBe(false);
      expect(await here.holderOf('a')).toMatchObject({ attempt, status: 'placed', order: 'o7' });
      expect(await here.rows('SELECT id, order_id, test FROM files')).toEqual([
        { id: '7', order_id: 'o7', test: 0 },
      ]);
      expect(await here.rows('SELECT id, skus, names, notes FROM orders')).toEqual([
        { id: 'o7', skus: 'TRANS14,SPKR2', names: 'Ann|Bob', notes: 'loud' },
      ]);
      expect((await here.ledger.openAttempts.get(other))?.status).toBe('unclear');
    });

    it('is settled as not placed, once, and its audio is free', async () => {
      const [attempt, other] = [await here.unclear('a'), await here.unclear('b')];
      expect(await here.ledger.openAttempts.settleNotPlaced(attempt)).toBe(true);
      expect(await here.ledger.openAttempts.settleNotPlaced(attempt)).toBe(false);
      expect([await here.holderOf('a'), (await here.holderOf('b'))?.attempt]).toEqual([undefined, other]);
      expect((await here.ledger.openAttempts.get(attempt))?.detail).toBe('settled by hand');
    });

    it('that was begun by a process which is gone can be settled too', async () => {
      const attempt = await here.begin('a');
      expect(await here.ledger.openAttempts.settleNotPlaced(attempt)).toBe(true);
      const placed = await here.begin('b');
      expect(await here.ledger.openAttempts.settlePlaced(placed, 'o1', [])).toBe(true);
    });

    it('keeps the hold and the SKUs of its own order', async () => {
      await here.begin('x', { skus: ['OTHER'] });
      const attempt = await here.begin('a b');
      const placed = { ...placedAs('o1'), hold: 'billing' };
      await here.ledger.attempts.markPlaced(attempt, newOrder('a b'), placed);
      const insert = 'INSERT INTO orders (profile, id, placed_at, skus, names, notes, hold)';
      for (const [profile, id] of [
        ['aaa', 'o1'],
        ['default', 'o0'],
      ])
        await (await here.store()).run(`${insert} VALUES ('${profile}', '${id}', 'x', '', '', '', 'other')`);
      await here.ledger.openAttempts.settlePlaced(attempt, 'o1', [{ id: '1', audio: { url: url('a') } }]);
      expect(
        await here.rows("SELECT hold, skus FROM orders WHERE profile = 'default' AND id = 'o1'"),
      ).toEqual([{ hold: 'billing', skus: 'TRANS14,SPKR2' }]);
      expect(await here.rows('SELECT state FROM files')).toEqual([{ state: 'On Hold' }]);
    });

    it('lacks those files of its own order that are not known', async () => {
      const attempt = await here.begin('a b');
      await here.ledger.attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1'));
      const missing = () => here.ledger.openAttempts.missingFiles('o1');
      expect(await missing()).toMatchObject({ count: 2, audios: [{ url: url('a') }, { url: url('b') }] });
      await here.place('c', 'o2', '3');
      const test = Number(await here.again('a b t', [], { test: true }));
      await here.ledger.attempts.markPlaced(
        test,
        newOrder('a b t', { test: true }),
        placedAs('o1', '7', '8', '9'),
      );
      const other = await here.other();
      const theirs = Number(await other.attempts.begin(newOrder('a b x'), []));
      await other.attempts.markPlaced(theirs, newOrder('a b x'), placedAs('o1', '4', '5', '6'));
      expect(await missing()).toMatchObject({ count: 2 });
      await (await here.store()).run(`UPDATE files SET url = '${url('a')}' WHERE order_id = 'o2'`);
      expect(await missing()).toMatchObject({ count: 2 });
      await here.ledger.openAttempts.settlePlaced(attempt, 'o1', [{ id: '1', audio: { url: url('a') } }]);
      expect(await missing()).toMatchObject({ count: 1, audios: [{ url: url('b') }] });
      await here.ledger.trackedFiles.add({ id: '2', order: 'o1', link: url('b'), names: '', notes: '' });
      expect(await missing()).toBeUndefined();
      await here.ledger.trackedFiles.add({ id: '10', order: 'o9', link: url('z'), names: '', notes: '' });
      await (await here.store()).run("DELETE FROM files WHERE id = '10'");
      expect(await here.ledger.openAttempts.missingFiles('o9')).toBeUndefined();
    });

    it('is not the order of another attempt, unless that was refused, a test, or taken in with track', async () => {
      const attempt = await here.unclear('a');
      const first = await here.place('b', 'o1', '1');
      await here.place('c', 'o1', '2');
      expect(await here.ledger.openAttempts.otherOfOrder('o1', attempt)).toBe(first);
      expect(await here.ledger.openAttempts.otherOfOrder('o2', attempt)).toBeUndefined();
      const test = Number(await here.again('t', [], { test: true }));
      await here.ledger.attempts.markPlaced(test, newOrder('t', { test: true }), placedAs('o3', '3'));
      expect(await here.ledger.openAttempts.otherOfOrder('o3', attempt)).toBeUndefined();
      await here.ledger.trackedFiles.add({ id: '9', order: 'o4', link: url('d'), names: '', notes: '' });
      expect(await here.ledger.openAttempts.otherOfOrder('o4', attempt)).toBeUndefined();
      expect(await here.ledger.openAttempts.missingFiles('o4')).toBeUndefined();
      expect(await here.holderOf('d')).toMatchObject({ status: 'placed', order: 'o4', tracked: true });
      const own = await here.place('e', 'o5', '5');
      expect(await here.ledger.openAttempts.otherOfOrder('o5', own)).toBeUndefined();
      const other = await here.other();
      expect(await other.openAttempts.otherOfOrder('o1', attempt)).toBeUndefined();
    });
  });

  describe('a limit of what may be spent', () => {
    const costing = (millionths: number): Partial<NewOrder> => ({ cost: { millionths, currency: 'USD' } });
    const since = '2026-01-01T00:00:00.000Z';
    const within = (name: string, cost: number, limit: number, more: Partial<NewOrder> = {}) =>
      here.ledger.attempts.begin(newOrder(name, { ...costing(cost), ...more }), [], {
        millionths: limit,
        since,
      });

    it('takes what fits in, to the last millionth, and nothing beyond', async () => {
      await here.begin('z');
      expect(await here.rows('SELECT profile FROM budgets')).toEqual([]);
      expect(await within('a', 60, 100)).toBeDefined();
      // The row that makes those under a limit wait for each other.
      expect(await here.rows('SELECT profile FROM budgets')).toEqual([{ profile: 'default' }]);
      expect(await within('b', 41, 100)).toBeUndefined();
      expect(await here.holderOf('b')).toBeUndefined();
      expect(await within('b', 40, 100)).toBeDefined();
      expect(await here.ledger.spending.since(since)).toContainEqual({
        ...{ currency: 'USD', millionths: 100, unknown: 0 },
      });
    });

    it('does not count tests, refusals, other accounts and what was before', async () => {
      const first = Number(await within('a', 90, 100));
      await here.ledger.attempts.markRefused(first, 'no');
      await here.again('t', [], { test: true, ...costing(90) });
      const other = await here.other();
      await other.attempts.begin(newOrder('o', costing(90)), []);
      const old = Number(await here.again('old', [], costing(90)));
      await (await here.store()).run(
        "UPDATE attempts SET started_at = '2025-12-31T23:59:59.999Z' WHERE id = ?",
        old,
      );
      expect(await within('b', 100, 100)).toBeDefined();
      expect(await here.again('c')).toBeDefined();
      expect(await here.ledger.spending.since(since)).toEqual(
        expect.arrayContaining([{ currency: 'USD', millionths: 100, unknown: 0 }]),
      );
      expect(await here.ledger.spending.since(since)).toEqual(
        expect.arrayContaining([{ currency: '', millionths: 0, unknown: 1 }]),
      );
    });
  });

  it.runIf(!kind.isShared)('orders nothing after it has moved', async () => {
    const attempt = await here.begin('a');
    const unsent = await here.unclear('b');
    const moved = { to: 'postgres://db', identity: 'p', account: 'acme', at: '2026-11-01' };
    await (await here.other()).markMoved(moved, async () => {});
    expect(await here.ledger.attempts.renew(attempt, newOrder('a'))).toBe(true);
    await here.ledger.markMoved(moved, async () => {});
    await expect(here.again('c')).rejects.toThrow(
      'the copy of this ledger to postgres://db broke off (2026-11-01)',
    );
    await here.ledger.finishMove();
    expect(await here.ledger.attempts.renew(attempt, newOrder('a'))).toBe(false);
    await expect(here.again('c')).rejects.toThrow('this ledger has moved to postgres://db (2026-11-01)');
    await expect(here.ledger.openAttempts.settlePlaced(unsent, 'o1', [])).rejects.toThrow('has moved');
    await expect(here.ledger.openAttempts.settleNotPlaced(unsent)).rejects.toThrow('has moved');
    expect(await here.rows('SELECT id FROM attempts')).toHaveLength(2);
    expect((await here.ledger.openAttempts.get(unsent))?.status).toBe('unclear');
    await expect(here.ledger.markMoved({ ...moved, identity: 'q' }, async () => {})).rejects.toThrow(
      'has moved',
    );
    await here.ledger.unmarkMoved();
    expect(await here.again('c')).toBeDefined();
  });
});
