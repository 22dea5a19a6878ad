/** The shared ledger goes away after an order was sent: what the service said is kept on this machine and handed over. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { Switch } from '../../support/proxies.ts';
import { SECRET, signed } from '../../support/signed.ts';
import { KEY, User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';
import { outcomesOf, waitingOf } from '../../support/waiting.ts';

const url = 'https://e.example/a.mp3';
const order = ['order', url, '--sku', 'TRANS14'];
const placed = { order: 'x1', audiofiles: [1], message: 'ok' };

describe.skipIf(!postgresFolder)('an order whose ledger goes away after it was sent', () => {
  let server: PostgresServer;
  let line: Switch;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    line = await Switch.start(server.port);
  });
  afterEach(() => line?.on());
  afterAll(async () => {
    await line?.stop();
    await server?.stop();
  });

  /** A user whose way to the ledger breaks when the service is about to answer. */
  async function broken(status = 200, body: object = placed, args: readonly string[] = order) {
    const { service } = await orderingAccount();
    const direct = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    const ledger = `${direct.replace(`:${server.port}/`, `:${line.port}/`)}?connect_timeout=2`;
    const user = new User({ ...env, STENO_LEDGER: ledger });
    const other = new User({ ...env, STENO_LEDGER: direct });
    service.on('POST /order_url', (_, response) => {
      line.off();
      response.writeHead(status).end(JSON.stringify(body));
    });
    const ended = await user.run(args);
    const kept = () => outcomesOf(user);
    const query = (sql: string) => server.query(sql, new URL(direct).pathname.slice(1));
    return { service, user, other, env, ended, kept, query };
  }

  it('exits 0 with its ids and a warning, and the next command hands it over', async () => {
    const args = ['order', signed(url), '--sku', 'TRANS14', '--notes', `with ${KEY}`, '--quiet'];
    const { user, other, ended, kept, query } = await broken(200, placed, args);
    expect([ended.code, ended.stdout]).toEqual([0, '1\n']);
    expect(ended.stderr).toMatch(
      /^warning: the ledger could not record [^\n]*the next steno command on this machine[^\n]*\n$/,
    );
    // To others it is being sent, and then unclear: never free.
    expect((await other.run(order)).code).toBe(9);
    const text = JSON.stringify(kept());
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(SECRET);
    line.on();
    expect(await user.run(['files', '--quiet'])).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
    expect(kept()).toEqual([]);
    expect(await query('SELECT status, order_id FROM steno.purchases')).toEqual([
      { status: 'placed', order_id: 'x1' },
    ]);
    expect((await other.run(order)).stderr).toContain('was ordered as order x1');
  });

  it('is handed over once, though several processes try, or one was killed before it could say so', async () => {
    const { user, kept, query } = await broken();
    copyFileSync(waitingOf(user), join(user.home, 'copy'));
    line.on();
    const ends = await Promise.all(Array.from({ length: 6 }, () => user.run(['files', '--quiet'])));
    expect(ends.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual(
      Array(6).fill([0, '1\n', '']),
    );
    await query("UPDATE steno.files SET state = 'Delivered', ended = 'delivered'");
    copyFileSync(join(user.home, 'copy'), waitingOf(user));
    expect((await user.run(['files'])).stdout).toContain('Delivered');
    expect(kept()).toEqual([]);
    expect(await query('SELECT count(*)::int AS n FROM steno.purchases')).toEqual([{ n: 1 }]);
  });

  it('is left where it is by a command of another account, or of another ledger', async () => {
    const { service, user, env, kept, query } = await broken();
    line.on();
    service.on('POST /order_url', { body: { ...placed, order: 'o1' } });
    await user.run(['files'], { env: { STENO_ACCOUNT: 'another' } });
    const second = await server.newDatabase();
    const elsewhere = new User({ ...env, STENO_LEDGER: second });
    expect((await elsewhere.run(['order', 'https://e.example/b.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    expect((await user.run(['files', '--json'], { env: { STENO_LEDGER: second } })).stdout).toContain('"o1"');
    const rows = await server.query(
      'SELECT order_id FROM steno.purchases',
      new URL(second).pathname.slice(1),
    );
    expect(rows).toEqual([{ order_id: 'o1' }]);
    expect(kept()).toHaveLength(1);
    await user.run(['files']);
    expect(kept()).toEqual([]);
    expect(await query('SELECT order_id FROM steno.purchases')).toEqual([{ order_id: 'x1' }]);
  });

  it('is known in the end though a failover has lost its attempt', async () => {
    const { user, other, query } = await broken();
    for (const table of ['item_names', 'purchase_items', 'purchases'])
      await query(`DELETE FROM steno.${table}`);
    line.on();
    expect((await user.run(['files', '--quiet'])).stdout).toBe('1\n');
    expect((await other.run(order)).stderr).toContain('was ordered as order x1');
  });

  const restore = async (query: (sql: string) => Promise<unknown>): Promise<void> => {
    for (const table of ['item_names', 'purchase_items', 'files', 'purchases'])
      await query(`DELETE FROM steno.${table}`);
    await query("SELECT setval(pg_get_serial_sequence('steno.purchases', 'number'), 1, false)");
  };

  it.each([
    { said: 'no clear answer', status: 500, body: {}, known: 'uncertain' },
    { said: 'an answer without an id', status: 200, body: { audiofiles: [1] }, known: 'placed' },
  ])('with $said holds its audio after a failover that has lost it', async ({ status, body, known }) => {
    const { user, other, kept, query } = await broken(status, body);
    await restore(query);
    line.on();
    const next = await user.run(['files']);
    expect([next.code, next.stderr, kept()]).toEqual([0, expect.not.stringContaining('could not take'), []]);
    expect((await other.run(order)).code).toBe(9);
    expect(
      await query('SELECT status, url FROM steno.purchases JOIN steno.purchase_items ON purchase = id'),
    ).toEqual([{ status: known, url }]);
  });

  it.each([
    { said: 'placed', status: 200, body: placed, code: 0, outcome: 'placed' },
    { said: 'unclear', status: 500, body: {}, code: 11, outcome: 'uncertain' },
  ])(
    'that is $said stays apart from one that got its number after the ledger was restored',
    async ({ status, body, code, outcome }) => {
      const { service } = await orderingAccount();
      const database = await server.newDatabase();
      const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: database };
      const [one, two] = [new User(env), new User(env)];
      const query = (sql: string) => server.query(sql, new URL(database).pathname.slice(1));
      service.on('POST /order_url', async (_, response) => {
        await restore(query);
        service.on('POST /order_url', { body: { order: 'y2', audiofiles: [2], message: 'ok' } });
        expect((await two.run(['order', 'https://e.example/b.mp3', '--sku', 'TRANS14'])).code).toBe(0);
        response.writeHead(status).end(JSON.stringify(body));
      });
      expect((await one.run(order)).code).toBe(code);
      const sql = `SELECT purchases.outcome, order_id, url FROM steno.purchases
        JOIN steno.purchase_items ON purchase = purchases.id ORDER BY url`;
      expect(await query(sql)).toEqual([
        { outcome, order_id: outcome === 'placed' ? 'x1' : '', url: 'https://e.example/a.mp3' },
        { outcome: 'placed', order_id: 'y2', url: 'https://e.example/b.mp3' },
      ]);
      expect((await two.run(order)).code).toBe(9);
    },
    60_000,
  );

  it('that was refused may be ordered again when the ledger is back', async () => {
    const { service, user, ended } = await broken(400, { message: 'no' });
    expect(ended.code).toBe(1);
    line.on();
    service.on('POST /order_url', { body: placed });
    expect((await user.run(order)).code).toBe(0);
  });

  it('that had no clear answer is unclear when the ledger is back', async () => {
    const { user, ended, kept } = await broken(500, {});
    expect(ended.code).toBe(11);
    line.on();
    expect(JSON.parse((await user.run(['attempts', '--json'])).stdout)).toMatchObject([
      { status: 'unclear', detail: expect.stringContaining('HTTP 500') },
    ]);
    expect(kept()).toEqual([]);
  });

  it('of a manifest: what was placed is told, and nothing more is sent', async () => {
    const rows = ['a', 'b', 'c'].map((name) => `https://e.example/${name}.mp3`).join('\n');
    const manifest = join(new User().home, 'm.txt');
    writeFileSync(manifest, rows);
    const args = ['order', '--from', manifest, '--sku', 'TRANS14', '--per-order', '1', '--quiet'];
    const { service, user, ended } = await broken(200, placed, args);
    expect([ended.code, ended.stdout]).toEqual([10, '1\n']);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    line.on();
    let n = 1;
    service.on('POST /order_url', (_, response) => {
      n += 1;
      response.end(JSON.stringify({ order: `x${n}`, audiofiles: [n], message: 'ok' }));
    });
    expect((await user.run([...args, '--skip-ordered'])).code).toBe(0);
    expect((await user.run(['files', '--quiet'])).stdout).toBe('3\n2\n1\n');
  });

  it('is kept before the ledger answers: a process that is killed while it waits loses nothing', async () => {
    const { service } = await orderingAccount();
    const direct = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    const user = new User({ ...env, STENO_LEDGER: direct.replace(`:${server.port}/`, `:${line.port}/`) });
    service.on('POST /order_url', (_, response) => {
      line.freeze();
      response.end(JSON.stringify(placed));
    });
    const child = user.start(order);
    const kept = () => outcomesOf(user);
    await until(() => kept().length === 1, 'an outcome that is kept');
    child.kill('SIGKILL');
    const found = await user.run(['files', '--quiet'], { env: { STENO_LEDGER: direct } });
    expect([found.code, found.stdout, kept()]).toEqual([0, '1\n', []]);
  });

  it('waits for its end all the same', async () => {
    const { ended, user } = await broken(200, placed, [...order, '--wait', '--interval', '1s', '--quiet']);
    expect([ended.code, ended.stdout]).toEqual([0, '1\n']);
    line.on();
    expect((await user.run(['files', '--quiet'])).stdout).toBe('1\n');
  });
});
