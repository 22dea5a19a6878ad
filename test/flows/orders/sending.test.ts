/** The orders of a manifest: as fast as the service asks for, with an orderly end, and nothing hidden by a failure. */
import { describe, expect, it } from 'vitest';
import { account, fileAnswer, jsonError } from '../../support/account.ts';
import { finishing } from '../../support/interrupt.ts';
import { audio, statuses } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { sliceOf } from '../../support/slices.ts';
import { finished, type User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

const five = ['a', 'b', 'c', 'd', 'e'].map(audio).join('\n');
const line = (...args: string[]): string[] => [
  ...['order', '--from', '-', '--sku', 'TRANS14', '--per-order', '1'],
  ...args,
];
const run = (user: User, ...args: string[]) => user.run(line(...args), { stdin: five });

const placed = (n: number, more: object = {}): Answer => ({
  body: { order: `o${n}`, audiofiles: [n], message: 'ok', ...more },
});
const busy = (status: number, retryAfter?: string): Answer => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
});

describe.concurrent('Retry-After', () => {
  it.each([429, 503])(
    'of more than a minute after %i holds for the rest, which is not sent',
    async (status) => {
      const { service, user } = await account();
      service.on('POST /order_url', placed(1), busy(status, '3600'));
      const { code, stdout, stderr } = await run(user, '--quiet');
      expect([code, stdout, service.got.length]).toEqual([10, '1\n', 2]);
      expect(stderr).toMatch(
        /^steno: [^\n]*b\.mp3: [^\n]*\nsteno: not sent: 3 orders, because the service asks to wait 1h; run the same command again later with --skip-ordered\nsteno: 1 of 5 orders failed\n$/,
      );
      expect(statuses(user)).toEqual(['placed', 'refused']);
    },
  );

  it('at the first order ends with 1, for nothing was ordered', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', busy(429, '3600'));
    const { code, stdout, stderr } = await run(user, '--json');
    expect([code, service.got.length]).toEqual([1, 1]);
    const notSent = { code: 'failed', message: expect.stringContaining('it was not sent') };
    expect(JSON.parse(stdout)).toMatchObject(
      five.split('\n').map((url, at) => ({ url, error: at ? notSent : { status: 429 } })),
    );
    const [, unsent] = jsonError(stderr).failures as Array<{ what: string; message: string }>;
    expect(unsent).toMatchObject({ what: 'not sent', message: expect.stringContaining('4 orders') });
  });

  it('of a second is waited for, and the refused order is not sent again', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed(1), busy(503, '1'), placed(3), placed(4), placed(5));
    const { code, stdout } = await run(user, '--quiet');
    expect([code, stdout]).toEqual([10, '1\n3\n4\n5\n']);
    expect(service.got.map((got) => got.body?.url)).toEqual(five.split('\n').map((url) => [url]));
    const [, second, third] = service.got.map(({ at }) => at) as [number, number, number];
    expect(third - second).toBeGreaterThanOrEqual(990);
  });

  it('that is longer than --timeout is not waited for', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed(1), busy(503, '50'));
    const { code, stderr } = await run(user, '--timeout', '20s');
    expect([code, service.got.length]).toEqual([10, 2]);
    expect(stderr).toContain('asks to wait 50s, which is longer than --timeout; run the same command');
  });

  it('is broken off by Ctrl-C', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed(1), busy(503, '50'));
    const child = user.start(line('--quiet'));
    child.stdin.end(five);
    const end = finished(child);
    await until(() => service.got.length === 2, 'the second order');
    await until(() => statuses(user)[1] === 'refused', 'its refusal');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout]).toEqual([130, '1\n']);
    expect(stderr).toMatch(
      /^steno: [^\n]*b\.mp3: [^\n]*\nsteno: interrupted: 1 order placed, with 1 file\nsteno: not sent: 3 orders\nhint: [^\n]*--skip-ordered\n$/,
    );
  });
});

describe.concurrent('429 without Retry-After', () => {
  it('slows down the next order, more each time', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', busy(429), busy(429), placed(3), placed(4), placed(5));
    const { code, stdout } = await run(user, '--quiet');
    expect([code, stdout]).toEqual([10, '3\n4\n5\n']);
    const [a, b, c] = service.got.map(({ at }) => at) as [number, number, number];
    expect(b - a).toBeGreaterThanOrEqual(900);
    expect(c - b).toBeGreaterThanOrEqual(1_800);
  });

  it.each(sliceOf([undefined, '0', 'Sat, 10 Jan 2026 11:00:00 GMT'], 3))(
    'three times in a row ends the run, also with one that asks for no pause: %s',
    async (after) => {
      const { service, user } = await account();
      service.on('POST /order_url', placed(1), busy(429, after), busy(503, after), busy(429, after));
      const { code, stderr } = await run(user);
      expect([code, service.got.length]).toEqual([10, 4]);
      expect(stderr).toMatch(
        /not sent: 1 order, because the service refused 3 calls in a row as too many[^\n]*--skip-ordered\n/,
      );
    },
  );
});

