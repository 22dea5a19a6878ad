import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, eventsOf, form, isGone, Listener, send } from '../support/listener.ts';
import type { User } from '../support/steno.ts';
import { unclearWebhooks, withWebhook } from '../support/webhooks.ts';

const PUBLIC = 'https://hooks.example.com/steno';
const OTHER = 'https://other.example.com/hook';

describe('--register', () => {
  it('sets an unguessable path, accepts only that, and puts the previous URL back on Ctrl-C', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC]);
    expect(webhook.url).toMatch(/^https:\/\/hooks\.example\.com\/steno\/[\w-]{32}$/);
    const secret = webhook.url.slice(-32);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}/${secret}`);
    expect(listener.stderr).toMatch(
      /warning: the account's webhook https:\/\/other.* is replaced until this listener stops/,
    );
    const at = (path: string): Promise<{ status: number }> =>
      send(`http://127.0.0.1:${listener.port}${path}`, complete('1'));
    expect((await at('/')).status).toBe(404);
    expect((await at(`/${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}`)).status).toBe(404);
    expect((await at(`/steno/${secret}`)).status).toBe(200);
    expect((await at(`/${secret}`)).status).toBe(200);
    expect((await listener.stop()).code).toBe(130);
    expect(webhook.url).toBe(OTHER);
    expect(listener.stderr).toMatch(/the webhook is https:\/\/other\.example\.com\/hook again/);
  });

  it('needs no --public-url where the service is on this machine', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    service.allow('POST /webhook/test/DIFFICULT_AUDIO', { body: { message: 'ok' } });
    const base = (host: string): string => service.baseUrl.replace('127.0.0.1', host);
    const lines: Array<[string, ...string[]]> = [
      ['127.0.0.1'],
      ['localhost', '--host', '0.0.0.0'],
      ['127.0.0.1', '--path', '/in'],
    ];
    for (const [host, ...flags] of lines) {
      const listener = await Listener.start(user, ['--register', ...flags, '--base-url', base(host)]);
      const path = flags.includes('--path') ? '/in/' : '/';
      expect(webhook.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${listener.port}${path}[\\w-]{32}$`));
      expect((await send(webhook.url, complete('1'))).status).toBe(200);
      await listener.stop();
      expect(webhook.url).toBe(OTHER);
    }
  });

  it('needs it, or a tunnel, where the service is elsewhere', async () => {
    const { user } = await account();
    for (const base of ['https://api.example.com/API4', 'https://127.0.0.1.example.com/API4']) {
      const { code, stderr } = await user.run(['listen', '--register', '--port', '0', '--base-url', base]);
      expect([code, stderr]).toEqual([
        2,
        'steno: --register requires --public-url or --tunnel\nhint: the service must be able to reach this machine\n',
      ]);
    }
  });

  it('says whether its test event arrived, and takes it for nothing else', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, '');
    let url = '';
    service.on('POST /webhook/test/DIFFICULT_AUDIO', (_, response) => {
      response.end('{"message":"ok"}');
      const test = form({ event: 'DIFFICULT_AUDIO', audiofile: '100', order: 'x' });
      setTimeout(() => void send(url, test), 300);
    });
    const args = [
      '--register',
      '--public-url',
      PUBLIC,
      '--until',
      'DIFFICULT_AUDIO',
      '--json',
      '--exec',
      'exit 1',
    ];
    const listener = await Listener.start(user, args);
    url = listener.url;
    await listener.until(async () => (await eventsOf(user)).length === 1);
    expect((await eventsOf(user))[0]?.source).toBe('test');
    expect((await user.run(['events'])).stdout).toContain('\ta test: ');
    expect(listener.stdout).toBe('');
    await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '5', order: 'y' }));
    expect((await listener.ended).code).toBe(0);
    expect(listener.json).toMatchObject([{ audiofile: '5', source: 'received' }]);
    expect(webhook.set.at(-1)).toBe('');
  });

  it('shows and acts on real events that come before a delayed test event, of the same type too', async () => {
    const { service, user } = await account();
    withWebhook(service, '');
    let url = '';
    service.on('POST /webhook/test/DIFFICULT_AUDIO', (_, response) => {
      response.end('{"message":"ok"}');
      setTimeout(
        () => void send(url, form({ event: 'DIFFICULT_AUDIO', audiofile: '100', order: 'x' })),
        1_500,
      );
    });
    const run = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran', '--json'];
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC, ...run]);
    url = listener.url;
    for (const id of ['777', '778']) await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: id }));
    await listener.until(() => listener.json.length === 2);
    await listener.until(async () => (await eventsOf(user)).length === 3);
    expect((await eventsOf(user)).map(({ audiofile, source }) => `${audiofile} ${source}`)).toEqual([
      ...['100 test', '778 received', '777 received'],
    ]);
    expect(listener.json.map(({ audiofile }) => audiofile)).toEqual(['777', '778']);
    await listener.until(() => readFileSync(join(user.home, 'ran'), 'utf8').split('\n').length === 3);
    await listener.stop();
  });

  it('takes no second event for its test, nor one about a file of the ledger or of another type', async () => {
    const { service, user } = await account();
    withWebhook(service, '');
    service.on('GET /audiofile/101', {
      body: { audiofile: { id: 101, statename: 'Transcribing', title: '' } },
    });
    expect((await user.run(['track', '101'])).code).toBe(0);
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC, '--json']);
    const post = (event: string, audiofile: string) => listener.post(form({ event, audiofile, order: 'x' }));
    await post('DIFFICULT_AUDIO', '101');
    await post('TRANSCRIPT_COMPLETE', '100');
    await post('DIFFICULT_AUDIO', '100');
    await listener.until(async () => (await eventsOf(user)).length === 3);
    await post('DIFFICULT_AUDIO', '100');
    await listener.until(() => listener.json.length === 3);
    expect(listener.json.map(({ event, audiofile }) => `${event} ${audiofile}`)).toEqual([
      ...['DIFFICULT_AUDIO 101', 'TRANSCRIPT_COMPLETE 100', 'DIFFICULT_AUDIO 100'],
    ]);
    await listener.stop();
  });

  it('says that no test event came', async () => {
    const { service, user } = await account();
    withWebhook(service, '');
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC]);
    await listener.until(() => /no test event arrived/.test(listener.stderr));
    expect(listener.stderr).toMatch(
      /no test event arrived: it did not arrive within 10s\nhint: check that the public URL/,
    );
  });

  it('leaves a URL alone that was set meanwhile', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC]);
    webhook.url = 'https://new.example.com/';
    await listener.stop();
    expect(webhook.url).toBe('https://new.example.com/');
    expect(listener.stderr).toMatch(/is now https:\/\/new\.example\.com\/; left unchanged/);
  });

  it('puts the URL back when it fails, and says what to do if that fails', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC, '--timeout', '2s']);
    expect((await listener.ended).code).toBe(6);
    expect(webhook.url).toBe(OTHER);
    const broken = await Listener.start(user, ['--register', '--public-url', PUBLIC]);
    service.on('GET /webhook', { status: 400, body: { message: 'out of order' } });
    await broken.stop();
    expect(broken.stderr).toMatch(
      /can't be restored: .*out of order.*\nhint: the next steno listen --register.* restores it; or: steno webhook set https:\/\/other/,
    );
  });

  it.each(unclearWebhooks)('leaves the webhook alone where the answer is %s', async (body) => {
    const { service, user } = await account();
    service.on('GET /webhook', { body });
    service.never('POST /webhook');
    const { code, stdout, stderr } = await user.run([
      'listen',
      '--port',
      '0',
      '--register',
      '--public-url',
      PUBLIC,
    ]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^steno: the service's answer can't be read[^\n]*\n(hint: [^\n]*\n)?$/);
  });

  it('leaves the webhook alone where the answer at its end is not clear, and the next one puts it back', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const listener = await Listener.start(user, ['--register', '--public-url', PUBLIC]);
    const taken = webhook.url;
    service.on('GET /webhook', { body: { message: 'ok' } });
    await listener.stop();
    expect(webhook.url).toBe(taken);
    expect(listener.stderr).toMatch(/can't be restored: the service's answer can't be read/);
    service.allow(
      'GET /webhook',
      (_, response) => void response.end(JSON.stringify({ webhook: webhook.url })),
    );
    await user.run(['doctor']);
    expect(webhook.url).toBe(OTHER);
  });

  it('asks on a terminal before it replaces another URL', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const line = `steno listen --port 0 --register --public-url ${PUBLIC}`;
    const { code, stdout } = await user.onTerminal(line, { stdin: 'n\n' });
    expect(stdout).toMatch(
      /The account's webhook is https:\/\/other.*Replace it until this listener stops\? \[y\/N\]/,
    );
    expect(code).toBe(1);
    expect(webhook.set).toEqual([]);
  });
});

describe('--tunnel', () => {
  const tunnel = (user: User, lines: string): string => {
    const path = join(user.home, 'tunnel.sh');
    writeFileSync(path, `#!/bin/sh\necho "$@" > args\necho $$ > pid\n${lines}\n`);
    chmodSync(path, 0o755);
    return `${path} {url} {port}`;
  };
  const banner = `echo "By using this you agree to https://www.tunnel.example/website-terms/ and https://docs.tunnel.example" >&2`;

  it('takes the public URL that the program prints and ends it with the listener', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, '');
    const command = tunnel(
      user,
      `${banner}\nsleep 0.3\necho "|  https://calm-fox.tunnel.example  |" >&2\nsleep 60 &\nwait`,
    );
    const listener = await Listener.start(user, ['--register', '--tunnel', command]);
    expect(webhook.url).toMatch(/^https:\/\/calm-fox\.tunnel\.example\/[\w-]{32}$/);
    const origin = `http://127.0.0.1:${listener.port}`;
    expect(readFileSync(join(user.home, 'args'), 'utf8')).toBe(`${origin} ${listener.port}\n`);
    const pid = Number(readFileSync(join(user.home, 'pid'), 'utf8'));
    expect(isGone(pid)).toBe(false);
    await listener.stop();
    expect(webhook.url).toBe('');
    await expect.poll(() => isGone(pid)).toBe(true);
  });

  it('may end after the last event without a failure', async () => {
    const { service, user } = await account();
    withWebhook(service, '');
    const command = tunnel(user, 'echo https://a.tunnel.example; sleep 60');
    const listener = await Listener.start(user, ['--register', '--tunnel', command, '--count', '1']);
    await listener.post(complete('1'));
    expect((await listener.ended).code).toBe(0);
  });

  it('fails if the program ends or prints no address, and sets no webhook', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const command = tunnel(user, 'echo "no account: see http://127.0.0.1:4040"; exit 7');
    const { code, stderr } = await user.run(['listen', '--port', '0', '--register', '--tunnel', command]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /the tunnel ended before it printed an address \(exit 7\)\nhint: it printed: no account/,
    );
    expect(webhook.set).toEqual([]);
  });

  it('ends the listener when the program ends, because no event could come in', async () => {
    const { service, user } = await account();
    const webhook = withWebhook(service, OTHER);
    const command = tunnel(
      user,
      'echo https://a.tunnel.example; until [ -e over ]; do sleep 0.1; done; exit 0',
    );
    const listener = await Listener.start(user, ['--register', '--tunnel', command]);
    writeFileSync(join(user.home, 'over'), '');
    const { code, stderr } = await listener.ended;
    expect([code, webhook.url]).toEqual([1, OTHER]);
    expect(stderr).toMatch(/the tunnel ended \(exit 0\)/);
  });
});
