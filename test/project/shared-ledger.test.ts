/** The shared ledger of the help and the README, tried with a real server: SQL, settings and CI job. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CiRunner, leafOf, readmeJob, repositoryWith } from '../support/ci-runner.ts';
import { audio, orderingAccount } from '../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { blockOf, heredocOf, installedTools } from '../support/readme.ts';
import { KEY, User } from '../support/steno.ts';

const statementsOf = (sql: string): string[] => sql.split(/;\n|\n(?=\\)/).filter((line) => line.trim());
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const talks = heredocOf('talks.csv');
const urls = talks.match(/https?:[^,\s]+/g) ?? [];

/** The SQL of `steno help shared-ledger` that begins so. */
async function helpSql(start: string): Promise<string> {
  const { stdout } = await new User().run(['help', 'shared-ledger']);
  const found = new RegExp(`^ {2}${start}.*\\n(?: {2}.*\\n)+`, 'm').exec(stdout)?.[0] ?? '';
  return found.replace(/^ {2}/gm, '');
}

describe.skipIf(!postgresFolder)('the shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    for (const name of ['steno', 'administrator']) await server.query(`CREATE ROLE ${name} LOGIN`);
  });
  afterAll(() => server?.stop());

  const urlFor = (role: string, database: string): string =>
    `postgres://${role}@127.0.0.1:${server.port}/${database}`;

  /** Runs statements as a role; gives the errors. */
  async function failuresOf(url: string, statements: readonly string[]): Promise<string[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const failures: string[] = [];
    for (const sql of statements)
      await client.query(sql).catch((error: Error) => failures.push(error.message));
    await client.end();
    return failures;
  }

  /** A database for the role `steno` as the help sets it up, under another name. */
  async function ownDatabase(name: string): Promise<string> {
    const [before = '', after = ''] = (await helpSql('CREATE ROLE')).split('\\connect steno\n');
    const onServer = statementsOf(before).filter((sql) => !sql.startsWith('CREATE ROLE'));
    expect(onServer).toHaveLength(3);
    for (const sql of onServer) await server.query(sql.replace('DATABASE steno', `DATABASE ${name}`));
    for (const sql of statementsOf(after)) await server.query(sql, name);
    return urlFor('steno', name);
  }

  /** Orders, reads and receives as the role. */
  async function works(ledger: string): Promise<void> {
    const { service } = await orderingAccount();
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger });
    for (const line of [
      ['order', audio('a'), '--sku', 'TRANS14'],
      ['sync', '--download', 'd'],
      ['track', '7'],
      ['files'],
      ['ledger', 'export', '-o', 'ledger.jsonl'],
      ['ledger', 'import', 'ledger.jsonl'],
    ]) {
      const { code, stderr } = await user.run(line);
      expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
    }
    const listening = user.run(['listen', '--port', '0', '--timeout', '1s']);
    expect((await listening).code).toBe(6);
  }

  it('is set up by its SQL, with a role that may do nothing else', async () => {
    const ledger = await ownDatabase('own');
    await works(ledger);
    const others = [
      'CREATE SCHEMA other',
      'CREATE TABLE public.other (n integer)',
      'CREATE TEMP TABLE other (n integer)',
    ];
    const failures = await failuresOf(ledger, others);
    expect(failures).toHaveLength(3);
    expect(failures.every((text) => /permission denied/.test(text))).toBe(true);
    await expect(failuresOf(urlFor('administrator', 'own'), [])).rejects.toThrow(/permission denied/);
  }, 60_000);

  it('is set, and takes over the local one, with the lines of the README', async () => {
    const { service } = await orderingAccount();
    const ledger = await ownDatabase('moved');
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
    expect((await user.run(['order', audio('a'), '--sku', 'TRANS14'])).code).toBe(0);
    const lines = blockOf('settings').trim().split('\n');
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const words = [...line.replaceAll(/postgres:\S+/g, ledger).matchAll(/"([^"]*)"|(\S+)/g)];
      const args = words
        .slice(1)
        .map(([, quoted, bare = '']) => quoted?.replace(/^pass.*/, 'echo secret') ?? bare);
      const { code, stderr } = await user.run(args);
      expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
    }
    expect((await user.run(['files', '--quiet'])).stdout).toBe('1\n');
    const colleague = new User({
      ...{ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger, STENO_ACCOUNT: 'acme' },
    });
    expect((await colleague.run(['order', audio('a'), '--sku', 'TRANS14'])).code).toBe(9);
  }, 60_000);

  it('can be left to an administrator, who makes the tables alone', async () => {
    await server.query('CREATE DATABASE administered OWNER administrator');
    const [admin, ledger] = [urlFor('administrator', 'administered'), urlFor('steno', 'administered')];
    expect(await failuresOf(admin, statementsOf(await helpSql('CREATE SCHEMA steno;')))).toEqual([]);
    const early = await new User({ STENO_LEDGER: ledger }).run(['files']);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('lacks a privilege')]);
    expect((await new User({ STENO_LEDGER: admin }).run(['ledger', 'migrate'])).code).toBe(0);
    await works(ledger);
    expect(
      await failuresOf(ledger, ['DROP TABLE steno.files', 'ALTER TABLE steno.files DROP COLUMN url']),
    ).toHaveLength(2);
  }, 60_000);

  it('keeps two runs of the CI job and a laptop from ordering twice', async () => {
    const job = readmeJob({ shared: true });
    expect(Object.keys(job.env)).toEqual([
      ...['STENO_API_KEY', 'STENO_BASE_URL', 'STENO_LEDGER', 'STENO_ACCOUNT', 'PGPASSWORD'],
    ]);
    const { service } = await orderingAccount();
    const ledger = await ownDatabase('ci');
    const account = {
      STENO_BASE_URL: service.baseUrl,
      STENO_LEDGER: ledger,
      STENO_ACCOUNT: job.env.STENO_ACCOUNT,
    };
    const runner = new CiRunner(job, {
      files: repositoryWith(talks, version),
      env: { PATH: installedTools() },
      secrets: { STENO_API_KEY: KEY, STENO_LEDGER_PASSWORD: 'a long one' },
      vars: { STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger },
    });
    const laptop = new User({ ...account, STENO_API_KEY: KEY });
    const [first] = urls;
    expect((await laptop.run(['order', first ?? '', '--sku', 'TRANS14'])).code).toBe(0);
    const runs = await Promise.all([runner.run(), runner.run()]);
    expect(runs.map(({ failed }) => failed)).toEqual([false, false]);
    for (const name of ['restore', 'save'])
      expect(
        runs.map((each) => leafOf(each, name)?.ran),
        name,
      ).toEqual([false, false]);
    const ordered = service.calls('POST /order_url').flatMap(({ body }) => body?.url as string[]);
    expect(ordered.sort()).toEqual([...urls].sort());
    const third = await runner.run();
    expect(readdirSync(join(third.workspace, 'transcripts'))).toHaveLength(urls.length * 2);
    expect((await laptop.run(['files', '--quiet'])).stdout.trim().split('\n')).toHaveLength(urls.length);
  }, 120_000);
});
