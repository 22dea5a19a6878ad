/** The certificate of the server of a shared ledger: one that can't be trusted stops an order. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshFolder } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { sliceOf } from '../../support/slices.ts';
import { KEY, type Result, User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];

function openssl(folder: string, ...args: string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
}

/** A certificate for these names, signed by the CA of the folder. */
function makeCertificate(folder: string, name: string, names: string): void {
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
  const request = ['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`];
  openssl(folder, ...request, '-keyout', `${name}.key`, '-out', `${name}.csr`);
  const sign = ['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl(folder, ...sign, '-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.crt`);
}

function makeCa(folder: string): void {
  const ca = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test CA'];
  openssl(folder, ...ca, '-keyout', 'ca.key', '-out', 'ca.crt');
}

describe.skipIf(!postgresFolder)('the certificate of a shared ledger', () => {
  const folder = freshFolder();
  const foreign = freshFolder();
  let server: PostgresServer;
  let plain: PostgresServer;
  beforeAll(async () => {
    for (const each of [folder, foreign]) makeCa(each);
    makeCertificate(folder, 'address', 'IP:127.0.0.1');
    makeCertificate(folder, 'name', 'DNS:localhost');
    makeCertificate(folder, 'other', 'DNS:db.example');
    server = await startPostgres(['fsync = off']);
    plain = await startPostgres(['fsync = off']);
    await present('address');
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    await plain?.stop();
  });

  /** Has the server show this certificate from now on. */
  async function present(name: string): Promise<void> {
    const { uid, gid } = statSync(server.data);
    for (const ext of ['crt', 'key']) {
      const path = join(server.data, `${name}.${ext}`);
      copyFileSync(join(folder, `${name}.${ext}`), path);
      chownSync(path, uid, gid);
      chmodSync(path, 0o600);
    }
    await server.query(`ALTER SYSTEM SET ssl_cert_file = '${name}.crt'`);
    await server.query(`ALTER SYSTEM SET ssl_key_file = '${name}.key'`);
    await server.query('ALTER SYSTEM SET ssl = on');
    await server.query('SELECT pg_reload_conf()');
    await until(async () => {
      const [row] = await server.query('SHOW ssl_cert_file');
      return row?.ssl_cert_file === `${name}.crt`;
    }, 'the new certificate');
  }

  async function orderWith(
    parameters: string,
    host = '127.0.0.1',
    at = server,
  ): Promise<Result & { sent: number }> {
    const { service } = await orderingAccount();
    const database = new URL(await at.newDatabase()).pathname;
    const ledger = `postgres://postgres@${host}:${at.port}${database}?${parameters}`;
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger });
    return { ...(await user.run(order)), sent: service.got.length };
  }

  const ca = (of = folder): string => `sslrootcert=${encodeURIComponent(join(of, 'ca.crt'))}`;

  it.each(
    sliceOf(
      [
        ['verified with its CA', () => `sslmode=verify-full&${ca()}`],
        ['required, which verifies it too', () => `sslmode=require&${ca()}`],
        ['not verified', () => 'sslmode=no-verify'],
        ['not used', () => 'sslmode=disable'],
      ],
      2,
    ),
  )('lets an order go through where it is %s', async (_, parameters) => {
    const { code, stderr } = await orderWith(parameters());
    expect([code, stderr]).toEqual([0, '']);
  });

  it('counts for the name of the host too', async () => {
    await present('name');
    const { code, stderr } = await orderWith(`sslmode=verify-full&${ca()}`, 'localhost');
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each([
    ['nobody here trusts', 'address', () => 'sslmode=verify-full'],
    ['nobody here trusts, and TLS is only required', 'address', () => 'sslmode=require'],
    ['another CA has signed', 'address', () => `sslmode=verify-full&${ca(foreign)}`],
    ['is for another host', 'other', () => `sslmode=verify-full&${ca()}`],
    ['is for localhost, where an address was asked for', 'name', () => `sslmode=verify-full&${ca()}`],
  ])('stops an order where it is one that %s', async (_, name, parameters) => {
    await present(name);
    const { code, stdout, stderr, sent } = await orderWith(parameters());
    expect([code, stdout, sent]).toEqual([7, '', 0]);
    expect(stderr).toMatch(
      /^steno: the shared ledger at \S+: its certificate is not trusted \(.*\)\nhint: .*sslrootcert/,
    );
  });

  it('must be there where it is asked for', async () => {
    const { code, stderr, sent } = await orderWith('sslmode=require', '127.0.0.1', plain);
    expect([code, sent]).toEqual([7, 0]);
    expect(stderr).toMatch(/does not support SSL/);
  });

  it('is verified with a file that is there', async () => {
    const { code, stderr, sent } = await orderWith('sslmode=verify-full&sslrootcert=/no/such/file');
    expect([code, sent]).toEqual([2, 0]);
    expect(stderr).toMatch(/^steno: can't read sslrootcert \/no\/such\/file: .*\n/);
  });
});
