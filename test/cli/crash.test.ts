/** An error that no code of ours caught: one line, what must be undone is undone, exit 1. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import { freshFolder } from '../support/files.ts';
import { Listener } from '../support/listener.ts';
import type { Service } from '../support/server.ts';
import { finished, KEY, type Result, type User } from '../support/steno.ts';

/** A file that node loads before the program; it provokes an error when SIGUSR2 comes. */
function preload(code: string): Record<string, string> {
  const path = join(freshFolder(), 'preload.cjs');
  writeFileSync(path, `process.on('SIGUSR2', () => { ${code} });`);
  return { NODE_OPTIONS: `--require=${path}` };
}

/** Starts a command, provokes the error while the service keeps it waiting, and gives what came of it. */
async function crash(user: User, service: Service, args: readonly string[], code: string): Promise<Result> {
  service.on('GET /prepay_balance', () => child.kill('SIGUSR2'));
  const child = user.start(args, { env: preload(code) });
  return finished(child);
}

const throws = 'setTimeout(() => { throw error; }, 10);';
const rejects = 'Promise.reject(error);';
const withKey = `const error = new Error('it broke: ${KEY}\\n\\u001b[31mand more'); error.name = 'TypeError';`;

describe.concurrent('an error that nothing caught', () => {
  it.each([
    ['thrown in a timer', throws],
    ['a promise that was rejected', rejects],
  ])('is one line without the key, and exit 1: %s', async (_, how) => {
    const { user, service } = await account();
    const { code, stdout, stderr } = await crash(user, service, ['balance'], withKey + how);
    expect([code, stdout, stderr]).toEqual([1, '', 'steno: it broke: **** [31mand more\n']);
  });

  it.each([
    ['a text', "'only words'", 'steno: only words\n'],
    ['an error without a message', 'new AggregateError([])', 'steno: AggregateError\n'],
  ])('may be anything: %s', async (_, error, line) => {
    const { user, service } = await account();
    const got = await crash(user, service, ['balance'], `const error = ${error}; ${rejects}`);
    expect([got.code, got.stderr]).toEqual([1, line]);
  });

  it('is an object with --json', async () => {
    const { user, service } = await account();
    const { code, stderr } = await crash(user, service, ['balance', '--json'], withKey + throws);
    expect([code, stderr.split('\n').length]).toEqual([1, 2]);
    expect(jsonError(stderr)).toEqual({ code: 'failed', message: 'it broke: **** [31mand more' });
  });

  it('comes with its stack under --debug, without the key', async () => {
    const { user, service } = await account();
    const { code, stderr } = await crash(user, service, ['balance', '--debug'], withKey + throws);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^steno: it broke: \*{4} \[31mand more$/m);
    expect(stderr).toMatch(/caused by (Type)?Error: it broke.*\n.*and more\n +at .*preload\.cjs/);
    expect(stderr).not.toContain(KEY);
  });

  it('is said once, however many follow', async () => {
    const { user, service } = await account();
    const code = `${withKey} ${throws} ${throws} ${rejects}`;
    const { stderr } = await crash(user, service, ['balance'], code);
    expect(stderr).toBe('steno: it broke: **** [31mand more\n');
  });

  it('counts after the command has done its work too', async () => {
    const { user, service } = await account();
    service.on('GET /prepay_balance', { body: { balance: '1.00' } });
    const path = join(freshFolder(), 'preload.cjs');
    writeFileSync(path, "process.once('beforeExit', () => { throw new Error('too late'); });");
    const got = await user.run(['balance'], { env: { NODE_OPTIONS: `--require=${path}` } });
    expect([got.code, got.stdout, got.stderr]).toEqual([1, '1.00\n', 'steno: too late\n']);
  });
});

describe('listen --register', () => {
  const FORMER = 'https://former.example.com/hook';
  const args = ['--register', '--public-url', 'https://hooks.example.com/steno'];

  it('gives the webhook back', async () => {
    const { user, service } = await account();
    const set: unknown[] = [];
    service.on('GET /webhook', (_, response) => {
      response.end(JSON.stringify({ webhook: set.at(-1) ?? FORMER }));
    });
    service.on('POST /webhook', (got, response) => {
      set.push(got.body?.webhook);
      response.end(JSON.stringify({ webhook: set.at(-1) }));
    });
    service.on('POST /webhook/test/DIFFICULT_AUDIO', { body: { message: 'ok' } });
    const listener = await Listener.start(user, args, { env: preload(withKey + throws) });
    listener.child.kill('SIGUSR2');
    const { code } = await listener.ended;
    expect([code, set.at(-1), set.length]).toEqual([1, FORMER, 2]);
    expect(listener.stderr.match(/^steno: .*$/gm)).toEqual(['steno: it broke: **** [31mand more']);
    expect(listener.stderr).toContain(`the webhook is ${FORMER} again`);
  });

  it('ends soon also where the service does not answer any more', async () => {
    const { user, service } = await account();
    service.on('GET /webhook', { body: { webhook: FORMER } }, () => {});
    service.on('POST /webhook', { body: {} });
    service.on('POST /webhook/test/DIFFICULT_AUDIO', { body: { message: 'ok' } });
    const listener = await Listener.start(user, args, { env: preload(withKey + throws) });
    const started = Date.now();
    listener.child.kill('SIGUSR2');
    const { code } = await listener.ended;
    expect(code).toBe(1);
    // A call alone would be given up after 30 s.
    expect(Date.now() - started).toBeLessThan(9_000);
    expect(listener.stderr.match(/^steno: .*$/gm)).toEqual(['steno: it broke: **** [31mand more']);
  });
});
