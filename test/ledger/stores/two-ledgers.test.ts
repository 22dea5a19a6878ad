/** A shared ledger beside the one of this machine: no order is left behind in silence, and there is a way out of each state. */
import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { KEY, type Result, User } from '../../support/steno.ts';

describe.skipIf(!postgresFolder)('a shared ledger beside a local one', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off', 'max_connections = 60']);
  });
  afterAll(() => server?.stop());

  /** A user who has ordered on this machine, with a database that knows nothing of it. */
  async function setUp(...ordered: string[]) {
    const { user, service } = await orderingAccount({ STENO_LEDGER: undefined });
    const url = await server.newDatabase();
    const shared = { STENO_LEDGER: url };
    const order = (
      name: string,
      env: Record<string, string | undefined> = {},
      ...args: string[]
    ): Promise<Result> => user.run(['order', audio(name), '--sku', 'TRANS14', ...args], { env });
    for (const name of ordered) expect((await order(name)).code).toBe(0);
    const sent = (): number => service.calls('POST /order_url').length;
    return { user, service, url, shared, order, sent };
  }

  it('orders nothing while the local one has orders that it may lack, and names both ways on', async () => {
    const { url, shared, order, sent, user } = await setUp('a', 'b');
    const withPassword = { STENO_LEDGER: url.replace('postgres@', 'postgres:geheimnis@') };
    for (const args of [[], ['--dry-run'], ['--again'], ['--skip-ordered']]) {
      const { code, stderr } = await order('a', withPassword, ...args);
      expect(code).toBe(2);
      expect(stderr).toContain(
        `(${ledgerOf(user)}) has 2 orders that the shared ledger may not know, and that could be placed twice`,
      );
      expect(stderr).toContain(`steno ledger copy --to '${url}'; if`);
      expect(stderr).toContain(`steno ledger copy --to '${url}' --leave-local\n`);
      expect(stderr).not.toContain('geheimnis');
    }
    expect(sent()).toBe(2);
    expect((await user.run(['files', '--quiet'], { env: shared })).code).toBe(0);

    expect((await user.run(['ledger', 'copy', '--to', url])).code).toBe(0);
    expect((await order('a', shared)).code).toBe(9);
    // The same database, spelled differently.
    expect((await order('a', { STENO_LEDGER: url.replace('127.0.0.1', 'localhost') })).code).toBe(9);
    expect((await order('c', shared)).code).toBe(0);
  }, 60_000);

  it('orders once somebody has said that the local orders are not of the account, and is asked anew by another', async () => {
    const { url, shared, order, user } = await setUp('a');
    expect((await order('a', shared)).code).toBe(2);
    const leave = ['ledger', 'copy', '--to', url, '--leave-local'];
    const said = await user.run([...leave, '--json']);
    expect([said.code, said.stdout.trim()]).toEqual([0, '[]']);
    expect((await user.run(['files', '--quiet'], { env: shared })).stdout).toBe('');
    expect((await order('a', shared)).code).toBe(0);
    // The local one may be used as before.
    expect((await order('b')).code).toBe(0);
    const elsewhere = { STENO_LEDGER: await server.newDatabase() };
    expect((await order('c', elsewhere)).code).toBe(2);
    expect(
      (await order('c', { ...shared, STENO_ACCOUNT: 'other', STENO_API_KEY: 'k2-0123456789' })).code,
    ).toBe(2);
    const wrong = [['--leave-local'], ['--to', 'local', '--leave-local'], [...leave.slice(2), '--dry-run']];
    for (const args of wrong) expect((await user.run(['ledger', 'copy', ...args])).code).toBe(2);
    const nobody = new User({ STENO_API_KEY: KEY });
    expect((await nobody.run(leave)).code).toBe(2);
    expect(existsSync(ledgerOf(nobody))).toBe(false);
  }, 60_000);

  it('is not held up by test orders, the sandbox, other profiles or an empty ledger, and makes no local one', async () => {
    const { shared, order, user, service } = await setUp();
    expect((await order('a', { STENO_LEDGER: undefined }, '--test')).code).toBe(0);
    expect((await order('a', {}, '--sandbox')).code).toBe(0);
    await user.run(['config', 'set', 'timeout', '30', '--profile', 'other']);
    expect((await order('a', { STENO_API_KEY: 'k2-0123456789' }, '--profile', 'other')).code).toBe(0);
    expect(existsSync(ledgerOf(user))).toBe(true);
    expect((await order('b', shared)).code).toBe(0);
    const fresh = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, ...shared });
    expect((await fresh.run(['order', audio('c'), '--sku', 'TRANS14'])).code).toBe(0);
    expect(existsSync(ledgerOf(fresh))).toBe(false);
  }, 60_000);

  it('counts an order without a known end, and one whose files are not known', async () => {
    const { shared, order, service } = await setUp();
    service.on('POST /order_url', (_, response) => void response.writeHead(500).end('no'));
    expect((await order('a')).code).toBe(11);
    expect((await order('a', shared)).stderr).toContain('has 1 order that');
    service.on('POST /order_url', { body: { order: 'o9', audiofiles: [], message: 'ok' } });
    expect((await order('b')).code).toBe(11);
    expect((await order('a', shared)).stderr).toContain('has 2 orders that');
  }, 60_000);

  it('orders nothing where the local one has moved to another database, or as another account', async () => {
    const { url, order, user } = await setUp('a');
    expect((await user.run(['ledger', 'copy', '--to', url])).code).toBe(0);
    const elsewhere = await order('a', { STENO_LEDGER: await server.newDatabase() });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringMatching(
        /moved to postgres:.* as account default, with 1 order .*\nhint: use that ledger: steno config set ledger '.*--leave-local\n$/,
      ),
    ]);
    const other = { STENO_LEDGER: url, STENO_ACCOUNT: 'other', STENO_API_KEY: 'k2-0123456789' };
    expect((await order('a', other)).code).toBe(2);
  }, 60_000);

  it('orders nothing while a copy to it is not finished', async () => {
    const { url, shared, order, user } = await setUp('a');
    expect((await user.run(['ledger', 'copy', '--to', url])).code).toBe(0);
    queryLedger(
      user,
      "UPDATE properties SET value = json_set(value, '$.unfinished', json('true')) WHERE name LIKE 'moved %'",
    );
    const { code, stderr } = await order('b', shared);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/was interrupted.*\nhint: finish it.*--without-shared\n$/),
    ]);
    expect((await user.run(['ledger', 'copy', '--to', url])).code).toBe(0);
    expect((await order('b', shared)).code).toBe(0);
  }, 60_000);

  it('orders nothing where the local one is damaged or locked', async () => {
    const { shared, order, user, sent } = await setUp('a');
    const lock = new DatabaseSync(ledgerOf(user));
    // As on a drive that allows no write-ahead log.
    lock.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; DELETE FROM properties');
    const locked = await order('b', shared);
    lock.exec('ROLLBACK');
    lock.close();
    expect([locked.code, locked.stderr]).toEqual([
      1,
      expect.stringMatching(/^steno: nothing was ordered: .*\nhint: \S/),
    ]);
    for (const text of ['', 'no database at all '.repeat(300)]) {
      writeFileSync(ledgerOf(user), text);
      const damaged = await order('b', shared);
      expect([damaged.code, damaged.stderr]).toEqual([
        1,
        expect.stringMatching(/^steno: nothing was ordered: .*\nhint: \S/),
      ]);
    }
    expect(sent()).toBe(1);
  }, 60_000);

  describe('that is gone for good', () => {
    const back = ['ledger', 'copy', '--to', 'local', '--without-shared'];

    it('is named by the refusals, with the way back, which asks first', async () => {
      const { url, order, user, sent } = await setUp('a');
      expect((await user.run(['ledger', 'copy', '--to', url])).code).toBe(0);
      const database = new URL(url).pathname.slice(1);
      await server.query(`DROP DATABASE "${database}" WITH (FORCE)`);
      const gone = { STENO_LEDGER: url };
      const down = { STENO_LEDGER: 'postgres://me@127.0.0.1:1/db?connect_timeout=1' };
      for (const env of [gone, down, {}]) {
        const { code, stderr } = await order('b', env);
        expect([1, 2, 7]).toContain(code);
        expect(stderr).toContain(`if it is lost for good: steno ${back.join(' ')}`);
      }
      expect((await user.run(['ledger', 'copy', '--to', 'local'], { env: gone })).stderr).toContain(
        back.join(' '),
      );

      const unasked = await user.run(back);
      expect([unasked.code, unasked.stderr]).toEqual([
        2,
        expect.stringMatching(
          /warning: .* does not know what was ordered with .*: it could be ordered twice\n[\s\S]*requires --yes.*\nhint: run: .*--yes\n$/,
        ),
      ]);
      expect((await user.run([...back, '--dry-run'])).code).toBe(0);
      expect((await user.onTerminal(`steno ${back.join(' ')}`, { stdin: 'n\r' })).code).not.toBe(0);
      expect((await order('b')).code).toBe(2);

      expect((await user.run([...back, '--yes'], { env: gone })).code).toBe(0);
      expect((await order('a')).code).toBe(9);
      expect((await order('b')).code).toBe(0);
      expect(sent()).toBe(2);
      // Nothing is left to do, and a new database can take the place of the old one.
      expect((await user.run([...back, '--yes'])).code).toBe(0);
      expect((await user.run(['ledger', 'copy', '--to', await server.newDatabase()])).code).toBe(0);
    }, 60_000);

    it('leads to a new ledger where this machine has none, and the flag to none but the local one', async () => {
      const user = new User({ STENO_LEDGER: 'postgres://me@127.0.0.1:1/db?connect_timeout=1' });
      const { code, stderr } = await user.run([...back, '--yes']);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/no ledger .*\nhint: .*steno config unset ledger/),
      ]);
      expect(existsSync(ledgerOf(user))).toBe(false);
      expect((await user.run(['ledger', 'copy', '--to', 'postgres://me@h/d', '--without-shared'])).code).toBe(
        2,
      );
    });
  });
});
