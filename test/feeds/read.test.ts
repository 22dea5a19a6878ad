/** Where a feed comes from: an address, over real HTTP on loopback, or a file. */
import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { getPublic, type PublicAnswer, type PublicRequest } from '../../src/api/http/keyless.ts';
import type { Feed } from '../../src/feeds/feed.ts';
import { type FeedReading, readFeed } from '../../src/feeds/read.ts';
import { item, rss } from '../support/feed.ts';
import { freshFolder } from '../support/files.ts';
import { Service } from '../support/server.ts';

const KEY = 'k-0123456789abcdef0123456789abcdef';
const XML = { 'content-type': 'application/rss+xml' };
const text = rss(item({ guid: 'a', title: 'Grüße', url: 'audio/a.mp3' }));
const folder = freshFolder();

const reading: FeedReading = {
  env: { STENO_API_KEY: KEY },
  signal: new AbortController().signal,
  userAgent: 'steno/test',
};
const fetchFeed = (url: string, more: Partial<FeedReading> = {}): Promise<Feed> =>
  readFeed(url, { ...reading, ...more });
const get = (url: string, more: Partial<PublicRequest> = {}): Promise<PublicAnswer> =>
  getPublic({ ...reading, url, accept: '*/*', maxBytes: 10_000, limitMs: 20_000, ...more });

/** A name that only the resolver knows to be this machine. */
const name = hostname();
const found = await lookup(name, { all: true }).catch(() => []);
const named = found.length > 0 && found.every(({ address }) => address.startsWith('127.'));

describe('a feed at an address', () => {
  it('is fetched without a key, a cookie or a password', async () => {
    const service = (await Service.start()).on('GET /feed.xml', { headers: XML, body: text });
    const feed = await fetchFeed(`${service.origin}/feed.xml?token=t0k3n`);
    expect(feed.episodes).toMatchObject([{ title: 'Grüße', url: `${service.origin}/audio/a.mp3` }]);
    const [got] = service.calls('GET /feed.xml');
    expect(got?.query.get('token')).toBe('t0k3n');
    expect(Object.keys(got?.headers ?? {}).sort()).toEqual(
      ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'].sort(),
    );
    expect(JSON.stringify(got)).not.toContain(KEY);
  });

  it('may be compressed', async () => {
    const headers = { ...XML, 'content-encoding': 'gzip' };
    const service = (await Service.start()).on('GET /feed.xml', { headers, body: gzipSync(text) });
    expect((await fetchFeed(`${service.origin}/feed.xml`)).episodes).toHaveLength(1);
    expect(service.got[0]?.headers['accept-encoding']).toBe('gzip');
  });

  it('is decoded as its server says', async () => {
    const body = Buffer.from(text, 'latin1');
    const headers = { 'content-type': 'text/xml; charset=ISO-8859-1' };
    const service = (await Service.start()).on('GET /feed.xml', { headers, body });
    expect((await fetchFeed(`${service.origin}/feed.xml`)).episodes[0]?.title).toBe('Grüße');
  });

  it('is named in errors without its parameters', async () => {
    const service = (await Service.start()).on('GET /feed.xml', { body: '<html></html>' });
    await expect(fetchFeed(`${service.origin}/feed.xml?token=t0k3n`)).rejects.toThrow(
      `the feed ${service.origin}/feed.xml?… is a web page, not a feed`,
    );
  });

  it('is asked for through the proxy that the environment names', async () => {
    const proxy = (await Service.start()).on('GET /feed.xml', { headers: XML, body: text });
    const feed = await fetchFeed('http://feeds.invalid/feed.xml', { env: { http_proxy: proxy.origin } });
    expect(feed.episodes[0]?.url).toBe('http://feeds.invalid/audio/a.mp3');
    expect(proxy.got[0]?.headers.host).toBe('feeds.invalid');
  });

  it.each(['feed://feeds.example/x', 'ftp://feeds.example/x', 'https://', 'https://a b/'])(
    'must be http or https: %s',
    async (source) => {
      await expect(async () => fetchFeed(source)).rejects.toMatchObject({
        exitCode: 2,
        hint: 'write it like https://host/feed.xml',
      });
    },
  );
});

