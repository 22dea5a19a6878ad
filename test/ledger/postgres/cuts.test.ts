/** A connection that is cut before or after any statement, COMMIT above all: nothing is bought twice or forgotten. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CuttingProxy, type Moment } from '../../support/cutting-proxy.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { KEY, User } from '../../support/steno.ts';

const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14', '--quiet'];

describe.skipIf(!postgresFolder)('an order whose connection to the shared ledger is cut', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  // Its data are some sixty databases.
  afterAll(() => server?.stop(), 120_000);

  /** Gives whether there was such a statement. */
  async function cutAt(statement: number, moment: Moment, forGood: boolean): Promise<boolean> {
    const { service } = await orderingAccount();
    const url = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    const other = new User({ ...env, STENO_LEDGER: url });
    // Makes the tables and the account, so that each cut meets the same statements.
    expect((await other.run(['order', 'https://e.example/0.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    const proxy = await CuttingProxy.start(server.port, { statement, moment, forGood });
    const user = new User({ ...env, STENO_LEDGER: url.replace(`:${server.port}/`, `:${proxy.port}/`) });
    const first = await user.run(order);
    const sent = service.calls('POST /order_url').length - 1;
    const where = `cut ${moment} statement ${statement}${forGood ? ' for good' : ''}: ${first.stderr}`;
    // Either it was placed and says so, or nothing was sent.
    expect([first.code, sent], where).toEqual(first.code === 0 ? [0, 1] : [7, 0]);
    expect(first.stdout, where).toBe(sent ? '2\n' : '');
    const second = await other.run(order);
    expect(service.calls('POST /order_url').length - 1, where).toBeLessThanOrEqual(1);
    expect([0, 9], `${where}then ${second.stderr}`).toContain(second.code);
    if (sent) expect(second.code, where).toBe(9);
    // What the service accepted is in the ledger, at the latest when the same machine reaches it again.
    await proxy.stop();
    const back = new User({ ...env, ...user.env, STENO_LEDGER: url });
    const files = await back.run(['files', '--quiet']);
    const known = files.stdout.split('\n').includes('2');
    expect(known, `${where} ${files.stderr}`).toBe(sent === 1 || second.code === 0);
    // And what was never sent can be ordered, at the latest then.
    if (!known) expect((await other.run(order)).code, where).toBe(0);
    return proxy.statements > statement;
  }

  it.each([
    ['before', false],
    ['after', false],
    ['before', true],
    ['after', true],
  ] as const)(
    '%s each statement, for good: %s',
    async (moment, forGood) => {
      let statements = 0;
      while (await cutAt(statements, moment, forGood)) statements += 1;
      expect(statements).toBeGreaterThan(8);
    },
    300_000,
  );
});
