/** Requests of every shape: each is answered as the contract says, or cut off, and none stops the receiver. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complete, eventsOf, FORM, Listener } from '../support/listener.ts';
import { runs } from '../support/runs.ts';
import { User } from '../support/steno.ts';
import { sendRaw } from '../support/wire.ts';

const body = complete('1');

interface Shape {
  readonly line?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** A delivery as it should be, but for what is given. */
const requestOf = ({ line = 'POST / HTTP/1.1', headers = [], body: content = body }: Shape): string => {
  const has = (name: string): boolean => headers.some((each) => each.toLowerCase().startsWith(`${name}:`));
  const length =
    has('transfer-encoding') || has('content-length') ? [] : [`content-length: ${content.length}`];
  const type = has('content-type') ? [] : [`content-type: ${FORM}`];
  const host = has('host') ? [] : ['host: x'];
  return [line, ...host, ...type, ...length, 'connection: close', ...headers, '', content].join('\r\n');
};

const statusesIn = (answer: string): number[] =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));

const shapes: Readonly<Record<string, readonly [number, Shape | string]>> = {
  'an ordinary one': [200, {}],
  'one without a body': [200, { body: '' }],
  'one of HTTP/1.0': [200, { line: 'POST / HTTP/1.0' }],
  'one with a query': [200, { line: 'POST /?a=b&event=Y HTTP/1.1' }],
  'one with a charset': [200, { headers: [`content-type: ${FORM.toUpperCase()} ; charset=utf-8`] }],
  'one whose sender waits for 100': [200, { headers: ['expect: 100-continue'] }],
  'one that expects something else': [200, { headers: ['expect: the-unexpected'] }],
  'one that asks for another protocol': [200, { headers: ['connection: upgrade', 'upgrade: websocket'] }],
  'one with trailers': [
    200,
    { headers: ['transfer-encoding: chunked', 'trailer: x'], body: '1\r\na\r\n0\r\nx: y\r\n\r\n' },
  ],
  'another path': [404, { line: 'POST /other HTTP/1.1' }],
  'a path that is encoded': [404, { line: 'POST /%2f HTTP/1.1' }],
  'a path that goes up': [404, { line: 'POST /../ HTTP/1.1' }],
  'an absolute URL': [404, { line: 'POST http://elsewhere/ HTTP/1.1' }],
  'a path with a NUL': [400, { line: 'POST /\0 HTTP/1.1' }],
  'a GET': [405, { line: 'GET / HTTP/1.1', body: '' }],
  'a DELETE with a body': [405, { line: 'DELETE / HTTP/1.1' }],
  'an OPTIONS from a page': [405, { line: 'OPTIONS / HTTP/1.1', headers: ['origin: https://evil.example'] }],
  'a CONNECT': [405, { line: 'CONNECT elsewhere:443 HTTP/1.1', body: '' }],
  'a method that does not exist': [400, { line: 'BREW / HTTP/1.1' }],
  'no method': [400, { line: '/ HTTP/1.1' }],
  'another version of HTTP': [400, { line: 'POST / HTTP/9.9' }],
  'HTTP/2': [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'TLS without a certificate': [400, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc'],
  JSON: [415, { headers: ['content-type: application/json'], body: '{}' }],
  'no type': [415, { headers: ['content-type:'] }],
  'two types': [415, { headers: ['content-type: text/plain', `content-type: ${FORM}`] }],
  'a type that begins alike': [415, { headers: [`content-type: ${FORM}x`] }],
  'a form in parts': [415, { headers: ['content-type: multipart/form-data; boundary=x'] }],
  'a compressed form': [415, { headers: ['content-encoding: gzip'] }],
  'a form of a page': [403, { headers: ['origin: null'] }],
  'a form that a browser sent': [403, { headers: ['sec-fetch-site: cross-site'] }],
  'no host': [400, `POST / HTTP/1.1\r\ncontent-type: ${FORM}\r\ncontent-length: 0\r\n\r\n`],
  'a length that is too large': [413, { headers: ['content-length: 1048577'], body: 'x'.repeat(1_048_577) }],
  'a length of twenty digits': [400, { headers: ['content-length: 99999999999999999999'], body: '' }],
  'a length that is negative': [400, { headers: ['content-length: -1'] }],
  'a length that is no number': [400, { headers: ['content-length: 0x10'] }],
  'two lengths': [400, { headers: ['content-length: 5', 'content-length: 6'] }],
  'a length and chunks': [
    400,
    { headers: ['content-length: 5', 'transfer-encoding: chunked'], body: '0\r\n\r\n' },
  ],
  'chunks that are too large': [
    413,
    { headers: ['transfer-encoding: chunked'], body: `200000\r\n${'x'.repeat(0x200000)}\r\n0\r\n\r\n` },
  ],
  'a chunk without a size': [400, { headers: ['transfer-encoding: chunked'], body: 'zz\r\n' }],
  'a chunk of a negative size': [400, { headers: ['transfer-encoding: chunked'], body: '-1\r\n' }],
  'an encoding that does not exist': [400, { headers: ['transfer-encoding: rot13'] }],
  'a header without a name': [400, { headers: [': x'] }],
  'a header with a space in its name': [400, { headers: ['a b: x'] }],
  'a header with a NUL': [400, { headers: ['x: a\0b'] }],
  'a header that goes on in the next line': [400, { headers: ['x: a\r\n\tb: c\r\n d'] }],
  'one header that is too long': [431, { headers: [`x: ${'a'.repeat(20_000)}`] }],
  'very many headers': [431, { headers: Array.from({ length: 4_000 }, (_, n) => `h${n}: x`) }],
  'a path that is too long': [431, { line: `POST /${'a'.repeat(20_000)} HTTP/1.1` }],
  'nothing but line breaks': [400, `${'\r\n'.repeat(100)}x\r\n\r\n`],
};

describe('a request', () => {
  let user: User;
  let listener: Listener;

  // The listener of a test is ended after it; this one is for all of them.
  beforeAll(async () => {
    user = new User();
    listener = await Listener.startForAll(user, ['--quiet']);
  });
  afterAll(() => void listener.child.kill('SIGKILL'));

  it.each(Object.entries(shapes))('is answered as the contract says: %s', async (_, [status, shape]) => {
    const request = typeof shape === 'string' ? shape : requestOf(shape);
    const statuses = statusesIn(await sendRaw(listener.port, Buffer.from(request, 'latin1'), true));
    expect(statuses.filter((each) => each !== 100)).toEqual([status]);
  });

  it('that comes after another without waiting is kept too', async () => {
    const before = (await eventsOf(user, '--limit', '1000')).length;
    const one = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${FORM}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const statuses = statusesIn(await sendRaw(listener.port, one.repeat(200), true));
    expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
    expect(await eventsOf(user, '--limit', '1000')).toHaveLength(before + 200);
  });

  it('of any bytes gets one of the statuses of the contract or none, and the next one is kept', async () => {
    const known = [100, 200, 400, 403, 404, 405, 408, 409, 413, 415, 431];
    const piece = fc.constantFrom(
      ...[
        'POST ',
        'GET ',
        '/',
        ' HTTP/1.1\r\n',
        '\r\n',
        '\n',
        '\r',
        ' ',
        ':',
        '\0',
        '%',
        'x',
        '5',
        '0\r\n\r\n',
      ],
      ...[
        'host: x\r\n',
        'content-length: 5\r\n',
        'transfer-encoding: chunked\r\n',
        'expect: x\r\n',
        'a: b\r\n',
      ],
      ...[`content-type: ${FORM}\r\n`, 'upgrade: h2c\r\n', 'connection: upgrade\r\n', 'event=X', 'CONNECT '],
    );
    const whole = requestOf({});
    const changed = fc
      .tuple(fc.nat(whole.length), fc.nat(20), fc.string({ unit: 'binary', maxLength: 10 }))
      .map(([at, length, text]) => whole.slice(0, at) + text + whole.slice(at + length));
    const anything = fc.oneof(
      changed,
      fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (text) => {
        const statuses = statusesIn(await sendRaw(listener.port, Buffer.from(text, 'latin1'), true));
        expect(statuses.filter((status) => !known.includes(status))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
    expect((await listener.post(body)).status).toBe(200);
    expect(listener.child.exitCode).toBe(null);
    expect(listener.stderr).toBe(`listening on ${listener.url}\n`);
  });
});

describe('requests that are sent before the answers to earlier ones', () => {
  const kept = (id: string): string =>
    requestOf({ body: complete(id), headers: ['connection: keep-alive'] }).replace(
      'connection: close\r\n',
      '',
    );

  it.each([
    [
      'behind one that is refused, none is read',
      requestOf({ line: 'POST /other HTTP/1.1' }) + kept('a1'),
      [404],
      [],
    ],
    [
      'behind one that closes the connection, none is read',
      requestOf({ body: complete('b1') }) + kept('b2'),
      [200],
      ['b1'],
    ],
    [
      'before one that is no HTTP, each is kept and answered',
      `${kept('c1')}${kept('c2')}\0\0\r\n\r\n`,
      [200, 200],
      ['c1', 'c2'],
    ],
    [
      'before one that is refused, each is kept and answered',
      kept('d1') + requestOf({ line: 'GET / HTTP/1.1', body: '' }) + kept('d2'),
      [200, 405],
      ['d1'],
    ],
  ])('%s', async (_, text, statuses, files) => {
    const user = new User();
    const own = await Listener.start(user);
    const got = statusesIn(await sendRaw(own.port, Buffer.from(text, 'latin1'), true));
    expect(got.filter((status) => status !== 400)).toEqual(statuses);
    await own.stop();
    expect((await eventsOf(user)).map(({ audiofile }) => audiofile).sort()).toEqual(files);
  });
});

it('takes events at a path with letters beyond ASCII', async () => {
  const own = await Listener.start(new User(), ['--path', '/häken']);
  expect(own.url).toMatch(/\/h%C3%A4ken$/);
  expect((await own.post(body)).status).toBe(200);
  const text = requestOf({ line: 'POST /h%c3%a4ken HTTP/1.1' });
  expect(statusesIn(await sendRaw(own.port, Buffer.from(text, 'latin1'), true))).toEqual([200]);
});
