/** Reads are asked for again where that may help, within bounds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { type Answer, Service } from '../../support/server.ts';
import { finished, KEY, User } from '../../support/steno.ts';
import { deadAddress, Wire } from '../../support/wire.ts';

const good = { body: { balance: '1.00' } };
const reads: ReadonlyArray<readonly [string[], string, object | string]> = [
  [['balance'], 'GET /prepay_balance', { balance: '1.00' }],
  [['file', '5'], 'GET /audiofile/5', { audiofile: { id: 5 } }],
  [['invoice', '5'], 'POST /invoice/5', { id: 5 }],
  [['transcript', '5'], 'POST /audiofile/5/transcript.txt', 'Hello.'],
  [['webhook', 'get'], 'GET /webhook', { webhook: null }],
  [['api', 'GET', '/x'], 'GET /x', {}],
];

describe.concurrent('a read', () => {
  it.each(reads)('steno %j is asked for again after a failure that may pass', async (args, route, body) => {
    const { service, user } = await account();
    service.on(route, { status: 503 }, { body });
    const { code, stderr } = await user.run(args);
    expect(code, stderr).toBe(0);
    expect(service.got).toHaveLength(2);
  });

  it.each([500, 502, 503, 504, 429, 408])(
    'is asked for again after %i, and not without end',
    async (status) => {
      const { service, user } = await account();
      service.on('*', { status, body: { message: 'not now' }, headers: { 'retry-after': '0' } });
      const { code, stderr } = await user.run(['balance']);
      expect(code).toBe(1);
      expect(stderr).toContain('not now');
      expect(service.got.length).toBeGreaterThan(1);
      expect(service.got.length).toBeLessThan(8);
    },
  );

  it.each([
    [400, 1],
    [401, 3],
    [403, 3],
    [404, 4],
    [410, 1],
  ])('is not asked for again after %i, and ends with %i', async (status, exit) => {
    const { service, user } = await account();
    service.on('*', { status, body: { message: 'no' } });
    const { code, stderr } = await user.run(['balance', '--json']);
    expect(code).toBe(exit);
    expect(jsonError(stderr)).toMatchObject({ status });
    expect(service.got).toHaveLength(1);
  });

  it.each([
    ['says nothing of a pause', {}],
    ['asks for none', { 'retry-after': '0' }],
    ['asks for one that is over', { 'retry-after': 'Sat, 10 Jan 2026 11:00:00 GMT' }],
  ])('waits longer each time where the service %s', async (_, headers) => {
    const { service, user } = await account();
    service.on('*', { status: 503, headers });
    await user.run(['balance']);
    const [a = 0, b = 0, c = 0] = service.got.map((got) => got.at);
    expect(b - a).toBeGreaterThanOrEqual(100);
    expect(c - a).toBeGreaterThanOrEqual(350);
  });

  it.each<[string, () => string]>([
    ['seconds', () => '2'],
    ['a date', () => new Date(Date.now() + 3000).toUTCString()],
  ])('waits as long as Retry-After asks in %s', async (_, after) => {
    const { service, user } = await account();
    const later: Answer = (__, response) => {
      response.writeHead(429, { 'retry-after': after() }).end();
    };
    service.on('*', later, good);
    const { code, stdout } = await user.run(['balance']);
    expect([code, stdout]).toEqual([0, '1.00\n']);
    const [first, second] = service.got;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1950);
  });

  it('does not wait for an hour, but says that it is asked to', async () => {
    const { service, user } = await account();
    service.on('*', { status: 503, headers: { 'retry-after': '3600' } });
    const { code, stderr } = await user.run(['balance']);
    expect(code).toBe(1);
    expect(stderr).toContain('hint: the service asks to wait 1h');
    expect(service.got).toHaveLength(1);
  });

  it('that tries again for others holds none of them up where its answer can not be read', async () => {
    const { service, user } = await account();
    const pause: Answer = { status: 429, headers: { 'retry-after': '1' } };
    const ids = Array.from({ length: 8 }, (_, at) => String(at));
    const file: Answer = ({ path }, response) =>
      void response.end(
        JSON.stringify({ audiofile: { id: path.split('/').at(-1), statename: 'Delivered' } }),
      );
    service.on('*', ...ids.map(() => pause), { body: 'no JSON' }, file);
    const { code, stdout, stderr } = await user.run(['file', ...ids, '--quiet', '--timeout', '20s']);
    expect([code, stdout.split('\n').length], stderr).toEqual([10, 8]);
    expect(stderr).toContain("the service's answer can't be read: no JSON");
  });

  it('does not wait longer than --timeout leaves', async () => {
    const { service, user } = await account();
    service.on('*', { status: 503, headers: { 'retry-after': '20' } });
    const started = Date.now();
    const { code } = await user.run(['balance', '--timeout', '2s']);
    expect([1, 6]).toContain(code);
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  it('is asked for again when the connection is reset, and ends with 7 if that goes on', async () => {
    let left = 1;
    const flaky = await Wire.afterRequest((socket) => {
      if (left-- > 0) socket.resetAndDestroy();
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"balance":"2"}');
    });
    const broken = await Wire.afterRequest((socket) => socket.resetAndDestroy());
    const user = new User({ STENO_API_KEY: KEY });
    const [first, second, third] = await Promise.all([
      user.run(['balance', '--base-url', flaky.baseUrl]),
      user.run(['balance', '--base-url', broken.baseUrl]),
      user.run(['balance', '--base-url', await deadAddress()]),
    ]);
    expect([first.code, first.stdout, flaky.connections]).toEqual([0, '2\n', 2]);
    expect([second.code, third.code]).toEqual([7, 7]);
    expect(second.stderr).toContain('the connection was lost');
    expect(third.stderr).toContain('the connection was refused');
    expect(broken.connections).toBeGreaterThan(1);
    expect(broken.connections).toBeLessThan(8);
  });

  it.each(['set https://example.com/hook', 'test TRANSCRIPT_COMPLETE'])(
    'but webhook %s is sent once',
    async (rest) => {
      const { service, user } = await account();
      service.on('*', { status: 503 });
      const { code } = await user.run(['webhook', ...rest.split(' ')]);
      expect([code, service.got.length]).toEqual([1, 1]);
    },
  );

  it.each([301, 302, 307])(
    'does not follow a redirect with status %i, and sends the key nowhere else',
    async (status) => {
      const target = await Service.start();
      target.never('*', good);
      const { service, user } = await account();
      service.on('*', { status, headers: { location: `${target.baseUrl}/prepay_balance` } });
      const { code, stderr } = await user.run(['balance']);
      expect([code, service.got.length, target.got.length]).toEqual([1, 1, 0]);
      expect(stderr).toContain('hint: redirects are not followed');
    },
  );

  const signature = 'X-Amz-Algorithm=a&X-Amz-Credential=c&X-Amz-Date=d&X-Amz-Expires=1&X-Amz-SignedHeaders=h';
  it.each([
    ['a password', 'http://ada:pa55word@other.test/x', ' to http://other.test/x ('],
    ['a password and no scheme', '//ada:pa55word@other.test/x', ' to http://other.test/x ('],
    [
      'a signature',
      `https://other.test/x?a=1&${signature}&X-Amz-Signature=pa55word`,
      ' to https://other.test/x?a=1 (',
    ],
    [
      'the key',
      `https://other.test/x?api_key=${encodeURIComponent(KEY)}`,
      ' to https://other.test/x?api_key=***',
    ],
    ['a path', '../y', '/y ('],
    ['a great length', `https://other.test/${'x'.repeat(5000)}pa55word`, 'xxx… ('],
    ['control characters', 'https://other.test/\u009b31mred', ' to https://other.test/'],
    ['what is no URL', 'https://[', ' to https://[ ('],
    ['nothing', undefined, 'the service redirects (HTTP 302)'],
  ])('names the target of a redirect that holds %s', async (_, location, shown) => {
    const wire = await Wire.afterRequest((socket) => {
      const header = location === undefined ? '' : `location: ${location}\r\n`;
      socket.end(Buffer.from(`HTTP/1.1 302 Found\r\n${header}content-length: 0\r\n\r\n`, 'latin1'));
    });
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: wire.baseUrl });
    const { code, stderr } = await user.run(['balance']);
    expect([code, wire.connections]).toEqual([1, 1]);
    expect(stderr).toContain(shown);
    expect(stderr).toMatch(/^steno: [ -~…]*\nhint: redirects are not followed[ -~]*\n$/);
    expect(stderr).not.toMatch(/pa55word|x{250}|secret/);
  });

  it.each([
    ['nothing', '', 'it is empty'],
    ['a page', '<html><title>Welcome</title></html>', 'Welcome'],
    ['half a document', '{"balance":', '{"balance":'],
  ])('with a success that holds %s ends with 1 and says so', async (_, body, says) => {
    const { service, user } = await account();
    service.on('*', { body });
    // What tells of the webhook may be plain text, but this is none.
    for (const args of [['balance'], ['webhook', 'get'], ['webhook', 'set', 'https://h/hook']]) {
      const { code, stdout, stderr } = await user.run(args);
      expect([args, code, stdout]).toEqual([args, 1, '']);
      expect(stderr).toContain("the service's answer can't be read");
      expect(stderr).toContain(says);
    }
  });

  it('stops at once on Ctrl-C, also while it waits to ask again', async () => {
    const { service, user } = await account();
    const asked = new Promise<void>((done) => {
      service.on('*', (_, response) => {
        response.writeHead(503, { 'retry-after': '30' }).end();
        setTimeout(done, 150);
      });
    });
    const child = user.start(['balance']);
    const end = finished(child);
    await asked;
    const started = Date.now();
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout, stderr]).toEqual([130, '', 'steno: interrupted\n']);
    expect(Date.now() - started).toBeLessThan(2000);
  });
});

describe('a time limit', () => {
  it.each<[string, Answer]>([
    ['hangs', () => {}],
    [
      'drips',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('ends a read that %s, with 6 and in about that time', async (_, answer) => {
    const { service, user } = await account();
    service.on('*', answer);
    const [nothing] = await Promise.all([user.run(['skus'])]);
    expect(nothing.code).toBe(0);
    const started = Date.now();
    const [a, b] = await Promise.all([
      user.run(['balance', '--timeout', '500ms']),
      user.run(['transcript', '5', '--timeout', '500ms']),
    ]);
    const took = Date.now() - started;
    expect([a.code, b.code]).toEqual([6, 6]);
    expect(a.stderr).toMatch(/^steno: 127\.0\.0\.1:\d+ did not answer in time\nhint: /);
    expect(took).toBeGreaterThan(500);
    expect(took).toBeLessThan(5000);
    expect(service.got).toHaveLength(2);
  });

  it('holds while the clock is set back', async () => {
    const { service, user } = await account();
    const backwards = join(user.home, 'backwards.cjs');
    writeFileSync(
      backwards,
      'const start = Date.now(); Date.now = () => start - Math.round(process.uptime() * 3_600_000);',
    );
    // The first try uses up some time, the second one never ends by itself.
    service.on('*', { status: 503 }, () => {});
    const running = user.start(['balance', '--timeout', '1s'], {
      env: { NODE_OPTIONS: `--require ${backwards}` },
    });
    setTimeout(() => running.kill('SIGKILL'), 10_000);
    expect((await finished(running)).code).toBe(6);
    expect(service.got).toHaveLength(2);
  });

  it('comes from the profile where no flag is given', async () => {
    const { service, user } = await account();
    service.on('*', () => {});
    await user.run(['config', 'set', 'timeout', '300ms']);
    const { code } = await user.run(['balance']);
    expect(code).toBe(6);
  });
});

describe.concurrent('an answer that is too large', () => {
  const endless: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(1 << 20, 'a');
    response.write('{"balance":"');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', more);
    };
    more();
  };

  it('is refused before it fills the memory', async () => {
    const { service, user } = await account();
    service.on('*', endless);
    const child = user.start(['balance']);
    const { code, stderr } = await finished(child);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^steno: the service's answer can't be read: the answer is larger than 16 MB\n$/);
    expect(service.got).toHaveLength(1);
  });

  it('is refused in packed form too', async () => {
    const { service, user } = await account();
    const bomb = gzipSync(Buffer.concat([Buffer.from('{"balance":"'), Buffer.alloc(20 << 20, 'a')]));
    service.on('*', { body: bomb, headers: { 'content-encoding': 'gzip' } });
    const { code, stderr } = await user.run(['balance']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('larger than 16 MB')]);
  });

  it('still gives its message where it is an error', async () => {
    const { service, user } = await account();
    const body = `<html><title>Down for repair</title>${'<p>blah</p>'.repeat(20_000)}</html>`;
    service.on('*', { status: 400, body });
    const { stderr } = await user.run(['balance']);
    expect(stderr).toContain('Down for repair');
  });
});

describe.concurrent('an answer in another encoding', () => {
  it.each([
    ['gzip', Buffer.from('{"balance":"1.00"}')],
    ['gzip', Buffer.from('1f8b0800000000000003ab564a4acc49cc4b4e55b25232d433', 'hex')],
    ['deflate', Buffer.from('{"balance":"1.00"}')],
    ['br', Buffer.from('ffffffffffff', 'hex')],
  ])('is refused and not asked for again where it is not valid %s', async (encoding, body) => {
    const { service, user } = await account();
    service.on('*', { body, headers: { 'content-encoding': encoding } });
    const balance = await user.run(['balance']);
    expect([balance.code, service.got.length]).toEqual([1, 1]);
    expect(balance.stderr).toBe(
      `steno: the service's answer can't be read: the answer is not valid ${encoding}\n`,
    );
    const transcript = await user.run(['transcript', '5']);
    expect([transcript.code, service.got.length]).toEqual([1, 2]);
    expect(transcript.stderr).toContain(`the answer is not valid ${encoding}`);
  });

  it('that is not known never becomes a transcript', async () => {
    const { service, user } = await account();
    service.on('*', { body: Buffer.from('28b52ffd0400', 'hex'), headers: { 'content-encoding': 'zstd' } });
    const { code, stdout, stderr } = await user.run(['transcript', '5']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('steno: the transcript has an unknown encoding: zstd\n');
    expect(listing(user.home)).not.toContain('5.txt');
  });

  it('that is not known is named where nothing can be read, and read where it can', async () => {
    const { service, user } = await account();
    const headers = { 'content-encoding': 'zstd' };
    service.on('*', { body: Buffer.from('28b52ffd0400', 'hex'), headers }, { ...good, headers });
    for (const args of [['webhook', 'set', 'https://h/hook'], ['balance']]) {
      const { code, stdout, stderr } = await user.run(args);
      if (args[0] === 'balance') expect([code, stdout]).toEqual([0, '1.00\n']);
      else expect([code, stderr]).toEqual([1, expect.stringContaining('its encoding is unknown: zstd')]);
    }
  });
});
