/** What keeps an audio from being bought twice: who holds it, in both kinds of ledger. */
import { describe, expect, it } from 'vitest';
import { makeAudio, makeEpisode, makeFile } from '../../src/ledger/audio-names.ts';
import { audioOf, newOrder, placedAs, TestLedger, url } from '../support/attempts.ts';
import { SECRET, storeKinds } from '../support/open-ledger.ts';

describe.each(storeKinds.filter(({ isThere }) => isThere))('a ledger $name', (kind) => {
  const here = new TestLedger(kind);

  describe('an attempt', () => {
    it('is written with all that it orders, and holds its audios', async () => {
      const attempt = await here.begin('a b');
      expect(await here.ledger.openAttempts.get(attempt)).toMatchObject({
        ...{ attempt, status: 'being sent', order: '', detail: '', later: [] },
        ...{ urls: [url('a'), url('b')], skus: ['TRANS14', 'SPKR2'], by: { pid: process.pid } },
      });
      expect(await here.rows('SELECT test, names, notes, cost, currency FROM attempts')).toEqual([
        { test: 0, names: 'Ann|Bob', notes: 'loud', cost: null, currency: '' },
      ]);
      expect(await here.holderOf('b')).toMatchObject({
        ...{ attempt, status: 'being sent', order: '', url: url('b'), answered: false, tracked: false },
      });
      expect((await here.holderOf('a'))?.spelling).not.toBe((await here.holderOf('b'))?.spelling);
      expect(await here.holderOf('c')).toBeUndefined();
    });

    it('is not begun where another holds one of its audios, and then holds none', async () => {
      const first = await here.begin('b');
      expect(await here.again('a b c')).toBeUndefined();
      expect([await here.holderOf('a'), await here.holderOf('c')]).toEqual([undefined, undefined]);
      expect((await here.holderOf('b'))?.attempt).toBe(first);
      expect(await here.rows('SELECT id FROM attempts')).toHaveLength(1);
      expect(await here.again('a c')).toBeGreaterThan(first);
    });

    it('counts an audio that it names twice once', async () => {
      const attempt = await here.begin('a a');
      expect(await here.ledger.attempts.renew(attempt, newOrder('a a'))).toBe(true);
      expect(await here.rows('SELECT name FROM claims')).toHaveLength(1);
    });

    it('that is a test holds nothing and is held up by nothing', async () => {
      await here.place('a', 'o1', '1');
      const attempt = await here.again('a', [], { test: true });
      expect(attempt).toBeGreaterThan(1);
      await here.ledger.attempts.markPlaced(
        Number(attempt),
        newOrder('a', { test: true }),
        placedAs('t1', '9'),
      );
      expect(await here.holderOf('a')).toMatchObject({ attempt: 1, order: 'o1' });
      expect(await here.again('x', [], { test: true })).toBeDefined();
      expect(await here.holderOf('x')).toBeUndefined();
      expect(await here.ledger.openAttempts.get(Number(attempt))).toBeUndefined();
      expect(await here.ledger.openAttempts.list()).toEqual([]);
    });

    it('of another account neither holds nor is seen', async () => {
      const mine = await here.begin('a');
      const other = await here.other();
      expect(await here.holderOf('a', other)).toBeUndefined();
      expect(await other.openAttempts.get(mine)).toBeUndefined();
      const theirs = Number(await other.attempts.begin(newOrder('a'), []));
      await other.attempts.markPlaced(theirs, newOrder('a'), placedAs('o9', '9'));
      expect(await here.holderOf('a')).toMatchObject({ attempt: mine, status: 'being sent' });
      await here.ledger.attempts.markRefused(mine, 'no');
      expect(await here.holderOf('a')).toBeUndefined();
      expect((await here.holderOf('a', other))?.attempt).toBe(theirs);
      expect(await other.openAttempts.settleNotPlaced(await here.unclear('b'))).toBe(false);
    });

    it('keeps no secret', async () => {
      const audio = makeEpisode(`https://${SECRET}@e.example/a.mp3`, [`guid ${SECRET}`], { title: SECRET });
      const order = newOrder('a', {
        audios: [audio, makeAudio(url('b'), SECRET)],
        names: [SECRET],
        notes: SECRET,
      });
      const attempt = Number(await here.ledger.attempts.begin(order, []));
      await here.ledger.attempts.markPlaced(attempt, order, { ...placedAs('o1', '1', '2'), hold: SECRET });
      const other = await here.begin('c');
      await here.ledger.attempts.markUncertain(other, `it said ${SECRET}`);
      const tables = ['attempts', 'attempt_urls', 'attempt_names', 'claims', 'orders', 'files'];
      const all = await Promise.all(tables.map((table) => here.rows(`SELECT * FROM ${table}`)));
      expect(JSON.stringify(all)).not.toContain(SECRET);
      expect(JSON.stringify(all)).toContain('****');
      expect(await here.again('a', [], { audios: [audio] })).toBeUndefined();
      expect(await here.ledger.openAttempts.kept(SECRET)).toBe('****');
    });

    it('keeps the key and the details of an audio, in the attempt and in its file', async () => {
      const audio = makeFile(url('a'), 'k1', { title: 'Talk' });
      const order = newOrder('a', { audios: [audio], skus: [] });
      const attempt = Number(await here.ledger.attempts.begin(order, []));
      const kept = { url: url('a'), key: 'sha256:k1', details: '{"title":"Talk"}' };
      expect(await here.rows('SELECT url, key, details FROM attempt_urls')).toEqual([kept]);
      expect((await here.ledger.openAttempts.get(attempt))?.skus).toEqual([]);
      await here.ledger.attempts.markPlaced(attempt, order, placedAs('o1', '1'));
      expect(await here.rows('SELECT url, key, details FROM files')).toEqual([kept]);
    });

    it('takes an audio that has a name twice', async () => {
      const audio = makeEpisode(url('a'), [`url ${url('a')}`], {});
      expect(await here.again('a', [], { audios: [audio] })).toBeDefined();
      expect((await here.holderOf('a'))?.url).toBe(url('a'));
    });

    it.each([2_000, 2_101])('has %i audios, as many as one statement takes or more', async (length) => {
      const audios = Array.from({ length }, (_, at) => audioOf(`n${at}`));
      const order = newOrder('a', { audios });
      const attempt = Number(await here.ledger.attempts.begin(order, []));
      expect((await here.ledger.openAttempts.audios(attempt)).map((each) => each.url)).toEqual(
        audios.map((each) => each.url),
      );
      expect(await here.ledger.attempts.renew(attempt, order)).toBe(true);
    });
  });

  describe('what another attempt holds', () => {
    it('is taken over from those that are named, while their end is not known', async () => {
      const first = await here.unclear('a b');
      const second = await here.begin('c');
      expect(await here.again('a c', [first])).toBeUndefined();
      const taker = await here.again('a c', [first, second]);
      expect([(await here.holderOf('a'))?.attempt, (await here.holderOf('c'))?.attempt]).toEqual([
        taker,
        taker,
      ]);
      expect((await here.holderOf('b'))?.attempt).toBe(first);
    });

    it('is not taken over from one that was placed meanwhile, but with --again', async () => {
      const first = await here.place('a', 'o1', '1');
      expect(await here.again('a', [first])).toBeUndefined();
      const taker = await here.again('a', 'any');
      expect(taker).toBeGreaterThan(first);
      // The order stands, so it still counts.
      expect(await here.holderOf('a')).toMatchObject({ attempt: first, status: 'placed', order: 'o1' });
    });

    it('goes back to the order that stands where the later attempt is refused', async () => {
      const first = await here.place('a', 'o1', '1');
      const second = Number(await here.again('a', 'any'));
      await here.ledger.attempts.markUncertain(second, 'no answer');
      const third = Number(await here.again('a', 'any'));
      await here.ledger.attempts.markRefused(third, 'no');
      expect(await here.rows('SELECT attempt FROM claims')).toEqual([{ attempt: first }]);
    });

    it('goes back to the newest attempt without a known end where none was placed', async () => {
      await here.unclear('a');
      const second = Number(await here.again('a', 'any'));
      await here.ledger.attempts.markUncertain(second, 'no answer');
      const third = Number(await here.again('a', 'any'));
      await here.ledger.attempts.markRefused(third, 'no');
      expect(await here.rows('SELECT attempt FROM claims')).toEqual([{ attempt: second }]);
      expect(await here.holderOf('a')).toMatchObject({ attempt: second, status: 'unclear', answered: true });
    });

    it('goes to no test, to no refused attempt, and to none of another audio', async () => {
      await here.again('a', [], { test: true });
      const refused = await here.begin('a');
      await here.ledger.attempts.markRefused(refused, 'no');
      await here.place('b', 'o1', '1');
      const last = await here.begin('a');
      await here.ledger.attempts.markRefused(last, 'no');
      expect(await here.holderOf('a')).toBeUndefined();
      expect(await here.again('a')).toBeDefined();
    });

    it('stays where the attempt that is released was not refused', async () => {
      const attempt = await here.unclear('a');
      await here.ledger.attempts.markRefused(await here.begin('b'), 'no');
      await here.ledger.claims.release(attempt);
      expect((await here.holderOf('a'))?.attempt).toBe(attempt);
    });

    it('is told by the attempt that says most: placed, being sent, accepted, unclear', async () => {
      const first = await here.unclear('a');
      const second = Number(await here.again('a', [first]));
      expect(await here.holderOf('a')).toMatchObject({ attempt: second, status: 'being sent' });
      await here.ledger.attempts.markPlaced(second, newOrder('a'), placedAs('o2'));
      const third = Number(await here.again('a', 'any'));
      await here.ledger.attempts.markUncertain(third, 'no answer');
      expect(await here.holderOf('a')).toMatchObject({ attempt: second, status: 'unclear', order: 'o2' });
      const fourth = Number(await here.again('a', 'any'));
      expect(await here.holderOf('a')).toMatchObject({ attempt: fourth, status: 'being sent' });
      await here.ledger.attempts.markPlaced(fourth, newOrder('a'), placedAs('o4', '4'));
      const fifth = Number(await here.again('a', 'any'));
      expect(await here.holderOf('a')).toMatchObject({ attempt: fourth, status: 'placed', order: 'o4' });
      expect(await here.rows('SELECT attempt FROM claims')).toEqual([{ attempt: fifth }]);
    });

    it('is told with its own URL, whatever other attempts there are at it', async () => {
      const first = await here.begin('a x');
      await here.ledger.attempts.markPlaced(first, newOrder('a x'), placedAs('o1', '1', '2'));
      const second = Number(await here.again('x a', 'any'));
      await here.ledger.attempts.markRefused(second, 'no');
      await here.begin('b');
      expect([(await here.holderOf('a'))?.url, (await here.holderOf('x'))?.url]).toEqual([
        url('a'),
        url('x'),
      ]);
    });

    it('is not told by a test that was placed', async () => {
      const attempt = await here.unclear('a');
      const test = Number(await here.again('a', [], { test: true }));
      await here.ledger.attempts.markPlaced(test, newOrder('a', { test: true }), placedAs('t1', '1'));
      expect(await here.holderOf('a')).toMatchObject({ attempt, status: 'unclear', order: '' });
    });

    it('is held though its name or its URL was lost', async () => {
      const attempt = await here.place('a', 'o1', '1');
      for (const table of ['attempt_urls', 'attempt_names']) {
        await (await here.store()).run(`DELETE FROM ${table}`);
        expect(await here.holderOf('a')).toMatchObject({ attempt, status: 'placed', url: '', spelling: '' });
      }
    });

    it('is unclear where its process left no heartbeat, as old versions did', async () => {
      await here.begin('a');
      await (await here.store()).run('UPDATE attempts SET seen_at = NULL');
      expect((await here.holderOf('a'))?.status).toBe('unclear');
    });

    it('is found among more names than one query takes', async () => {
      await here.place('last', 'o1', '1');
      const names = Array.from({ length: 10_050 }, (_, at) => `url ${url(`n${at}`)}`);
      const found = await here.ledger.claims.holders([...names, `url ${url('last')}`]);
      expect([...found.keys()]).toEqual([`url ${url('last')}`]);
    });

    it('is found by a name that is too long for an index', async () => {
      const long = `${'x'.repeat(1_100)}`;
      const attempt = await here.begin(long);
      expect((await here.holderOf(long))?.attempt).toBe(attempt);
      expect(await here.holderOf(`${long}y`)).toBeUndefined();
    });

    it('says when its end was written', async () => {
      const attempt = await here.unclear('a');
      await here.begin('b');
      for (const name of ['a', 'b']) {
        const agoMs = (await here.holderOf(name))?.endedAgoMs;
        expect(agoMs).toBeGreaterThanOrEqual(0);
        expect(agoMs).toBeLessThan(600_000);
      }
      await (await here.store()).run(
        "UPDATE attempts SET ended_at = '2026-01-01T00:00:00.000Z' WHERE id = ?",
        attempt,
      );
      expect((await here.holderOf('a'))?.endedAgoMs).toBeGreaterThan(86_400_000);
    });
  });

  describe('the lease of an attempt', () => {
    it('is renewed while it is to be sent and holds all its names', async () => {
      const attempt = await here.begin('a b');
      expect(await here.ledger.attempts.renew(attempt, newOrder('a b'))).toBe(true);
      await here.begin('x');
      await here.again('b', [attempt]);
      expect(await here.ledger.attempts.renew(attempt, newOrder('a b'))).toBe(false);
    });

    it('is not renewed after it ended', async () => {
      const attempt = await here.unclear('a');
      await here.begin('b');
      expect(await here.ledger.attempts.renew(attempt, newOrder('a'))).toBe(false);
    });

    it('is kept by a heartbeat, and only its own', async () => {
      const [first, second] = [await here.begin('a'), await here.begin('b')];
      const ended = await here.unclear('c');
      const db = await here.store();
      await db.run("UPDATE attempts SET seen_at = '2026-01-01T00:00:00.000Z', host = 'elsewhere', pid = 1");
      expect(await here.ledger.openAttempts.beingSent([first, second, ended])).toEqual(new Set());
      await here.ledger.attempts.heartbeat(first);
      await here.ledger.attempts.heartbeat(ended);
      expect(await here.ledger.openAttempts.beingSent([first, second, ended])).toEqual(new Set([first]));
      expect([
        await here.ledger.openAttempts.countBeingSent(),
        await here.ledger.openAttempts.countUnclear(),
      ]).toEqual([1, 2]);
      expect(await here.rows(`SELECT seen_at FROM attempts WHERE id = ${ended}`)).toEqual([
        { seen_at: '2026-01-01T00:00:00.000Z' },
      ]);
      expect(await here.ledger.attempts.renew(second, newOrder('b'))).toBe(true);
      expect(await here.ledger.openAttempts.beingSent([second])).toEqual(new Set([second]));
      expect(await here.ledger.openAttempts.beingSent([first])).toEqual(new Set([first]));
    });
  });
});
