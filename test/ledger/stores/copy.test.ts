/** `ledger copy`: the local ledger becomes a shared one and back; nothing is lost, and nothing is bought twice. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  audio,
  ledgerOf,
  type OrderingAccount,
  orderingAccount,
  queryLedger,
  reply,
} from '../../support/ledger.ts';
import { complete, eventsOf, Listener } from '../../support/listener.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import type { Answer } from '../../support/server.ts';
import { longOnly } from '../../support/slices.ts';
import { finished, KEY, type Result, User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

describe.skipIf(!postgresFolder)('ledger copy', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off', 'max_connections = 60']);
  });
  afterAll(() => server?.stop());

  const query = (url: string, sql: string): Promise<Record<string, unknown>[]> =>
    server.query(sql, new URL(url).pathname.slice(1));

  const local = (env: Record<string, string> = {}): Promise<OrderingAccount> =>
    orderingAccount({ STENO_LEDGER: undefined, ...env });

  const copy = (user: User, url: string, ...args: string[]): Promise<Result> =>
    user.run(['ledger', 'copy', '--to', url, '--json', ...args]);

  const added = ({ stdout }: Result): number =>
    (JSON.parse(stdout) as Array<{ new: number; updated: number }>).reduce(
      (sum, each) => sum + each.new + each.updated,
      0,
    );

  const order = (user: User, name: string, env: Record<string, string> = {}): Promise<Result> =>
    user.run(['order', audio(name), '--sku', 'TRANS14', '--quiet'], { env });

  it('brings everything to the shared ledger once, counts it first, and leaves the old one for reading only', async () => {
    const { user, service } = await local();
    const url = await server.newDatabase();
    for (const name of ['a', 'b']) expect((await order(user, name)).code).toBe(0);
    const withPassword = url.replace('postgres@', 'postgres:geheimnis@');
    const trial = await copy(user, url, '--dry-run');
    expect([trial.code, trial.stderr]).toEqual([0, '']);
    expect(await query(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'steno'")).toEqual([]);
    expect((await order(user, 'c')).code).toBe(0);

    const first = await copy(user, withPassword);
    expect([first.code, added(first)]).toEqual([0, added(trial) + 4]);
    expect(first.stderr + JSON.stringify(queryLedger(user, 'SELECT * FROM properties'))).not.toContain(
      'geheimnis',
    );
    const again = await copy(user, url, '--dry-run');
    expect([again.code, added(again)]).toEqual([0, 0]);
    const second = await user.run(['ledger', 'copy', '--to', url, '--csv']);
    expect([second.code, second.stdout]).toEqual([
      0,
      expect.stringMatching(/^table,new,updated,known\r?\npurchases,0,0,3\r?\n/),
    ]);

    const sent = service.got.length;
    const refused = await order(user, 'd');
    expect([refused.code, service.got.length]).toEqual([2, sent]);
    expect(refused.stderr).toContain(`steno: this ledger moved to ${url}`);
    expect(refused.stderr).toContain(`steno config set ledger '${url}'`);
    expect((await user.run(['files', '--quiet'])).stdout).toBe('3\n2\n1\n');
    expect((await user.run(['track', '1'])).code).toBe(2);
    expect((await user.run(['listen', '--port', '0', '--timeout', '5s'])).code).toBe(2);
    const status = await user.run(['ledger', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ moved: { to: url, account: 'default' } });

    const shared = { STENO_LEDGER: url };
    expect((await order(user, 'a', shared)).code).toBe(9);
    expect((await order(user, 'd', shared)).code).toBe(0);
    const other = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, ...shared });
    expect((await other.run(['files', '--quiet'])).stdout).toBe('4\n3\n2\n1\n');
  }, 60_000);

  longOnly(
    'goes back to the local ledger, which orders use again',
    async () => {
      const { user } = await local();
      const url = await server.newDatabase();
      await order(user, 'a');
      expect((await user.run(['ledger', 'copy', '--to', 'local'])).code).toBe(2);
      await copy(user, url);
      const shared = { STENO_LEDGER: url };
      await order(user, 'b', shared);
      const trial = await user.run(['ledger', 'copy', '--to', 'local', '--dry-run', '--json'], {
        env: shared,
      });
      expect((await order(user, 'c')).code).toBe(2);
      const back = await user.run(['ledger', 'copy', '--to', 'local', '--json'], { env: shared });
      expect([back.code, back.stdout]).toEqual([0, trial.stdout]);
      for (const name of ['a', 'b']) expect((await order(user, name)).code).toBe(9);
      expect((await order(user, 'c')).code).toBe(0);
      expect(added(await copy(user, url))).toBeGreaterThan(0);
    },
    60_000,
  );

  longOnly(
    'makes the profile the account, and the account the profile',
    async () => {
      const { user } = await local({ STENO_ACCOUNT: 'acme' });
      const url = await server.newDatabase();
      await order(user, 'a');
      expect((await copy(user, url)).code).toBe(0);
      for (const table of ['purchases', 'purchase_items', 'files', 'item_names'])
        expect(await query(url, `SELECT DISTINCT profile FROM steno.${table}`)).toEqual([
          { profile: 'acme' },
        ]);
      expect(await query(url, 'SELECT name FROM steno.accounts')).toEqual([{ name: 'acme' }]);
      await order(user, 'b', { STENO_LEDGER: url });
      await user.run(['ledger', 'copy', '--to', 'local'], { env: { STENO_LEDGER: url } });
      expect(queryLedger(user, 'SELECT DISTINCT profile FROM files')).toEqual([{ profile: 'default' }]);
      expect((await order(user, 'b')).code).toBe(9);
    },
    60_000,
  );

  it('takes what a listener received along, and is refused while one runs', async () => {
    const { user } = await local();
    const url = await server.newDatabase();
    const listener = await Listener.start(user, ['--quiet']);
    await listener.post(complete('1'));
    const refused = await copy(user, url);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('a listener of this profile is running'),
    ]);
    await listener.stop();
    expect((await copy(user, url)).code).toBe(0);
    expect(await eventsOf(new User({ STENO_LEDGER: url }))).toHaveLength(1);
  }, 60_000);

  it('is refused while an action waits, and then leaves what listeners did behind', async () => {
    const { user } = await local();
    const url = await server.newDatabase();
    const exec = ['--quiet', '--exec', 'test -e done'];
    const listener = await Listener.start(user, exec);
    await listener.post(complete('1'));
    await listener.stop();
    const refused = await copy(user, url);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/steno listen has left 1 action unfinished.*nothing was copied/),
    ]);
    writeFileSync(join(user.home, 'done'), '');
    const again = await Listener.start(user, exec);
    await again.until(() => queryLedger(user, "SELECT 1 FROM actions WHERE status = 'done'").length === 1);
    await again.stop();
    expect((await copy(user, url)).code).toBe(0);
    const team = new User({ STENO_LEDGER: url });
    expect((await team.run(['ledger', 'export'])).stdout).not.toMatch(/"table":"(actions|runs)"/);
    expect(await eventsOf(team)).toHaveLength(1);
  }, 60_000);

  it("is refused while the account's webhook is that of a listener here", async () => {
    const { user, service } = await local();
    await order(user, 'a');
    const secret = 's'.repeat(32);
    service.allow('GET /webhook', (_, response) =>
      reply(response, { webhook: `https://here.example/${secret}` }),
    );
    const folder = join(user.env.STENO_CONFIG_DIR ?? '', 'webhooks');
    mkdirSync(folder, { recursive: true });
    const replaced = { url: `https://here.example/${secret}`, previous: '', host: 'gone', pid: 1, start: '' };
    writeFileSync(join(folder, 'one.json'), JSON.stringify(replaced));
    const { code, stderr } = await copy(user, await server.newDatabase());
    expect([code, stderr]).toEqual([1, expect.stringContaining('still that of a listener here')]);
  }, 60_000);

  it('is refused while an order is being sent, and then has it', async () => {
    const { user, service } = await local();
    const url = await server.newDatabase();
    let answer = (): void => {};
    const sent = new Promise<void>((done) => {
      const hold: Answer = (_, response) => {
        answer = () => void response.end(JSON.stringify({ order: 'x1', audiofiles: [1], message: 'ok' }));
        done();
      };
      service.on('POST /order_url', hold);
    });
    const ordering = finished(user.start(['order', audio('a'), '--sku', 'TRANS14']));
    await sent;
    const refused = await copy(user, url);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('an order is being sent')]);
    answer();
    expect((await ordering).code).toBe(0);
    expect((await copy(user, url)).code).toBe(0);
    expect((await order(user, 'a', { STENO_LEDGER: url })).code).toBe(9);
  }, 60_000);

  it('has every order that was placed, whatever began beside it; the others were not sent', async () => {
    const { user, service } = await local();
    const url = await server.newDatabase();
    await order(user, 'first');
    const names = Array.from({ length: 12 }, (_, n) => `n${n}`);
    const orders = names.map(async (name, n) => {
      await new Promise((resolve) => setTimeout(resolve, n * 150));
      return { name, ...(await order(user, name)) };
    });
    let copied = await copy(user, url);
    while (copied.code === 1 && /being sent/.test(copied.stderr)) copied = await copy(user, url);
    expect([copied.code, copied.stderr]).toEqual([0, expect.any(String)]);
    const ends = await Promise.all(orders);
    const placed = ends.filter(({ code }) => code === 0).map(({ name }) => audio(name));
    expect(ends.filter(({ code }) => code !== 0 && code !== 2)).toEqual([]);
    const posted = service.calls('POST /order_url').flatMap(({ body }) => body?.url as string[]);
    expect([...posted].sort()).toEqual([audio('first'), ...placed].sort());
    const known = await query(url, "SELECT url FROM steno.purchase_items WHERE file <> ''");
    expect(known.map((row) => String(row.url)).sort()).toEqual([...posted].sort());
  }, 120_000);

  it('lets no order through that looked at the old ledger before it moved, and writes it down after', async () => {
    const { user, service } = await local();
    const url = await server.newDatabase();
    await order(user, 'a');
    const [asked, go] = [join(user.home, 'asked'), join(user.home, 'go')];
    const command = `: "$1"; touch ${asked}; while [ ! -e ${go} ]; do sleep 0.05; done; echo '${audio('b')}'`;
    expect((await user.run(['config', 'set', 'upload-command', command])).code).toBe(0);
    writeFileSync(join(user.home, 'b.mp3'), '\0\xffb');
    const ordering = finished(user.start(['order', 'b.mp3', '--sku', 'TRANS14']));
    await until(() => existsSync(asked), 'an order that uploads its recording');
    expect((await copy(user, url)).code).toBe(0);
    writeFileSync(go, '');
    const { code, stderr } = await ordering;
    expect([code, stderr]).toEqual([2, expect.stringContaining(`this ledger moved to ${url}`)]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  }, 60_000);

  it('that is interrupted copies nothing, and the local ledger may be ordered with', async () => {
    const { user } = await local();
    const url = await server.newDatabase();
    await order(user, 'a');
    await user.run(['ledger', 'migrate'], { env: { STENO_LEDGER: url } });
    const lock = new Client({ connectionString: url });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE steno.files');
    const child = user.start(['ledger', 'copy', '--to', url]);
    const copying = finished(child);
    await until(
      async () => (await query(url, 'SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0,
      'a copy that waits',
    );
    expect((await order(user, 'b')).code).toBe(2);
    child.kill('SIGINT');
    await lock.end();
    const { code, stdout, stderr } = await copying;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/^steno: interrupted: nothing was copied\nhint: try again with: [^\n]+\n$/);
    expect(await query(url, 'SELECT count(*)::integer AS n FROM steno.purchases')).toEqual([{ n: 0 }]);
    expect((await order(user, 'b')).code).toBe(0);
  }, 60_000);

  longOnly(
    'that fails leaves the local ledger as it was',
    async () => {
      const { user } = await local();
      const url = await server.newDatabase();
      await order(user, 'a');
      expect((await copy(user, 'postgres://me@127.0.0.1:1/db')).code).toBe(7);
      for (const wrong of ['mysql://x/y', 'postgres://h/d?colour=red', 'nowhere'])
        expect((await copy(user, wrong)).code).toBe(2);
      await user.run(['ledger', 'migrate'], { env: { STENO_LEDGER: url } });
      await query(
        url,
        `CREATE FUNCTION steno.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = 'XX000'; END $$;
       CREATE TRIGGER fail BEFORE INSERT ON steno.files EXECUTE FUNCTION steno.fail()`,
      );
      expect((await copy(user, url)).code).toBe(1);
      expect(await query(url, 'SELECT count(*)::integer AS n FROM steno.purchases')).toEqual([{ n: 0 }]);
      expect((await order(user, 'b')).code).toBe(0);
      await query(url, 'DROP TRIGGER fail ON steno.files');
      expect((await copy(user, url)).code).toBe(0);
      const elsewhere = await copy(user, await server.newDatabase());
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        2,
        expect.stringContaining(`this ledger moved to ${url}`),
      ]);
    },
    60_000,
  );

  longOnly(
    'stops where the shared ledger knows the same service as another account, unless one is chosen',
    async () => {
      const { user, service } = await local();
      const url = await server.newDatabase();
      const other = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: url });
      expect((await order(other, 'x', { STENO_ACCOUNT: 'acme' })).code).toBe(0);
      await order(user, 'a');
      const refused = await copy(user, url);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('acme')]);
      expect((await order(user, 'b')).code).toBe(0);
      const chosen = await user.run(['ledger', 'copy', '--to', url], { env: { STENO_ACCOUNT: 'acme' } });
      expect(chosen.code).toBe(0);
      expect((await order(other, 'a', { STENO_ACCOUNT: 'acme' })).code).toBe(9);
    },
    60_000,
  );

  longOnly(
    'requires a target, a ledger to copy, and is not of the sandbox',
    async () => {
      const user = new User({ STENO_LEDGER: undefined });
      const url = await server.newDatabase();
      expect((await user.run(['ledger', 'copy'])).code).toBe(2);
      expect((await copy(user, url)).stderr).toContain('no ledger to copy');
      expect((await user.run(['--sandbox', 'ledger', 'copy', '--to', url])).code).toBe(2);
      expect((await user.run(['--no-ledger', 'ledger', 'copy', '--to', url])).code).toBe(2);
      expect(existsSync(ledgerOf(user))).toBe(false);
    },
    60_000,
  );
});
