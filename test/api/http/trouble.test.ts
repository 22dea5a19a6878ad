/** What an error of the network or the service says: what happened, where, and what to do about it. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { account } from '../../support/account.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { KEY, type Result, User } from '../../support/steno.ts';
import { Wire } from '../../support/wire.ts';

const { cert, key } = makeCertificate();
const tls = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) =>
  response.end('{"balance":"1.00"}'),
);
await new Promise<void>((done) => tls.listen(0, '127.0.0.1', done));
afterAll(() => tls.close());
const tlsPort = (tls.address() as AddressInfo).port;

const balance = (baseUrl: string, env: Record<string, string> = {}): Promise<Result> =>
  new User({ STENO_API_KEY: KEY, STENO_BASE_URL: baseUrl, ...env }).run(['balance', '--timeout', '20s']);

/** A server without TLS, as it answers whatever comes. */
const plain = (): Promise<Wire> =>
  Wire.start((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));

describe.concurrent('a connection that is not made says', () => {
  it('that the port does not speak TLS', async () => {
    const wire = await plain();
    const { code, stderr } = await balance(`https://127.0.0.1:${wire.port}/API4`);
    expect([code, stderr]).toEqual([
      7,
      `steno: can't reach 127.0.0.1:${wire.port}: it does not speak TLS (https)\n` +
        `hint: if it serves plain http, start the base URL with http://: http://127.0.0.1:${wire.port}/API4\n`,
    ]);
  });

  it('that the port wants TLS', async () => {
    const { code, stderr } = await balance(`http://127.0.0.1:${tlsPort}/API4`);
    expect([code, stderr]).toEqual([7, expect.stringMatching(/hint: .*start the base URL with https:\/\//)]);
  });

  it('which variable names the authority of a certificate', async () => {
    const base = `https://127.0.0.1:${tlsPort}/API4`;
    const { code, stderr } = await balance(base);
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/its certificate is self-signed\nhint: .*NODE_EXTRA_CA_CERTS=/),
    ]);
    expect((await balance(base, { NODE_EXTRA_CA_CERTS: cert })).stdout).toBe('1.00\n');
  });

  it('which host there is none of', async () => {
    const { code, stderr } = await balance('https://no-such-host.invalid/API4');
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/can't reach no-such-host\.invalid: .*\nhint: check the base URL.*HTTPS_PROXY/),
    ]);
  });

  it('which proxy is dead, and never its password', async () => {
    const gone = await plain();
    await gone.close();
    const { code, stderr } = await balance('https://api.example.com/API4', {
      HTTPS_PROXY: `http://me:hidden-word@127.0.0.1:${gone.port}`,
    });
    expect([code, stderr]).toEqual([
      7,
      `steno: can't reach api.example.com through the proxy http://127.0.0.1:${gone.port}: the proxy itself can't be reached: the connection was refused\n` +
        'hint: check the proxy in HTTPS_PROXY; NO_PROXY=api.example.com reaches the service without it\n',
    ]);
  });

  it('that a proxy asks for a password', async () => {
    const proxy = await Wire.afterRequest((socket) => socket.end('HTTP/1.1 407 Who\r\n\r\n'));
    const { code, stderr } = await balance('https://api.example.com/API4', {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    });
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/HTTP 407.*\nhint: .*HTTPS_PROXY=http:\/\/name:password@host:port/),
    ]);
  });

  it('through which proxy a gateway failed', async () => {
    const proxy = await Wire.afterRequest((socket) =>
      socket.end('HTTP/1.1 502 Bad\r\ncontent-length: 0\r\nretry-after: 100\r\n\r\n'),
    );
    const { stderr } = await balance('http://127.0.0.1:9/API4', {
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
    });
    expect(stderr).toContain(`through the proxy http://127.0.0.1:${proxy.port}`);
  });
});

