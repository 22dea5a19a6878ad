/** The webhook is put back after crashes, and never to a listener that has ended. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { expectNotInState } from '../support/secrets.ts';
import { SECRET, signed, signers } from '../support/signed.ts';
import { finished, KEY, type Options, type User } from '../support/steno.ts';
import { withWebhook } from '../support/webhooks.ts';

const PUBLIC = 'https://hooks.example.com/steno';
const OTHER = 'https://other.example.com/hook';
const PASSWORD = 'pa55w0rd';

const registered = (user: User, options: Options = {}): Promise<Listener> =>
  Listener.start(user, ['--register', '--public-url', PUBLIC], options);

const notesFolder = ({ env }: User): string => join(env.STENO_CONFIG_DIR ?? '', 'webhooks');

/** What is noted of webhooks that listeners have replaced. */
const notesOf = (user: User): string[] =>
  existsSync(notesFolder(user))
    ? readdirSync(notesFolder(user)).map((name) => join(notesFolder(user), name))
    : [];

describe('two listeners that have registered', () => {
  const orders: ReadonlyArray<readonly [string, number, NodeJS.Signals, NodeJS.Signals]> = [
    ['the first ends, then the second', 0, 'SIGINT', 'SIGINT'],
    ['the second ends, then the first', 1, 'SIGINT', 'SIGINT'],
    ['the first is killed, the second ends', 0, 'SIGKILL', 'SIGINT'],
    ['the second is killed, the first ends', 1, 'SIGKILL', 'SIGINT'],
    ['the first ends, the second is killed', 0, 'SIGINT', 'SIGKILL'],
    ['both are killed', 0, 'SIGKILL', 'SIGKILL'],
  ];

  it.each(orders)('leave no dead address: %s', async (_, which, how, howLast) => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const both = [await registered(user), await registered(user)];
    const [goes, stays] = which === 0 ? both : both.reverse();
    await goes?.stop(how);
    await stays?.stop(howLast);
    // The second replaced the first, so only its own end, or one after it, gives back what both have replaced.
    const isGivenBack = howLast === 'SIGINT' && (how === 'SIGINT' || which === 0);
    expect(webhook.url === OTHER).toBe(isGivenBack);
    // What a crash has left is put back by the next one.
    await (await registered(user)).stop();
    expect(webhook.url).toBe(OTHER);
    expect(notesOf(user)).toEqual([]);
  });

  it('that end in the same moment leave no dead address either', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listeners = [await registered(user), await registered(user), await registered(user)];
    await Promise.all(listeners.map((listener) => listener.stop()));
    await (await registered(user)).stop();
    expect(webhook.url).toBe(OTHER);
  });
});

describe('a listener that was killed', () => {
  it('has its webhook put back by doctor, where that is allowed', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const doctor = async (env: Options['env'] = {}) => {
      const { stdout } = await user.run(['doctor', '--json'], { env });
      return (JSON.parse(stdout) as Array<{ check: string }>).find(({ check }) => check === 'webhook');
    };
    const dead = webhook.url;
    expect(await doctor({ STENO_ALLOW: 'read,local' })).toMatchObject({ status: 'warn' });
    expect(webhook.url).toBe(dead);
    expect(await doctor()).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`${OTHER} again`),
    });
    expect([webhook.url, notesOf(user)]).toEqual([OTHER, []]);
    expect(await doctor()).toMatchObject({ status: 'ok' });
    expect(webhook.set).toHaveLength(2);
  });

  it('has it put back by the next one that registers, which does not ask; not by one that does not register', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const dead = webhook.url;
    await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(dead);
    const next = await registered(user);
    expect(next.stderr).not.toContain('is replaced until');
    await next.stop();
    expect([webhook.url, notesOf(user)]).toEqual([OTHER, []]);
  });

  it('and whose note is of another machine is seen past, and left alone by doctor', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const [note = ''] = notesOf(user);
    writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), host: 'elsewhere' }));
    const dead = webhook.url;
    await user.run(['doctor']);
    expect(webhook.url).toBe(dead);
    await (await registered(user)).stop();
    expect(webhook.url).toBe(OTHER);
  });

  it('before its webhook was set changes nothing', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const asked = new Promise<void>((done) => service.on('POST /webhook', () => done()));
    const child = user.start(['listen', '--port', '0', '--register', '--public-url', PUBLIC]);
    await asked;
    child.kill('SIGKILL');
    expect(notesOf(user)).toHaveLength(1);
    webhook.url = 'https://new.example.com/';
    await user.run(['doctor']);
    expect([webhook.url, webhook.set]).toEqual(['https://new.example.com/', []]);
  });

  it('is put right in its own account, whatever listeners of another one do in the same profile', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const dead = webhook.url;
    const second = await account();
    const secondWebhook = withWebhook(second.service, 'https://second.example.com/');
    await (await registered(user, { env: { STENO_BASE_URL: second.service.baseUrl } })).stop();
    expect([webhook.url, secondWebhook.url]).toEqual([dead, 'https://second.example.com/']);
    await user.run(['doctor']);
    expect([webhook.url, notesOf(user)]).toEqual([OTHER, []]);
  });
});

