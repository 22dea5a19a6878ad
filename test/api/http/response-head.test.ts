/** What a service may send before its response, and what is no response at all. */

import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseHead } from '../../../src/api/http/connector.ts';
import { sliceOf } from '../../support/slices.ts';
import { KEY, User } from '../../support/steno.ts';
import { Wire } from '../../support/wire.ts';

const commands: ReadonlyArray<readonly [string, string[], object]> = [
  ['a read', ['balance'], { balance: '2' }],
  [
    'an order',
    ['order', 'https://h/a.mp3', '--sku', 'TRANS14', '--quiet'],
    { order: '0a0', audiofiles: [2], message: 'ok' },
  ],
];

const response = (body: object, more = ''): string =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${JSON.stringify(body).length}\r\n\r\n${JSON.stringify(body)}`;

const informational = {
  'an unasked 100': 'HTTP/1.1 100 Continue\r\n\r\n',
  'a 100 without a reason': 'HTTP/1.1 100\r\n\r\n',
  'a 102 with headers': 'HTTP/1.1 102 Processing\r\nx-a: b\r\nx-c: d\r\n\r\n',
  'a 103': 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n',
  'a 101 that nobody asked for': 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  'a 199': 'HTTP/1.1 199 Who knows\r\ncontent-length: 5\r\n\r\n',
  'several kinds of 1xx':
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 102 P\r\na: b\r\n\r\nHTTP/1.1 103 H\r\n\r\nHTTP/1.1 100 C\r\n\r\n',
  'a thousand 100s': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000),
};

const userOf = (wire: Wire): User => new User({ STENO_API_KEY: KEY, STENO_BASE_URL: wire.baseUrl });

// Each is a process of its own: the pure function below has more of the kinds.
describe.concurrent.each(sliceOf(commands, 2))('%s', (_, args, body) => {
  it.each(Object.entries(informational))('takes the response that follows %s', async (__, heads) => {
    const wire = await Wire.afterRequest((socket) => socket.end(heads + response(body)));
    const { code, stdout, stderr } = await userOf(wire).run(args);
    expect([code, stdout, stderr, wire.connections]).toEqual([0, '2\n', '', 1]);
  });

  it('takes the response that follows a 1xx byte by byte', async () => {
    const wire = await Wire.afterRequest(async (socket) => {
      for (const byte of informational['several kinds of 1xx'] + response(body)) {
        socket.write(byte);
        await sleep(1);
      }
      socket.end();
    });
    const { code, stdout, stderr } = await userOf(wire).run(args);
    expect([code, stdout, stderr]).toEqual([0, '2\n', '']);
  });

  it('ends in time if 1xx come without end', async () => {
    const wire = await Wire.afterRequest((socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)), 5);
      socket.on('close', () => clearInterval(more));
    });
    const { code, stderr } = await userOf(wire).run([...args, '--timeout', '1s']);
    expect(code).toBe(args[0] === 'order' ? 11 : 6);
    expect(stderr).toContain('did not answer in time');
    expect(wire.connections).toBe(1);
  });

  it.each([
    'HTTP/1.1 042 X\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 0 X\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 007 X\r\n\r\n',
    'x',
  ])('says at once that %j is not HTTP', async (answer) => {
    // The connection stays open: what came of a short answer decides.
    const wire = await Wire.afterRequest((socket) => socket.write(answer));
    const { code, stderr } = await userOf(wire).run([...args, '--timeout', '10s']);
    expect(code, stderr).toBe(args[0] === 'order' ? 11 : 7);
    expect(stderr).toContain('the answer is not HTTP');
    expect(wire.connections).toBe(1);
  });
});

describe('the search for the response', () => {
  const heads = fc.array(
    fc.constantFrom(...Object.values(informational).slice(0, -1), '\r\n', 'HTTP/1.1 100 C\na: b\n\n'),
  );
  const splits = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });

  it('finds it wherever the bytes are split, and hands out every byte from there on', () => {
    fc.assert(
      fc.property(heads, splits, fc.string({ unit: 'binary' }), (before, sizes, body) => {
        const wanted = Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${body}`);
        const bytes = Buffer.concat([Buffer.from(before.join('')), wanted]);
        const head = new ResponseHead();
        let [found, at, turn]: [Buffer | undefined, number, number] = [undefined, 0, 0];
        while (!found && at < bytes.length) {
          const size = sizes[turn++ % sizes.length] ?? 1;
          found = head.take(bytes.subarray(at, at + size));
          at += size;
        }
        expect(Buffer.concat([found ?? Buffer.alloc(0), bytes.subarray(at)])).toEqual(wanted);
      }),
    );
  });

  it.each([
    'HTTP/1.1 42 X\r\n',
    'HTTP/1.1 042 X\r\n',
    'HTTP/1.1 099 X\r\n',
    'HTTP/1.1 000',
    'HTTP/1.1 -10 X\r\n',
    'HTTP/1.1 1000 X\r\n',
    'HTTP/1.1 OK\r\n',
    'HTTP/3.0 200 OK\r\n',
    'http/1.1 200 OK\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '220 mail.example.com ESMTP\r\n',
    '{"balance":"2"}',
  ])('refuses %j', (text) => {
    expect(() => new ResponseHead().take(Buffer.from(text))).toThrow('the answer is not HTTP');
  });

  it('refuses what can no longer become a status line, and nothing that still can', () => {
    const good = 'HTTP/1.1 200 ';
    for (let length = 0; length < good.length; length += 1) {
      expect(new ResponseHead().take(Buffer.from(good.slice(0, length)))).toBeUndefined();
      const bad = Buffer.from(`${good.slice(0, length)}\u0001`);
      expect(() => new ResponseHead().take(bad)).toThrow('the answer is not HTTP');
    }
  });
});
