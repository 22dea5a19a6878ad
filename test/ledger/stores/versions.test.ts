/** `ledger status`, `migrate` and `account`: versions of steno side by side, and which service an account belongs to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresConnection } from '../../../src/ledger/stores/postgres-connection.ts';
import { migrate, postgresMigrations } from '../../../src/ledger/stores/postgres-schema.ts';
import { readPostgresUrl } from '../../../src/lib/postgres-url.ts';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { type Result, User } from '../../support/steno.ts';

const namesOfMigrations = postgresMigrations.map(({ name }) => name);

describe.skipIf(!postgresFolder)('a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  const nameOf = (url: string): string => new URL(url).pathname.slice(1);
  const schemasIn = async (url: string): Promise<unknown[]> =>
    server.query("SELECT 1 FROM pg_namespace WHERE nspname = 'steno'", nameOf(url));

  async function used(): Promise<OrderingAccount & { readonly url: string }> {
    const url = await server.newDatabase();
    const account = await orderingAccount({ STENO_LEDGER: url });
    expect((await account.order(audio('a'))).code).toBe(0);
    return { ...account, url };
  }

  const statusOf = async (user: User): Promise<Record<string, unknown>> =>
    JSON.parse((await user.run(['ledger', 'status', '--json'])).stdout) as Record<string, unknown>;

  it('of a newer steno that lets this one work, is worked with', async () => {
    const { order, user, url } = await used();
    await server.query(
      "INSERT INTO steno.steno_migrations (name, min_client) VALUES ('999-more', 1); ALTER TABLE steno.files ADD COLUMN more text",
      nameOf(url),
    );
    expect((await order(audio('b'))).code).toBe(0);
    expect((await user.run(['files', '--quiet'])).stdout).toBe('2\n1\n');
    expect(await statusOf(user)).toMatchObject({ may_work: true, up_to_date: true, version: '999-more' });
    expect((await user.run(['ledger', 'migrate', '--json'])).stdout).toBe('{\n  "migrations": []\n}\n');
  });

  it('of a newer steno that does not, takes no order, and status says so', async () => {
    const { order, user, url, service } = await used();
    await server.query(
      "INSERT INTO steno.steno_migrations (name, min_client) VALUES ('999-other', 999)",
      nameOf(url),
    );
    const sent = service.got.length;
    const { code, stderr } = await order(audio('b'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^steno: .* was made by a newer steno.*\nhint: update/),
    ]);
    expect((await user.run(['ledger', 'migrate'])).code).toBe(1);
    expect(service.got).toHaveLength(sent);
    expect(await statusOf(user)).toMatchObject({ may_work: false, min_client: 999 });
  });

  it('that lacks a migration takes no order, and says what to run', async () => {
    const { order, user, url, service } = await used();
    await server.query('DELETE FROM steno.steno_migrations', nameOf(url));
    const sent = service.got.length;
    const { code, stderr } = await order(audio('b'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/older steno\nhint: .*: steno ledger migrate\n$/),
    ]);
    expect(service.got).toHaveLength(sent);
    expect(await statusOf(user)).toMatchObject({ up_to_date: false, missing: namesOfMigrations });
  });

  /** A migration that a later version adds. */
  const more = {
    name: '002-more',
    sql: "ALTER TABLE {schema}.files ADD COLUMN more text NOT NULL DEFAULT 'none'",
  };

  /** What `ledger migrate` of that version does. */
  async function migrateWith(url: string, minClient: number): Promise<readonly string[]> {
    const connection = await PostgresConnection.open(readPostgresUrl(url, {}), {
      timeoutMs: 20_000,
      queryTimeoutMs: 20_000,
      password: async () => '',
    });
    try {
      return await migrate(connection, 'steno', [...postgresMigrations, { ...more, minClient }]);
    } finally {
      await connection.close();
    }
  }

  it('is migrated by a later version, once, and an older steno that may work goes on', async () => {
    const { order, url, user } = await used();
    expect(await migrateWith(url, 1)).toEqual(['002-more']);
    expect(await migrateWith(url, 1)).toEqual([]);
    expect((await order(audio('a'))).code).toBe(9);
    expect((await order(audio('b'))).code).toBe(0);
    expect(await server.query('SELECT id, more FROM steno.files ORDER BY id', nameOf(url))).toEqual([
      { id: '1', more: 'none' },
      { id: '2', more: 'none' },
    ]);
    expect(await statusOf(user)).toMatchObject({ may_work: true, up_to_date: true, version: '002-more' });
  });

  it('is migrated by a later version that shuts older ones out: they send nothing from then on', async () => {
    const { order, url, service } = await used();
    expect(await migrateWith(url, 2)).toEqual(['002-more']);
    expect(await migrateWith(url, 2)).toEqual([]);
    const sent = service.got.length;
    expect((await order(audio('b'))).code).toBe(1);
    expect(service.got).toHaveLength(sent);
  });

  it('is migrated once, by whichever of several comes first', async () => {
    const { url, user } = await used();
    const done = await Promise.all(Array.from({ length: 5 }, () => migrateWith(url, 1)));
    expect(done.flat()).toEqual(['002-more']);
    expect((await user.run(['files', '--quiet'])).stdout).toBe('1\n');
  });

  it('has no tables before its first use, and status makes none', async () => {
    const url = await server.newDatabase();
    const user = new User({ STENO_LEDGER: url });
    expect(await statusOf(user)).toMatchObject({ made: false, store: 'postgres', where: url });
    expect(await schemasIn(url)).toEqual([]);
    expect((await user.run(['ledger', 'migrate'])).stdout.split('\n')).toEqual([...namesOfMigrations, '']);
    expect(await statusOf(user)).toMatchObject({ made: true, up_to_date: true, rows: { purchases: 0 } });
  });

  it('that can not be reached is said in one line, with 7 and without the password', async () => {
    const user = new User({ STENO_LEDGER: 'postgres://me:geheimnis@127.0.0.1:1/db' });
    for (const command of ['status', 'migrate']) {
      const { code, stdout, stderr } = await user.run(['ledger', command]);
      expect([code, stdout]).toEqual([7, '']);
      expect(stderr).toMatch(/^steno: can't reach the shared ledger at 127\.0\.0\.1:1: .*\n(hint: .*\n)?$/);
      expect(stderr).not.toContain('geheimnis');
    }
  });

  it('is not made in a schema of something else', async () => {
    const url = await server.newDatabase();
    await server.query('CREATE SCHEMA steno; CREATE TABLE steno.theirs (id integer)', nameOf(url));
    const user = new User({ STENO_LEDGER: url });
    for (const command of [['status'], ['migrate']]) {
      const { code, stderr } = await user.run(['ledger', ...command]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('holds something else')]);
    }
  });

  it('says what is unclear, how large it is, and who else uses the same service', async () => {
    const { user, service } = await used();
    const orderAs = (account: string, name: string): Promise<Result> =>
      user.run(['order', audio(name), '--sku', 'TRANS14'], {
        env: { STENO_ACCOUNT: account, STENO_API_KEY: `key-of-${account}` },
      });
    expect((await orderAs('ci', 'c')).code).toBe(0);
    service.on('POST /order_url', { status: 500, body: {} });
    expect((await orderAs('default', 'b')).code).toBe(11);
    expect(await statusOf(user)).toMatchObject({
      ...{ store: 'postgres', account: 'default', base_url: service.baseUrl, same_base_url: ['ci'] },
      ...{ unclear: 1, being_sent: 0, outcomes_waiting: 0, events_waiting: 0, moved: null, backups: [] },
      ...{ rows: expect.objectContaining({ purchases: 3, files: 2 }), bytes: expect.any(Number) },
    });
    const rows = await user.run(['ledger', 'status']);
    expect(rows.stdout).toContain('\nunclear\t1\n');
  });

  it('remembers the service of an account until the database says that it has moved', async () => {
    const [here, there] = [await used(), await orderingAccount()];
    const moved = { env: { STENO_BASE_URL: there.service.baseUrl } };
    const refused = await here.user.run(['order', audio('b'), '--sku', 'TRANS14'], moved);
    expect([refused.code, there.service.got.length]).toEqual([2, 0]);
    const [sql = ''] = /UPDATE .*/.exec(refused.stderr) ?? [];
    await server.query(sql, nameOf(here.url));
    await here.user.run(['order', audio('b'), '--sku', 'TRANS14'], moved);
    expect(there.service.calls('POST /order_url')).toHaveLength(1);
    expect((await here.order(audio('c'))).code).toBe(2);
  });
});

describe('the local ledger', () => {
  it('has a status too, remembers no service, and is brought up to date by itself', async () => {
    const { user, order } = await orderingAccount({ STENO_LEDGER: undefined });
    const before = await user.run(['ledger', 'status', '--json']);
    expect(JSON.parse(before.stdout)).toMatchObject({ made: false, store: 'sqlite', rows: {} });
    await order(audio('a'));
    const after = await user.run(['ledger', 'status', '--json']);
    expect(JSON.parse(after.stdout)).toMatchObject({
      ...{ made: true, up_to_date: true, may_work: true, account: 'default', unclear: 0, moved: null },
      ...{
        rows: expect.objectContaining({ purchases: 1, files: 1 }),
        where: expect.stringMatching(/ledger\.db$/),
      },
    });
    expect((await user.run(['ledger', 'status', '--csv'])).stdout).toMatch(/^name,value\n?/);
    const migrated = await user.run(['ledger', 'migrate']);
    expect([migrated.code, migrated.stdout, migrated.stderr]).toEqual([
      0,
      '',
      expect.stringContaining('opened'),
    ]);
  });
});
