/** What a listener says on stderr, in every form of output. */
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { queryLedger } from '../support/ledger.ts';
import { complete, form, Listener, send } from '../support/listener.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { waitingOf } from '../support/waiting.ts';

const FORMS: ReadonlyArray<readonly string[]> = [[], ['--json'], ['--quiet'], ['--csv']];
const CHUNKED =
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('in every form of output', () => {
  it.each(FORMS)('the public URL of a tunnel is said: %s', async (...output) => {
    const user = new User();
    const tunnel = 'echo https://tunnel.example.com; sleep 60';
    const listener = await Listener.start(user, ['--tunnel', tunnel, ...output.filter(Boolean)]);
    await listener.until(() => /https:\/\/tunnel\.example\.com\/[\w-]{32}/.test(listener.stderr));
    await listener.stop();
  });

  it.each(FORMS)('what is left to do is said: %s', async (...output) => {
    const user = new User();
    const args = ['--forward-to', 'http://127.0.0.1:1/', ...output.filter(Boolean)];
    const listener = await Listener.start(user, args);
    for (const id of ['1', '2']) await listener.post(complete(id));
    await listener.until(() => /ECONNREFUSED|refuse/.test(listener.stderr) || output.includes('--quiet'));
    const { stderr } = await listener.stop();
    expect(stderr).toMatch(/2 forwards left for the next listen: http:\/\/127\.0\.0\.1:1\//);
  });
});

it('an extension of a chunk that is too large is answered, and nothing of Node is printed', async () => {
  const user = new User();
  const listener = await Listener.start(user);
  const sockets: Socket[] = [];
  for (const size of [20_000, 1_000_000]) {
    const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write(CHUNKED);
    await sleep(50);
    socket.write(`5;${'a'.repeat(size / 2)}`);
    for (let part = 0; part < 20; part += 1) {
      await sleep(5);
      socket.write('a'.repeat(size / 40));
    }
    await until(() => /^HTTP\/1\.1 4\d\d /.test(answer), 'an answer');
  }
  expect((await listener.post(complete('1'))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  const { stderr } = await listener.stop();
  expect(stderr).not.toMatch(/node:|Warning|trace-warnings/);
});

it.skipIf(process.platform !== 'linux')(
  'silent connections leave room for events and commands, however few files the process may open',
  async () => {
    const user = new User();
    const limited = { program: ['bash', '-c', 'ulimit -n 128; exec "$0" "$@"', ...user.program] };
    const listener = await Listener.start(Object.assign(user, limited), ['--exec', 'echo ran >&2']);
    const sockets = Array.from({ length: 300 }, () =>
      connect(listener.port, '127.0.0.1').on('error', () => {}),
    );
    await sleep(1_000);
    expect((await listener.post(complete('1'))).status).toBe(200);
    await listener.until(() => /^ran$/m.test(listener.stderr));
    for (const socket of sockets) socket.destroy();
    const { stderr } = await listener.stop();
    expect(stderr).not.toMatch(/EMFILE|too many files/);
  },
);

it('an event that can not be kept is warned of once a cause', async () => {
  const user = new User({ STENO_TEST_TICK_MS: '600000' });
  const listener = await Listener.start(user);
  mkdirSync(waitingOf(user));
  queryLedger(user, 'ALTER TABLE events RENAME TO hidden');
  for (const id of ['1', '2', '3', '4'])
    expect((await send(listener.url, form({ event: 'X', audiofile: id }))).status).toBe(503);
  await listener.until(() => listener.stderr.split('not saved: X').length === 5);
  expect(listener.stderr.match(/answered with 503/g)).toHaveLength(1);
  await listener.stop('SIGKILL');
});
