/** Whose rows these are on a shared ledger: one account must not become two, nor two services one. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerOf, orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { KEY, User } from '../../support/steno.ts';
import { deadAddress } from '../../support/wire.ts';

const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];

describe.skipIf(!postgresFolder)('an account of a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off', 'max_connections = 100']);
  });
  afterAll(() => server?.stop());

  async function team() {
    const { service } = await orderingAccount();
    const ledger = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger };
    const accounts = async (): Promise<unknown[]> =>
      (
        await server.query('SELECT name FROM steno.accounts ORDER BY name', new URL(ledger).pathname.slice(1))
      ).map(({ name }) => name);
    return { service, env, accounts, user: new User(env) };
  }

  /** A user whose commands run with a profile of this name. */
  async function withProfile(name: string, env: Record<string, string>): Promise<User> {
    const user = new User({ ...env, STENO_PROFILE: name });
    await user.run(['config', 'set', 'timeout', '30', '--profile', name]);
    return user;
  }

  it('belongs to the base URL that it was first used with; another is refused, with what to do', async () => {
    const { service, env, user, accounts } = await team();
    expect((await user.run(order)).code).toBe(0);
    const moved = new User({ ...env, STENO_BASE_URL: await deadAddress() });
    for (const args of [order, [...order, '--dry-run'], ['files']]) {
      const { code, stderr } = await moved.run(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /^steno: account default of the shared ledger belongs to http\S+, not to http\S+\nhint: choose another account: .*UPDATE steno\.accounts SET base_url = 'http\S+' WHERE name = 'default'\n$/,
        ),
      ]);
    }
    expect(service.calls('POST /order_url')).toHaveLength(1);
    // The same one in another spelling.
    expect((await new User({ ...env, STENO_BASE_URL: `${service.baseUrl}/` }).run(order)).code).toBe(9);
    expect(await accounts()).toEqual(['default']);
  });

  it('that is not set stops an order where the ledger knows the service under another name', async () => {
    const { service, env, accounts } = await team();
    const acme = await withProfile('acme', env);
    expect((await acme.run(order)).code).toBe(0);
    const ci = new User(env);
    for (const args of [order, [...order, '--dry-run'], [...order, '--again']]) {
      const { code, stderr } = await ci.run(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          / as account acme, but no account is set here .*\nhint: .*STENO_ACCOUNT=acme\)/,
        ),
      ]);
    }
    expect(service.got).toHaveLength(1);
    expect(await accounts()).toEqual(['acme']);
    // Told which it is, it knows what was ordered.
    expect((await ci.run(order, { env: { STENO_ACCOUNT: 'acme' } })).code).toBe(9);
    // Two accounts of one service are two where somebody says so; then each must be named.
    const second = { STENO_ACCOUNT: 'default', STENO_API_KEY: 'another-key-0123456789' };
    expect((await ci.run(order, { env: second })).code).toBe(0);
    expect((await acme.run(order)).code).toBe(2);
    expect((await acme.run(order, { env: { STENO_ACCOUNT: 'acme' } })).code).toBe(9);
  });

  it('is one whatever the case of its name, set or of a profile', async () => {
    const { service, env, accounts } = await team();
    const user = await withProfile('Acme', env);
    expect((await user.run(order)).code).toBe(0);
    for (const name of ['acme', 'ACME', 'aCme'])
      expect((await new User({ ...env, STENO_ACCOUNT: name }).run(order)).code).toBe(9);
    expect((await user.run(order, { env: { STENO_PROFILE: 'ACME' } })).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(await accounts()).toEqual(['acme']);
  });

  it('that somebody chose may be a second one of its service', async () => {
    const { service, env, accounts } = await team();
    const named = (account: string): User => new User({ ...env, STENO_ACCOUNT: account });
    for (const account of ['acme', 'other']) {
      expect((await named(account).run(order)).code).toBe(0);
      expect((await named(account).run(order)).code).toBe(9);
    }
    expect(service.calls('POST /order_url')).toHaveLength(2);
    expect(await accounts()).toEqual(['acme', 'other']);
  });

  it('keeps nothing of the key in the ledger', async () => {
    const { env } = await team();
    expect((await new User(env).run(order)).code).toBe(0);
    const database = new URL(env.STENO_LEDGER).pathname.slice(1);
    expect(await server.query("SELECT name FROM steno.properties WHERE name LIKE 'key%'", database)).toEqual(
      [],
    );
  });

  it('is one where several names are first used at the same moment', async () => {
    const { service, env, accounts } = await team();
    await new User(env).run(['files']);
    const users = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => withProfile(name, env)));
    const ends = await Promise.all(users.map((user) => user.run(order)));
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 2, 2, 2, 2, 2]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(await accounts()).toHaveLength(1);
  });

  it('of the sandbox is not in the shared ledger', async () => {
    const user = new User({ STENO_LEDGER: 'postgres://a@127.0.0.1:1/b?connect_timeout=1' });
    const { code, stderr } = await user.run([...order, '--sandbox']);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('shared ledger')]);
    expect((await user.run(['files', '--sandbox', '--quiet'])).stdout).toMatch(/^\d+\n$/);
    expect(existsSync(ledgerOf(user))).toBe(true);
  });

  it('orders nothing with an empty STENO_LEDGER, as CI makes of a variable that is missing', async () => {
    const { service, env } = await team();
    const user = new User({ ...env, STENO_LEDGER: '' });
    const { code, stderr } = await user.run(order);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/STENO_LEDGER is set but empty.*\nhint: /)]);
    expect(service.got).toEqual([]);
    expect((await user.run(['files'])).code).toBe(0);
    expect((await user.run([...order, '--sandbox'])).code).toBe(0);
  });

  it('orders nothing behind the back of the others: --no-ledger takes --again', async () => {
    const { service, user } = await team();
    const { code, stderr } = await user.run([...order, '--no-ledger']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--no-ledger would hide .*\nhint: .*--again/)]);
    expect(service.got).toEqual([]);
    expect((await user.run([...order, '--no-ledger', '--again'])).code).toBe(0);
  });
});
