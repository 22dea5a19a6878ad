/** Proxies that the environment names: used where they are safe for the key. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { account } from '../../support/account.ts';
import { freshFolder } from '../../support/files.ts';
import { KEY, User } from '../../support/steno.ts';
import { deadAddress } from '../../support/wire.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Proxy {
  readonly at: string;
  /** The first lines of what it was sent. */
  readonly asked: string[];
  readonly auth: Array<string | undefined>;
}

/** A proxy that passes on what it is asked for, or refuses to. */
async function proxy(refuse = false): Promise<Proxy> {
  const [asked, auth]: [string[], Array<string | undefined>] = [[], []];
  const note = (got: IncomingMessage): void => {
    asked.push(`${got.method} ${got.url}`);
    auth.push(got.headers['proxy-authorization']);
  };
  const server = createHttp((got, answer) => {
    note(got);
    const onward = request(got.url ?? '', { method: got.method, headers: got.headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    got.pipe(onward);
  });
  server.on('connect', (got: IncomingMessage, socket) => {
    note(got);
    if (refuse) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const [host = '', port = ''] = (got.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    return undefined;
  });
  return { at: await listen(server), asked, auth };
}

/** A service behind TLS, and the certificate that a client must know. */
async function secure(): Promise<{ at: string; ca: string; paths: string[] }> {
  const folder = freshFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
    ],
    { stdio: 'ignore' },
  );
  const paths: string[] = [];
  const server = createHttps({ key: readFileSync(key), cert: readFileSync(cert) }, (got, answer) => {
    paths.push(`${got.method} ${got.url?.split('?')[0]}`);
    got.resume().on('end', () => answer.end('{"balance":"3.00","order":1,"audiofiles":[1]}'));
  });
  return { at: await listen(server), ca: cert, paths };
}

const order = ['order', 'https://h/a.mp3', '--sku', 'TRANS14'];

describe.concurrent('a proxy', () => {
  it('for http on this machine is asked in the absolute form', async () => {
    const { service, user } = await account();
    service.on('*', { body: { balance: '3.00' } });
    const { at, asked, auth } = await proxy();
    const { code, stdout } = await user.run(['balance'], { env: { HTTP_PROXY: `http://ada:pw%21@${at}` } });
    expect([code, stdout, service.got.length]).toEqual([0, '3.00\n', 1]);
    expect(asked).toEqual([`GET ${service.baseUrl}/prepay_balance?api_key=${encodeURIComponent(KEY)}`]);
    expect(auth).toEqual([`Basic ${Buffer.from('ada:pw!').toString('base64')}`]);
  });

  it('for https is asked for a tunnel, and never sees the key', async () => {
    const [{ at, ca, paths }, { at: through, asked }] = await Promise.all([secure(), proxy()]);
    const user = new User({ STENO_API_KEY: KEY, NODE_EXTRA_CA_CERTS: ca, HTTPS_PROXY: through });
    const base = ['--base-url', `https://${at}/API4`];
    const [balance, placed] = [
      await user.run(['balance', ...base]),
      await user.run([...order, ...base, '--quiet']),
    ];
    expect([balance.code, balance.stdout, placed.code, placed.stdout]).toEqual([0, '3.00\n', 0, '1\n']);
    expect(asked).toEqual([`CONNECT ${at}`, `CONNECT ${at}`]);
    expect(paths).toEqual(['GET /API4/prepay_balance', 'POST /API4/order_url']);
  });

  it('on another machine is never sent the key in the clear', async () => {
    const { service, user } = await account();
    service.on('*', { body: { balance: '3.00' } });
    const { code } = await user.run(['balance'], { env: { http_proxy: 'http://proxy.invalid:3128' } });
    expect([code, service.got.length]).toEqual([0, 1]);
  });

  it.each(['*', '127.0.0.1', 'example.com, 127.0.0.1'])(
    'is left out where NO_PROXY is %s',
    async (exempt) => {
      const { service, user } = await account();
      service.on('*', { body: { balance: '3.00' } });
      const { at, asked } = await proxy();
      const { code } = await user.run(['balance'], { env: { HTTP_PROXY: `http://${at}`, NO_PROXY: exempt } });
      expect([code, asked, service.got.length]).toEqual([0, [], 1]);
    },
  );

  it('is used where NO_PROXY names another host or port', async () => {
    const { service, user } = await account();
    service.on('*', { body: { balance: '3.00' } });
    const { at, asked } = await proxy();
    await user.run(['balance'], {
      env: { HTTP_PROXY: `http://${at}`, NO_PROXY: '27.0.0.1,127.0.0.1:1,.example.com' },
    });
    expect(asked).toHaveLength(1);
  });

  it('that refuses or is not there sends no order: exit 7, not 11', async () => {
    const [{ at, ca, paths }, { at: through }] = await Promise.all([secure(), proxy(true)]);
    const dead = new URL(await deadAddress()).host;
    const user = new User({
      STENO_API_KEY: KEY,
      NODE_EXTRA_CA_CERTS: ca,
      STENO_BASE_URL: `https://${at}/API4`,
    });
    const refused = await user.run(order, { env: { HTTPS_PROXY: through } });
    const gone = await user.run(order, { env: { HTTPS_PROXY: `http://${dead}` } });
    expect([refused.code, gone.code, paths], refused.stderr + gone.stderr).toEqual([7, 7, []]);
  });

  it('that is no address of one is refused', async () => {
    const { service, user } = await account();
    const { code, stderr } = await user.run(['balance'], { env: { HTTP_PROXY: 'socks5://127.0.0.1:1' } });
    expect([code, stderr.includes('HTTP_PROXY'), service.got.length]).toEqual([2, true, 0]);
  });
});

describe.concurrent('a certificate', () => {
  it('that nobody vouches for ends with 7, and no order is sent', async () => {
    const { at, paths } = await secure();
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: `https://${at}/API4` });
    const { code, stderr } = await user.run(order);
    expect([code, paths]).toEqual([7, []]);
    expect(stderr).toContain('self-signed');
  });
});