describe('a redirect', () => {
  const to = (location: string, status = 302) => ({ status, headers: { location } });

  it('is followed, also to another host, and addresses are relative to where it led', async () => {
    const other = (await Service.start()).on('GET /there/feed.xml', { headers: XML, body: text });
    const service = (await Service.start())
      .on('GET /a', to('/b', 301))
      .on('GET /b', to('c?x=1', 303))
      .on('GET /c', to(`//127.0.0.1:${new URL(other.origin).port}/d`, 307));
    other.on('GET /d', to('/there/feed.xml#top', 308));
    const feed = await fetchFeed(`${service.origin}/a`);
    expect(feed.episodes[0]?.url).toBe(`${other.origin}/there/audio/a.mp3`);
  });

  it('to itself is not followed for ever', async () => {
    const service = (await Service.start()).on('GET /a', to('/a'));
    await expect(get(`${service.origin}/a?token=t0k3n`)).rejects.toThrow(
      `${service.origin}/a?… redirects more than 10 times`,
    );
    expect(service.got).toHaveLength(11);
    // Node would warn on stderr.
    expect(process.listenerCount('exit')).toBeLessThan(10);
  });

  it.each([
    ['file:///etc/passwd', 'which is not http or https'],
    ['https://', 'which is not a URL'],
  ])('to %s is refused', async (location, message) => {
    const service = (await Service.start()).on('GET /a', to(location));
    await expect(get(`${service.origin}/a`)).rejects.toThrow(message);
  });

  it("from a stranger's host to this machine is refused", async () => {
    const target = (await Service.start()).never('GET /admin');
    const proxy = (await Service.start()).on('GET /a', to(`${target.origin}/admin`));
    await expect(get('http://feeds.invalid/a', { env: { http_proxy: proxy.origin } })).rejects.toThrow(
      'which is this machine',
    );
  });

  it.each([
    ['http://0.0.0.0:1/admin', 'this machine'],
    ['http://[::]:1/admin', 'this machine'],
    ['http://[::ffff:127.0.0.1]:1/admin', 'this machine'],
    ['http://[::ffff:0:0]:1/admin', 'this machine'],
    ['http://2130706433:1/admin', 'this machine'],
    ['http://localhost.:1/admin', 'this machine'],
    ['http://metadata.localhost:1/admin', 'this machine'],
    ['http://169.254.169.254/latest', 'a private address'],
    ['http://[::ffff:10.0.0.1]/', 'a private address'],
    ['https://192.168.1.1/', 'a private address'],
  ])("from a stranger's host to %s is refused, with and without a proxy", async (location, what) => {
    const proxy = (await Service.start()).on('GET /a', to(location)).never('GET /admin');
    for (const no_proxy of ['', new URL(location).hostname.replace(/^\[|\]$/g, '')])
      await expect(
        get('http://feeds.invalid/a', { env: { http_proxy: proxy.origin, no_proxy } }),
      ).rejects.toThrow(`http://feeds.invalid/a redirects to ${new URL(location).href}, which is ${what}`);
  });

  it.runIf(named)("from a stranger's host to a name of this machine is refused", async () => {
    const target = (await Service.start()).never('GET /admin');
    const { port } = new URL(target.origin);
    const proxy = (await Service.start()).on('GET /a', to(`http://${name}:${port}/admin`));
    const env = { http_proxy: proxy.origin, no_proxy: name };
    await expect(get('http://feeds.invalid/a', { env })).rejects.toThrow('which is this machine');
    await expect(
      get(`http://${name}:${port}/admin`, { env, namedBy: 'http://feeds.invalid/a' }),
    ).rejects.toThrow(`http://feeds.invalid/a leads to http://${name}:${port}/admin, which is this machine`);
    expect(target.got).toEqual([]);
  });

  it.runIf(named)('of a feed on this machine may lead to another name of it', async () => {
    const service = (await Service.start()).on('GET /b', { body: 'b' });
    service.on('GET /a', to(`http://${name}:${new URL(service.origin).port}/b`));
    const answer = await get(`${service.origin}/a`);
    expect([answer.bytes.toString(), answer.nearness]).toEqual(['b', 2]);
  });

  it('gets no password that was meant for another host, and none of its own', async () => {
    const other = (await Service.start()).on('GET /b', { body: 'b' });
    const service = (await Service.start())
      .on('GET /a', to('/again'))
      .on('GET /again', to(other.origin.replace('//', '//you:yours@').concat('/b')));
    await get(service.origin.replace('//', '//me:secret@').concat('/a'));
    const mine = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(service.got.map(({ headers }) => headers.authorization)).toEqual([mine, mine]);
    expect(other.got[0]?.headers).not.toHaveProperty('authorization');
  });

  it('from a document that names the address never leads from https to http', async () => {
    const service = (await Service.start()).never('GET /2');
    await expect(get(`${service.origin}/2`, { namedBy: 'https://127.0.0.1/1' })).rejects.toThrow(
      `https://127.0.0.1/1 leads to ${service.origin}/2, which is not https`,
    );
  });

  it('without a target is an error', async () => {
    const service = (await Service.start()).on('GET /a', { status: 302 });
    await expect(get(`${service.origin}/a`)).rejects.toThrow(`${service.origin}/a answered HTTP 302`);
  });
});

describe('an answer that is too large', () => {
  const tooLarge = { exitCode: 2, message: expect.stringContaining('is larger than') };

  it('is refused by its length, before it is read', async () => {
    const service = (await Service.start()).on('GET /a', (_, response) => {
      response.writeHead(200, { 'content-length': '10001' });
      response.write('x');
    });
    await expect(get(`${service.origin}/a`)).rejects.toMatchObject(tooLarge);
  });

  it('is refused while it comes', async () => {
    const service = (await Service.start()).on('GET /a', (_, response) => {
      let isOver = false;
      response.on('close', () => {
        isOver = true;
      });
      const more = (): void => {
        if (!isOver) response.write('x'.repeat(5_000), () => setImmediate(more));
      };
      response.writeHead(200);
      more();
    });
    await expect(get(`${service.origin}/a`)).rejects.toMatchObject(tooLarge);
  });

  it('is refused while it is decompressed', async () => {
    const body = gzipSync(Buffer.alloc(50_000_000));
    const service = (await Service.start()).on('GET /a', { headers: { 'content-encoding': 'gzip' }, body });
    await expect(get(`${service.origin}/a`, { maxBytes: 1_000_000 })).rejects.toMatchObject(tooLarge);
  });
});

