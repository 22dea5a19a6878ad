/** What costs money is sent once, and an unclear end is said to be one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import { finishing, interruptTwice } from '../support/interrupt.ts';
import { Service } from '../support/server.ts';
import { BIN, finished, KEY, User } from '../support/steno.ts';
import { WITHOUT_LEDGER } from '../support/store.ts';
import { deadAddress, Wire } from '../support/wire.ts';

const commands = {
  order: {
    args: ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14'],
    route: 'POST /order_url',
    good: { order: '0a0', audiofiles: [1], message: 'ok' },
  },
  upgrade: {
    args: ['upgrade', '5', '--sku', 'TSTMP1'],
    route: 'POST /audiofile/5/upgrade',
    good: { message: 'ok' },
  },
  refund: { args: ['refund', '5', '--yes'], route: 'POST /audiofile/5/refund', good: { message: 'ok' } },
};

const statuses: ReadonlyArray<readonly [status: number, exit: number]> = [
  [200, 0],
  [400, 1],
  [401, 3],
  [403, 3],
  [404, 4],
  [409, 1],
  [422, 1],
  [429, 1],
  [500, 11],
  [502, 11],
  [503, 1],
  [504, 11],
];

const userOf = (baseUrl: string): User => new User({ STENO_API_KEY: KEY, STENO_BASE_URL: baseUrl });

describe.each(Object.entries(commands))('%s', (name, { args, route, good }) => {
  it.each(statuses)(`sends ${name} once and ends %i with exit %i`, async (status, exit) => {
    const { service, user } = await account();
    const body = status === 200 ? good : { message: 'that is how it is' };
    service.on(route, { status, body, headers: { 'retry-after': '0' } });
    const result = await user.run([...args, '--json']);
    expect(result.code, result.stderr).toBe(exit);
    expect(service.got).toHaveLength(1);
    if (exit === 0) {
      expect([JSON.parse(result.stdout)].flat()).toMatchObject([{ answer: good }]);
      return;
    }
    // Every row of an order is told of, whatever became of it.
    if (name === 'order') expect(JSON.parse(result.stdout)).toMatchObject([{ error: { status } }]);
    else expect(result.stdout).toBe('');
    const error = jsonError(result.stderr);
    expect(error.status).toBe(status);
    expect(error.message).toContain('that is how it is');
    if (exit === 11)
      expect(error).toMatchObject({ code: 'uncertain', hint: expect.stringContaining('check the') });
  });

  it.each([302, 307, 308])('does not follow a redirect with status %i', async (status) => {
    const target = await Service.start();
    target.never('*', { body: good });
    const { service, user } = await account();
    service.on(route, { status, headers: { location: `${target.baseUrl}/order_url` } });
    const { code, stderr } = await user.run(args);
    expect(code, stderr).toBe(11);
    expect(stderr).toContain(
      `steno: the service redirects to ${target.baseUrl}/order_url (HTTP ${status}); it may have gone through\n`,
    );
    expect(service.got).toHaveLength(1);
    expect(target.got).toHaveLength(0);
  });

  it.each([
    ['nothing', '', {}],
    ['a page', '<html><body><h1>Welcome back</h1></body></html>', { 'content-type': 'text/html' }],
    ['half a document', '{"order": "0a0", "audio', { 'content-type': 'application/json' }],
  ])('calls a success that holds %s uncertain', async (_, body, headers) => {
    const { service, user } = await account();
    service.on(route, { body, headers });
    const { code, stdout, stderr } = await user.run(args);
    expect(code, stderr).toBe(11);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^steno: .*may have gone through\nhint: /);
    expect(service.got).toHaveLength(1);
  });

  it.each([
    ['a content length that is not reached', 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"order":1'],
    ['chunks that end early', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"ord\r\n'],
    ['something that is not HTTP', 'hello\r\n\r\n'],
  ])('calls an answer with %s uncertain', async (_, answer) => {
    const wire = await Wire.afterRequest((socket) => socket.end(answer));
    const { code, stderr } = await userOf(wire.baseUrl).run(args);
    expect(code, stderr).toBe(11);
    expect(wire.connections).toBe(1);
  });

  it('calls a connection that is reset after the request uncertain', async () => {
    const wire = await Wire.afterRequest((socket) => socket.resetAndDestroy());
    const { code, stderr } = await userOf(wire.baseUrl).run(args);
    expect(code, stderr).toBe(11);
    expect(wire.connections).toBe(1);
  });

  it('does not try again when the connection is reset before the request is read', async () => {
    const wire = await Wire.start((socket) => socket.resetAndDestroy());
    const { code, stderr } = await userOf(wire.baseUrl).run(args);
    expect([7, 11], stderr).toContain(code);
    expect(wire.connections).toBe(1);
  });

  it('calls a time-out after sending uncertain', async () => {
    const wire = await Wire.afterRequest(() => {});
    const { code, stderr } = await userOf(wire.baseUrl).run([...args, '--timeout', '400ms']);
    expect(code, stderr).toBe(11);
    expect(stderr).toContain('did not answer in time; it may have gone through');
    expect(wire.connections).toBe(1);
  });

  it('ends with 7 when nothing could be sent', async () => {
    const { code, stderr } = await userOf(await deadAddress()).run([...args, '--json']);
    expect(code).toBe(7);
    expect(jsonError(stderr)).toMatchObject({ code: 'network' });
    expect(stderr).not.toContain('may have gone through');
  });

  it('says that it may have gone through when a second Ctrl-C breaks it off', async () => {
    const { service, user } = await account();
    const sent = new Promise<void>((done) => service.on(route, () => done()));
    const child = user.start(args);
    const end = finished(child);
    await sent;
    await interruptTwice(child);
    const { code, stderr } = await end;
    expect(code, stderr).toBe(11);
    expect(stderr).toMatch(
      /^finishing the \w+ that is being sent[^\n]*\nsteno: interrupted before the answer arrived; it may have gone through\nhint: check the/,
    );
    expect(service.got).toHaveLength(1);
  });

  it('lets its answer come at the first Ctrl-C, shows it, and ends with 130', async () => {
    const { service, user } = await account();
    const held = new Promise<() => void>((done) =>
      service.on(route, (_, response) => done(() => response.end(JSON.stringify(good)))),
    );
    const child = user.start([...args, '--quiet']);
    const end = finished(child);
    const answer = await held;
    child.kill('SIGINT');
    await finishing(child);
    answer();
    const { code, stdout, stderr } = await end;
    expect([code, stdout], stderr).toEqual([130, name === 'order' ? '1\n' : '5\n']);
    expect(stderr).toMatch(
      /^finishing the \w+ that is being sent; press Ctrl-C again to stop at once\nsteno: interrupted/,
    );
  });

  it('says after Ctrl-C that it was refused, where it was', async () => {
    const { service, user } = await account();
    const held = new Promise<() => void>((done) =>
      service.on(route, (_, response) => done(() => response.writeHead(400).end('{"message":"too late"}'))),
    );
    const child = user.start(args);
    const end = finished(child);
    const answer = await held;
    child.kill('SIGTERM');
    await finishing(child);
    answer();
    const { code, stdout, stderr } = await end;
    expect([code, stdout]).toEqual([143, '']);
    expect(stderr).toMatch(/\nsteno: interrupted: [^\n]*too late/);
  });

  it.skipIf(!existsSync('/dev/full'))('is said to be done where stdout can not be written', async () => {
    const { service, user } = await account();
    service.on(route, { body: good });
    const line = [process.execPath, BIN, ...args];
    for (const flags of [[], ['--json'], ['--quiet']]) {
      const again = name === 'order' ? ['--again'] : [];
      const child = spawn('sh', ['-c', '"$@" > /dev/full', 'sh', ...line, ...flags, ...again], {
        cwd: user.home,
        env: user.env,
      });
      child.stdin.end();
      const { code, stderr } = await finished(child);
      expect(code, stderr).toBe(1);
      const done = {
        order: 'order 0a0 is placed: audiofile 1',
        upgrade: '5 was upgraded',
        refund: '5 was refunded',
      };
      const [first = '', second = ''] = stderr.split('\n');
      expect(first).toContain(done[name as keyof typeof done]);
      expect(second).toContain("can't write the output: ");
      if (flags[0] === '--json') expect(Object.keys(JSON.parse(first) as object)).toEqual(['warning']);
    }
  });

  it('ends quietly where the reader of stdout has gone', async () => {
    const { service, user } = await account();
    service.on(route, { body: good });
    const line = [process.execPath, BIN, ...args];
    const child = spawn('bash', ['-c', 'set -o pipefail; "$@" | true', 'bash', ...line], {
      cwd: user.home,
      env: user.env,
    });
    child.stdin.end();
    const { code, stderr } = await finished(child);
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('a call for money', () => {
  it('of a raw call lets its answer come at the first Ctrl-C, shows it, and ends with 130', async () => {
    const { service, user } = await account();
    const { route, good } = commands.order;
    const held = new Promise<() => void>((done) =>
      service.on(route, (_, response) => done(() => response.end(JSON.stringify(good)))),
    );
    const child = user.start(['api', 'POST', '/order_url', 'url=https://example.com/a.mp3', 'sku=TRANS14']);
    const end = finished(child);
    const answer = await held;
    child.kill('SIGINT');
    await finishing(child);
    answer();
    const { code, stdout, stderr } = await end;
    expect([code, JSON.parse(stdout)]).toEqual([130, good]);
    expect(stderr).toMatch(/\nsteno: interrupted, but POST \/order_url was answered\n$/);
  });

  it('that is unclear points to what lists it: attempts, except without a ledger and for a test', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { status: 500 });
    const hint = async (...flags: string[]): Promise<string> => {
      const { code, stderr } = await user.run([...commands.order.args, ...flags]);
      expect(code).toBe(11);
      return stderr.split('\n').find((line) => line.startsWith('hint: ')) ?? '';
    };
    const look = 'hint: check the balance and your account before you order again: steno balance';
    expect(await hint(...WITHOUT_LEDGER)).toBe(look);
    expect(await hint('--test')).toBe('hint: it was a test, which costs nothing: run it again');
    expect(await hint()).toBe(`${look}, steno attempts`);
  });

  it('ends with 7 when the host has no address', async () => {
    const { code, stderr } = await userOf('https://steno.invalid/API4').run(commands.order.args);
    expect(code, stderr).toBe(7);
  });

  it('tells how long to wait when the service asks for it', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { status: 429, headers: { 'retry-after': '7200' } });
    const { code, stderr } = await user.run(commands.order.args);
    expect(code).toBe(1);
    expect(stderr).toContain('hint: the service asks to wait 2h');
  });

  it('is sent once through api too, and its unclear end is said', async () => {
    const { service, user } = await account();
    service.on('*', { status: 502, body: 'bad gateway' });
    for (const path of ['/order_url', '/audiofile/5/refund', '/audiofile/5/upgrade']) {
      for (const method of ['POST', 'GET']) {
        service.got.length = 0;
        const { code } = await user.run(['api', method, path, '--again']);
        expect([path, method, code, service.got.length]).toEqual([path, method, 11, 1]);
      }
    }
  });

  it.each([
    ['a page', '<html><body>Welcome</body></html>', 'it is a web page (Welcome)'],
    ['nothing', '', '(it is empty)'],
    ['half of it', '{"order":"X1","audiofi', "the service's answer can't be read: "],
  ])('is unclear through api too where the answer is %s', async (_, body, why) => {
    const { service, user } = await account();
    service.on('*', { body });
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await user.run([
        'api',
        'POST',
        '/audiofile/5/refund',
        '--again',
        ...flags,
      ]);
      expect([code, stdout]).toEqual([11, '']);
      expect(stderr).toContain(why);
    }
    expect((await user.run(['api', 'GET', '/prepay_balance'])).code).toBe(0);
  });

  it.each([
    ['/order%5Furl'],
    ['/%6frder_%75rl;a'],
    ['/order%255Furl'],
    ['/%2Forder_url'],
    ['/x%2F..%2Forder_url'],
    ['/API4/order_url'],
    ['/audiofile/7/%72efund'],
    ['/audiofile%2F7%2frefund'],
    ['/audiofile/7/x%2F..%2Fupgrade'],
    ['/audiofile;a/7/%2Fupgrade'],
    ['/%61udiofile/%zz/re%66und'],
  ])('is known by what a server reads: %s is sent once through api', async (path) => {
    const wire = await Wire.afterRequest((socket) => socket.end());
    for (const [at, method] of ['GET', 'POST'].entries()) {
      const { code, stderr } = await userOf(wire.baseUrl).run(['api', method, path]);
      expect([method, code, wire.connections], stderr).toEqual([method, 11, at + 1]);
    }
  });

  it('is not seen in a path that only resembles one', async () => {
    const { service, user } = await account();
    service.on('*', { status: 502, body: 'bad gateway' });
    for (const path of ['/order_urls', '/audiofile/refund', '/audiofile/5/refunds', '/x/100%25']) {
      const { code } = await user.run(['api', 'POST', path]);
      expect([path, code]).toEqual([path, 1]);
    }
  });

  it.each([
    ['too large', Buffer.alloc(70 << 20, '['), {}],
    ['no valid gzip', '{"order":1,"audiofiles":[1]}', { 'content-encoding': 'gzip' }],
  ])('has an unknown outcome, through api too, if the answer is %s', async (_, body, headers) => {
    const { service, user } = await account();
    service.on('*', { body, headers });
    for (const args of [['api', 'POST', '/order_url'], commands.order.args]) {
      const { code, stdout, stderr } = await user.run(args);
      expect([code, stdout], stderr).toEqual([11, '']);
      expect(stderr).toMatch(/^steno: the service's answer can't be read: .*may have gone through\nhint: /);
    }
    expect(service.got).toHaveLength(2);
  });

  it('is not sent when Ctrl-C comes before it', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    await user.run(['config', 'set', 'api-key-command', 'echo started >&2; sleep 5; echo key-from-command']);
    const child = user.start(commands.order.args);
    const end = finished(child);
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
    expect(service.got).toHaveLength(0);
  });

  it('that is answered with a message alone says that message', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { message: 'Insufficient funds' } });
    const { code, stderr } = await user.run(['order', 'https://e.com/1', '--sku', 'TRANS14']);
    expect([code, stderr]).toEqual([11, expect.stringContaining('Insufficient funds')]);
  });
});
