/** A shared ledger that can't be used: nothing is ordered, and it says what is wrong; what only reads goes on. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileAnswer } from '../../support/account.ts';
import { freshFolder } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres, startStandby } from '../../support/postgres.ts';
import { Switch } from '../../support/proxies.ts';
import { longOnly, sliceOf } from '../../support/slices.ts';
import { KEY, type Result, User } from '../../support/steno.ts';
import { deadAddress } from '../../support/wire.ts';

const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];
const deadPort = async (): Promise<string> => new URL(await deadAddress()).port;
const PASSWORD = 'pass+word/of=the&role';

const canMount = ((): boolean => {
  const folder = freshFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!postgresFolder)('a shared ledger that can not be used', () => {
  let server: PostgresServer;
  let silent: Server;
  let silentPort = 0;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    silent = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    silentPort = (silent.address() as { port: number }).port;
  });
  afterAll(async () => {
    silent?.close();
    await server?.stop();
  });

  const nameOf = (url: string): string => new URL(url).pathname.slice(1);

  /** A database with the tables and one order in it. */
  async function used() {
    const { service } = await orderingAccount();
    const url = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    expect((await new User({ ...env, STENO_LEDGER: url }).run([...order, '--key', '0'])).code).toBe(0);
    return { service, url, env };
  }

  /** An order and its dry run end so, and nothing is sent. */
  async function refuses(ledger: string, code: number, text: RegExp): Promise<Result> {
    const { service } = await orderingAccount();
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger });
    const dry = await user.run([...order, '--dry-run']);
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([code, '', expect.stringMatching(text)]);
    const real = await user.run(order);
    expect([real.code, real.stdout, real.stderr]).toEqual([code, '', expect.stringMatching(text)]);
    expect(real.stderr).toMatch(/^steno: [^\n]+\n(hint: [^\n]+\n)?$/);
    expect(real.stderr).not.toContain(PASSWORD);
    expect(service.got).toEqual([]);
    return real;
  }

  describe('stops an order', () => {
    it('where nothing listens', async () => {
      const port = await deadPort();
      await refuses(
        `postgres://a@127.0.0.1:${port}/b`,
        7,
        /can't reach the shared ledger at 127\.0\.0\.1:\d+/,
      );
    });

    it('where the host never answers', async () => {
      const begun = performance.now();
      await refuses(
        `postgres://a@127.0.0.1:${silentPort}/b?connect_timeout=1`,
        7,
        /can't reach the shared ledger/,
      );
      expect(performance.now() - begun).toBeLessThan(20_000);
    });

    longOnly('where the host has no address', async () => {
      await refuses(
        'postgres://a@steno.invalid/b?sslmode=disable',
        7,
        /can't reach the shared ledger at steno/,
      );
    });

    longOnly('where there is no such database', async () => {
      await refuses(`postgres://postgres@127.0.0.1:${server.port}/none`, 1, /there is no such database/);
    });

    longOnly('where the password is wrong or missing', async () => {
      const name = nameOf(await server.newDatabase());
      await server.query(`CREATE ROLE app LOGIN PASSWORD '${PASSWORD}'`);
      const hba = join(server.data, 'pg_hba.conf');
      writeFileSync(hba, `host all app 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`);
      await server.query('SELECT pg_reload_conf()');
      const at = `127.0.0.1:${server.port}/${name}`;
      await refuses(`postgres://app:wrong@${at}`, 1, /the password was refused\nhint: /);
      await refuses(`postgres://app@${at}`, 1, /no password is set\nhint: /);
    });

    it('where the role may not make the tables, and then none are made', async () => {
      await server.query('CREATE ROLE visitor LOGIN');
      const name = nameOf(await server.newDatabase());
      await refuses(
        `postgres://visitor@127.0.0.1:${server.port}/${name}`,
        1,
        /the role lacks a privilege \(.*\)\nhint: see the SQL that grants it: steno help shared-ledger/,
      );
      expect(await server.query("SELECT 1 FROM pg_namespace WHERE nspname = 'steno'", name)).toEqual([]);
    });

    it('where the role may only read', async () => {
      const { url, env, service } = await used();
      await server.query('CREATE ROLE reader LOGIN');
      await server.query(
        'GRANT USAGE ON SCHEMA steno TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA steno TO reader',
        nameOf(url),
      );
      const reader = new User({ ...env, STENO_LEDGER: url.replace('postgres@', 'reader@') });
      const { code, stderr } = await reader.run(order);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/the role lacks a privilege \(permission denied for table \w+\)\nhint: /),
      ]);
      expect(service.got).toHaveLength(1);
      // What reads, reads.
      expect(await reader.run(['files', '--quiet'])).toMatchObject({ code: 0, stdout: '1\n' });
    });

    longOnly('on a standby', async () => {
      const { url } = await used();
      const standby = await startStandby(server);
      try {
        const there = url.replace(`:${server.port}/`, `:${standby.port}/`);
        await refuses(there, 1, /is read-only: it is a standby\nhint: name the primary server/);
      } finally {
        await standby.stop();
      }
    });

    longOnly('where every transaction only reads', async () => {
      const { url } = await used();
      await server.query(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`);
      await refuses(url, 1, /is read-only: default_transaction_read_only is on\nhint: /);
    });

    it.each([
      [
        'newer',
        'UPDATE steno.steno_migrations SET min_client = 99',
        /by a newer steno, .*\nhint: update steno/,
      ],
      [
        'older',
        'DELETE FROM steno.steno_migrations',
        /was made by an older steno\nhint: .*steno ledger migrate/,
      ],
    ])('where the tables are of a %s steno', async (_, sql, text) => {
      const { url } = await used();
      await server.query(sql, nameOf(url));
      await refuses(url, 1, text);
    });

    longOnly('where the schema holds something else, which is left as it is', async () => {
      const url = await server.newDatabase();
      await server.query('CREATE SCHEMA steno; CREATE TABLE steno.recipes (id int)', nameOf(url));
      await refuses(url, 1, /the schema steno at \S+ holds something else\nhint: .*schema=/);
      const tables = await server.query(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'steno'",
        nameOf(url),
      );
      expect(tables).toEqual([{ tablename: 'recipes' }]);
    });

    it.each(
      sliceOf(
        [
          ['mysql://a@h/b', /must be a postgres:\/\/ URL/],
          ['postgres://a@h/b?sslmoed=require', /unknown parameter 'sslmoed'.*\nhint: did you mean sslmode/],
          ['postgres://a:p%ss@h/b', /a % that is not an escape/],
        ],
        3,
      ),
    )('whose URL is wrong: %s', async (url, text) => {
      await refuses(url, 2, text);
    });

    it('whose disk is full, as the server says it', async () => {
      const { url, env, service } = await used();
      await server.query(
        `CREATE FUNCTION steno.full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON steno.item_names EXECUTE FUNCTION steno.full_disk()`,
        nameOf(url),
      );
      const { code, stderr } = await new User({ ...env, STENO_LEDGER: url }).run(order);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/its disk is full\nhint: /)]);
      expect(service.got).toHaveLength(1);
      expect(await server.query('SELECT 1 FROM steno.purchases WHERE number > 1', nameOf(url))).toEqual([]);
    });

    // A disk of its own takes root.
    it.runIf(canMount)('whose disk is really full', async () => {
      const disk = freshFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=777', 'tmpfs', disk]);
      try {
        const place = join(disk, 'space');
        mkdirSync(place);
        const { uid, gid } = statSync(server.data);
        chownSync(place, uid, gid);
        await server.query(`CREATE TABLESPACE small LOCATION '${place}'`);
        await server.query('CREATE DATABASE small TABLESPACE small');
        const { service } = await orderingAccount();
        const ledger = `postgres://postgres@127.0.0.1:${server.port}/small`;
        const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger });
        expect((await user.run(order)).code).toBe(0);
        execFileSync('sh', ['-c', `cat /dev/zero > '${join(disk, 'filler')}' 2>/dev/null || true`]);
        // More than the pages that are there have room for.
        const many = Array.from({ length: 500 }, (_, n) => `https://e.example/${n}/${'x'.repeat(200)}.mp3`);
        const { code, stderr } = await user.run(['order', '--from', '-', '--sku', 'TRANS14'], {
          stdin: many.join('\n'),
        });
        expect([code, stderr]).toEqual([1, expect.stringContaining('its disk is full')]);
        expect(service.got).toHaveLength(1);
        await server.query('DROP DATABASE small');
        await server.query('DROP TABLESPACE small');
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    });
  });

  describe('lets what can do without it go on, with one warning', () => {
    const reads = [['file', '1'], ['transcript', '1', '-o', 'd/'], ['wait', '1'], ['balance']];

    async function reading(ledger: string): Promise<{ user: User }> {
      const { service } = await orderingAccount();
      service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
      service.allow('GET /audiofile/1', fileAnswer(1));
      return {
        user: new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger }),
      };
    }

    it('where nothing listens', async () => {
      const { user } = await reading(`postgres://a@127.0.0.1:${await deadPort()}/b`);
      for (const args of reads) {
        const { code, stderr } = await user.run(args);
        expect([code, args[0]]).toEqual([0, args[0]]);
        const warnings =
          args[0] === 'balance' ? '' : /^warning: the ledger is not used: can't reach [^\n]+\n$/;
        expect(stderr).toEqual(warnings === '' ? '' : expect.stringMatching(warnings));
      }
      const { code, stderr } = await user.run(['files']);
      expect([code, stderr]).toEqual([7, expect.stringContaining("can't reach the shared ledger")]);
    });

    it('where the host never answers: within three seconds, whatever the URL says', async () => {
      const { user } = await reading(`postgres://a@127.0.0.1:${silentPort}/b?connect_timeout=60`);
      const begun = performance.now();
      const { code, stderr } = await user.run(['file', '1', '--quiet']);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: the ledger is not used: /)]);
      // A loaded machine takes its time to start the program.
      expect(performance.now() - begun).toBeLessThan(15_000);
    });

    longOnly('where the host vanishes in the middle without a word', async () => {
      const { url, env, service } = await used();
      const line = await Switch.start(server.port);
      try {
        service.on('GET /audiofile/1', (_, response) => {
          line.freeze();
          response.end(JSON.stringify(fileAnswer(1).body));
        });
        const user = new User({ ...env, STENO_LEDGER: url.replace(`:${server.port}/`, `:${line.port}/`) });
        expect(await user.run(['file', '1', '--quiet'])).toMatchObject({ code: 0, stdout: 'Delivered\n' });
        // A new connection has taken the note.
        expect((await user.run(['files'])).stdout).toContain('\tDelivered\t');
      } finally {
        await line.stop();
      }
    });

    it('where the role may not write', async () => {
      const { url } = await used();
      await server.query(`CREATE ROLE looker LOGIN`);
      await server.query(
        'GRANT USAGE ON SCHEMA steno TO looker; GRANT SELECT ON ALL TABLES IN SCHEMA steno TO looker',
        nameOf(url),
      );
      const { user } = await reading(url.replace('postgres@', 'looker@'));
      const base = await server.query('SELECT base_url FROM steno.accounts', nameOf(url));
      const { code, stderr } = await user.run(['file', '1', '--quiet'], {
        env: { STENO_ACCOUNT: base.length ? 'another' : undefined },
      });
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/^(warning: [^\n]*lacks a privilege[^\n]*\n(hint: [^\n]+\n)?)?$/),
      ]);
    });
  });
});
