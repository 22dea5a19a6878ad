/** Questions on a real terminal: how each can end, and what becomes of the terminal and of what is typed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, newcomer } from '../support/account.ts';
import { encodingsOf } from '../support/secrets.ts';
import { sliceOf } from '../support/slices.ts';
import { KEY, User } from '../support/steno.ts';
import { Terminal } from '../support/terminal.ts';
import { deadAddress } from '../support/wire.ts';

const kept = (user: User): unknown => {
  const path = join(user.home, 'config', 'config.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
};

const clean = (code: number) => ({ code, restored: true, shell: 'next line' });

/** Every question of every command, with what comes before it. */
const questions = [
  { name: 'the base URL', args: 'login', question: 'Base URL: ', ended: 2 },
  { name: 'the key', args: 'login', question: 'API key: ', first: ['Base URL: '], ended: 3 },
  { name: 'the key alone', args: 'login --no-verify', question: 'API key: ', ended: 3 },
  { name: 'config set api-key', args: 'config set api-key -', question: 'API key: ', ended: 2 },
  { name: 'config set api-key without a value', args: 'config set api-key', question: 'API key: ', ended: 2 },
  { name: 'config set base-url', args: 'config set base-url -', question: 'base-url: ', ended: 2 },
  { name: 'refund', args: 'refund 5', question: '[y/N] ', ended: 1 },
  {
    name: 'listen --register',
    args: 'listen --port 0 --register --public-url https://public.example.com/hook',
    question: '[y/N] ',
    ended: 1,
  },
];

async function at(each: (typeof questions)[number]): Promise<Terminal> {
  const { service, user } = each.args.startsWith('login') ? await newcomer() : await account();
  service.allow('GET /webhook', { body: { webhook: 'https://other.example.com/' } });
  const terminal = new Terminal(user, each.args);
  for (const question of each.first ?? []) await terminal.answer(question, `${service.baseUrl}\r`);
  await terminal.until(each.question);
  return terminal;
}

describe.concurrent.each(sliceOf(questions, 3))('at the question of $name', (each) => {
  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-C after some text', 'text\u0003', 130],
    ['Ctrl-D', '\u0004', each.ended],
  ])('%s ends it', async (_, keys, code) => {
    const terminal = await at(each);
    terminal.type(keys);
    expect(await terminal.end()).toEqual(clean(code));
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it', async (signal, code) => {
    const terminal = await at(each);
    process.kill(terminal.pid, signal);
    expect(await terminal.end()).toEqual(clean(code));
  });

  it('ends when the terminal is closed', async () => {
    const terminal = await at(each);
    terminal.close();
    await terminal.until(() => !terminal.isRunning);
  });
});

