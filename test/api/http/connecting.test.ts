/** A host that neither answers nor refuses: a command ends when it is told to, not when the network gives up. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, User } from '../../support/steno.ts';

/** Its queue is full, and nothing accepts from it; not in Node, which always accepts. */
const script = `
import socket, sys
hole = socket.socket()
hole.bind(('127.0.0.1', 0))
hole.listen(0)
callers = [socket.socket() for _ in range(3)]
for caller in callers:
    caller.setblocking(False)
    caller.connect_ex(hole.getsockname())
print(hole.getsockname()[1], flush=True)
sys.stdin.read()
`;

let hole: ChildProcessWithoutNullStreams;
let port = '';

beforeAll(async () => {
  hole = spawn('python3', ['-c', script]);
  const [line] = await once(hole.stdout, 'data');
  port = String(line).trim();
});

afterAll(() => hole.stdin.end());

/** The network itself would give up after more than a minute, the program after fifteen seconds. */
const SOON = 8_000;

async function ended(args: string[], env: Record<string, string> = {}): Promise<[number | null, string]> {
  const base = `http://127.0.0.1:${port}/API4`;
  const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: base, ...env });
  const started = Date.now();
  const { code, stderr } = await user.run(args);
  expect(Date.now() - started).toBeLessThan(SOON);
  return [code, stderr];
}

describe.concurrent('a host that does not take a connection', () => {
  it.each([
    ['a read', ['balance', '--timeout', '500ms']],
    ['an order', ['order', 'https://example.com/a.mp3', '--sku', 'TC', '--any-sku', '--timeout', '500ms']],
  ])('ends %s when its time is over, and nothing was sent', async (_, args) => {
    const [code, stderr] = await ended(args);
    expect([code, stderr]).toEqual([6, expect.stringContaining('did not answer in time')]);
  });

  it.each([
    ['over TLS', () => ({ STENO_BASE_URL: `https://127.0.0.1:${port}/API4` })],
    [
      'as a proxy',
      () => ({ http_proxy: `http://127.0.0.1:${port}`, STENO_BASE_URL: 'http://127.0.0.1:9/API4' }),
    ],
    [
      'as a proxy to TLS',
      () => ({ https_proxy: `http://127.0.0.1:${port}`, STENO_BASE_URL: 'https://127.0.0.1:9/API4' }),
    ],
  ])('ends a command in time also %s', async (_, env) => {
    const [code] = await ended(['balance', '--timeout', '500ms'], env());
    expect(code).toBe(6);
  });

  it('ends a command at Ctrl-C', async () => {
    const base = `http://127.0.0.1:${port}/API4`;
    const child = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: base }).start(['balance']);
    await sleep(1000);
    child.kill('SIGINT');
    const killed = Date.now();
    const [code] = await once(child, 'exit');
    expect([code, Date.now() - killed < SOON]).toEqual([130, true]);
  });
});