describe('an address that gives no feed', () => {
  it.each([
    [404, 'check the address'],
    [401, 'it requires a password or a token: copy its complete address'],
    [403, 'it requires a password or a token: copy its complete address'],
    [410, 'it was removed for good: look for its new address'],
  ])('answers HTTP %i once, and that is said', async (status, hint) => {
    const service = (await Service.start()).on('GET /a', { status });
    await expect(get(`${service.origin}/a`)).rejects.toMatchObject({
      exitCode: 1,
      message: `${service.origin}/a answered HTTP ${status}`,
      hint,
      status,
    });
    expect(service.got).toHaveLength(1);
  });

  it('is asked again where that may help', async () => {
    const service = (await Service.start()).on(
      'GET /a',
      { status: 500 },
      (_, _response, socket) => socket.destroy(),
      { body: 'a' },
    );
    expect((await get(`${service.origin}/a`)).bytes.toString()).toBe('a');
  });

  it('may never answer, or never end', async () => {
    const service = (await Service.start())
      .on('GET /silent', () => {})
      .on('GET /drip', (_, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      });
    for (const path of ['silent', 'drip'])
      await expect(get(`${service.origin}/${path}`, { limitMs: 400 })).rejects.toMatchObject({
        exitCode: 6,
        message: expect.stringContaining('did not answer in time'),
      });
  });

  it('is left when the user interrupts', async () => {
    const user = new AbortController();
    const service = (await Service.start()).on('GET /a', () => user.abort());
    await expect(get(`${service.origin}/a`, { signal: user.signal })).rejects.toMatchObject({
      exitCode: 130,
    });
    await expect(get(`${service.origin}/a`, { signal: user.signal })).rejects.toMatchObject({
      exitCode: 130,
    });
    expect(service.got).toHaveLength(1);
  });

  it.each([
    ['is not gzip', { 'content-encoding': 'gzip' }, 'not valid gzip'],
    [
      'has a compression that is not known',
      { 'content-encoding': 'zstd' },
      'has an unknown compression: zstd',
    ],
  ])('%s', async (_, headers, message) => {
    const service = (await Service.start()).on('GET /a', { headers, body: 'plain' });
    await expect(get(`${service.origin}/a`)).rejects.toThrow(message);
  });
});

describe('a trace', () => {
  it('shows each step without parameters and passwords', async () => {
    const service = (await Service.start())
      .on('GET /a', { status: 302, headers: { location: '/b?token=t0k3n' } })
      .on('GET /b', { headers: XML, body: 'b' });
    const lines: string[] = [];
    const url = `${service.origin.replace('//', '//me:s3cr3t@')}/a?token=t0k3n`;
    await get(url, { trace: (line) => lines.push(line) });
    expect(lines).toEqual([
      `> GET ${service.origin}/a?…`,
      '< 302 ',
      `> GET ${service.origin}/b?…`,
      '< 200 application/rss+xml',
    ]);
  });
});

describe('a feed in a file', () => {
  const path = join(folder, 'feed.xml');

  it('is read, with the addresses that it names', async () => {
    writeFileSync(path, text);
    expect((await readFeed(path, reading)).episodes).toMatchObject([
      { url: 'https://feeds.example/audio/a.mp3' },
    ]);
  });

  it('must be there, be a file, and be no larger than 64 MB', async () => {
    await expect(readFeed(join(folder, 'none.xml'), reading)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no such file'),
    });
    mkdirSync(join(folder, 'folder'));
    await expect(readFeed(join(folder, 'folder'), reading)).rejects.toMatchObject({ exitCode: 2 });
    const huge = join(folder, 'huge.xml');
    writeFileSync(huge, text);
    truncateSync(huge, 65 * 1024 * 1024);
    await expect(readFeed(huge, reading)).rejects.toThrow('it is larger than 67108864 bytes');
  });

  it.skipIf(process.platform === 'win32')('may be a pipe', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = writeFile(pipe, text);
    expect((await readFeed(pipe, reading)).episodes).toHaveLength(1);
    await writer;
  });

  it('is left when the user interrupts', async () => {
    writeFileSync(path, text);
    await expect(readFeed(path, { ...reading, signal: AbortSignal.abort() })).rejects.toMatchObject({
      exitCode: 130,
    });
  });

  it('may hold anything', async () => {
    writeFileSync(path, Buffer.from([0, 1, 2, 255]));
    await expect(readFeed(path, reading)).rejects.toMatchObject({ exitCode: 2 });
  });
});
