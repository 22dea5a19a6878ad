/** What keeps an audio from being bought twice: who holds it, in both kinds of ledger. */
import { describe, expect, it } from 'vitest';
import { givingNames } from '../../src/ledger/claims.ts';
import { OpenAttempts } from '../../src/ledger/open-attempts.ts';
import { makeAudio, makeEpisode, makeFile } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { audioOf, beginFree, newOrder, placedAs, TestLedger, url } from '../support/attempts.ts';
import { SECRET, storeKinds } from '../support/open-ledger.ts';

describe.each(storeKinds.filter(({ isThere }) => isThere))('a ledger $name', (kind) => {
  const here = new TestLedger(kind);

  describe('an attempt', () => {
    it('is written with all that it orders, and holds its audios', async () => {
      const sent = await here.begin('a b');
      expect(await here.attempt(sent)).toMatchObject({
        ...{ attempt: sent.attempt, kind: 'order', status: 'being sent', order: '', detail: '', later: [] },
        ...{ urls: [url('a'), url('b')], skus: ['TRANS14', 'SPKR2'], by: { pid: process.pid } },
      });
      expect(await here.rows('SELECT id, test, names, notes FROM purchases')).toEqual([
        { id: sent.id, test: 0, names: 'Ann|Bob', notes: 'loud' },
      ]);
      const item = { purchase: sent.id, file: '', estimate: null, currency: '', counted_at: sent.startedAt };
      expect(
        await here.rows(
          'SELECT purchase, position, file, estimate, currency, counted_at FROM purchase_items ORDER BY position',
        ),
      ).toEqual([
        { ...item, position: 0 },
        { ...item, position: 1 },
      ]);
      expect(await here.holderOf('b')).toMatchObject({
        ...{ id: sent.id, attempt: sent.attempt, status: 'being sent', order: '', url: url('b') },
        ...{ answered: false, tracked: false },
      });
      expect((await here.holderOf('a'))?.spelling).not.toBe((await here.holderOf('b'))?.spelling);
      expect(await here.holderOf('c')).toBeUndefined();
    });

    it('is not begun where another holds one of its audios, and then holds none', async () => {
      const first = await here.begin('b');
      expect(await here.again('a b c')).toBeUndefined();
      expect([await here.holderOf('a'), await here.holderOf('c')]).toEqual([undefined, undefined]);
      expect((await here.holderOf('b'))?.id).toBe(first.id);
      expect(await here.rows('SELECT id FROM purchases')).toHaveLength(1);
      expect((await here.begin('a c')).attempt).toBeGreaterThan(first.attempt);
    });

    it('counts an audio that it names twice once', async () => {
      const sent = await here.begin('a a');
      expect(await here.renew(sent)).toBe(true);
      expect(await here.rows('SELECT name FROM item_names WHERE holds = 1')).toHaveLength(1);
    });

    it('that is a test holds nothing and is held up by nothing', async () => {
      await here.place('a', 'o1', '1');
      const test = await here.begin('a', { test: true });
      expect(test.attempt).toBeGreaterThan(1);
      await here.markPlaced(test, placedAs('t1', '9'));
      expect(await here.holderOf('a')).toMatchObject({ attempt: 1, order: 'o1' });
      expect(await here.again('x', [], { test: true })).toBeDefined();
      expect(await here.holderOf('x')).toBeUndefined();
      expect(await here.attempts.get(test.attempt)).toBeUndefined();
      expect(await here.attempts.list()).toEqual([]);
    });

    it('of another account neither holds nor is seen', async () => {
      const mine = await here.begin('a');
      const other = await here.other();
      expect(await here.holderOf('a', other)).toBeUndefined();
      expect(await new OpenAttempts(other).get(mine.attempt)).toBeUndefined();
      const theirs = await beginFree(other, newOrder('a'));
      await new Purchases(other).markPlaced(theirs, theirs.purchase, placedAs('o9', '9'));
      expect(await here.holderOf('a')).toMatchObject({ id: mine.id, status: 'being sent' });
      await here.markRefused(mine);
      expect(await here.holderOf('a')).toBeUndefined();
      expect((await here.holderOf('a', other))?.id).toBe(theirs.id);
      const unclear = await here.attempt(await here.unclear('b'));
      expect(await new OpenAttempts(other).settleNotPlaced(unclear)).toBe(false);
    });

    it('keeps no secret', async () => {
      const audio = makeEpisode(`https://${SECRET}@e.example/a.mp3`, [`guid ${SECRET}`], { title: SECRET });
      const order = newOrder('a', {
        audios: [audio, makeAudio(url('b'), SECRET)],
        names: [SECRET],
        notes: SECRET,
      });
      const sent = await beginFree(here.ledger, order);
      await here.markPlaced(sent, { ...placedAs('o1', '1', '2'), hold: SECRET });
      const other = await here.begin('c');
      await here.markUncertain(other, `it said ${SECRET}`);
      const tables = ['purchases', 'purchase_items', 'item_names', 'files'];
      const all = await Promise.all(tables.map((table) => here.rows(`SELECT * FROM ${table}`)));
      expect(JSON.stringify(all)).not.toContain(SECRET);
      expect(JSON.stringify(all)).toContain('****');
      expect(await here.again('a', [], { audios: [audio] })).toBeUndefined();
      expect(await here.attempts.kept(SECRET)).toBe('****');
    });

    it('keeps the key and the details of an audio, in the purchase and in its file', async () => {
      const audio = makeFile(url('a'), 'k1', { title: 'Talk' });
      const order = newOrder('a', { audios: [audio], skus: [] });
      const sent = await beginFree(here.ledger, order);
      const kept = { url: url('a'), key: 'sha256:k1', title: 'Talk' };
      expect(await here.rows('SELECT url, key, title FROM purchase_items')).toEqual([kept]);
      expect((await here.attempt(sent)).skus).toEqual([]);
      await here.markPlaced(sent, placedAs('o1', '1'));
      expect(await here.rows('SELECT url, key, title FROM purchase_items')).toEqual([kept]);
    });

    it('takes an audio that has a name twice', async () => {
      const audio = makeEpisode(url('a'), [`url ${url('a')}`], {});
      expect(await here.again('a', [], { audios: [audio] })).toBeDefined();
      expect((await here.holderOf('a'))?.url).toBe(url('a'));
    });

    it.each([2_000, 2_101])('has %i audios, as many as one statement takes or more', async (length) => {
      const audios = Array.from({ length }, (_, at) => audioOf(`n${at}`));
      const order = newOrder('a', { audios });
      const sent = await beginFree(here.ledger, order);
      expect((await here.attempts.audios(await here.attempt(sent))).map((each) => each.url)).toEqual(
        audios.map((each) => each.url),
      );
      expect(await here.renew(sent)).toBe(true);
    });
  });

  describe('what another attempt holds', () => {
    it('is taken over from those that are named, while their end is not known', async () => {
      const first = await here.unclear('a b');
      const second = await here.begin('c');
      expect(await here.again('a c', [first])).toBeUndefined();
      const taker = (await here.again('a c', [first, second]))?.id;
      expect(taker).toBeDefined();
      expect([(await here.holderOf('a'))?.id, (await here.holderOf('c'))?.id]).toEqual([taker, taker]);
      expect((await here.holderOf('b'))?.id).toBe(first.id);
    });

    it('is not taken over from one that was placed meanwhile, but with --again', async () => {
      const first = await here.place('a', 'o1', '1');
      expect(await here.again('a', [first])).toBeUndefined();
      expect((await here.anyway('a')).attempt).toBeGreaterThan(first.attempt);
      // The order stands, so it still counts.
      expect(await here.holderOf('a')).toMatchObject({ id: first.id, status: 'placed', order: 'o1' });
    });

    it('goes back to the order that stands where the later attempt is refused', async () => {
      const first = await here.place('a', 'o1', '1');
      const second = await here.anyway('a');
      await here.markUncertain(second);
      const third = await here.anyway('a');
      await here.markRefused(third);
      expect(await here.rows('SELECT purchase FROM item_names WHERE holds = 1')).toEqual([
        { purchase: first.id },
      ]);
    });

    it('goes back to the newest attempt without a known end where none was placed', async () => {
      await here.unclear('a');
      const second = await here.anyway('a');
      await here.markUncertain(second);
      const third = await here.anyway('a');
      await here.markRefused(third);
      expect(await here.rows('SELECT purchase FROM item_names WHERE holds = 1')).toEqual([
        { purchase: second.id },
      ]);
      expect(await here.holderOf('a')).toMatchObject({ id: second.id, status: 'unclear', answered: true });
    });

    it('goes to an attempt without a known end rather than to an order of which nothing comes', async () => {
      await here.place('a', 'o1', '1');
      const second = await here.anyway('a');
      await here.markUncertain(second);
      await (await here.store()).run("UPDATE files SET ended = 'unfinished'");
      await here.markRefused(await here.anyway('a'));
      expect(await here.rows('SELECT purchase FROM item_names WHERE holds = 1')).toEqual([
        { purchase: second.id },
      ]);
      await here.settleNotPlaced(second);
      expect(await here.holderOf('a')).toMatchObject({ isOver: true });
      await here.reopen(second);
      expect(await here.holderOf('a')).toMatchObject({ id: second.id, status: 'unclear' });
      await (await here.store()).batch(givingNames('default', [second.id], true));
      expect(await here.holderOf('a')).toMatchObject({ id: second.id, status: 'unclear' });
    });

    it('goes to no test, to no refused attempt, and to none of another audio', async () => {
      await here.again('a', [], { test: true });
      const refused = await here.begin('a');
      await here.markRefused(refused);
      await here.place('b', 'o1', '1');
      const last = await here.begin('a');
      await here.markRefused(last);
      expect(await here.holderOf('a')).toBeUndefined();
      expect(await here.again('a')).toBeDefined();
    });

    it('stays where the attempt that is released was not refused', async () => {
      const sent = await here.unclear('a');
      await here.markRefused(await here.begin('b'));
      await (await here.store()).batch(givingNames('default', [sent.id]));
      expect((await here.holderOf('a'))?.id).toBe(sent.id);
    });

    it('is told by the attempt that says most: placed, being sent, accepted, unclear', async () => {
      await here.unclear('a');
      const second = await here.anyway('a');
      expect(await here.holderOf('a')).toMatchObject({ id: second.id, status: 'being sent' });
      await here.markPlaced(second, placedAs('o2'));
      const third = await here.anyway('a');
      await here.markUncertain(third);
      expect(await here.holderOf('a')).toMatchObject({ id: second.id, status: 'unclear', order: 'o2' });
      const fourth = await here.anyway('a');
      expect(await here.holderOf('a')).toMatchObject({ id: fourth.id, status: 'being sent' });
      await here.markPlaced(fourth, placedAs('o4', '4'));
      const fifth = await here.anyway('a');
      expect(await here.holderOf('a')).toMatchObject({ id: fourth.id, status: 'placed', order: 'o4' });
      expect(await here.rows('SELECT purchase FROM item_names WHERE holds = 1')).toEqual([
        { purchase: fifth.id },
      ]);
    });

    it('is told with its own URL, whatever other attempts there are at it', async () => {
      const first = await here.begin('a x');
      await here.markPlaced(first, placedAs('o1', '1', '2'));
      const second = await here.anyway('x a');
      await here.markRefused(second);
      await here.begin('b');
      expect([(await here.holderOf('a'))?.url, (await here.holderOf('x'))?.url]).toEqual([
        url('a'),
        url('x'),
      ]);
    });

    it('is not told by a test that was placed', async () => {
      const sent = await here.unclear('a');
      const test = await here.begin('a', { test: true });
      await here.markPlaced(test, placedAs('t1', '1'));
      expect(await here.holderOf('a')).toMatchObject({ id: sent.id, status: 'unclear', order: '' });
    });

    it('is held though its URL was lost', async () => {
      const { id } = await here.place('a', 'o1', '1');
      await (await here.store()).run('DELETE FROM purchase_items');
      expect(await here.holderOf('a')).toMatchObject({ id, status: 'placed', url: '', spelling: '' });
    });

    it('is unclear where its process left no heartbeat', async () => {
      await here.begin('a');
      await (await here.store()).run('UPDATE purchases SET seen_at = NULL');
      expect((await here.holderOf('a'))?.status).toBe('unclear');
    });

    it('is found among more names than one query takes', async () => {
      await here.place('last', 'o1', '1');
      const names = Array.from({ length: 10_050 }, (_, at) => `url ${url(`n${at}`)}`);
      const found = await here.claims.holders([...names, `url ${url('last')}`]);
      expect([...found.keys()]).toEqual([`url ${url('last')}`]);
    });

    it('is found by a name that is too long for an index', async () => {
      const long = `${'x'.repeat(1_100)}`;
      const sent = await here.begin(long);
      expect((await here.holderOf(long))?.id).toBe(sent.id);
      expect(await here.holderOf(`${long}y`)).toBeUndefined();
    });

    it('says when its end was written', async () => {
      const sent = await here.unclear('a');
      await here.begin('b');
      for (const name of ['a', 'b']) {
        const agoMs = (await here.holderOf(name))?.endedAgoMs;
        expect(agoMs).toBeGreaterThanOrEqual(0);
        expect(agoMs).toBeLessThan(600_000);
      }
      await (await here.store()).run(
        "UPDATE purchases SET ended_at = '2026-01-01T00:00:00.000Z' WHERE id = ?",
        sent.id,
      );
      expect((await here.holderOf('a'))?.endedAgoMs).toBeGreaterThan(86_400_000);
    });
  });

  describe('the lease of an attempt', () => {
    it('is renewed while it is to be sent and holds all its names', async () => {
      const sent = await here.begin('a b');
      expect(await here.renew(sent)).toBe(true);
      await here.begin('x');
      await here.again('b', [sent]);
      expect(await here.renew(sent)).toBe(false);
    });

    it('is not renewed after it ended', async () => {
      const sent = await here.unclear('a');
      await here.begin('b');
      expect(await here.renew(sent)).toBe(false);
    });

    it('is kept by a heartbeat, and only its own', async () => {
      const [first, second] = [await here.begin('a'), await here.begin('b')];
      const ended = await here.unclear('c');
      const db = await here.store();
      await db.run("UPDATE purchases SET seen_at = '2026-01-01T00:00:00.000Z', host = 'elsewhere', pid = 1");
      const all = [first.id, second.id, ended.id];
      expect(await here.attempts.beingSent(all)).toEqual(new Set());
      await here.purchases.heartbeat(first);
      await here.purchases.heartbeat(ended);
      expect(await here.attempts.beingSent(all)).toEqual(new Set([first.id]));
      expect([await here.attempts.countBeingSent(), await here.attempts.countUnclear()]).toEqual([1, 2]);
      expect(await here.rows(`SELECT seen_at FROM purchases WHERE id = '${ended.id}'`)).toEqual([
        { seen_at: '2026-01-01T00:00:00.000Z' },
      ]);
      expect(await here.renew(second)).toBe(true);
      expect(await here.attempts.beingSent([second.id])).toEqual(new Set([second.id]));
      expect(await here.attempts.beingSent([first.id])).toEqual(new Set([first.id]));
    });
  });
});
