/** `steno doctor` with a shared ledger: it is looked at, and nothing is made or changed in it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { hasPostgres } from '../../support/postgres-programs.ts';
import { Service } from '../../support/server.ts';
import type { User } from '../../support/steno.ts';
import { Team } from '../../support/team.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string | null;
}

async function doctor(user: User, ...args: string[]): Promise<(check: string) => Found | undefined> {
  const { stdout } = await user.run(['doctor', '--json', ...args]);
  const all = JSON.parse(stdout) as Found[];
  return (check) => all.find((each) => each.check === check);
}

describe.runIf(hasPostgres)('doctor with a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  async function team(): Promise<Team> {
    const service = await Service.start();
    service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
    service.allow('GET /webhook', { body: { webhook: '' } });
    return Team.form(server, service);
  }

  it('says that it is empty, and makes no tables', async () => {
    const shared = await team();
    const found = await doctor(shared.machine());
    expect(found('ledger')).toMatchObject({ status: 'warn' });
    expect(found('ledger')?.hint).toContain('steno ledger migrate');
    const schemas = await shared.query("SELECT 1 FROM pg_namespace WHERE nspname = '{}'");
    expect(schemas).toEqual([]);
  });

  it('says where it is, its version, account and TLS', async () => {
    const shared = await team();
    const user = shared.machine();
    await user.run(['ledger', 'migrate']);
    const found = await doctor(user);
    expect(found('ledger')).toMatchObject({ status: 'ok' });
    expect(found('ledger')?.message).toMatch(
      new RegExp(
        `^127\\.0\\.0\\.1:${server.port}/postgres, PostgreSQL 1\\d.*, opened in .*, without TLS, account default$`,
      ),
    );
  });

  it('says that the account belongs to another service', async () => {
    const shared = await team();
    const user = shared.machine({ STENO_ACCOUNT: 'acme' });
    await user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14', '--json']);
    expect((await shared.query('SELECT name FROM {}.accounts')).length).toBe(1);
    const found = await doctor(user, '--base-url', 'https://127.0.0.1:9/API4');
    expect(found('ledger')).toMatchObject({ status: 'fail' });
    expect(found('ledger')?.hint).toContain('UPDATE ');
  });

  it.each(['SQL_ASCII', 'LATIN1'])(
    'in a database of encoding %s is refused everywhere, and nothing is ordered',
    async (encoding) => {
      const { user, service } = await orderingAccount({ STENO_LEDGER: undefined });
      const name = `steno_${encoding.toLowerCase()}`;
      await server.query(`CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0`);
      const env = { STENO_LEDGER: `postgres://postgres@127.0.0.1:${server.port}/${name}` };
      const order = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14'];
      for (const args of [['ledger', 'migrate'], order, ['files'], ['ledger', 'status']]) {
        const { code, stderr } = await user.run(args, { env });
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(new RegExp(`${encoding}, .*\nhint: .*UTF8`)),
        ]);
      }
      expect(service.got).toEqual([]);
      const report = await user.run(['doctor', '--json'], { env });
      const found = (JSON.parse(report.stdout) as Found[]).find(({ check }) => check === 'ledger');
      expect(found).toMatchObject({ status: 'fail', message: expect.stringContaining(encoding) });
      expect(await server.query("SELECT 1 FROM pg_namespace WHERE nspname = 'steno'", name)).toEqual([]);
    },
  );
});
