/** Processes on as many machines order one audio: one order is placed, whatever lies between them and the database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../../support/ledger.ts';
import {
  type Pooler,
  type PostgresServer,
  postgresFolder,
  startPooler,
  startPostgres,
} from '../../support/postgres.ts';
import { KEY, User } from '../../support/steno.ts';

const MACHINES = 24;

describe.skipIf(!postgresFolder)(`${MACHINES} machines that order one audio at the same moment`, () => {
  let server: PostgresServer;
  let pooler: Pooler;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPooler(server);
  });
  afterAll(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  async function race(ledger: string): Promise<void> {
    const { service } = await orderingAccount();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger };
    const users = Array.from({ length: MACHINES }, () => new User(env));
    const ends = await Promise.all(
      users.map((user, n) =>
        user.run(['order', `https://e.example/a.mp3?utm_source=${n}`, '--sku', 'TRANS14']),
      ),
    );
    const codes = ends.map(({ code }) => code).sort((a, b) => Number(a) - Number(b));
    expect(codes, ends.map(({ stderr }) => stderr).join('')).toEqual([0, ...Array(MACHINES - 1).fill(9)]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    const [first] = users;
    expect((await first?.run(['files', '--quiet']))?.stdout).toBe('1\n');
  }

  it('place one order, directly', async () => {
    await race(await server.newDatabase());
  }, 120_000);

  it('place one order, through PgBouncer in transaction mode', async () => {
    const url = await server.newDatabase();
    await race(url.replace(`:${server.port}/`, `:${pooler.port}/`));
  }, 120_000);
});
