/** login, logout and whoami: what is kept, what is asked, what is shown. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newcomer } from '../support/account.ts';
import { modeOf } from '../support/files.ts';
import { finished, KEY, type User } from '../support/steno.ts';

const configOf = (user: User): string => join(user.home, 'config', 'config.json');
const kept = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

describe('login', () => {
  it('takes the key from stdin, checks it, and keeps it with the address in private', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const { code, stdout, stderr } = await user.run(['login', '--base-url', service.baseUrl], {
      stdin: `  ${KEY}\r\n`,
    });
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`Logged in. Balance 1.00 USD.\nsaved in profile default (${path})`);
    expect(service.got[0]?.query.get('api_key')).toBe(KEY);
    expect(kept(path)).toEqual({ profiles: { default: { 'api-key': KEY, 'base-url': service.baseUrl } } });
    expect([modeOf(path), modeOf(join(user.home, 'config'))]).toEqual(['600', '700']);
    const balance = await user.run(['balance']);
    expect([balance.code, balance.stdout]).toEqual([0, '1.00\n']);
  });

  it('narrows a folder that was open to others, and a file that they could read', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    mkdirSync(join(user.home, 'config'));
    chmodSync(join(user.home, 'config'), 0o777);
    writeFileSync(path, '{"profiles":{"work":{"base-url":"https://h/API4"}},"other":[1]}');
    chmodSync(path, 0o644);
    await user.run(['login', '--base-url', service.baseUrl], { stdin: KEY });
    expect([modeOf(path), modeOf(join(user.home, 'config'))]).toEqual(['600', '700']);
    expect(kept(path)).toMatchObject({ profiles: { work: { 'base-url': 'https://h/API4' } }, other: [1] });
  });

  it.each([
    [401, 3],
    [403, 3],
    [500, 1],
  ])('keeps nothing when the check ends with %i', async (status, exit) => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    service.on('GET /prepay_balance', {
      status,
      body: { message: `no, ${KEY}!` },
      headers: { 'retry-after': '0' },
    });
    const { code, stderr } = await user.run(['login', '--base-url', service.baseUrl], { stdin: KEY });
    expect(code).toBe(exit);
    expect(stderr).not.toContain(KEY);
    expect(existsSync(path)).toBe(false);
  });

  it('asks no service with --no-verify, but checks the address all the same', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const bad = await user.run(['login', '--no-verify', '--base-url', 'http://example.com/API4'], {
      stdin: KEY,
    });
    expect([bad.code, existsSync(path)]).toEqual([2, false]);
    const { code } = await user.run(['login', '--no-verify', '--profile', 'work'], { stdin: KEY });
    expect(kept(path)).toEqual({ profiles: { work: { 'api-key': KEY } } });
    const short = ['login', '--no-verify', '--profile', 'short', '--base-url', 'https://example.com/'];
    expect((await user.run(short, { stdin: KEY })).stderr).toMatch(
      /https:\/\/example\.com\/ does not end in \/API4/,
    );
    expect([code, service.got.length]).toEqual([0, 0]);
  });

  it('does not keep an address that came from the environment', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    await user.run(['login'], { stdin: KEY, env: { STENO_BASE_URL: service.baseUrl } });
    expect(kept(path)).toEqual({ profiles: { default: { 'api-key': KEY } } });
  });

  it.each([
    ['no key', '', 3],
    ['blanks', ' \n', 3],
    ['two words', 'two words', 2],
    ['control characters', 'abc\u0007def', 2],
  ])('refuses %s', async (_, stdin, exit) => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const { code } = await user.run(['login', '--base-url', service.baseUrl], { stdin });
    expect([code, service.got.length, existsSync(path)]).toEqual([exit, 0, false]);
  });

  it('wants an address to check the key with', async () => {
    const { user } = await newcomer();
    const path = configOf(user);
    const { code, stderr } = await user.run(['login'], { stdin: KEY });
    expect([code, existsSync(path)]).toEqual([2, false]);
    expect(stderr).toContain('--no-verify');
  });

  it('gives up checking the key after --timeout', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    service.on('GET /prepay_balance', () => {});
    const { code } = await user.run(['login', '--base-url', service.baseUrl, '--timeout', '200ms'], {
      stdin: KEY,
    });
    expect([code, existsSync(path)]).toEqual([6, false]);
  });

  it('keeps a command in place of the key', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const command = `printf '%s\\nsecond line\\n' '${KEY}'`;
    await user.run(['login', '--base-url', service.baseUrl], { stdin: 'former-key' });
    const { code } = await user.run(['login', '--api-key-command', command]);
    expect(code).toBe(0);
    expect(service.got.at(-1)?.query.get('api_key')).toBe(KEY);
    expect(kept(path)).toEqual({
      profiles: { default: { 'api-key-command': command, 'base-url': service.baseUrl } },
    });
    const [balance, whoami, list] = await Promise.all([
      user.run(['balance']),
      user.run(['whoami']),
      user.run(['config', 'list']),
    ]);
    expect([balance.code, whoami.code, list.code]).toEqual([0, 0, 0]);
    expect(whoami.stdout).toContain('command of profile default');
    for (const { stdout, stderr } of [balance, whoami, list]) expect(stdout + stderr).not.toContain(KEY);
  });

  it.each([
    ['fails', 'exit 7', 3],
    ['prints nothing', 'true', 3],
    ['is not there', 'no-such-command-here', 3],
  ])('ends with 3 when the command %s', async (_, command, exit) => {
    const { service, user } = await newcomer();
    const at = ['--base-url', service.baseUrl];
    const login = await user.run(['login', '--api-key-command', command, ...at]);
    expect([login.code, existsSync(join(user.home, 'config', 'config.json'))]).toEqual([exit, false]);
    await user.run(['config', 'set', 'api-key-command', command]);
    const balance = await user.run(['balance', ...at]);
    expect([balance.code, service.got.length]).toEqual([exit, 0]);
  });

  it('asks for the key on a terminal without showing it', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const { code, stdout } = await user.onTerminal(`steno login --base-url ${service.baseUrl}`, {
      stdin: `${KEY}x\u007f\r`,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('API key: ');
    expect(stdout).not.toContain(KEY.slice(0, 8));
    expect(kept(path)).toMatchObject({ profiles: { default: { 'api-key': KEY } } });
  });

  it('can be interrupted at the prompt', async () => {
    const { service, user } = await newcomer();
    const path = configOf(user);
    const { code } = await user.onTerminal(`steno login --base-url ${service.baseUrl}`, {
      stdin: `${KEY}\u0003`,
    });
    expect([code, existsSync(path), service.got.length]).toEqual([130, false, 0]);
  });
});

describe('logout', () => {
  it('forgets the key and the command of one profile, and keeps the rest', async () => {
    const { user } = await newcomer();
    const path = configOf(user);
    for (const name of ['a', 'b'])
      await user.run(['login', '--no-verify', '--profile', name], { stdin: KEY });
    await user.run(['config', 'set', 'base-url', 'https://h/API4', '--profile', 'a']);
    const { code } = await user.run(['logout', '--profile', 'a']);
    expect(code).toBe(0);
    expect(kept(path)).toEqual({ profiles: { a: { 'base-url': 'https://h/API4' }, b: { 'api-key': KEY } } });
    expect((await user.run(['balance', '--profile', 'a'])).code).toBe(3);
  });

  it('says that the environment still holds one', async () => {
    const { user } = await newcomer();
    const { code, stderr } = await user.run(['logout'], { env: { STENO_API_KEY: KEY } });
    expect([code, stderr.includes('STENO_API_KEY is still set'), stderr.includes(KEY)]).toEqual([
      0,
      true,
      false,
    ]);
  });
});

describe('whoami', () => {
  it('shows the end of the key and where each setting came from', async () => {
    const { user } = await newcomer();
    await user.run(['login', '--no-verify', '--profile', 'work', '--base-url', 'https://h/API4'], {
      stdin: KEY,
    });
    const rows = await user.run(['whoami', '--profile', 'work']);
    expect(rows.stdout.split('\n')).toEqual([
      ...['profile\twork\tflag', 'base-url\thttps://h/API4\tprofile work', 'api-key\t****6789\tprofile work'],
      ...[expect.stringMatching(/^ledger\t/), expect.stringMatching(/^account\t/), 'budget\t\tnot set', ''],
    ]);
    const other = await user.run(['whoami', '--json', '--base-url', 'https://i/API4'], {
      env: { STENO_API_KEY: 'short', STENO_PROFILE: 'work' },
    });
    expect(JSON.parse(other.stdout)).toMatchObject({
      ...{ profile: 'work', base_url: 'https://i/API4', api_key: '****', budget: null },
      sources: {
        profile: 'environment STENO_PROFILE',
        base_url: 'flag',
        api_key: 'environment STENO_API_KEY',
        budget: 'not set',
      },
    });
  });

  it('ends with 3 where there is no key, and shows the rest', async () => {
    const { user } = await newcomer();
    const { code, stdout, stderr } = await user.run(['whoami']);
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/^profile\tdefault\tdefault\nbase-url\t\tnot set\napi-key\t\tnot set\nledger\t/),
    ]);
    expect(stderr).toContain('hint: run: steno login');
  });
});

describe('without a key or an address', () => {
  it('a call ends with 3 or 2, and says what to do', async () => {
    const { service, user } = await newcomer();
    const noKey = await user.run(['balance', '--base-url', service.baseUrl]);
    expect([noKey.code, noKey.stderr]).toEqual([
      3,
      'steno: no API key is set\nhint: run: steno login (in a script: export STENO_API_KEY=…; to try it without an account: --sandbox)\n',
    ]);
    const noUrl = await user.run(['balance', '--api-key', KEY]);
    expect([noUrl.code, noUrl.stderr]).toEqual([
      2,
      expect.stringMatching(
        /no base URL is set\nhint: run: steno login .*export STENO_BASE_URL=https:.*--sandbox/,
      ),
    ]);
    expect(service.got).toEqual([]);
  });

  it('the catalogue, help and version work', async () => {
    const { user } = await newcomer();
    const lines = [
      ['skus'],
      ['states'],
      ['formats'],
      ['--help'],
      ['order', '--help'],
      ['help', 'webhook'],
      ['--version'],
      ['config', 'path'],
      [],
    ];
    const results = await Promise.all(lines.map((line) => finished(user.start(line))));
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(lines.map(() => [0, '']));
    for (const { stdout } of results) expect(stdout).not.toBe('');
  });
});
