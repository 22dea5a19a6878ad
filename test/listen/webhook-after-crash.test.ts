/** The webhook is put back after crashes, by whichever listener of the account is left, and never to one that ended. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { expectNotInState } from '../support/secrets.ts';
import { SECRET, signed, signers } from '../support/signed.ts';
import { finished, KEY, type Options, type User } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { withWebhook } from '../support/webhooks.ts';

const PUBLIC = 'https://hooks.example.com/steno';
const OTHER = 'https://other.example.com/hook';
const PASSWORD = 'pa55w0rd';

const quick = { STENO_TEST_TICK_MS: '200' };

const registered = (user: User, options: Options = { env: quick }): Promise<Listener> =>
  Listener.start(user, ['--register', '--public-url', PUBLIC], options);

/** Makes a listener that was killed look like one of another host whose heartbeat has just come. */
function moveElsewhere(user: User): void {
  queryLedger(user, 'UPDATE runs SET host = ?, seen_at = ?', 'elsewhere', new Date().toISOString());
}

const registrationsIn = (user: User): number =>
  queryLedger<{ n: number }>(user, 'SELECT count(*) AS n FROM webhook_registrations')[0]?.n ?? -1;

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
    const both = [];
    for (const _each of [1, 2]) both.push({ listener: await registered(user), url: webhook.url });
    const [goes, stays] = which === 0 ? both : both.reverse();
    await goes?.listener.stop(how);
    // The one that is left takes it over, also from one that was killed.
    await until(
      () => webhook.url === stays?.url,
      () => `${webhook.url} for ${stays?.url}`,
    );
    await stays?.listener.stop(howLast);
    if (howLast === 'SIGKILL') await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(OTHER);
    expect(registrationsIn(user)).toBe(0);
  });

  it('is left as it is by a listener that may not change it, which says so', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const { url } = webhook;
    const guarded = await Listener.start(user, [], { env: { ...quick, STENO_ALLOW: 'read,local' } });
    const { stderr } = await guarded.stop();
    expect(stderr.match(/^warning: .*this one is not allowed to restore it$/gm)).toHaveLength(1);
    expect([webhook.url, registrationsIn(user)]).toEqual([url, 1]);
    await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(OTHER);
  });

  it('that end in the same moment leave no dead address either', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    for (let round = 0; round < 3; round += 1) {
      const listeners = [await registered(user), await registered(user), await registered(user)];
      await Promise.all(listeners.map((listener) => listener.stop()));
      expect(webhook.url).toBe(OTHER);
    }
    expect(registrationsIn(user)).toBe(0);
  });
});

