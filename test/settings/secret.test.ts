/** The key appears in no output, in no encoding, whatever the service does with it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { finished, KEY, type User } from '../support/steno.ts';

const forms: Readonly<Record<string, string>> = {
  raw: KEY,
  url: encodeURIComponent(KEY),
  form: new URLSearchParams({ k: KEY }).toString().slice(2),
  base64: Buffer.from(KEY).toString('base64'),
  'base64 of more': Buffer.from(`{"api_key":"${KEY}"}`).toString('base64'),
  json: JSON.stringify(KEY).replaceAll('/', '\\/').slice(1, -1),
  unicode: [...KEY]
    .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join(''),
};

/** A command line that prints the key. */
const printKey = `echo '${KEY}'`;

/** Parts long enough to be of use to a thief. */
const parts = [
  ...Object.values(forms),
  KEY.slice(0, 12),
  KEY.slice(-12),
  encodeURIComponent(KEY).slice(0, 12),
  forms.base64?.slice(4, 24) ?? '',
];

function expectNoKey(...texts: string[]): void {
  for (const text of texts) for (const part of parts) expect(text).not.toContain(part);
}

describe('the key', () => {
  it.each(Object.entries(forms))('is hidden where the service repeats it %s', async (_, form) => {
    const { service, user } = await account();
    const said = `bad key: ${form} (api_key=${form})`;
    service.on('GET /audiofile/1', {
      status: 400,
      body: `{"message":"${said.replace(/\\(?!u)/g, '\\\\')}"}`,
    });
    service.on('GET /audiofile/2', { status: 400, body: said });
    service.on('GET /audiofile/3', { status: 400, body: `<html><h1>${said}</h1></html>` });
    service.on('GET /audiofile/4', {
      body: JSON.stringify({ audiofile: { id: 4, title: said, [form]: form } }),
    });
    service.on('GET /audiofile/5', {
      status: 302,
      headers: { location: `https://example.com/?api_key=${encodeURIComponent(form)}` },
    });
    service.on('GET /audiofile/6', {
      status: 400,
      body: { message: `${'x'.repeat(185)} ${form} ${'y'.repeat(600)}` },
    });
    const ids = ['1', '2', '3', '4', '5', '6'];
    for (const flags of [[], ['--json'], ['--debug'], ['--csv']]) {
      const { stdout, stderr } = await user.run(['file', ...ids, ...flags]);
      expectNoKey(stdout, stderr);
      expect(stdout + stderr).toContain('****');
    }
  });

  it.each<[string, string[], (user: User) => Promise<unknown>]>([
    ['a flag', ['balance', '--api-key', KEY], async () => {}],
    ['a profile', ['balance'], (user) => user.run(['login', '--no-verify'], { stdin: KEY })],
    [
      'a key command',
      ['balance'],
      (user) => user.run(['login', '--no-verify', '--api-key-command', printKey]),
    ],
    ['the stdin of login', ['login'], async () => {}],
    ['a key command that login tries', ['login', '--api-key-command', printKey], async () => {}],
  ])('is hidden where it comes from %s', async (_, args, prepare) => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    service.on('*', { status: 400, body: { message: `bad key: ${KEY}` } });
    await prepare(user);
    const { code, stdout, stderr } = await user.run([...args, '--debug'], { stdin: KEY });
    expect([code, service.got.length]).toEqual([1, 1]);
    expect(stderr).toContain('bad key: ****');
    expectNoKey(stdout, stderr);
  });

  it('is hidden in what api prints', async () => {
    const { service, user } = await account();
    service.on('GET /text', { body: `you sent ${KEY}` });
    service.on('GET /bytes', { body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(KEY)]) });
    service.on('GET /json', { body: { you: KEY } });
    for (const path of ['/text', '/bytes', '/json']) {
      const { code, stdout, stderr } = await user.run(['api', 'GET', path, '--debug']);
      expect(code).toBe(0);
      expectNoKey(stdout, stderr);
    }
  });

  it('does not show in debug lines of any command, nor in a stack trace', async () => {
    const { service, user } = await account();
    service.on('*', { status: 500, body: { message: KEY }, headers: { 'retry-after': '0' } });
    const lines = [
      ['balance'],
      ['order', 'https://h/a.mp3', '--sku', 'TRANS14'],
      ['transcript', '1'],
      ['webhook', 'get'],
      ['whoami'],
      ['config', 'list'],
      ['balance', '--api-key', `${KEY}`, '--nope'],
    ];
    for (const { stdout, stderr } of await Promise.all(lines.map((line) => user.run([...line, '--debug'])))) {
      expectNoKey(stdout, stderr);
    }
    const { stderr } = await user.run(['balance', '--debug', '--timeout', '30s']);
    expect(stderr).toMatch(/debug: > GET http:\/\/127\.0\.0\.1:\d+\/API4\/prepay_balance/);
    expect(stderr).toMatch(/debug: < 500/);
    expect(stderr).toMatch(/debug: .+; trying again in \d+ ms/);
    expect(stderr).toMatch(/\n {4}at /);
  });

  it('is not in the list of processes while a command runs', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    const asked = new Promise<void>((done) => service.on('*', () => done()));
    const child = user.start(['balance', '--api-key', KEY]);
    const end = finished(child);
    await asked;
    const line = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8');
    child.kill('SIGINT');
    await end;
    expect(line).not.toContain(KEY);
    expect(line).toContain('steno');
  });

  it('is in no file that a command leaves, but the config', async () => {
    const { service, user } = await account();
    service.on('*', { body: { order: '0a0', audiofiles: [1], message: `thanks, ${KEY}`, balance: 1 } });
    await user.run(['order', 'https://h/a.mp3', '--sku', 'TRANS14', '--notes', 'x']);
    await user.run(['login'], { stdin: KEY });
    for (const name of readdirSync(user.home, { recursive: true }) as string[]) {
      if (name.endsWith('config.json')) continue;
      let bytes: Buffer;
      try {
        bytes = readFileSync(join(user.home, name));
      } catch {
        continue;
      }
      expectNoKey(bytes.toString('latin1'));
    }
  });
});
