/** Proxies that the environment names: used where they are safe for the key. */
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { createServer as createTls } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { account } from '../../support/account.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { complete, Listener, Target } from '../../support/listener.ts';
import { KEY, User } from '../../support/steno.ts';
import { deadAddress, Wire } from '../../support/wire.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listen(server: Server, host = '127.0.0.1'): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Proxy {
  readonly server: Server;
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
  return { server, at: await listen(server), asked, auth };
}

interface SecureService {
  readonly at: string;
  /** The file of its certificate, which a client must know. */
  readonly ca: string;
  readonly key: Buffer;
  readonly cert: Buffer;
  readonly paths: string[];
}

/** A service behind TLS. */
async function secure(): Promise<SecureService> {
  const { key, cert } = makeCertificate();
  const paths: string[] = [];
  const files = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createHttps(files, (got, answer) => {
    paths.push(`${got.method} ${got.url?.split('?')[0]}`);
    got.resume().on('end', () => answer.end('{"balance":"3.00","order":1,"audiofiles":[1]}'));
  });
  return { at: await listen(server), ca: cert, ...files, paths };
}

const established = 'HTTP/1.1 200 Connection established\r\n\r\n';
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

  it('on another machine is used for feeds and forwards over plain http, but never for this machine', async () => {
    const got: string[] = [];
    const far = createHttp((request, answer) => {
      got.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      request.resume();
      answer.end('<rss version="2.0"><channel><title>A show</title></channel></rss>');
    });
    const [, port] = (await listen(far, '0.0.0.0')).split(':');
    // By its name, which does not tell that it is here.
    const env = { HTTP_PROXY: `http://${hostname()}:${port}`, NO_PROXY: 'direct.invalid' };
    const { user } = await account();
    const feed = await user.run(
      ['order', '--feed', 'http://feeds.invalid/1', '--sku', 'TRANS14', '--dry-run'],
      { env },
    );
    expect(feed.stderr).not.toContain("can't reach");
    const target = await Target.start();
    const args = ['--forward-to', 'http://hooks.invalid/in', '--forward-to', target.url];
    const listener = await Listener.start(user, args, { env });
    await listener.post(complete('1'));
    await listener.until(() => got.length > 1 && target.got.length > 0);
    await listener.stop();
    expect(got.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual([
      'GET http://feeds.invalid/1',
      'POST http://hooks.invalid/in',
    ]);
    expect(got.join(' ')).not.toContain(KEY);
    const exempt = await user.run(['order', '--feed', 'http://direct.invalid/1', '--sku', 'TRANS14'], {
      env,
    });
    expect([exempt.code, got.length]).toEqual([7, 2]);
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

  it.each<[string, (socket: Socket) => void, string]>([
    ['closes the connection', (socket) => socket.end(), 'the proxy closed the connection'],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'the proxy dropped the connection'],
    ['sends half an answer', (socket) => socket.end('HTTP/1.1 200 Conn'), 'the proxy closed the connection'],
    [
      'sends 100 and closes',
      (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'),
      'the proxy closed the connection',
    ],
    ['makes a tunnel and closes it', (socket) => socket.end(established), 'the connection was lost'],
    ['makes a tunnel to nowhere', (socket) => socket.end(`${established}hello`), 'it does not speak TLS'],
    ['fails', (socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'), 'refused the tunnel (HTTP 502)'],
  ])(
    'that takes CONNECT and %s is named after a few tries, and no order is sent',
    async (_, serve, cause) => {
      const through = await Wire.afterRequest(serve);
      const base = 'https://127.0.0.1:9/API4';
      const HTTPS_PROXY = `http://ada:pa55word@127.0.0.1:${through.port}`;
      const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: base, HTTPS_PROXY });
      const read = await user.run(['balance', '--timeout', '10s']);
      expect([read.code, through.connections], read.stderr).toEqual([7, 4]);
      expect(read.stderr).toContain(`through the proxy http://127.0.0.1:${through.port}: `);
      expect(read.stderr).toContain(cause);
      // The second one would end with 9 if the first had left an attempt behind.
      for (const tries of [5, 6]) {
        const money = await user.run([...order, '--timeout', '10s']);
        expect([money.code, through.connections], money.stderr).toEqual([7, tries]);
        expect(money.stderr).toContain(`through the proxy http://127.0.0.1:${through.port}: `);
        expect(money.stderr).not.toContain('may have gone through');
        expect(money.stderr + read.stderr).not.toContain('pa55word');
      }
    },
  );

  it.each([
    ['refuses', 'HTTP/1.1 407 Who are you\r\n\r\n', 'the proxy refused the tunnel (HTTP 407)'],
    ['is no proxy', 'SSH-2.0-OpenSSH_9.2\r\n', "the proxy's answer is not HTTP"],
  ])('that %s is asked once', async (_, answer, cause) => {
    const through = await Wire.afterRequest((socket) => socket.end(answer));
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: 'https://127.0.0.1:9/API4' });
    const { code, stderr } = await user.run(['balance'], {
      env: { HTTPS_PROXY: `http://127.0.0.1:${through.port}` },
    });
    expect([code, through.connections]).toEqual([7, 1]);
    expect(stderr).toContain(cause);
  });

  it('that is itself reached over TLS is asked for a tunnel', async () => {
    const [{ at, ca, paths, key, cert }, { server, asked }] = [await secure(), await proxy()];
    const through = createTls({ key, cert }, (socket) => server.emit('connection', socket));
    const user = new User({
      STENO_API_KEY: KEY,
      NODE_EXTRA_CA_CERTS: ca,
      STENO_BASE_URL: `https://${at}/API4`,
    });
    const { code, stdout, stderr } = await user.run(['balance'], {
      env: { HTTPS_PROXY: `https://${await listen(through)}` },
    });
    expect([code, stdout, asked, paths], stderr).toEqual([
      0,
      '3.00\n',
      [`CONNECT ${at}`],
      ['GET /API4/prepay_balance'],
    ]);
  });

  it('that is no address of one is refused', async () => {
    const { service, user } = await account();
    const { code, stderr } = await user.run(['balance'], { env: { HTTP_PROXY: 'socks5://127.0.0.1:1' } });
    expect([code, stderr.includes('HTTP_PROXY'), service.got.length]).toEqual([2, true, 0]);
  });
});

describe.concurrent('a certificate', () => {
  it('that is not trusted ends with 7, and no order is sent', async () => {
    const { at, paths } = await secure();
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: `https://${at}/API4` });
    const { code, stderr } = await user.run(order);
    expect([code, paths]).toEqual([7, []]);
    expect(stderr).toContain('self-signed');
  });
});
