/** What a service may send before its response, and what is no response at all. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
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
  'a 102 with headers': 'HTTP/1.1 102 Processing\r\nx-a: b\r\nx-c: d\r\n\r\n',
  'a 103': 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n',
  'a 199': 'HTTP/1.1 199 Who knows\r\ncontent-length: 5\r\n\r\n',
  'several kinds of 1xx': 'HTTP/1.1 102 P\r\na: b\r\n\r\nHTTP/1.1 103 H\r\n\r\n',
  'a thousand 102s': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000),
};

const userOf = (wire: Wire): User => new User({ STENO_API_KEY: KEY, STENO_BASE_URL: wire.baseUrl });

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
      const more = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)), 5);
      socket.on('close', () => clearInterval(more));
    });
    const { code, stderr } = await userOf(wire).run([...args, '--timeout', '1s']);
    expect(code).toBe(args[0] === 'order' ? 11 : 6);
    expect(stderr).toContain('did not answer in time');
    expect(wire.connections).toBe(1);
  });

  it.each(['100 Continue', '101 Switching\r\nconnection: upgrade\r\nupgrade: x'])(
    'never takes what follows an unasked %j for the answer to money',
    async (head) => {
      const wire = await Wire.afterRequest((socket) =>
        socket.end(`HTTP/1.1 ${head}\r\n\r\n${response(body)}`),
      );
      const { code, stderr } = await userOf(wire).run(args);
      expect(code, stderr).toBe(args[0] === 'order' ? 11 : 7);
      expect(stderr).toContain('the connection was lost');
    },
  );

  it.each([
    'HTTP/1.1 042 X\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 0 X\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 007 X\r\n\r\n',
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

it('takes no seconds of a processor to refuse a status that fails an assertion of undici', async () => {
  const wire = await Wire.afterRequest((socket) =>
    socket.write('HTTP/1.1 042 X\r\ncontent-length: 0\r\n\r\n'),
  );
  const user = userOf(wire);
  const [preload, used] = [join(user.home, 'usage.cjs'), join(user.home, 'usage')];
  const note = `require('node:fs').writeFileSync(${JSON.stringify(used)}, String(process.cpuUsage().user))`;
  writeFileSync(preload, `process.on('exit', () => ${note});`);
  const { code } = await user.run(['balance'], { env: { NODE_OPTIONS: `--require ${preload}` } });
  expect(code).toBe(7);
  // With node:assert it takes three.
  expect(Number(readFileSync(used, 'utf8')) / 1e6).toBeLessThan(1.5);
});