describe.concurrent('login on a terminal', () => {
  it('asks for the address and the key, shows the one only, and keeps both', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${service.baseUrl}x\u007f\r`);
    await terminal.answer('API key: ', `${KEY}x\u007f\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).toContain(service.baseUrl);
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toEqual({ profiles: { default: { 'api-key': KEY, 'base-url': service.baseUrl } } });
  });

  it.each([
    ['pasted at once', (url: string) => `${url}\r${KEY}\r`],
    ['pasted with line feeds', (url: string) => `${url}\n${KEY}\n`],
    ['pasted with an end of input', (url: string) => `${url}\r${KEY}\u0004`],
    ['pasted in brackets', (url: string) => `\u001b[200~${url}\r${KEY}\r\u001b[201~`],
  ])('takes both when they are %s, and shows no key', async (_, paste) => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', paste(service.baseUrl));
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toEqual({ profiles: { default: { 'api-key': KEY, 'base-url': service.baseUrl } } });
  });

  it('takes a key that the terminal pastes in brackets', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, `login --base-url ${service.baseUrl}`);
    await terminal.answer('API key: ', `\u001b[200~${KEY}\u001b[201~\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(kept(user)).toMatchObject({ profiles: { default: { 'api-key': KEY } } });
  });

  it('does not bring the address back at the question for the key', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    for (const time of [1, 2, 3]) {
      await terminal.until(() => terminal.screen.split('API key: ').length > time);
      terminal.type('\u001b[A\r');
    }
    expect(await terminal.end()).toEqual(clean(3));
    expect(terminal.screen.match(/no key was given/g)).toHaveLength(3);
  });

  it('takes a key that is pasted after an empty line, and shows a bullet for each character', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    await terminal.answer('API key: ', '\r');
    await terminal.until(() => terminal.screen.split('API key: ').length > 2);
    terminal.type(`${KEY}xy`);
    await terminal.until(`API key: ${'•'.repeat(KEY.length + 2)}`);
    terminal.type('\u007f\u007f\r');
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).toContain('Logged in. Balance 1.00 USD.');
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toMatchObject({ profiles: { default: { 'api-key': KEY } } });
  });

  it('leaves to the shell what is typed while the key is checked', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    service.on('GET /prepay_balance', (_, response) => {
      terminal.type('first line\r');
      const echoed = terminal.until('first line');
      void echoed.then(() => response.end('{"balance":"1.00"}'));
    });
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    await terminal.answer('API key: ', `${KEY}\r`);
    expect(await terminal.end()).toEqual({ ...clean(0), shell: 'first line' });
  });

  it('can be interrupted while the key is checked', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    service.on('GET /prepay_balance', () => terminal.type('\u0003'));
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    await terminal.answer('API key: ', `${KEY}\r`);
    expect(await terminal.end()).toEqual(clean(130));
    expect(kept(user)).toBeUndefined();
  });

  it('asks again where the key is refused, and says the next step', async () => {
    const { service, user } = await newcomer();
    const refused = { status: 401, body: { message: 'no' } };
    service.on('GET /prepay_balance', refused, { body: { balance: '1.00' } });
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    await terminal.answer('API key: ', `wrong-${KEY}\r`);
    await terminal.until('did not accept the key');
    await terminal.until('hint: type the key again');
    const asked = (): string => terminal.screen.split('hint: ')[1] ?? '';
    await terminal.until(() => /: $/.test(asked()));
    // A question that shows what is typed must not come where a key is expected.
    expect(asked()).toMatch(/API key: $/);
    terminal.type(`${KEY}\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(terminal.screen).toMatch(/next: steno order https:\S+ --sku TRANS14/);
    expect(kept(user)).toEqual({ profiles: { default: { 'api-key': KEY, 'base-url': service.baseUrl } } });
  });

  it('ends after three refused keys, and keeps none', async () => {
    const { service, user } = await newcomer();
    service.on('GET /prepay_balance', { status: 401, body: { message: 'no' } });
    const terminal = new Terminal(user, `login --base-url ${service.baseUrl}`);
    for (const time of [1, 2, 3]) {
      await terminal.until(() => terminal.screen.split('API key: ').length > time);
      terminal.type(`${KEY}\r`);
    }
    expect(await terminal.end()).toEqual(clean(3));
    expect([kept(user), service.got.length]).toEqual([undefined, 3]);
  });

  it('asks again where the address is none, and takes what was pasted behind it for no address', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `example.com/API4\r${KEY}\r${KEY.slice(0, 12)}`);
    await terminal.until('did you mean https://example.com/API4?');
    await terminal.until(() => terminal.screen.split('Base URL: ').length > 2);
    terminal.type(`${service.baseUrl}\r`);
    await terminal.answer('API key: ', `${KEY}\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toEqual({ profiles: { default: { 'api-key': KEY, 'base-url': service.baseUrl } } });
  });

  it('ends after three addresses that are none', async () => {
    const terminal = new Terminal(new User(), 'login');
    for (const time of [1, 2, 3]) {
      await terminal.until(() => terminal.screen.split('Base URL: ').length > time);
      terminal.type('nonsense\r');
    }
    expect(await terminal.end()).toEqual(clean(2));
    expect(terminal.screen).not.toContain('API key');
  });

  it('asks for the address again where nothing answers there, and can be interrupted then', async () => {
    const { user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${await deadAddress()}\r`);
    await terminal.answer('API key: ', `${KEY}\r`);
    await terminal.until("can't reach");
    await terminal.until(() => terminal.screen.split('Base URL: ').length > 2);
    terminal.type('\u0003');
    expect(await terminal.end()).toEqual(clean(130));
    expect(kept(user)).toBeUndefined();
  });

  it('takes a long key that is pasted', async () => {
    const { service, user } = await newcomer();
    const long = KEY.repeat(100);
    const terminal = new Terminal(user, `login --base-url ${service.baseUrl}`);
    await terminal.answer('API key: ', `${long}\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toMatchObject({ profiles: { default: { 'api-key': long } } });
  });

  it('goes on after Ctrl-Z', async () => {
    const { service, user } = await newcomer();
    const terminal = new Terminal(user, 'login');
    await terminal.answer('Base URL: ', `${service.baseUrl}\r`);
    await terminal.answer('API key: ', `${KEY.slice(0, 4)}\u001a`);
    await terminal.answer('stopped', '\r');
    await terminal.until(() => terminal.screen.split('API key: ').length > 2);
    terminal.type(`${KEY.slice(4)}\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(kept(user)).toMatchObject({ profiles: { default: { 'api-key': KEY } } });
  });
});

