/** What purchases hold, cost and become, whoever says it and in whatever order, in both kinds of ledger. */
import { describe, expect, it } from 'vitest';
import { Budgets, type SpendingLimit } from '../../src/ledger/budgets.ts';
import { Files } from '../../src/ledger/files.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NewPurchase } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { TrackedFiles } from '../../src/ledger/tracked-files.ts';
import { refundName, upgradeNames } from '../../src/lib/names.ts';
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
import { storeKinds } from '../support/open-ledger.ts';

const upgradeOf = (file: string, skus = ['TSTMP1'], more: Partial<NewPurchase> = {}): NewPurchase => ({
  ...{ kind: 'upgrade', skus, names: [], test: false },
  audios: [{ url: '', names: upgradeNames(file, skus), file }],
  ...more,
});
const refundOf = (file: string, more: Partial<NewPurchase> = {}): NewPurchase => ({
  ...{ kind: 'refund', skus: [], names: [], test: false },
  audios: [{ url: '', names: [refundName(file)], file }],
  ...more,
});
const SINCE = '2020-01-01T00:00:00.000Z';
const limit = (millionths: number, allowsUnknown = false): SpendingLimit => ({
  ...{ millionths: String(millionths), allowsUnknown, since: SINCE },
});

describe.each(storeKinds.filter(({ isThere }) => isThere))('a ledger $name', (kind) => {
  const here = new TestLedger(kind);
  const done = ({ purchase, ...begun }: Sent): Promise<void> => here.purchases.markDone(begun, purchase);
  const claims = async (): Promise<unknown[]> =>
    (await here.rows('SELECT name FROM item_names WHERE holds = 1 ORDER BY name')).map(({ name }) => name);
  const spent = async (from: Ledger = here.ledger) =>
    (await new Budgets(from).spentSince(SINCE)).map(inMillionths);
  const statusOf = async ({ id }: Sent): Promise<unknown[]> => {
    const [row] = await here.rows(
      `SELECT outcome, status, named, order_id FROM purchases WHERE id = '${id}'`,
    );
    return Object.values(row ?? {});
  };
  const items = ({ id }: Sent): Promise<Record<string, unknown>[]> =>
    here.rows(`SELECT position, url, file FROM purchase_items WHERE purchase = '${id}' ORDER BY position`);

  describe('an upgrade or a refund', () => {
    it('keeps others from doing the same until it is done', async () => {
      await here.place('a', 'o1', '1');
      const upgrade = await beginFree(here.ledger, upgradeOf('1', ['TSTMP1', 'SPKR2']));
      const refund = await beginFree(here.ledger, refundOf('1'));
      expect(await claims()).toEqual(['refund 1', 'upgrade SPKR2 1', 'upgrade TSTMP1 1', `url ${url('a')}`]);
      expect(await begin(here.ledger, upgradeOf('1', ['TSTMP1']))).toBeUndefined();
      expect(await begin(here.ledger, refundOf('1'))).toBeUndefined();
      expect(await begin(here.ledger, upgradeOf('1', ['VRBTM']))).toBeDefined();
      expect(await begin(here.ledger, refundOf('2'))).toBeDefined();
      expect(await begin(await here.other(), refundOf('1'))).toBeDefined();
      await done(upgrade);
      await done(refund);
      expect(await begin(here.ledger, upgradeOf('1', ['TSTMP1']))).toBeDefined();
      expect(await begin(here.ledger, refundOf('1'))).toBeDefined();
    });

    it('keeps them from it while its end is not known, and no longer than that', async () => {
      const upgrade = await beginFree(here.ledger, upgradeOf('1'));
      await here.markUncertain(upgrade);
      expect(await begin(here.ledger, upgradeOf('1'))).toBeUndefined();
      await here.settleNotPlaced(upgrade);
      const second = await beginFree(here.ledger, upgradeOf('1'));
      await here.markRefused(second);
      const third = await beginFree(here.ledger, upgradeOf('1'));
      await here.markUncertain(third);
      await here.settlePlaced(third, '');
      expect(await claims()).toEqual([]);
      expect((await here.attempt(third)).status).toBe('placed');
    });

    it('is renewed while it holds all its names', async () => {
      const upgrade = await beginFree(here.ledger, upgradeOf('1', ['TSTMP1', 'SPKR2']));
      expect(await here.renew(upgrade)).toBe(true);
      await begin(here.ledger, upgradeOf('1', ['SPKR2']), [upgrade.id]);
      expect(await here.renew(upgrade)).toBe(false);
    });

    it('that is a test holds nothing and changes nothing', async () => {
      await here.place('a', 'o1', '1');
      const refund = await beginFree(here.ledger, refundOf('1', { test: true }));
      expect(await begin(here.ledger, refundOf('1'))).toBeDefined();
      await done(refund);
      expect(await here.rows('SELECT state, ended FROM files')).toEqual([{ state: '', ended: '' }]);
    });

    it('that is done shows in its file, and in that of no other account', async () => {
      await here.place('a', 'o1', '1');
      const other = await here.other();
      const theirs = await beginFree(other, newOrder('a'));
      await new Purchases(other).markPlaced(theirs, theirs.purchase, placedAs('o1', '1'));
      const files = `SELECT state, ended, upgrades FROM files WHERE id = '1' ORDER BY profile`;
      const untouched = { state: '', ended: '', upgrades: '' };
      await (await here.store()).run("UPDATE files SET ended = 'delivered' WHERE profile = 'default'");
      await done(await beginFree(here.ledger, upgradeOf('1', ['TSTMP1'])));
      await done(await beginFree(here.ledger, upgradeOf('1', ['SPKR2', 'VRBTM'])));
      expect(await here.rows(files)).toEqual([
        { state: '', ended: '', upgrades: 'TSTMP1,SPKR2,VRBTM' },
        untouched,
      ]);
      await done(await beginFree(here.ledger, refundOf('1')));
      expect(await here.rows(files)).toEqual([
        { state: 'Refunded', ended: 'unfinished', upgrades: 'TSTMP1,SPKR2,VRBTM' },
        untouched,
      ]);
    });

    it('is listed with its file, its SKUs and the call that made it', async () => {
      const via = 'POST /audiofile/1/upgrade';
      const upgrade = await beginFree(here.ledger, upgradeOf('1', ['TSTMP1'], { via }));
      await here.markUncertain(upgrade);
      expect(await here.attempts.list()).toMatchObject([
        { kind: 'upgrade', via, files: ['1'], urls: [], skus: ['TSTMP1'], order: '', isAccepted: false },
      ]);
    });

    it('is no later order of an audio, and no order of a file', async () => {
      const order = await here.unclear('a');
      await done(await beginFree(here.ledger, upgradeOf('1')));
      expect((await here.attempt(order)).later).toEqual([]);
      expect(await here.attempts.missingFiles('')).toBeUndefined();
    });
  });

  describe('what is known of a purchase', () => {
    it('only grows: refused, then unclear, then placed', async () => {
      const sent = await here.begin('a');
      await here.markRefused(sent);
      expect(await statusOf(sent)).toEqual(['refused', 'refused', '', '']);
      await here.markUncertain(sent);
      expect(await statusOf(sent)).toEqual(['uncertain', 'uncertain', '', '']);
      await here.markRefused(sent);
      expect((await here.attempt(sent)).detail).toBe('no answer');
      await here.markPlaced(sent, placedAs('o1', '1'));
      await here.markUncertain(sent);
      await here.markRefused(sent);
      expect(await statusOf(sent)).toEqual(['placed', 'placed', 'o1', 'o1']);
      expect((await here.holderOf('a'))?.id).toBe(sent.id);
    });

    it('is what somebody said, where the service said nothing clear: placed before not placed', async () => {
      const sent = await here.unclear('a');
      await here.settleNotPlaced(sent);
      expect(await statusOf(sent)).toEqual(['uncertain', 'refused', '', '']);
      // As two machines may have said it before their ledgers met.
      const values = `'other', '${sent.id}', 'placed', 'o9', '2026-01-01T00:00:00.000Z', 'Ann'`;
      await (await here.store()).run(
        `INSERT INTO settlements (id, purchase, verdict, order_id, said_at, said_by) VALUES (${values})`,
      );
      await here.markUncertain(sent);
      expect(await statusOf(sent)).toEqual(['uncertain', 'placed', '', 'o9']);
    });

    it('is what the service said, where somebody said something else', async () => {
      const [first, second] = [await here.unclear('a'), await here.unclear('b')];
      await here.settleNotPlaced(first);
      await here.settlePlaced(second, 'o9');
      await here.markPlaced(first, placedAs('o1', '1'));
      await here.markPlaced(second, placedAs('o2', '2'));
      expect(await statusOf(first)).toEqual(['placed', 'placed', 'o1', 'o1']);
      expect(await statusOf(second)).toEqual(['placed', 'placed', 'o2', 'o2']);
      expect(await here.holderOf('a')).toMatchObject({ id: first.id, status: 'placed' });
    });

    it.each([
      ['an order', placedAs('o1')],
      ['a file', placedAs('', '1')],
    ])('is that it was placed where the service named %s: nobody can say otherwise', async (_, answer) => {
      const sent = await here.begin('a b');
      await here.markPlaced(sent, answer);
      expect(await here.attempt(sent)).toMatchObject({ status: 'unclear', isAccepted: true });
      expect(await here.settleNotPlaced(sent)).toBe(false);
      expect(await here.attempt(sent)).toMatchObject({ status: 'unclear', isSettled: false });
      expect(await here.settlePlaced(sent, answer.id)).toBe(true);
    });

    it('is who settled it, and who took that back', async () => {
      const sent = await here.unclear('a');
      await here.settleNotPlaced(sent);
      await here.reopen(sent);
      const rows = await here.rows('SELECT verdict, said_by FROM settlements ORDER BY said_at');
      expect(rows).toEqual(
        ['not placed', 'reopened'].map((verdict) => ({ verdict, said_by: expect.stringMatching(/@/) })),
      );
    });
  });

  describe('a settlement that is taken back', () => {
    it('as not placed leaves an order of unknown end that holds its audio again', async () => {
      const sent = await here.unclear('a b');
      await here.settleNotPlaced(sent);
      const other = await here.begin('b');
      expect(await here.reopen(sent)).toBe(true);
      expect(await here.attempt(sent)).toMatchObject({ status: 'unclear', isSettled: false });
      expect(
        await here.rows(`SELECT name FROM item_names WHERE holds = 1 AND purchase = '${sent.id}'`),
      ).toEqual([{ name: `url ${url('a')}` }]);
      expect(await here.again('a')).toBeUndefined();
      expect((await here.holderOf('b'))?.id).toBe(other.id);
    });

    it('as placed takes out the files that nothing else has named', async () => {
      const sent = await here.unclear('a b');
      await here.settlePlaced(sent, 'o9', [{ id: '1', position: 1, known: true }]);
      expect((await items(sent)).map(({ file }) => file)).toEqual(['', '1']);
      expect(await here.reopen(sent)).toBe(true);
      expect(await statusOf(sent)).toEqual(['uncertain', 'uncertain', '', '']);
      expect((await items(sent)).map(({ file }) => file)).toEqual(['', '']);
      expect(await here.rows('SELECT id FROM files')).toEqual([]);
      expect((await here.holderOf('a'))?.id).toBe(sent.id);
      expect(await here.settlePlaced(sent, 'o8', [{ id: '2', position: 0, known: true }])).toBe(true);
    });

    it('of a refund gives its file back, and a budget what it cost', async () => {
      const order = await beginFree(here.ledger, costing('a', 5_000_000));
      await here.markPlaced(order, placedAs('o1', '1'));
      await new Files(here.ledger).update({
        ...{
          id: '1',
          state: 'Delivered',
          title: '',
          duration: '',
          total: 'USD 3.00',
          invoices: [],
          link: '',
        },
        ...{ answer: '{}', askedAt: '2099-01-01T00:00:00.000Z' },
      });
      const refund = await beginFree(here.ledger, refundOf('1'));
      await here.markUncertain(refund);
      await here.settlePlaced(refund, '');
      expect(await spent()).toMatchObject([{ billed: 3_000_000, refunded: 3_000_000 }]);
      await here.reopen(refund);
      expect(await spent()).toMatchObject([{ billed: 3_000_000, refunded: 0 }]);
      expect(await here.rows('SELECT state, ended FROM files')).toEqual([{ state: '', ended: '' }]);
      expect(await begin(here.ledger, refundOf('1'))).toBeUndefined();
    });

    it('of an upgrade leaves its file the other upgrades', async () => {
      await here.place('a', 'o1', '1');
      const upgrades = async (): Promise<unknown> =>
        (await here.rows('SELECT upgrades FROM files'))[0]?.upgrades;
      const [first, second] = [
        await beginFree(here.ledger, upgradeOf('1', ['TSTMP1', 'SPKR2'])),
        await beginFree(here.ledger, upgradeOf('1', ['VRBTM'])),
      ];
      await here.markUncertain(first);
      await here.settlePlaced(first, '');
      await done(second);
      expect(await upgrades()).toBe('TSTMP1,SPKR2,VRBTM');
      await here.reopen(first);
      expect(await upgrades()).toBe('VRBTM');
      await here.settlePlaced(first, '');
      expect(await upgrades()).toBe('TSTMP1,SPKR2,VRBTM');
      await here.reopen(second);
      expect(await upgrades()).toBe('TSTMP1,SPKR2,VRBTM');
    });

    it('of the only upgrade leaves its file none', async () => {
      await here.place('a', 'o1', '1');
      const upgrade = await beginFree(here.ledger, upgradeOf('1'));
      await here.markUncertain(upgrade);
      await here.settlePlaced(upgrade, '');
      await here.reopen(upgrade);
      expect(await here.rows('SELECT upgrades, upgraded_at FROM files')).toEqual([
        { upgrades: '', upgraded_at: null },
      ]);
    });

    it('leaves the order and the files that the service has named', async () => {
      const sent = await here.begin('a b');
      await here.markPlaced(sent, placedAs('o1', '1'));
      const files = [
        { id: '7', position: 0, known: true },
        { id: '1', position: 1, known: true },
      ];
      await here.settlePlaced(sent, 'o1', files);
      await here.reopen(sent);
      expect(await here.attempt(sent)).toMatchObject({ status: 'unclear', order: 'o1', isAccepted: true });
      expect(await here.rows('SELECT id, order_id FROM files')).toEqual([{ id: '1', order_id: 'o1' }]);
      expect((await items(sent)).map(({ file }) => file)).toEqual(['', '1']);
    });

    it('leaves a file to the order that had it before', async () => {
      await here.place('b', 'o1', '1');
      const sent = await here.unclear('a');
      await here.settlePlaced(sent, 'o9', [{ id: '1', position: 0, known: true }]);
      await here.reopen(sent);
      expect(await here.rows('SELECT id, order_id FROM files')).toEqual([{ id: '1', order_id: 'o1' }]);
    });

    it('leaves what the service has named meanwhile, and nothing else', async () => {
      const sent = await here.unclear('a b');
      const files = [
        { id: '7', position: 0, known: true },
        { id: '2', position: 1, known: true },
      ];
      await here.settlePlaced(sent, 'o9', files);
      await here.markPlaced(sent, placedAs('o2', '1', '2'));
      await here.reopen(sent);
      expect(await statusOf(sent)).toEqual(['placed', 'placed', 'o2', 'o2']);
      expect(await here.rows('SELECT id, order_id FROM files ORDER BY id')).toEqual([
        { id: '1', order_id: 'o2' },
        { id: '2', order_id: 'o2' },
      ]);
      expect((await items(sent)).map(({ file }) => file)).toEqual(['1', '2', '']);
    });

    it('changes nothing where there is none, or the service has answered since', async () => {
      const [first, second] = [await here.unclear('a'), await here.unclear('b')];
      expect(await here.reopen(first)).toBe(false);
      await here.settleNotPlaced(second);
      await here.markPlaced(second, placedAs('o2', '2'));
      await here.reopen(second);
      expect(await statusOf(second)).toEqual(['placed', 'placed', 'o2', 'o2']);
      expect(await here.rows('SELECT id, order_id FROM files')).toEqual([{ id: '2', order_id: 'o2' }]);
      expect((await items(second)).map(({ file }) => file)).toEqual(['2']);
    });

    it('counts again in a budget', async () => {
      const sent = await beginFree(here.ledger, costing('a', 70));
      await here.markUncertain(sent);
      await here.settleNotPlaced(sent);
      expect(await spent()).toEqual([]);
      await here.reopen(sent);
      expect(await spent()).toMatchObject([{ estimated: 70 }]);
    });
  });

  describe('the items of an order', () => {
    it('have the files of their audios', async () => {
      const sent = await here.begin('a b');
      await here.markPlaced(sent, placedAs('o1', '1', '2'));
      expect(await items(sent)).toEqual([
        { position: 0, url: url('a'), file: '1' },
        { position: 1, url: url('b'), file: '2' },
      ]);
    });

    it('have each file of an answer with fewer of them, as far as they go', async () => {
      const sent = await here.begin('a b c');
      await here.markPlaced(sent, placedAs('o1', '1', '2'));
      expect((await items(sent)).map(({ file }) => file)).toEqual(['1', '2', '']);
    });

    it('get one more for each file beyond, which costs nothing until it is billed', async () => {
      const sent = await beginFree(here.ledger, costing('a', 60));
      await here.markPlaced(sent, placedAs('o1', '1', '2', '3'));
      expect(await items(sent)).toEqual([
        { position: 0, url: url('a'), file: '1' },
        { position: 1, url: '', file: '2' },
        { position: 2, url: '', file: '3' },
      ]);
      expect(await spent()).toMatchObject([{ currency: 'USD', estimated: 60 }]);
      expect(await here.budgets.unpriced('2026-01-01')).toEqual([]);
      expect((await here.attempts.audios(await here.attempt(sent))).map((each) => each.url)).toEqual([
        url('a'),
      ]);
    });

    it('stay with the file that they have when the same answer is written twice', async () => {
      const sent = await here.begin('a');
      for (let n = 0; n < 2; n += 1) await here.markPlaced(sent, placedAs('o1', '1', '2'));
      expect((await items(sent)).map(({ file }) => file)).toEqual(['1', '2']);
    });

    it('get the file of their audio with track', async () => {
      const sent = await here.begin('a b');
      await here.markPlaced(sent, placedAs('o1'));
      await new TrackedFiles(here.ledger).add({ id: '2', order: 'o1', link: url('b'), names: '', notes: '' });
      expect((await items(sent)).map(({ file }) => file)).toEqual(['', '2']);
      await new TrackedFiles(here.ledger).add({ id: '1', order: 'o1', link: '', names: '', notes: '' });
      expect((await items(sent)).map(({ file }) => file)).toEqual(['1', '2']);
    });
  });

  describe('orders that were answered without an id', () => {
    it('share nothing', async () => {
      const first = await beginFree(here.ledger, newOrder('a', { notes: 'first', skus: ['TRANS14'] }));
      await here.markPlaced(first, { ...placedAs('', '1'), hold: 'billing' });
      const second = await beginFree(here.ledger, newOrder('b', { notes: 'second', skus: ['TRANS2'] }));
      await here.markPlaced(second, placedAs('', '2'));
      const files = await new Files(here.ledger).page({}, 10);
      expect(
        files
          .map(({ id, skus, notes, hold }) => ({ id, skus, notes, hold }))
          .sort((one, other) => Number(one.id) - Number(other.id)),
      ).toEqual([
        { id: '1', skus: 'TRANS14', notes: 'first', hold: 'billing' },
        { id: '2', skus: 'TRANS2', notes: 'second', hold: null },
      ]);
      expect((await items(first)).map(({ file }) => file)).toEqual(['1']);
      expect((await items(second)).map(({ file }) => file)).toEqual(['2']);
      expect(await here.attempts.missingFiles('')).toBeUndefined();
      const third = await here.unclear('c');
      expect(await here.attempts.otherOfOrder('', await here.attempt(third))).toBeUndefined();
    });
  });

  describe('what a budget counts', () => {
    const counted = async ({ id }: Sent): Promise<unknown> =>
      (await here.rows(`SELECT counted_at FROM purchase_items WHERE purchase = '${id}'`))[0]?.counted_at;

    it('is what is being bought, was bought or may have been, from when it was begun', async () => {
      const sent = await beginFree(here.ledger, upgradeOf('1'));
      const at = await counted(sent);
      expect(at).toBe(sent.startedAt);
      await here.markUncertain(sent);
      expect(await counted(sent)).toBe(at);
      await done(sent);
      expect(await counted(sent)).toBe(at);
    });

    it('is nothing that was refused, a test, a refund, or bought elsewhere', async () => {
      const refused = await here.begin('a');
      await here.markRefused(refused);
      const test = await here.begin('b', { test: true });
      await here.markPlaced(test, placedAs('t1', '9'));
      const refund = await beginFree(here.ledger, refundOf('1'));
      await done(refund);
      await new TrackedFiles(here.ledger).add({ id: '2', order: 'o2', link: url('c'), names: '', notes: '' });
      expect(await here.rows('SELECT 1 FROM purchase_items WHERE counted_at IS NOT NULL')).toEqual([]);
    });

    it.runIf(!kind.isShared)('is nothing in a period that is over, though a clock was set back', async () => {
      const ahead = await here.begin('a');
      const later = '2099-01-01T00:00:00.000Z';
      await (await here.store()).run('UPDATE purchase_items SET counted_at = ?', later);
      expect(await counted(ahead)).toBe(later);
      expect(await counted(await here.begin('b'))).toBe(later);
      expect(await here.budgets.nowMs()).toBe(Date.parse(later));
    });

    it('is summed by currency: billed, else estimated, and what has no known cost', async () => {
      const first = await beginFree(here.ledger, costing('a', 5_000_000));
      await here.markPlaced(first, placedAs('o1', '1'));
      await beginFree(here.ledger, costing('b', 7_000_000));
      await beginFree(here.ledger, costing('c', 9_000_000, 'EUR'));
      await here.begin('d e');
      await new Files(here.ledger).update({
        ...{
          id: '1',
          state: 'Delivered',
          title: '',
          duration: '',
          total: 'USD 3.00',
          invoices: [],
          link: '',
        },
        ...{ answer: '{}', askedAt: '2099-01-01T00:00:00.000Z' },
      });
      const none = { billed: 0, estimated: 0, refunded: 0 };
      const found = [...(await spent())].sort((one, other) => (one.currency < other.currency ? -1 : 1));
      expect(found).toEqual([
        { ...none, currency: '' },
        { ...none, currency: 'EUR', estimated: 9_000_000 },
        { ...none, currency: 'USD', billed: 3_000_000, estimated: 7_000_000 },
      ]);
      expect(await spent(await here.other())).toEqual([]);
    });
  });

  describe('a limit', () => {
    const within = (name: string, cost: number | undefined, ...limits: SpendingLimit[]) =>
      begin(here.ledger, cost === undefined ? newOrder(name) : costing(name, cost), [], limits);

    it('lets through what is exactly as much, and nothing that is more', async () => {
      expect(await within('a', 101, limit(100))).toBeUndefined();
      expect(await here.rows('SELECT id FROM purchases')).toEqual([]);
      expect(await within('a', 100, limit(100))).toBeDefined();
      expect(await within('b', 1, limit(100))).toBeUndefined();
      expect(await within('b', 0, limit(100))).toBeDefined();
    });

    it('counts all audios of an order', async () => {
      const one = costing('a', 60).audios;
      const order = newOrder('a b', { audios: [...one, ...costing('b', 41).audios] });
      expect(await begin(here.ledger, order, [], [limit(100)])).toBeUndefined();
      expect(await begin(here.ledger, order, [], [limit(101)])).toBeDefined();
    });

    it('lets nothing through while a cost is not known', async () => {
      expect(await within('a', undefined, limit(100))).toBeUndefined();
      await here.begin('a');
      expect(await within('b', 1, limit(100))).toBeUndefined();
    });

    it('that allows an unknown cost lets it through while what is known leaves something', async () => {
      expect(await within('a', undefined, limit(0, true))).toBeUndefined();
      expect(await within('a', undefined, limit(100, true))).toBeDefined();
      expect(await within('b', 99, limit(100, true))).toBeDefined();
      expect(await within('c', undefined, limit(100, true))).toBeDefined();
      expect(await within('d', 1, limit(100, true))).toBeUndefined();
    });

    it('must be kept by each of several', async () => {
      expect(await within('a', 50, limit(100), limit(49))).toBeUndefined();
      expect(await within('a', 50, limit(49), limit(100))).toBeUndefined();
      expect(await within('a', 50, limit(100), limit(50))).toBeDefined();
    });

    it('gets back what was refunded', async () => {
      await beginFree(here.ledger, costing('a', 100));
      await (await here.store()).run('UPDATE purchase_items SET billed = 100, refunded = 40');
      expect(await within('b', 41, limit(100))).toBeUndefined();
      expect(await within('b', 40, limit(100))).toBeDefined();
    });

    it('is kept by purchases that are begun at the same time', async () => {
      const ledgers = [here.ledger, await here.another(), await here.another()];
      const orders = Array.from({ length: 12 }, (_, n) => costing(`n${n}`, 30));
      const begun = await Promise.all(
        orders.map((order, n) => begin(ledgers[n % 3] as Ledger, order, [], [limit(100)])),
      );
      expect(begun.filter((each) => each !== undefined)).toHaveLength(3);
      expect(await spent()).toMatchObject([{ estimated: 90 }]);
    });
  });
});