describe('a listener that was killed', () => {
  it('and started again at once under another host name leaves no dead address', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    moveElsewhere(user);
    const second = await registered(user, {});
    expect((await second.stop()).stderr).toMatch(/the webhook is https:\/\/other\.example\.com\/hook again/);
    expect(webhook.url).toBe(OTHER);
  });

  it('elsewhere is noticed by one that runs, once its heartbeat has not come for a while', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const dead = webhook.url;
    moveElsewhere(user);
    const second = await Listener.start(user, [], { env: quick });
    expect(webhook.url).toBe(dead);
    queryLedger(user, "UPDATE runs SET seen_at = '2026-01-01T00:00:00.000Z' WHERE host = 'elsewhere'");
    await second.until(() => /again\n.*a listener that crashed had not restored it/.test(second.stderr));
    expect(webhook.url).toBe(OTHER);
  });

  it('is put right after a prune, though numbers of listeners are given again', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    queryLedger(user, "UPDATE runs SET seen_at = '2026-01-01T00:00:00.000Z'");
    expect((await user.run(['ledger', 'prune', '--before', '2026-02-01', '--yes'])).code).toBe(0);
    const without = { env: { STENO_BASE_URL: undefined } };
    const elsewhere = await Listener.start(user, [], without);
    await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(OTHER);
    await elsewhere.stop();
  });

  it('before its webhook was set changes nothing', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const asked = new Promise<void>((done) => service.on('POST /webhook', () => done()));
    const child = user.start(['listen', '--port', '0', '--register', '--public-url', PUBLIC]);
    await asked;
    child.kill('SIGKILL');
    expect(registrationsIn(user)).toBe(1);
    webhook.url = 'https://new.example.com/';
    await (await Listener.start(user)).stop();
    expect([webhook.url, webhook.set]).toEqual(['https://new.example.com/', []]);
    expect(registrationsIn(user)).toBe(0);
  });

  it('is put right in its own account, whatever listeners of another one do in the same profile', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    const dead = webhook.url;
    const second = await account();
    const secondWebhook = withWebhook(second.service, 'https://second.example.com/');
    for (const env of [
      { STENO_BASE_URL: second.service.baseUrl },
      { STENO_BASE_URL: second.service.baseUrl, STENO_API_KEY: 'another-key-of-another-account' },
    ])
      await (await registered(user, { env })).stop();
    expect([webhook.url, secondWebhook.url]).toEqual([dead, 'https://second.example.com/']);
    await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(OTHER);
    expect(registrationsIn(user)).toBe(0);
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
    await (await Listener.start(user)).stop();
    expect(webhook.url).toBe(OTHER);
    expect(registrationsIn(user)).toBe(0);
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
  ])('seals a previous webhook that holds %s, which is given back as it was', async (_, previous) => {
    const { service, user } = await account();
    const webhook = withWebhook(service, previous);
    const first = await registered(user);
    expect(first.stderr).not.toContain(PASSWORD);
    await first.stop('SIGKILL');
    const dead = webhook.url;
    expectNotInState(user, KEY, PASSWORD, dead.slice(-32));
    const shown = await user.run(['webhook', 'get']);
    expect(shown.stderr).toContain('or: steno webhook set <url>');
    const changed = await Listener.start(user, [], { env: { STENO_API_KEY: 'a-new-key-of-the-account' } });
    expect(changed.stderr).toMatch(
      /warning: the webhook points to a listener that has ended; left unchanged, because .* another API key\nhint: set it with: steno webhook set <url>/,
    );
    await changed.stop();
    expect(webhook.url).toBe(dead);
    const next = await registered(user);
    expect(webhook.set.at(-2)).toBe(previous);
    const { stderr } = await next.stop();
    expect(stderr).not.toContain(PASSWORD);
    expect(webhook.url).toBe(previous);
    expectNotInState(user, KEY, PASSWORD, dead.slice(-32));
  });

  it.each(signers)(
    'seals a previous webhook with a signature (%s), and gives it back to the letter',
    async (by) => {
      const { service, user } = await account();
      const previous = signed(OTHER, 1, by);
      const webhook = withWebhook(service, previous);
      const killed = await registered(user);
      expectNotInState(user, SECRET);
      await killed.stop('SIGKILL');
      expectNotInState(user, SECRET);
      const shown = await user.run(['webhook', 'get']);
      expect(shown.stderr).toContain('or: steno webhook set <url>');
      const next = await registered(user);
      expect(webhook.set.at(-2)).toBe(previous);
      const { stderr } = await next.stop();
      expect(killed.stderr + stderr + shown.stderr).not.toContain(SECRET);
      expect(webhook.url).toBe(previous);
    },
  );

  it('seals the address of the listener itself, with what --public-url holds', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const url = `https://me:${PASSWORD}@hooks.example.com/steno?k=${encodeURIComponent(KEY)}`;
    const listener = await Listener.start(user, ['--register', '--public-url', url]);
    expect(webhook.url).toContain(PASSWORD);
    const secret = new URL(webhook.url).pathname.slice(-32);
    expectNotInState(user, KEY, PASSWORD, secret);
    await listener.stop();
    expect(webhook.url).toBe(OTHER);
    expect(listener.stderr).not.toContain(PASSWORD);
    expectNotInState(user, KEY, PASSWORD, secret);
  });

  it('that was changed does not keep a plain URL from being given back', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    await (await registered(user)).stop('SIGKILL');
    await (await Listener.start(user, [], { env: { STENO_API_KEY: 'a-new-key-of-the-account' } })).stop();
    expect(webhook.url).toBe(OTHER);
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
        `hint: steno listen restores it, or: steno webhook set ${OTHER}\n`,
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
    expect(registrationsIn(user)).toBe(0);
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
