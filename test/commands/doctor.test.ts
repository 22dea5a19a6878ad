/** `steno doctor`: each line is ok or says what to do, one that fails stops no other, and nothing is changed. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { type Account, account, jsonError } from '../support/account.ts';
import { Listener } from '../support/listener.ts';
import { KEY, type Result, User } from '../support/steno.ts';
import { notShared } from '../support/store.ts';
import { withWebhook } from '../support/webhooks.ts';

interface Found {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly message: string;
  readonly hint: string | null;
}

const NAMES = 'settings disk base-url proxy service key ledger webhook';

class Report {
  readonly code: number | null;
  readonly all: Found[];
  readonly stderr: string;

  constructor({ code, stdout, stderr }: Result) {
    this.code = code;
    this.stderr = stderr;
    this.all = JSON.parse(stdout) as Found[];
  }

  of(check: string): Found {
    const found = this.all.find((each) => each.check === check);
    if (!found) throw new Error(`no check ${check}`);
    return found;
  }

  get failed(): string[] {
    return this.all.filter(({ status }) => status === 'fail').map(({ check }) => check);
  }
}

const doctor = async (
  user: User,
  args: readonly string[] = [],
  env: Record<string, string | undefined> = {},
): Promise<Report> => new Report(await user.run(['doctor', '--json', ...args], { env }));

/** Every file of a user, with what is in it. */
const filesOf = (user: User): string[] =>
  readdirSync(user.home, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(user.home, name);
      const stats = statSync(path);
      const content = stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${name} ${stats.mode.toString(8)} ${content}`;
    });

async function working(env: Record<string, string | undefined> = {}): Promise<Account> {
  const made = await account(env);
  made.service.allow('GET /prepay_balance', { body: { balance: '12.50' } });
  made.service.allow('GET /webhook', { body: { webhook: '' } });
  return made;
}

const config = (user: User, text: string, mode = 0o600): void => {
  const folder = join(user.home, 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), text);
  chmodSync(join(folder, 'config.json'), mode);
};

describe('a set-up that works', () => {
  it('is ok line by line, always in the same order, and exits with 0', async () => {
    const { user } = await working();
    const report = await doctor(user);
    expect(report.all.map(({ check }) => check).join(' ')).toBe(NAMES);
    expect(report.failed).toEqual([]);
    expect(report.code).toBe(0);
    expect(report.of('key')).toMatchObject({ status: 'ok', hint: null });
    expect(report.of('key').message).toContain('environment STENO_API_KEY');
    expect(report.of('service').message).toMatch(/answers in \d+ ms \(HTTP 200/);
    for (const each of report.all) expect(Object.keys(each)).toEqual(['check', 'status', 'message', 'hint']);
  });

  it('never shows the key, and asks whether the service is there without it', async () => {
    const { user, service } = await working();
    for (const form of ['--json', '--csv', '--debug']) {
      const { stdout, stderr } = await user.run(['doctor', form]);
      expect(stdout + stderr).not.toContain(KEY);
    }
    const [first] = service.calls('GET /prepay_balance');
    expect(first?.query.get('api_key')).toBeNull();
    expect(first?.text).toBe('');
  });

  it('gives CSV with a header, tab-separated rows, names with --quiet, and lines on a terminal', async () => {
    const { user } = await working();
    expect((await user.run(['doctor', '--csv'])).stdout).toMatch(
      /^check,status,message,hint\r\nsettings,ok,/,
    );
    expect((await user.run(['doctor'])).stdout).toMatch(/^settings\tok\tprofile [^\t]*\t\n/);
    config(user, '{"profiles":{"default":{"timeout":"30s"}}}', 0o644);
    expect((await user.run(['doctor', '--quiet'])).stdout).toBe('settings\n');
    const { stdout, code } = await user.onTerminal('steno doctor', { columns: 60 });
    expect(code).toBe(0);
    expect(stdout).toContain('\u001b[32mok');
    const screen = stripVTControlCharacters(stdout);
    expect(screen).toMatch(/^ok {4}key {7}the service accepts it /m);
    expect(screen).toMatch(/^warn {2}settings {2}other users can open/m);
    expect(screen).toMatch(/^ {16}hint: run: chmod 600/m);
    expect(screen).toMatch(/^1 warning\r?$/m);
  });

  it('is asked nothing with --offline', async () => {
    const { user, service } = await working();
    const report = await doctor(user, ['--offline']);
    expect(report.code).toBe(0);
    expect(service.got).toEqual([]);
    for (const name of ['service', 'webhook']) expect(report.of(name).status, name).toBe('skipped');
  });

  it('may be the sandbox', async () => {
    const user = new User();
    const before = filesOf(user);
    const report = await doctor(user, ['--sandbox']);
    expect(filesOf(user)).toEqual(before);
    expect(report.failed).toEqual([]);
    expect(report.code).toBe(0);
    expect(report.of('settings').message).toContain('profile sandbox');
  });
});

describe('what is missing or refused', () => {
  it('is said with what to type, and nothing is made', async () => {
    const user = new User({ STENO_LEDGER: undefined });
    const before = filesOf(user);
    const report = await doctor(user);
    expect(report.code).toBe(1);
    expect(report.failed).toEqual(['base-url', 'key']);
    expect(report.of('key').hint).toContain('steno login');
    expect(report.of('base-url').hint).toContain('steno config set base-url');
    expect(jsonError(report.stderr)).toMatchObject({
      code: 'failed',
      message: '2 checks failed: base-url, key',
    });
    expect(filesOf(user)).toEqual(before);
  });

  it('a key that the service does not accept', async () => {
    const { user, service } = await account();
    service.allow('GET /webhook', { status: 401, body: { message: 'no' } });
    service.on('GET /prepay_balance', { status: 401, body: { message: 'bad key' } });
    const report = await doctor(user);
    expect(report.code).toBe(1);
    expect(report.of('service').status).toBe('ok');
    expect(report.of('key')).toMatchObject({ status: 'fail' });
    expect(report.of('key').message).toContain('did not accept the key');
  });

  it.each([
    ['http://example.com/API4', /not sent over plain http/],
    ['https://user:pw@example.com/API4', /can't contain a user name or password/],
    ['nonsense', /not a base URL/],
  ])('a base URL such as %s', async (url, message) => {
    const report = await doctor(new User({ STENO_API_KEY: KEY, STENO_BASE_URL: url }));
    expect(report.of('base-url')).toMatchObject({ status: 'fail' });
    expect(report.of('base-url').message).toMatch(message);
    expect(report.failed).toEqual(['settings', 'base-url']);
    for (const name of ['proxy', 'service']) expect(report.of(name).status, name).toBe('skipped');
  });

  it('a base URL without its path', async () => {
    const { user, service } = await working();
    const report = await doctor(user, [], { STENO_BASE_URL: service.origin });
    expect(report.of('base-url')).toMatchObject({ status: 'warn' });
    expect(report.of('base-url').hint).toContain(`${service.origin}/API4`);
  });

  it('https in the place of http: the hint names the base URL, not an address below it', async () => {
    const { user, service } = await working();
    const base = `${service.origin}/API4`.replace(/^http:/, 'https:');
    const { hint } = (await doctor(user, [], { STENO_BASE_URL: base })).of('service');
    expect(hint).toMatch(/http:\/\/127\.0\.0\.1:\d+\/API4$/);
  });

  it('a ledger that is none: what needs it is left out', async () => {
    const { user } = await working({ STENO_LEDGER: 'mysql://db/x' });
    const report = await doctor(user);
    expect(report.failed).toEqual(['settings', 'ledger']);
  });

  it('a state folder that is a file', async () => {
    const { user } = await working({ STENO_LEDGER: undefined });
    writeFileSync(join(user.home, 'file'), '');
    const report = await doctor(user, [], { STENO_STATE_DIR: join(user.home, 'file') });
    expect(report.failed).toEqual(['disk']);
  });

  it('a service that is not there, and a proxy that is not', async () => {
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: 'https://127.0.0.1:9/API4' });
    const direct = await doctor(user);
    expect(direct.failed).toEqual(['service']);
    expect(direct.of('key').status).toBe('skipped');
    const report = await doctor(user, [], { HTTPS_PROXY: 'http://name:secret-word@127.0.0.1:9' });
    expect(report.failed).toEqual(['proxy', 'service']);
    expect(report.of('proxy').hint).toContain('NO_PROXY');
    expect(JSON.stringify(report.all)).not.toContain('secret-word');
  });
});

describe('a config file', () => {
  it('that is no JSON fails alone: the rest is checked with the environment', async () => {
    const { user } = await working();
    config(user, '{"profiles": ');
    const before = filesOf(user);
    const report = await doctor(user);
    expect(report.failed).toEqual(['settings']);
    expect(report.of('settings').message).toContain('is not valid JSON');
    expect(report.of('key').status).toBe('ok');
    expect(filesOf(user)).toEqual(before);
    const alone = await doctor(user, [], { STENO_API_KEY: undefined, STENO_BASE_URL: undefined });
    expect(alone.failed).toEqual(['settings']);
    expect(alone.of('key')).toMatchObject({ status: 'skipped' });
  });

  it('with a key that others may read fails, and one without is a warning; nothing is mended', async () => {
    const { user } = await working();
    config(user, '{"profiles":{"default":{"api-key":"some-other-key"}}}', 0o644);
    const report = await doctor(user);
    expect(report.failed).toEqual(['settings']);
    expect(report.of('settings').hint).toContain('chmod 600');
    expect(JSON.stringify(report.all)).not.toContain('some-other-key');
    config(user, '{"profiles":{"default":{"timeout":"30s"}}}', 0o644);
    const open = await doctor(user);
    expect(open.of('settings')).toMatchObject({ status: 'warn' });
    expect(open.code).toBe(0);
    expect(statSync(join(user.home, 'config', 'config.json')).mode & 0o777).toBe(0o644);
  });

  it('without the profile that is asked for', async () => {
    const { user } = await working();
    config(user, '{"profiles":{"default":{"timeout":"30s"}}}');
    const report = await doctor(user, ['--profile', 'work']);
    expect(report.failed).toEqual(['settings']);
    expect(report.of('settings').message).toContain("no profile 'work'");
  });

  it('is not needed, nor a home folder', async () => {
    const { user } = await working();
    const gone = { HOME: undefined, STENO_CONFIG_DIR: undefined, STENO_STATE_DIR: undefined };
    expect((await doctor(user, ['--offline'], gone)).all.map(({ check }) => check).join(' ')).toBe(NAMES);
  });
});

describe.skipIf(notShared('it is about the file of the local ledger'))('the ledger of this machine', () => {
  const ledgerOf = (user: User): string => join(user.home, 'state', 'ledger.db');

  async function withLedger(): Promise<Account> {
    const made = await working();
    expect((await made.user.run(['files'])).code).toBe(0);
    return made;
  }

  it('is looked at and left as it is, to the byte', async () => {
    const { user } = await withLedger();
    const before = filesOf(user);
    const report = await doctor(user);
    expect(report.of('ledger')).toMatchObject({ status: 'ok' });
    expect(report.of('ledger').message).toMatch(/no damage found$/);
    expect(filesOf(user)).toEqual(before);
  });

  it('is a warning where others may open it', async () => {
    const { user } = await withLedger();
    chmodSync(ledgerOf(user), 0o644);
    expect((await doctor(user)).of('ledger')).toMatchObject({
      status: 'warn',
      hint: expect.stringContaining(`chmod 600 ${ledgerOf(user)}`),
    });
  });

  it('that lacks a migration is not brought up to date', async () => {
    const { user } = await withLedger();
    const db = new DatabaseSync(ledgerOf(user));
    db.exec("UPDATE migrations SET name = '000-before'");
    db.close();
    const before = filesOf(user);
    const report = await doctor(user);
    expect(report.of('ledger').message).toContain('the next command upgrades it');
    expect(report.code).toBe(0);
    expect(filesOf(user)).toEqual(before);
  });

  it.each([
    ['emptied', Buffer.alloc(0)],
    ['no database', Buffer.alloc(9_000, 'x')],
  ])('that is %s fails, and the rest is checked', async (_, content) => {
    const { user } = await withLedger();
    writeFileSync(ledgerOf(user), content);
    const report = await doctor(user);
    expect(report.failed).toEqual(['ledger']);
    expect(report.of('ledger').hint).toBeTruthy();
    expect(report.of('key').status).toBe('ok');
    expect(readFileSync(ledgerOf(user)).equals(content)).toBe(true);
  });

  it('with a damaged page fails', async () => {
    const { user } = await withLedger();
    const bytes = readFileSync(ledgerOf(user));
    bytes.fill(0xa5, 8192, bytes.length);
    writeFileSync(ledgerOf(user), bytes);
    const report = await doctor(user);
    expect(report.failed).toEqual(['ledger']);
    expect(report.of('ledger').hint).toContain('restore it from a backup');
  });

  it('in a folder that others may open is a warning', async () => {
    const { user } = await withLedger();
    chmodSync(join(user.home, 'state'), 0o755);
    const report = await doctor(user);
    expect(report.of('disk')).toMatchObject({ status: 'warn' });
    expect(report.of('disk').hint).toContain('chmod 700');
    expect(statSync(join(user.home, 'state')).mode & 0o777).toBe(0o755);
  });
});

it('a shared ledger that accepts and says nothing is given up, and holds up no other check', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as { port: number };
  try {
    const { user } = await working({ STENO_LEDGER: `postgres://u:hidden-word@127.0.0.1:${port}/x` });
    const report = await doctor(user, ['--timeout', '5s']);
    expect(report.failed).toEqual(['ledger']);
    expect(report.of('key').status).toBe('ok');
    expect(JSON.stringify(report.all)).not.toContain('hidden-word');
  } finally {
    silent.close();
  }
});

describe('the webhook', () => {
  it('that a dead listener holds is put back, or is a warning where that is not allowed', async () => {
    const { user, service } = await account();
    service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
    const webhook = withWebhook(service, 'https://other.example.com/hook');
    const flags = ['--register', '--public-url', 'https://hooks.example.com/steno'];
    const listener = await Listener.start(user, flags);
    const running = await doctor(user);
    expect(running.of('webhook').message).toContain('the running listener');
    await listener.stop('SIGKILL');
    const report = await doctor(user, [], { STENO_ALLOW: 'read' });
    expect(report.of('webhook')).toMatchObject({ status: 'warn' });
    expect(report.of('webhook').hint).toContain('steno webhook set https://other.example.com/hook');
    expect([report.code, webhook.set.length]).toEqual([0, 1]);
    expect((await doctor(user)).of('webhook')).toMatchObject({ status: 'ok' });
    expect(webhook.set.at(-1)).toContain('https://other.example.com/hook');
  });
});
