/** Listeners of several machines on one ledger: each event is kept once, each action done once, whatever breaks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Actions } from '../../../src/ledger/actions.ts';
import { Runs } from '../../../src/ledger/runs.ts';
import { openSharedStore } from '../../../src/ledger/shared.ts';
import { readPostgresUrl } from '../../../src/lib/postgres-url.ts';
import { freshFolder } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { complete, eventsOf, Listener, Target } from '../../support/listener.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { Service } from '../../support/server.ts';
import { isLong, longOnly } from '../../support/slices.ts';
import type { User } from '../../support/steno.ts';
import { Team } from '../../support/team.ts';
import { until } from '../../support/until.ts';

const linesOf = (text: string, pattern: RegExp): string[] =>
  text.split('\n').filter((line) => pattern.test(line));
const idsIn = (target: Target): string[] =>
  target.got.map(({ body }) => new URLSearchParams(body.toString()).get('audiofile') ?? '');

describe.skipIf(!postgresFolder)('listeners on a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  describe('without the database', () => {
    it('start, keep events, and hand each over once when it is back', async () => {
      const team = Team.form(server);
      const user = team.machine();
      const target = await Target.start();
      await server.kill();
      const listener = await Listener.start(user, ['--forward-to', target.url]);
      for (const id of ['1', '2', '3']) expect((await listener.post(complete(id))).status).toBe(200);
      await listener.until(() => /until the ledger is available/.test(listener.stderr));
      expect(idsIn(target)).toEqual([]);
      expect(await eventsOf(user)).toMatchObject([{ n: null }, { n: null }, { n: null }]);
      await server.start();
      await listener.until(() => target.got.length === 3, 20_000);
      expect(await team.count('{}.events')).toBe(3);
      expect(idsIn(target).sort()).toEqual(['1', '2', '3']);
      expect((await listener.stop()).code).toBe(130);
      expect(linesOf(listener.stderr, /until the ledger is available/)).toHaveLength(1);
      expect(linesOf(listener.stderr, /the ledger is available again/)).toHaveLength(1);
      expect(linesOf(listener.stderr, /^warning/)).toHaveLength(1);
    });

    it('keep what they can not hand over, and the next sync of that machine does it, without its actions', async () => {
      const team = Team.form(server, await Service.start());
      const user = team.machine();
      await server.kill();
      const listener = await Listener.start(user, ['--exec', 'true']);
      await listener.post(complete('1'));
      const { stderr } = await listener.stop();
      expect(stderr).toMatch(/1 event not in the ledger yet; saved in/);
      await server.start();
      expect((await user.run(['sync'])).stderr).toMatch(
        /moved 1 event of listeners that crashed to the ledger/,
      );
      const actions = 'SELECT target, status FROM {}.actions';
      const left = [{ target: 'true', status: 'pending' }];
      expect(await team.query(actions)).toEqual(left);
      // One with another command does not run it, and one of another machine with the same does.
      const other = await Listener.start(team.machine(), ['--exec', 'false']);
      await until(async () => (await team.count('{}.runs')) === 2, 'the other listener');
      const same = await Listener.start(team.machine(), ['--exec', 'true']);
      await until(async () => (await team.query(actions))[0]?.status === 'done', 'its action');
      await Promise.all([other.stop(), same.stop()]);
    });

    it('end with 2 where the account belongs to another service', async () => {
      const team = Team.form(server, await Service.start());
      const { service } = await orderingAccount();
      const env = { STENO_BASE_URL: service.baseUrl };
      const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];
      expect((await team.machine(env).run(order)).code).toBe(0);
      const { code, stderr } = await team.machine().run(['listen', '--port', '0']);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/account default of the shared ledger belongs to/),
      ]);
    });

    longOnly(
      'for longer than a lease, do not take each other for gone when it is back, and repeat nothing',
      async () => {
        const team = Team.form(server);
        const target = await Target.start();
        const { url, port } = target;
        await target.close();
        const [quick, slow] = await Promise.all([
          Listener.start(team.machine(), ['--forward-to', url]),
          Listener.start(team.machine(), ['--forward-to', url]),
        ]);
        await slow.post(complete('1'));
        await until(async () => (await team.count('{}.actions')) === 1, 'an action');
        await until(async () => (await team.count('{}.runs')) === 2, 'both listeners');
        await server.kill();
        await pause(35_000);
        // It comes back later than the other.
        slow.child.kill('SIGSTOP');
        await server.start();
        await pause(15_000);
        expect(await team.count('{}.runs WHERE ended_at IS NULL')).toBe(2);
        const back = await Target.start(port);
        slow.child.kill('SIGCONT');
        await slow.until(() => back.got.length === 1, 60_000);
        await until(async () => (await team.count("{}.actions WHERE status = 'done'")) === 1, 'it is done');
        await Promise.all([quick.stop(), slow.stop()]);
        expect(idsIn(back)).toEqual(['1']);
        expect(await team.count('{}.runs')).toBe(2);
      },
      180_000,
    );

    it(`for ${isLong ? 'a minute' : 'some seconds'} under load, lose and repeat no event and no action`, async () => {
      const team = Team.form(server);
      const target = await Target.start();
      const listeners = await Promise.all(
        ['a', 'b'].map(() => Listener.start(team.machine(), ['--forward-to', target.url])),
      );
      const sent: string[] = [];
      let isOver = false;
      const senders = listeners.map(async (listener, at) => {
        for (let n = 0; !isOver; n += 1) {
          const id = `${at}-${n}`;
          const { status } = await listener.post(complete(id));
          expect(status).toBe(200);
          sent.push(id);
          await pause(isLong ? 30 : 3);
        }
      });
      await pause(500);
      await server.kill();
      await pause(isLong ? 60_000 : 3_000);
      await server.start();
      await pause(500);
      isOver = true;
      await Promise.all(senders);
      expect(sent.length).toBeGreaterThan(100);
      const done = async (): Promise<boolean> =>
        (await team.count("{}.actions WHERE status = 'done'")) === sent.length;
      await until(done, () => `all done; ${listeners.map(({ stderr }) => stderr).join('|')}`, 120_000);
      expect(await team.count('{}.events')).toBe(sent.length);
      expect(idsIn(target).sort()).toEqual(sent.sort());
      for (const listener of listeners) {
        await listener.stop();
        // Each kind of error that this led to is the same trouble.
        expect(linesOf(listener.stderr, /until the ledger is available|waiting for the ledger/)).toHaveLength(
          1,
        );
        expect(linesOf(listener.stderr, /the ledger is available again/)).toHaveLength(1);
      }
    }, 300_000);
  });

  describe('one of which is killed', () => {
    const ran = (user: User): string[] => {
      try {
        return readFileSync(join(user.home, 'ran'), 'utf8').split('\n').filter(Boolean);
      } catch {
        return [];
      }
    };

    it('have its actions done by one that was started with the same command, and by no other', async () => {
      const team = Team.form(server);
      const [a, b, c] = [team.machine(), team.machine(), team.machine()];
      const target = await Target.start();
      const { url, port } = target;
      await target.close();
      const first = await Listener.start(a, ['--forward-to', url]);
      await first.post(complete('1'));
      await first.post(complete('2'));
      await until(async () => (await team.count('{}.actions')) === 2, 'two actions');
      await first.stop('SIGKILL');
      const back = await Target.start(port);
      const other = await Target.start();
      const others = await Listener.start(b, ['--forward-to', other.url, '--exec', 'cat >> ran']);
      const heir = await Listener.start(c, ['--forward-to', url]);
      // Its lease lasts as long as it is not over by the clock of the database.
      await new Promise((done) => setTimeout(done, 1_000));
      expect(back.got).toHaveLength(0);
      await team.silence('ended_at IS NULL AND id = (SELECT min(id) FROM {}.runs)');
      await heir.until(() => back.got.length === 2);
      await until(async () => (await team.count("{}.actions WHERE status = 'done'")) === 2, 'both done');
      expect(idsIn(back).sort()).toEqual(['1', '2']);
      expect([other.got.length, ran(b)]).toEqual([0, []]);
      await Promise.all([heir.stop(), others.stop()]);
    });

    it('have each action begun only by the run that has it, while its lease lasts', async () => {
      const address = readPostgresUrl(await server.newDatabase(), {});
      const account = { name: 'default', isChosen: false, baseUrl: undefined };
      const db = await openSharedStore({
        ...{ address, account, timeoutMs: 5_000, queryTimeoutMs: 5_000, folder: freshFolder() },
        onTrouble: async () => {},
        password: async () => '',
      });
      const tables = { db, profile: 'default', hide: (text: string) => text };
      const [runs, actions] = [new Runs(tables), new Actions(tables)];
      await db.run(
        `INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile,
           order_id) VALUES (1, 'default', 'received', '', '', '', '', 'E', '1', '7', 'o')`,
      );
      const [first, second] = [await runs.begin(), await runs.begin()];
      const key = { kind: 'exec', target: 'true' };
      const about = { event: 1, isUnknown: false, via: '' };
      await actions.add([{ ...key, ...about }], first);
      const begin = (run: number): Promise<boolean> =>
        db.transaction((store) => actions.within(store).begin(1, key, run, 1));
      expect([await begin(second), await begin(first)]).toEqual([false, true]);
      await db.run("UPDATE runs SET seen_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", first);
      await runs.gone(second);
      // Its lease is lost, though nothing is taken over yet; a heartbeat does not bring it back.
      expect([await runs.heartbeat(first), await begin(first)]).toEqual([false, false]);
      expect(await actions.adopt(key, second, { gone: [], from: '', status: 'pending' })).toEqual([1]);
      expect([await begin(first), await begin(second)]).toEqual([false, true]);
      // What the first one had begun and fails now is not its business any more; what it has done is done.
      const failed = { status: 'failed', tries: 1, outcome: 'no' } as const;
      await actions.update(1, key, first, failed);
      expect(await actions.forEvent(1)).toMatchObject([{ status: 'pending' }]);
      await actions.update(1, key, first, { ...failed, status: 'done' });
      expect([(await actions.forEvent(1))[0]?.status, await begin(second)]).toEqual(['done', false]);
      await db.close();
    });

    longOnly(
      'have each of its actions done once, though two take over at the same moment',
      async () => {
        const team = Team.form(server);
        const target = await Target.start();
        const { url, port } = target;
        await target.close();
        const first = await Listener.start(team.machine(), ['--forward-to', url]);
        const ids = Array.from({ length: 300 }, (_, n) => String(n));
        for (const id of ids) await first.post(complete(id));
        await until(async () => (await team.count('{}.actions')) === ids.length, 'all actions');
        const heirs = await Promise.all(
          ['b', 'c', 'd'].map(() => Listener.start(team.machine(), ['--forward-to', url])),
        );
        await first.stop('SIGKILL');
        const back = await Target.start(port);
        await team.silence('ended_at IS NULL AND id = (SELECT min(id) FROM {}.runs)');
        await until(
          async () => (await team.count("{}.actions WHERE status = 'done'")) === ids.length,
          'all done',
          30_000,
        );
        expect(idsIn(back).sort()).toEqual([...ids].sort());
        for (const heir of heirs) await heir.stop();
      },
      60_000,
    );

    it('does nothing new once it has lost its lease, and goes on with what comes then', async () => {
      const team = Team.form(server);
      const [a, b] = [team.machine(), team.machine()];
      const log = join(a.home, 'log');
      const gate = join(a.home, 'gate');
      writeFileSync(log, '');
      // The first event waits for the gate, on either machine; the others wait behind it.
      const command = `echo "$STENO_EVENT_AUDIOFILE $WHO" >> ${log}; test "$STENO_EVENT_AUDIOFILE" != 1 || while ! test -e ${gate}; do sleep 0.05; done`;
      const args = ['--exec', command, '--jobs', '1'];
      const first = await Listener.start(a, args, { env: { WHO: 'a' } });
      for (const id of ['1', '2', '3']) await first.post(complete(id));
      await until(() => /^1 a$/m.test(readFileSync(log, 'utf8')), 'the first one');
      await until(async () => (await team.count('{}.actions')) === 3, 'all actions');
      first.child.kill('SIGSTOP');
      const second = await Listener.start(b, args, { env: { WHO: 'b' } });
      await team.silence('ended_at IS NULL AND id = (SELECT min(id) FROM {}.runs)');
      await until(() => /^1 b$/m.test(readFileSync(log, 'utf8')), 'the other listener');
      first.child.kill('SIGCONT');
      writeFileSync(gate, '');
      await until(async () => (await team.count("{}.actions WHERE status = 'done'")) === 3, 'all done');
      await first.post(complete('4'));
      await until(() => /^4 a$/m.test(readFileSync(log, 'utf8')), 'one that came later', 20_000);
      expect(readFileSync(log, 'utf8').trim().split('\n').sort()).toEqual([
        '1 a',
        '1 b',
        '2 b',
        '3 b',
        '4 a',
      ]);
      await Promise.all([first.stop(), second.stop()]);
    }, 60_000);
  });
});
