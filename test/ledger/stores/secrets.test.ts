/** The password of a shared ledger: where it may come from, and that it appears nowhere. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerOf, orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { Switch } from '../../support/proxies.ts';
import { finished, KEY, User } from '../../support/steno.ts';

const PASSWORD = 'p@ss/word:of+the=role%';
const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];

describe.skipIf(!postgresFolder)('the password of a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    await server.query(`CREATE ROLE app LOGIN PASSWORD '${PASSWORD}'`);
    const hba = join(server.data, 'pg_hba.conf');
    writeFileSync(hba, `host all app 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`);
    await server.query('SELECT pg_reload_conf()');
  });
  afterAll(() => server?.stop());

  async function setUp() {
    const { service } = await orderingAccount();
    const database = new URL(await server.newDatabase()).pathname.slice(1);
    await server.query(`ALTER DATABASE ${database} OWNER TO app`);
    const at = `127.0.0.1:${server.port}/${database}`;
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
    return { service, user, at, database };
  }

  const spellings = [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(PASSWORD).toString('base64')];
  const expectNone = (text: string): void => {
    for (const each of spellings) expect(text).not.toContain(each);
  };

  it('appears in no output, error, trace, file or table, and not in the list of processes', async () => {
    const { service, user, at, database } = await setUp();
    user.env.STENO_LEDGER = `postgres://app:${encodeURIComponent(PASSWORD)}@${at}`;
    let answer = (): void => {};
    service.on('POST /order_url', (_, response) => {
      answer = () => void response.end(JSON.stringify({ order: 'o', audiofiles: [1], error: PASSWORD }));
    });
    const child = user.start([...order, '--debug', '--notes', `it is ${PASSWORD}`]);
    const end = finished(child);
    await expect.poll(() => service.got.length, { timeout: 20_000 }).toBe(1);
    expectNone(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }));
    answer();
    const placed = await end;
    expect(placed.code).toBe(0);
    const lines = [placed.stdout + placed.stderr];
    for (const args of [
      [...order, '--debug'],
      ['files', '--json', '--debug'],
      ['config', 'list'],
      ['config', 'list', '--json'],
      ['config', 'set', 'ledger', user.env.STENO_LEDGER],
      ['config', 'get', 'ledger'],
      ['whoami', '--no-verify'],
      ['whoami', '--json'],
      ['__complete', 'file', ''],
      ['ledger', 'export'],
    ]) {
      const { stdout, stderr } = await user.run(args);
      lines.push(stdout + stderr);
    }
    expect(lines.join('')).toContain('****');
    expectNone(lines.join(''));
    const wrong = await user.run(['files', '--debug'], {
      env: { STENO_LEDGER: `postgres://app:${encodeURIComponent(`${PASSWORD}x`)}@${at}` },
    });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('the password was refused')]);
    expectNone(wrong.stderr);
    const tables = execFileSync(
      'psql',
      [
        '-XAtq',
        '-d',
        `postgres://postgres@${at}`,
        '-c',
        'SELECT * FROM steno.purchases, steno.purchase_items, steno.files',
      ],
      { encoding: 'utf8' },
    );
    expect(tables).toContain('****');
    expectNone(tables);
    expect(database).not.toBe('');
    for (const name of readdirSync(user.env.STENO_STATE_DIR ?? '', { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.json'))
        expectNone(readFileSync(join(user.env.STENO_STATE_DIR ?? '', name), 'utf8'));
  });

  it('may be PGPASSWORD, and is masked like the other', async () => {
    const { user, at } = await setUp();
    const env = { STENO_LEDGER: `postgres://app@${at}`, PGPASSWORD: PASSWORD };
    const { code, stderr } = await user.run([...order, '--notes', PASSWORD, '--dry-run', '--debug'], { env });
    expect(code, stderr).toBe(0);
    expectNone(stderr);
  });

  it('may be printed by ledger-password-command, which is asked at each connection', async () => {
    const { service, user, at } = await setUp();
    const line = await Switch.start(server.port);
    try {
      user.env.STENO_LEDGER = `postgres://app@${at.replace(String(server.port), String(line.port))}`;
      const asked = join(user.home, 'asked');
      const script = join(user.home, 'password.sh');
      writeFileSync(script, `echo x >> '${asked}'\ncat '${join(user.home, 'secret')}'\n`);
      writeFileSync(join(user.home, 'secret'), `${PASSWORD}\n`);
      expect((await user.run(['config', 'set', 'ledger-password-command', `sh '${script}'`])).code).toBe(0);
      service.on('POST /order_url', (_, response) => {
        // A connection that is lost is made anew, with a password that may have changed.
        line.off();
        line.on();
        response.end(JSON.stringify({ order: 'o', audiofiles: [1] }));
      });
      const { code, stderr } = await user.run([...order, '--debug']);
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('warning')]);
      expectNone(stderr);
      expect(readFileSync(asked, 'utf8')).toBe('x\nx\n');
      writeFileSync(script, 'exit 3\n');
      const failed = await user.run(order);
      expect([failed.code, failed.stderr]).toEqual([
        3,
        'steno: the password command failed (3)\nhint: see the command: steno config get ledger-password-command\n',
      ]);
    } finally {
      await line.stop();
    }
  });

  it('may be in libpq’s password file, if only its owner may read that', async () => {
    const { user, at, database } = await setUp();
    user.env.STENO_LEDGER = `postgres://app@${at}`;
    const file = join(user.home, '.pgpass');
    const escaped = PASSWORD.replace(/[\\:]/g, '\\$&');
    writeFileSync(file, `# mine\nother:*:*:app:wrong\n127.0.0.1:*:${database}:app:${escaped}\n`, {
      mode: 0o600,
    });
    expect((await user.run(order)).code).toBe(0);
    chmodSync(file, 0o644);
    const { code, stderr } = await user.run(order);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/other users can read the password file .*\nhint: run: chmod 600/),
    ]);
  });

  it('is never taken from DATABASE_URL, nor is the ledger', async () => {
    const { user, at } = await setUp();
    const env = { DATABASE_URL: `postgres://app:x@${at}` };
    expect((await user.run(order, { env })).code).toBe(0);
    expect(existsSync(ledgerOf(user))).toBe(true);
  });

  it.each([
    ['mysql://h/d', 'must be a postgres:// URL'],
    [`postgres://app:${'hunter22x'}@h/d?sslmod=require`, "unknown parameter 'sslmod'"],
    ['postgres://app@h/d?options=-csearch_path%3Dx', "unknown parameter 'options'"],
  ])('and the rest of the URL is checked by config set: %s', async (url, text) => {
    const user = new User();
    const { code, stderr } = await user.run(['config', 'set', 'ledger', url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    expect(stderr).not.toContain('hunter22x');
  });
});