const cut: ReadonlyArray<readonly [string, (socket: Socket) => unknown]> = [
  ['by its length', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"bal')],
  ['in a chunk', (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{"bal')],
  [
    'between chunks',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{"\r\n'),
  ],
  ['in its head', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ['before it began', (socket) => socket.end()],
  [
    'by a reset',
    (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"bal', () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
  ],
];

describe.concurrent('an answer that is cut', () => {
  it.each(cut)('%s loses the connection', async (how, serve) => {
    const wire = await Wire.afterRequest(serve);
    const { code, stderr } = await balance(wire.baseUrl);
    expect([code, stderr]).toEqual([7, expect.stringContaining('the connection was lost')]);
    expect(stderr).not.toContain("can't reach");
    // Where the head of an answer came, https is not what is missing.
    const isEarly = how === 'in its head' || how === 'before it began';
    expect(stderr.includes('https://')).toBe(isEarly);
  });
});

describe.concurrent('a status', () => {
  it.each([
    [500, 'failed'],
    [502, 'failed'],
    [503, 'failed'],
    [504, 'failed'],
    [507, 'failed'],
    [400, 'refused'],
    [402, 'refused'],
    [429, 'refused'],
  ])('%i is: the service %s', async (status, verdict) => {
    const { service, user } = await account();
    service.on('*', { status, body: { message: 'so it is' }, headers: { 'retry-after': '3600' } });
    const { code, stderr } = await user.run(['balance']);
    expect([code, stderr]).toEqual([
      1,
      `steno: the service ${verdict} (HTTP ${status}: so it is)\nhint: the service asks to wait 1h\n`,
    ]);
  });

  it.each([
    [['file', '12345'], 'audiofile 12345'],
    [['wait', '12345'], 'audiofile 12345'],
    [['track', '12345'], 'audiofile 12345'],
    [['transcript', 'a+b', '--format', 'srt'], 'a transcript of audiofile a+b as srt'],
    [['transcript', '5', '--deprecated-path'], 'a transcript of audiofile 5 as txt'],
    [['invoice', '777'], 'invoice 777'],
    [['upgrade', '5', '--sku', 'TSTMP1'], 'audiofile 5'],
    [['refund', '5', '--yes'], 'audiofile 5'],
  ])('404 names what was not found: %j', async (args, what) => {
    const { service, user } = await account();
    service.allow('*', { status: 404, body: { message: 'no' } });
    const { code, stderr } = await user.run(args);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`does not know ${what} (HTTP 404: no)`)]);
  });

  it.each([
    ['404', { status: 404, body: '<html><h1>Not Found</h1></html>' }, 4],
    ['a web page', { body: '<!doctype html><html><title>Welcome</title></html>' }, 1],
  ])('%s of an address without /API4 says what is missing', async (_, answer, exit) => {
    const { service, user } = await account();
    service.allow('*', answer);
    const base = service.baseUrl.replace(/\/API4$/, '');
    const { code, stderr } = await user.run(['balance', '--base-url', base]);
    expect([code, stderr]).toEqual([
      exit,
      expect.stringContaining(
        `does not end in /API4; if that is missing, set base-url or STENO_BASE_URL to ${base}/API4`,
      ),
    ]);
  });

  it('of a server that wants TLS says so', async () => {
    const { service, user } = await account();
    service.on('*', { status: 400, body: '<h1>The plain HTTP request was sent to HTTPS port</h1>' });
    expect((await user.run(['balance'])).stderr).toContain('hint: start the base URL with https://');
  });
});

describe.concurrent('a key that is refused', () => {
  const refused = async (args: string[], env: Record<string, string | undefined> = {}): Promise<string> => {
    const { service, user } = await account({ STENO_API_KEY: undefined, ...env });
    for (const name of ['default', 'work'])
      await user.run(['login', '--no-verify', '--profile', name], { stdin: KEY });
    service.on('*', { status: 401, body: { message: 'no' } });
    const { code, stderr } = await user.run(['balance', ...args]);
    expect(code).toBe(3);
    expect(stderr).not.toContain(KEY);
    return stderr;
  };

  it.each([
    [
      'the environment',
      [],
      { STENO_API_KEY: 'other-key-123' },
      /came from STENO_API_KEY, .*correct or unset it/,
    ],
    ['the flag', ['--api-key', 'other-key-123'], {}, /came from --api-key/],
    ['a profile', ['--profile', 'work'], {}, /came from profile work; .*steno login --profile work\n/],
    ['the default profile', [], {}, /came from profile default; .*steno login\n/],
  ])('is said to come from %s', async (_, args, env, hint) => {
    expect(await refused(args, env)).toMatch(hint);
  });

  it('is said to come from a command', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    await user.run(['config', 'set', 'api-key-command', 'echo some-key-123']);
    service.on('*', { status: 401, body: { message: 'no' } });
    expect((await user.run(['balance'])).stderr).toMatch(/key command of profile default.*api-key-command/);
  });
});