/** Starts the manifest, and waits until its second order is being sent. */
async function inFlight(...args: string[]) {
  const { service, user } = await account();
  let answer = (): void => {};
  service.on('POST /order_url', placed(1), (_, response) => {
    answer = () => void response.end(JSON.stringify({ order: 'o2', audiofiles: [2], message: 'ok' }));
  });
  const child = user.start(line(...args));
  child.stdin.end(five);
  const end = finished(child);
  await until(() => service.got.length === 2, 'the second order');
  return { service, user, child, end, answer: () => answer() };
}

describe.concurrent('Ctrl-C in a manifest', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'as %s lets the answer in flight come, and says in three lines how it stands',
    async (signal, exit) => {
      const { service, user, child, end, answer } = await inFlight('--quiet');
      child.kill(signal);
      await finishing(child);
      answer();
      const { code, stdout, stderr } = await end;
      expect([code, stdout]).toEqual([exit, '1\n2\n']);
      expect(stderr.split('\n')).toEqual([
        'finishing the order that is being sent; press Ctrl-C again to stop at once',
        'steno: interrupted: 2 orders placed, with 2 files',
        'steno: not sent: 3 orders',
        expect.stringMatching(/^hint: resume with the same input: steno order .*--quiet --skip-ordered$/),
        '',
      ]);
      expect([service.got.length, statuses(user)]).toEqual([2, ['placed', 'placed']]);
    },
  );

  it('is an object with --json, after a warning', async () => {
    const { child, end, answer } = await inFlight('--json');
    child.kill('SIGINT');
    await finishing(child);
    answer();
    const { code, stdout, stderr } = await end;
    expect([code, JSON.parse(stdout)]).toMatchObject([
      130,
      [
        { order: 'o1' },
        { order: 'o2' },
        ...five
          .split('\n')
          .slice(2)
          .map((url) => ({ audiofile: null, url, error: { code: 'interrupted' } })),
      ],
    ]);
    const [warning = '', error = ''] = stderr.split('\n');
    expect(JSON.parse(warning)).toMatchObject({ warning: { message: expect.stringContaining('finishing') } });
    expect(JSON.parse(error)).toMatchObject({
      error: {
        code: 'interrupted',
        message: 'interrupted: 2 orders placed, with 2 files; not sent: 3 orders',
        hint: expect.stringContaining('--skip-ordered'),
      },
    });
  });

  it('that comes twice within half a second counts once', async () => {
    const { child, end, answer } = await inFlight('--quiet');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    await finishing(child);
    answer();
    expect(await end).toMatchObject({ code: expect.toBeOneOf([130, 143]), stdout: '1\n2\n' });
  });

  it('waits no longer than the time limit of the order', async () => {
    const { user, child, end } = await inFlight('--quiet', '--timeout', '1s');
    child.kill('SIGINT');
    const { code, stdout } = await end;
    expect([code, stdout, statuses(user)]).toEqual([11, '1\n', ['placed', 'uncertain']]);
  });
});

describe.concurrent('a hold', () => {
  const held = { hold: 'billing' };

  it('is said with --fail-on-hold also where another order is refused', async () => {
    const { service, user } = await account();
    service.on(
      'POST /order_url',
      placed(1, held),
      { status: 400, body: { message: 'no audio' } },
      ...[3, 4, 5].map((n) => placed(n)),
    );
    const { code, stderr } = await run(user, '--fail-on-hold', '--quiet');
    expect(code).toBe(10);
    expect(stderr).toMatch(
      /b\.mp3: [^\n]*no audio[^\n]*\nsteno: order o1: on hold \(billing\)[^\n]*\nsteno: 1 of 5 orders failed\n/,
    );
  });

  it('is said also where another order is unclear, which decides the exit code', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed(1, held), { status: 502 });
    const { code, stderr } = await run(user, '--fail-on-hold');
    expect([code, stderr]).toEqual([11, expect.stringContaining('order o1: on hold (billing)')]);
  });

  it('is said also where a file of another order ends without a transcript', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed(1, held), ...[2, 3, 4, 5].map((n) => placed(n)));
    for (const n of [2, 3, 4, 5]) service.on(`GET /audiofile/${n}`, fileAnswer(n, 'Order Cancelled'));
    const { code, stderr } = await run(user, '--wait', '--interval', '50ms');
    expect([code, stderr]).toEqual([8, expect.stringContaining('order o1: on hold (billing)')]);
  });
});

describe.concurrent('order --wait that breaks off', () => {
  const one = ['order', audio('a'), '--sku', 'TRANS14', '--interval', '50ms'];
  const hangUp: Answer = (_, __, socket) => void socket.destroy();

  it.each([
    ['the connection', ['--wait'], hangUp, 7],
    ['the time', ['--wait', '--timeout', '1s'], fileAnswer(1, 'Transcribing'), 6],
    ['the key', ['--wait'], { status: 401 }, 3],
  ] as const)(
    'because of %s says that the order stands',
    async (_, flags, answer, exit) => {
      const { service, user } = await account();
      service.on('POST /order_url', placed(1));
      service.on('GET /audiofile/1', answer);
      const { code, stdout, stderr } = await user.run([...one, ...flags, '--quiet']);
      expect(code, stderr).toBe(exit);
      expect(stdout).toBe('1\n');
      expect(stderr).toMatch(
        /steno: Stopped waiting: [^\n]*\. Order o1 is placed and continues\.\nhint: resume with: steno wait --order o1\n$/,
      );
      expect(statuses(user)).toEqual(['placed']);
    },
    60_000,
  );
});
