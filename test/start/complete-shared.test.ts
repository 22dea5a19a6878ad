/** Completion with a shared ledger: a shell never waits for a database, and never hears of it. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { monotonicMs } from '../../src/lib/time.ts';
import { audio, orderingAccount } from '../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { KEY, User } from '../support/steno.ts';

/** Far more than it takes, and far less than a person would call it hanging. */
const MAX_MS = 8_000;

async function isQuiet(ledger: string): Promise<void> {
  const begunAt = monotonicMs();
  const user = new User({ STENO_LEDGER: ledger });
  const { code, stdout, stderr } = await user.run(['__complete', 'audiofile']);
  expect([code, stdout, stderr]).toEqual([0, '', '']);
  expect(monotonicMs() - begunAt).toBeLessThan(MAX_MS);
}

describe.skipIf(!postgresFolder)('__complete with a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  it('offers the ids of the account, whoever ordered', async () => {
    const { service } = await orderingAccount();
    const ledger = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger };
    const order = ['order', audio('a'), '--sku', 'TRANS14'];
    expect((await new User({ ...env, STENO_ACCOUNT: 'acme' }).run(order)).code).toBe(0);
    const other = new User({ STENO_LEDGER: ledger });
    expect((await other.run(['__complete', 'audiofile'])).stdout).toBe('');
    await other.run(['config', 'set', 'account', 'acme']);
    const { stdout, stderr } = await other.run(['__complete', 'audiofile', '1']);
    expect([stdout, stderr]).toEqual([`1\t${audio('a')}\n`, '']);
  });

  it('offers orders, held ones marked, invoices and events too', async () => {
    const { service } = await orderingAccount();
    const ledger = await server.newDatabase();
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger });
    service.on('POST /order_url', {
      body: { order: 'held', audiofiles: [5], message: 'ok', hold: 'low balance' },
    });
    await user.run(['order', audio('a'), '--sku', 'TRANS14']);
    const change = (sql: string) => server.query(sql, new URL(ledger).pathname.slice(1));
    await change("UPDATE steno.files SET invoices = '71'");
    await change(
      "INSERT INTO steno.kept_invoices (profile, id, own_id, state, fetched_at, paid, final, answer) VALUES ('default', '73', '73', 'paid', '2026', 1, 1, '{}')",
    );
    await change(
      `INSERT INTO steno.events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
       VALUES (12, 'default', 'received', '2026', '', '', '', 'ORDER_ON_HOLD', '', '', 'held')`,
    );
    const words = async (...args: string[]) => (await user.run(['__complete', ...args])).stdout;
    for (const prefix of ['', 'he'])
      expect(await words('order', prefix)).toMatch(
        new RegExp(`^held\tOn Hold TRANS14 \\S+ ${audio('a')}\n$`),
      );
    expect(await words('invoice')).toBe(`71\t${audio('a')}\n73\tpaid, fetched 2026\n`);
    for (const prefix of ['', '1'])
      expect(await words('event', prefix)).toBe('12\tORDER_ON_HOLD held 2026\n');
  });

  it('makes no tables in an empty database', async () => {
    const ledger = await server.newDatabase();
    await isQuiet(ledger);
    const made = "SELECT 1 FROM pg_namespace WHERE nspname = 'steno'";
    expect(await server.query(made, new URL(ledger).pathname.slice(1))).toEqual([]);
  });

  it('is quiet where the server is gone', async () => {
    await isQuiet('postgres://steno@127.0.0.1:1/steno');
    await isQuiet('not a URL');
  });
});

/** AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

describe.each([
  ['accepts the connection', Buffer.alloc(0)],
  ['lets the user in', WELCOME],
])('__complete with a shared ledger that %s and says no more', (_, welcome) => {
  let silent: Server;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    silent = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      socket.once('data', () => socket.write(welcome));
    });
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('gives up', async () => {
    const address = silent.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await isQuiet(`postgres://steno@127.0.0.1:${port}/steno`);
    expect(sockets.size).toBe(1);
  });
});
