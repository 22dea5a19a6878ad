/** Settings in the order of the contract, kept in a file that is never spoilt. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { Service } from '../support/server.ts';
import { KEY, User } from '../support/steno.ts';

function withConfig(config: unknown, env: Record<string, string> = {}): { user: User; path: string } {
  const user = new User(env);
  const path = join(user.home, 'config', 'config.json');
  mkdirSync(join(user.home, 'config'));
  writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config), { mode: 0o600 });
  return { user, path };
}

describe('a setting comes from', () => {
  it('the flag, then the environment, then the profile: the address', async () => {
    const [flag, env, profile] = await Promise.all([Service.start(), Service.start(), Service.start()]);
    for (const service of [flag, env, profile]) service.on('*', { body: { balance: 1 } });
    const { user } = withConfig({ profiles: { default: { 'api-key': KEY, 'base-url': profile.baseUrl } } });
    await user.run(['balance', '--base-url', flag.baseUrl], { env: { STENO_BASE_URL: env.baseUrl } });
    expect([flag, env, profile].map((each) => each.got.length)).toEqual([1, 0, 0]);
    await user.run(['balance'], { env: { STENO_BASE_URL: env.baseUrl } });
    expect([flag, env, profile].map((each) => each.got.length)).toEqual([1, 1, 0]);
    await user.run(['balance'], { env: { STENO_BASE_URL: '' } });
    expect([flag, env, profile].map((each) => each.got.length)).toEqual([1, 1, 1]);
  });

  it('the flag, then the environment, then the profile: the key and the profile', async () => {
    const { service } = await account();
    service.on('*', { body: { balance: 1 } });
    const { user } = withConfig({
      profiles: {
        default: { 'api-key': 'key-default', 'base-url': service.baseUrl },
        one: { 'api-key': 'key-of-one', 'base-url': service.baseUrl },
        two: { 'api-key-command': 'echo key-of-two', 'base-url': service.baseUrl },
      },
    });
    const used = async (
      args: string[],
      env: Record<string, string> = {},
    ): Promise<string | null | undefined> => {
      await user.run(['balance', ...args], { env });
      return service.got.at(-1)?.query.get('api_key');
    };
    expect(await used(['--api-key', 'key-of-flag'], { STENO_API_KEY: 'key-of-env' })).toBe('key-of-flag');
    expect(await used(['--profile', 'one'], { STENO_API_KEY: 'key-of-env' })).toBe('key-of-env');
    expect(await used(['--profile', 'one'], { STENO_PROFILE: 'two' })).toBe('key-of-one');
    expect(await used([], { STENO_PROFILE: 'two' })).toBe('key-of-two');
    expect(await used([])).toBe('key-default');
  });

  it.each([
    ['work', [], { STENO_PROFILE: 'work' }, 'environment STENO_PROFILE'],
    ['work', ['--profile', 'work'], { STENO_PROFILE: 'sandbox' }, 'flag'],
    ['sandbox', [], { STENO_PROFILE: 'sandbox' }, 'environment STENO_PROFILE'],
    ['sandbox', ['--profile', 'sandbox'], { STENO_PROFILE: 'work' }, 'flag'],
    ['sandbox', ['--sandbox'], { STENO_PROFILE: 'work' }, 'flag'],
    ['default', [], {}, 'default'],
  ])('profile %s, whose source whoami names: %j %j', async (name, args, env, source) => {
    const own = { 'api-key': KEY, 'base-url': 'https://h/API4' };
    const { user } = withConfig({ profiles: { default: own, work: own } });
    const { code, stdout } = await user.run(['whoami', '--json', ...args], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ profile: name, sources: { profile: source } });
  });

  it('a place that config list names', async () => {
    const { user } = withConfig({ profiles: { default: { 'api-key': KEY, timeout: '5s' } } });
    const { stdout } = await user.run(['config', 'list'], { env: { STENO_BASE_URL: 'https://h/API4' } });
    expect(stdout).toBe(
      'base-url\thttps://h/API4\tenvironment STENO_BASE_URL\napi-key\t****6789\tprofile default\napi-key-command\t\tnot set\ntimeout\t5s\tprofile default\nledger\t\tnot set\nledger-password-command\t\tnot set\naccount\t\tnot set\nupload-command\t\tnot set\nbudget\t\tnot set\nallow\t\tnot set\ncurrency\t\tnot set\n',
    );
  });
});

describe('config', () => {
  it('sets, gets and unsets what a profile holds', async () => {
    const { user, path } = withConfig({ profiles: {}, kept: 1 });
    const at = ['--profile', 'new'];
    expect((await user.run(['config', 'set', 'base-url', 'https://h/API4', ...at])).code).toBe(0);
    expect((await user.run(['config', 'set', 'timeout', '2m', ...at])).code).toBe(0);
    const got = await user.run(['config', 'get', 'base-url', ...at]);
    expect([got.code, got.stdout]).toEqual([0, 'https://h/API4\n']);
    expect((await user.run(['config', 'unset', 'timeout', ...at])).code).toBe(0);
    expect((await user.run(['config', 'get', 'timeout', ...at])).code).toBe(1);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      profiles: { new: { 'base-url': 'https://h/API4' } },
      kept: 1,
    });
    expect((await user.run(['config', 'path'])).stdout).toBe(`${path}\n`);
  });

  it.each([
    ['base-url', 'https://h.example.com/API4'],
    ['api-key', KEY],
    ['api-key-command', 'echo key'],
    ['ledger', 'postgres://db.example.com/steno'],
    ['ledger-password-command', 'echo password'],
    ['account', 'team'],
  ])('keeps no %s for the sandbox, where it has no effect', async (name, value) => {
    const { user, path } = withConfig({ profiles: {} });
    for (const where of [['--sandbox'], ['--profile', 'sandbox']]) {
      const { code, stdout, stderr } = await user.run(['config', 'set', name, value, ...where]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(
        new RegExp(`^steno: ${name} has no effect in the sandbox, .*\nhint: .*--profile`),
      );
    }
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ profiles: {} });
  });

  it('keeps for the sandbox what has an effect there, and no key of login', async () => {
    const { user, path } = withConfig({ profiles: {} });
    const env = { STENO_PROFILE: 'sandbox' };
    expect((await user.run(['config', 'set', 'currency', 'EUR'], { env })).code).toBe(0);
    for (const line of [['login'], ['login', '--no-verify'], ['login', '--api-key-command', 'echo key']]) {
      const { code, stderr } = await user.run(line, { env, stdin: KEY });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^steno: the sandbox has its own key/)]);
    }
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ profiles: { sandbox: { currency: 'EUR' } } });
  });

  it('never shows the key', async () => {
    const { user } = withConfig({ profiles: { default: { 'api-key': KEY } } });
    const lines = [
      ['config', 'get', 'api-key'],
      ['config', 'list', '--json'],
      ['config', 'list', '--csv'],
      ['config', 'list', '--quiet'],
      ['config', 'set', 'api-key', KEY, '--debug'],
    ];
    for (const { code, stdout, stderr } of await Promise.all(lines.map((line) => user.run(line)))) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(KEY);
    }
  });

  it('lets the later of a key and a command count', async () => {
    const { user, path } = withConfig({ profiles: { default: { 'api-key': KEY } } });
    await user.run(['config', 'set', 'api-key-command', 'echo other']);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      profiles: { default: { 'api-key-command': 'echo other' } },
    });
    await user.run(['config', 'set', 'api-key', 'again-a-key']);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      profiles: { default: { 'api-key': 'again-a-key' } },
    });
  });

  it('suggests the profile that was meant', async () => {
    const { user } = withConfig({ profiles: { staging: {} } });
    const { code, stderr } = await user.run(['balance', '--profile', 'stagin']);
    expect([code, stderr]).toEqual([
      2,
      "steno: there is no profile 'stagin'\n" +
        'hint: did you mean staging? known profiles: staging; create it with: steno login --profile stagin\n',
    ]);
  });

  it('answers with a document where one is asked for', async () => {
    const user = new User();
    const path = JSON.parse((await user.run(['config', 'path', '--json'])).stdout).path;
    expect(path).toBe(join(user.home, 'config', 'config.json'));
    const set = await user.run(['config', 'set', 'api-key', '-', '--json'], {
      stdin: 'key-from-stdin-0123\n',
    });
    expect(JSON.parse(set.stdout)).toEqual({ profile: 'default', setting: 'api-key', value: '****0123' });
    expect(readFileSync(path, 'utf8')).toContain('key-from-stdin-0123');
  });
});

describe('a broken config file', () => {
  const broken: ReadonlyArray<readonly [string, string]> = [
    ['is not JSON', '{"profiles": {'],
    ['is empty', ''],
    ['holds a list', '[]'],
    ['holds null', 'null'],
    ['has profiles that are a list', '{"profiles":[]}'],
    ['has a profile that is a text', '{"profiles":{"default":"x"}}'],
    ['has a value that is a number', '{"profiles":{"default":{"timeout":5}}}'],
  ];

  it.each(broken)('that %s is named, and is left as it is', async (_, text) => {
    const { user, path } = withConfig(text, {
      STENO_API_KEY: KEY,
      STENO_BASE_URL: 'http://127.0.0.1:1/API4',
    });
    const lines = [
      ['balance'],
      ['whoami'],
      ['login', '--no-verify'],
      ['logout'],
      ['config', 'set', 'timeout', '5s'],
      ['config', 'unset', 'timeout'],
      ['config', 'list'],
    ];
    for (const { code, stdout, stderr } of await Promise.all(
      lines.map((line) => user.run(line, { stdin: KEY })),
    )) {
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^steno: [^\n]+\nhint: [^\n]+\n$/);
      expect(stderr).toContain(path);
    }
    expect(readFileSync(path, 'utf8')).toBe(text);
    const [skus, help, where] = await Promise.all([
      user.run(['skus']),
      user.run(['--help']),
      user.run(['config', 'path']),
    ]);
    expect([skus.code, help.code, where.code]).toEqual([0, 0, 0]);
  });

  it('that is a folder is named', async () => {
    const user = new User();
    mkdirSync(join(user.home, 'config', 'config.json'), { recursive: true });
    const { code, stderr } = await user.run(['balance']);
    expect([code, stderr.includes('config.json')]).toEqual([2, true]);
  });

  it.each([
    ['base-url', 'ftp://h'],
    ['timeout', 'soon'],
    ['api-key', 'a b'],
  ])('with a bad %s is said to come from its profile', async (name, value) => {
    const profile = { 'api-key': 'some-key', 'base-url': 'https://127.0.0.1:1/API4', [name]: value };
    const { user } = withConfig({ profiles: { default: profile } });
    const { code, stderr } = await user.run(['balance']);
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      expect.stringContaining(`(${name} from profile default)`),
    ]);
  });
});

describe('an address', () => {
  it.each([
    'http://example.com/API4',
    'http://127.0.0.1.evil.com/API4',
    'http://localhost.evil.com/API4',
    'http://127.0.0.1@evil.com/API4',
    'http://user:hunter2@127.0.0.1/API4',
    'https://user@example.com/API4',
    'http://0.0.0.0/API4',
    'http://[::2]/API4',
    'http://169.254.169.254/API4',
    'https://example.com/API4?x=1',
    'https://example.com/API4?',
    'https://example.com/API4#x',
    'ftp://example.com/API4',
    'file:///etc/hosts',
    'javascript:alert(1)',
    'example.com/API4',
    'https://',
    'https:/example.com',
    'https:\\\\example.com',
    'https://exa mple.com',
    ' https://example.com',
    'not a url',
  ])('like %s is refused', async (url) => {
    const { service, user } = await account();
    const { code, stderr } = await user.run(['balance', '--base-url', url]);
    expect([code, service.got.length]).toEqual([2, 0]);
    expect(stderr).not.toContain('hunter2');
  });

  it.each(['http://example.com/API4', 'https://example.com/API4?x=1'])(
    'like %s is refused wherever it comes from',
    async (url) => {
      const { service, user } = await account();
      const results = await Promise.all([
        user.run(['balance'], { env: { STENO_BASE_URL: url } }),
        user.run(['config', 'set', 'base-url', url]),
        user.run(['login', '--base-url', url], { stdin: KEY }),
      ]);
      expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
      expect(service.got).toEqual([]);
    },
  );

  it.each([
    'http://localhost:1/API4',
    'http://127.9.9.9:1/API4',
    'http://[::1]:1/API4',
    'HTTP://LocalHost:1',
    'https://example.com/API4//',
  ])('like %s is taken', async (url) => {
    const { code } = await new User().run(['config', 'set', 'base-url', url]);
    expect(code).toBe(0);
  });

  it('may end in slashes', async () => {
    const { service, user } = await account();
    service.on('GET /prepay_balance', { body: { balance: 1 } });
    expect((await user.run(['balance', '--base-url', `${service.baseUrl}//`])).code).toBe(0);
  });
});