describe('a listener that is interrupted while it sets the webhook', () => {
  it('leaves a trace: what the service does later is put right', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const asked = new Promise<string>((done) =>
      service.on('POST /webhook', ({ body }) => done(String(body?.webhook))),
    );
    const child = user.start(['listen', '--port', '0', '--register', '--public-url', PUBLIC]);
    const end = finished(child);
    const late = await asked;
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
    expect(webhook.url).toBe(OTHER);
    // Only now has the service got round to it.
    webhook.url = late;
    expect((await user.run(['webhook', 'get'])).stderr).toContain(`or: steno webhook set ${OTHER}`);
    service.allow('POST /webhook', ({ body }, response) => {
      webhook.url = String(body?.webhook);
      response.end(JSON.stringify({ webhook: webhook.url }));
    });
    await user.run(['doctor']);
    expect([webhook.url, notesOf(user)]).toEqual([OTHER, []]);
  });
});

describe('the key', () => {
  it('that was used at the start is used at the end, where the command that prints it fails by then', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    const webhook = withWebhook(service, OTHER);
    const source = join(user.home, 'key.txt');
    writeFileSync(source, KEY);
    await user.run(['login', '--no-verify', '--api-key-command', `cat ${source}`]);
    const listener = await registered(user);
    rmSync(source);
    await listener.stop();
    expect(webhook.url).toBe(OTHER);
  });

  it.each([
    ['the key', `https://other.example.com/hook?k=${encodeURIComponent(KEY)}`],
    ['a password', `https://me:${PASSWORD}@other.example.com/hook`],
    ['a token', `https://${PASSWORD}@other.example.com/hook`],
    ...signers.map((by) => [`a signature (${by})`, signed(OTHER, 1, by)]),
  ])(
    'keeps a previous webhook that holds %s in the config folder alone, and gives it back to the letter',
    async (_, previous = '') => {
      const { service, user } = await account();
      const webhook = withWebhook(service, previous);
      const killed = await registered(user);
      await killed.stop('SIGKILL');
      expectNotInState(user, KEY, PASSWORD, SECRET, webhook.url.slice(-32));
      expect(notesOf(user).map((path) => statSync(path).mode & 0o777)).toEqual([0o600]);
      const shown = await user.run(['webhook', 'get']);
      expect(shown.stderr).toContain('or: steno webhook set <url>');
      // The key may have changed since.
      const next = await registered(user, { env: { STENO_API_KEY: 'a-new-key-of-the-account' } });
      const { stderr } = await next.stop();
      expect(killed.stderr + stderr + shown.stderr).not.toMatch(new RegExp(`${PASSWORD}|${SECRET}`));
      expect([webhook.url, notesOf(user)]).toEqual([previous, []]);
    },
  );

  it('is nowhere in the ledger, nor is what --public-url holds', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const url = `https://me:${PASSWORD}@hooks.example.com/steno?k=${encodeURIComponent(KEY)}`;
    const listener = await Listener.start(user, ['--register', '--public-url', url]);
    expect(webhook.url).toContain(PASSWORD);
    const secret = new URL(webhook.url).pathname.slice(-32);
    await listener.stop();
    expect(webhook.url).toBe(OTHER);
    expect(listener.stderr).not.toContain(PASSWORD);
    expectNotInState(user, KEY, PASSWORD, secret);
  });
});

