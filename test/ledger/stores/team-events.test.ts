/** What listeners of several machines know of each other through one ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSharedStore } from '../../../src/ledger/shared.ts';
import { readPostgresUrl } from '../../../src/lib/postgres-url.ts';
import { freshFolder } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { complete, eventsOf, Listener, Target } from '../../support/listener.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { CuttingProxy, type Moment, SlowProxy } from '../../support/proxies.ts';
import { finished } from '../../support/steno.ts';
import { Team } from '../../support/team.ts';
import { until } from '../../support/until.ts';

const isLong = process.env.STENO_MATRIX === 'all';

describe.skipIf(!postgresFolder)('on a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop(), 60_000);

  it('an event that one machine receives is heard by a wait on another within seconds', async () => {
    const { service, states } = await orderingAccount();
    states.set('1', ['Transcribing']);
    const team = Team.form(server, service);
    const [laptop, office] = [team.machine(), team.machine()];
    expect((await laptop.run(['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    const listener = await Listener.start(office);
    const waiting = laptop.start(['wait', '1', '--interval', '10m', '--timeout', '20m']);
    const ended = finished(waiting);
    await until(() => service.calls('GET /audiofile/1').length > 0, 'the first question');
    await sleep(500);
    states.set('1', ['Delivered']);
    await listener.post(complete('1'));
    const result = await Promise.race([ended, sleep(10_000).then(() => undefined)]);
    waiting.kill('SIGKILL');
    expect(result?.code).toBe(0);
    await listener.stop();
  });

  it('a delivery that got lost is found once, and one listener asks about the files', async () => {
    const { service, states, askedFiles } = await orderingAccount();
    states.set('1', ['Transcribing']);
    const team = Team.form(server, service);
    const log = `${freshFolder()}/ran`;
    const machines = ['a', 'b', 'c'].map(() => team.machine({ STENO_TEST_TICK_MS: '40' }));
    const [a] = machines;
    expect((await a?.run(['order', 'https://e.example/a.mp3', '--sku', 'TRANS14']))?.code).toBe(0);
    const exec = ['--exec', `echo "$STENO_EVENT_SOURCE" >> ${log}`];
    const listeners = await Promise.all(machines.map((machine) => Listener.start(machine, exec)));
    await until(() => askedFiles().length >= 2, 'questions');
    const before = askedFiles().length;
    // All are asked about every sixtieth tick: 2.4 s; three listeners would ask three times as often.
    await sleep(5_000);
    expect(askedFiles().length - before).toBeLessThanOrEqual(3);
    states.set('1', ['Delivered']);
    await until(async () => (await team.count("{}.events WHERE source = 'found'")) > 0, 'a found event');
    await sleep(500);
    expect(await team.count('{}.events')).toBe(1);
    await until(async () => (await team.count("{}.actions WHERE status = 'done'")) === 1, 'its action');
    expect(await team.count('{}.actions')).toBe(1);
    for (const listener of listeners) await listener.stop();
  });

  it('files are asked about by another listener when the one that did is gone', async () => {
    const { service, states, askedFiles } = await orderingAccount();
    states.set('1', ['Transcribing']);
    const team = Team.form(server, service);
    const [a, b] = [team.machine({ STENO_TEST_TICK_MS: '40' }), team.machine({ STENO_TEST_TICK_MS: '40' })];
    expect((await a.run(['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    const first = await Listener.start(a);
    await until(() => askedFiles().length >= 1, 'a question');
    const second = await Listener.start(b);
    await sleep(300);
    await first.stop('SIGKILL');
    await team.silence('id = (SELECT min(id) FROM {}.runs)');
    states.set('1', ['Delivered']);
    await second.until(async () => (await team.count("{}.events WHERE source = 'found'")) === 1);
    await second.stop();
  });

  it('numbers of events become visible in their order', async () => {
    const address = readPostgresUrl(await server.newDatabase(), {});
    const account = { name: 'default', isChosen: false, baseUrl: undefined };
    const limits = { timeoutMs: 5_000, queryTimeoutMs: 5_000 };
    const edges = { folder: freshFolder(), password: async () => '', onTrouble: async () => {} };
    const options = { address, account, ...limits, ...edges };
    const [slow, quick] = [await openSharedStore(options), await openSharedStore(options)];
    const order: string[] = [];
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const first = slow.transaction(async (store) => {
      await store.lock('events');
      const [id] = await store.newIds('events', 1);
      await held;
      order.push(`slow ${id}`);
    });
    await sleep(200);
    const second = quick.transaction(async (store) => {
      await store.lock('events');
      const [id] = await store.newIds('events', 1);
      order.push(`quick ${id}`);
    });
    await sleep(200);
    goOn();
    await Promise.all([first, second]);
    expect(order).toEqual(['slow 1', 'quick 2']);
    await slow.close();
    await quick.close();
  });

  it('events --follow shows each event of all machines once', async () => {
    const team = Team.form(server);
    const listeners = await Promise.all(['a', 'b', 'c'].map(() => Listener.start(team.machine())));
    await until(async () => (await team.count('{}.runs')) === 3, 'all listeners');
    const follower = team.machine().start(['events', '--follow', '--json']);
    let shown = '';
    follower.stdout.on('data', (chunk) => {
      shown += chunk;
    });
    await listeners[0]?.post(complete('first'));
    await until(() => shown.includes('"first"'), 'one that follows');
    const ids = Array.from({ length: 100 }, (_, n) => String(n));
    await Promise.all(
      listeners.map(async (listener, at) => {
        for (const id of ids) await listener.post(complete(`${at}-${id}`));
      }),
    );
    await until(
      () => shown.split('\n').length > 301,
      () => `300 lines: ${shown.split('\n').length}`,
    );
    await sleep(1_500);
    follower.kill('SIGKILL');
    const files = shown
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).audiofile as string);
    expect(files).toHaveLength(301);
    expect(new Set(files).size).toBe(301);
    for (const listener of listeners) await listener.stop();
  });

  const statements = Array.from({ length: isLong ? 60 : 28 }, (_, n) => n);

  async function cutAt(statement: number, moment: Moment): Promise<void> {
    const team = Team.form(server);
    // Makes the tables, so that the statements that are cut are those of a listener.
    await team.machine().run(['events']);
    const target = await Target.start();
    const proxy = await CuttingProxy.start(server.port, { statement, moment, forGood: false });
    const user = team.machine({}, proxy.port);
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    for (const id of ['1', '2', '3']) expect((await listener.post(complete(id))).status).toBe(200);
    const where = (): string => `cut ${moment} ${statement}: ${listener.stderr}`;
    const isDone = async (): Promise<boolean> => (await team.count("{}.actions WHERE status = 'done'")) === 3;
    await until(isDone, where);
    expect((await eventsOf(team.machine())).map(({ audiofile }) => audiofile).sort(), where()).toEqual([
      '1',
      '2',
      '3',
    ]);
    const sent = target.got.map(({ body }) => new URLSearchParams(body.toString()).get('audiofile'));
    expect(sent.sort(), where()).toEqual(['1', '2', '3']);
    // Nothing is left in the journal: what a COMMIT without an answer had brought over was known.
    expect((await listener.stop()).stderr, where()).not.toMatch(/not in the ledger/);
    await proxy.stop();
  }

  it.each(isLong ? (['before', 'after'] as const) : (['after'] as const))(
    'a connection that is cut %s any statement, COMMIT too, loses and repeats no event and no action',
    async (moment) => {
      for (let at = 0; at < statements.length; at += 4)
        await Promise.all(statements.slice(at, at + 4).map((statement) => cutAt(statement, moment)));
    },
    300_000,
  );

  it('what a listener of this machine left unshown is shown at once by the next, without waiting for its lease', async () => {
    const team = Team.form(server);
    const machine = team.machine();
    const first = await Listener.start(machine, ['--json']);
    for (const id of ['1', '2', '3']) expect((await first.post(complete(id))).status).toBe(200);
    await first.until(async () => (await team.count('{}.events WHERE listener IS NULL')) === 3);
    first.child.kill('SIGKILL');
    await first.ended;
    await team.query('UPDATE {}.events SET listener = (SELECT max(id) FROM {}.runs) WHERE id > 1');
    const next = await machine.run(['listen', '--port', '0', '--quiet', '--count', '2', '--timeout', '15s']);
    expect([next.code, next.stdout]).toEqual([0, '2\n3\n']);
  });

  it('a database that hangs does not hold up the end, and costs no event', async () => {
    const team = Team.form(server);
    const machine = team.machine();
    const listener = await Listener.start(machine, ['--json']);
    await listener.post(complete('1'));
    await listener.until(() => listener.lines.length === 1);
    const held = team.query('BEGIN; LOCK TABLE {}.events IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(20)');
    await sleep(500);
    expect((await listener.post(complete('2'))).status).toBe(200);
    const begun = Date.now();
    const { code, stderr } = await listener.stop();
    expect(code).toBe(130);
    expect(Date.now() - begun).toBeLessThan(15_000);
    expect(stderr).toMatch(/1 event not in the ledger yet; saved in .*waiting\.db/);
    await held;
    const next = await machine.run(['listen', '--port', '0', '--quiet', '--count', '1', '--timeout', '15s']);
    expect([next.code, next.stdout]).toEqual([0, '2\n']);
  }, 60_000);

  it('a thousand events take few round trips to the database', async () => {
    const team = Team.form(server);
    const proxy = await SlowProxy.start(server.port, 5);
    proxy.off();
    const listener = await Listener.start(team.machine({ STENO_TEST_TICK_MS: '5000' }, proxy.port), [
      '--forward-to',
      'http://127.0.0.1:9/',
    ]);
    for (let n = 0; n < 1_000; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, at) => listener.post(complete(String(n + at)))));
    proxy.on();
    await listener.until(async () => (await team.count('{}.actions')) === 1_000);
    expect(proxy.roundTrips).toBeLessThan(150);
    await listener.stop('SIGKILL');
    await proxy.stop();
  });
});