describe('config set with - on a terminal', () => {
  it('does not show a key', async () => {
    const user = new User();
    const terminal = new Terminal(user, 'config set api-key -');
    await terminal.answer('API key: ', `${KEY}\r`);
    expect(await terminal.end()).toEqual(clean(0));
    expect(terminal.screen).not.toContain(KEY.slice(0, 8));
    expect(kept(user)).toEqual({ profiles: { default: { 'api-key': KEY } } });
  });
});

describe('the text of a question', () => {
  const register = 'listen --port 0 --register --public-url https://public.example.com/';
  const PASSWORD = 'pa55w0rd';
  const texts: ReadonlyArray<readonly [string, string]> = [
    ['escape sequences', '\u001b]0;title\u0007\u001b[2J'],
    ['marks of direction and characters without a width', '\u202ecod.\u2066\u200b\u{e0041}'],
    ...Object.entries(encodingsOf(KEY)).map(([name, text]) => [`the key (${name})`, `?k=${text}`] as const),
  ];

  it.each(sliceOf(texts, 3))('neither steers the terminal nor shows a secret: %s', async (_, text) => {
    const { service, user } = await account();
    service.on('GET /webhook', { body: { webhook: `https://me:${PASSWORD}@other.example.com/${text}` } });
    const terminal = new Terminal(user, register);
    await terminal.answer('[y/N] ', 'n\r');
    expect(await terminal.end()).toEqual(clean(1));
    expect(terminal.screen).toContain('webhook is https://***@other.example.com/');
    expectClean(terminal.screen);
  });

  it.each(sliceOf(texts, 3))('nor does the warning in its place: %s', async (_, text) => {
    const { service, user } = await account();
    service.on('GET /webhook', { body: { webhook: `https://me:${PASSWORD}@other.example.com/${text}` } });
    service.on('POST /webhook', { status: 400, body: { message: 'no' } });
    const { code, stderr } = await user.run(register.split(' '));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^warning: the account's webhook https:\/\/\*\*\*@other\.example\.com\/.* is replaced/,
    );
    expectClean(stderr);
  });

  function expectClean(shown: string): void {
    for (const secret of [PASSWORD, ...Object.values(encodingsOf(KEY))]) expect(shown).not.toContain(secret);
    expect(shown).not.toMatch(/\u001b\]|\u001b\[2J|[\u202e\u2066\u200b]|\u{e0041}/u);
  }
});