describe('webhook get and set', () => {
  it.each(signers)('show no password and no signature (%s); JSON has the answer as it is', async (by) => {
    const { service, user } = await account();
    const url = signed(`https://me:${PASSWORD}@other.example.com/hook`, 1, by);
    withWebhook(service, url);
    const shown = 'https://***@other.example.com/hook';
    for (const line of [['get'], ['set', url]]) {
      for (const flags of [[], ['--quiet'], ['--csv']]) {
        const { code, stdout, stderr } = await user.run(['webhook', ...line, ...flags]);
        expect(code).toBe(0);
        expect(stdout.trim().split(/\s/).at(-1)).toBe(shown);
        expect(stdout + stderr).not.toMatch(new RegExp(`${PASSWORD}|${SECRET}`));
      }
      const { stdout } = await user.run(['webhook', ...line, '--json']);
      expect(JSON.parse(stdout)).toEqual({ url, answer: { webhook: url } });
    }
  });

  it('set shows no secret either where the service has another one', async () => {
    const { service, user } = await account();
    service.on('POST /webhook', { body: { webhook: signed(`https://me:${PASSWORD}@x.example.com/`) } });
    const { code, stderr } = await user.run(['webhook', 'set', `https://me:${PASSWORD}@y.example.com/`]);
    expect(code).toBe(1);
    expect(stderr).toContain('the service reports https://***@x.example.com/');
    expect(stderr).not.toMatch(new RegExp(`${PASSWORD}|${SECRET}`));
  });

  const afterCrash = async (): Promise<Account & { webhook: { url: string } }> => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    return { service, user, webhook };
  };

  it('get says that the webhook leads to a listener that has ended, and what to do', async () => {
    const { user, webhook } = await afterCrash();
    const { code, stdout, stderr } = await user.run(['webhook', 'get']);
    expect([code, stdout]).toEqual([0, `${webhook.url}\n`]);
    expect(stderr).toBe(
      'warning: it points to a listener that ended without restoring the previous webhook: events are lost\n' +
        `hint: steno listen --register or steno doctor restores it, or: steno webhook set ${OTHER}\n`,
    );
    const json = await user.run(['webhook', 'get', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ url: webhook.url });
    expect(JSON.parse(json.stderr)).toHaveProperty('warning');
  });

  it('get says nothing of a listener that runs, and makes no ledger', async () => {
    const { service, user } = await account();
    withWebhook(service, OTHER);
    expect((await user.run(['webhook', 'get'])).stderr).toBe('');
    expect(() => queryLedger(user, 'SELECT 1')).toThrow();
    const listener = await registered(user);
    expect((await user.run(['webhook', 'get'])).stderr).toBe('');
    await listener.stop();
  });

  it('set ends the registration: nothing is put back any more', async () => {
    const { user, webhook } = await afterCrash();
    const { code, stderr } = await user.run(['webhook', 'set', 'https://mine.example.com/']);
    expect([code, stderr]).toEqual([
      0,
      'warning: a listener ended without restoring the previous webhook: it will not be restored any more\n' +
        `hint: to set the previous webhook: steno webhook set ${OTHER}\n`,
    ]);
    expect(notesOf(user)).toEqual([]);
    expect((await user.run(['webhook', 'set', 'https://mine.example.com/'])).stderr).toBe('');
    await (await registered(user)).stop();
    expect(webhook.url).toBe('https://mine.example.com/');
  });

  it('set wins over a listener that runs, and says that it gets no more events', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listener = await registered(user);
    const { stderr } = await user.run(['webhook', 'set', 'https://mine.example.com/']);
    expect(stderr).toContain(`the running listener (pid ${listener.child.pid}) gets no more events`);
    await listener.stop();
    expect(webhook.url).toBe('https://mine.example.com/');
  });
});
