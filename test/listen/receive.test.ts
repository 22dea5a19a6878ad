import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freshFolder, modeOf } from '../support/files.ts';
import { complete, eventsOf, form, Listener, send } from '../support/listener.ts';
import { longOnly } from '../support/slices.ts';
import { User } from '../support/steno.ts';
import { sendRaw } from '../support/wire.ts';

describe('a delivery', () => {
  it('is kept before it is answered, byte by byte, and shown in one line', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    expect(listener.stderr).toBe(`listening on http://127.0.0.1:${listener.port}/\n`);
    const body = complete('1001', '4nX');
    const answer = await listener.post(body);
    expect(answer.status).toBe(200);
    const [event] = await eventsOf(user);
    expect(event).toMatchObject({ n: 1, event: 'TRANSCRIPT_COMPLETE', audiofile: '1001', order: '4nX' });
    await listener.until(() => listener.lines.length === 1);
    expect(listener.lines[0]?.split('\t').slice(2, 5)).toEqual(['TRANSCRIPT_COMPLETE', '1001', '4nX']);
    const shown = JSON.parse((await user.run(['events', 'show', '1', '--json'])).stdout);
    expect(Buffer.from(shown.body_base64, 'base64').toString()).toBe(body);
    expect(shown.content_type).toBe('application/x-www-form-urlencoded');
    const { code } = await listener.stop();
    expect(code).toBe(130);
    expect(modeOf(join(user.home, 'state', 'ledger.db'))).toBe('600');
  });

  it('is an object a line with --json, and an id a line with --quiet', async () => {
    const user = new User();
    const json = await Listener.start(user, ['--json']);
    await json.post(complete('1001'));
    await json.post(form({ event: 'CC_AUTH_FAILURE', order: '4nX' }));
    await json.until(() => json.lines.length === 2);
    expect(json.json[0]).toMatchObject({
      n: 1,
      event: 'TRANSCRIPT_COMPLETE',
      fields: { audiofile: '1001', webhook_version: '1' },
    });
    expect(json.json[1]).toMatchObject({ event: 'CC_AUTH_FAILURE', audiofile: null, order: '4nX' });
    await json.stop();
    const quiet = await Listener.start(user, ['--quiet']);
    expect(quiet.stderr).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/\n$/);
    await quiet.post(complete('1002'));
    await quiet.post(form({ event: 'CC_AUTH_FAILURE', order: '4nX' }));
    await quiet.until(() => quiet.lines.length === 2);
    expect(quiet.lines).toEqual(['1002', '4nX']);
  });

  it('of an unknown event, version or field is kept and shown like the others', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--json']);
    const body = 'event=SOMETHING_NEW&webhook_version=99&colour=blue&colour=green&x%5B0%5D=%C3%A9&bad=%FF%zz';
    expect((await listener.post(body)).status).toBe(200);
    expect((await listener.post('')).status).toBe(200);
    await listener.until(() => listener.lines.length === 2);
    expect(listener.json[0]).toMatchObject({
      event: 'SOMETHING_NEW',
      webhook_version: '99',
      fields: { colour: ['blue', 'green'], 'x[0]': 'é', bad: '\ufffd%zz' },
    });
    const [, first] = await eventsOf(user);
    expect(first?.fields.colour).toEqual(['blue', 'green']);
    const shown = await user.run(['events', 'show', '1', '--quiet']);
    expect(shown.stdout).toBe(`${body}\n`);
  });

  it('can not control the terminal', async () => {
    const user = new User();
    const nasty = form({
      event: 'EVIL\u001b]0;owned\u0007',
      audiofile: '1\n2\t3',
      order: '\u001b[2J\u009b31m',
      note: '\u202egnp.exe',
    });
    const plain = await Listener.start(user, ['--verbose']);
    await plain.post(nasty);
    await plain.until(() => plain.lines.length > 0);
    expect(plain.lines).toHaveLength(1);
    expect(plain.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    await plain.stop();
    const screen = user.onTerminal(`steno listen --port 4391 --count 1 --verbose`);
    for (let tries = 0; tries < 100; tries += 1) {
      if (await send('http://127.0.0.1:4391/', nasty).catch(() => undefined)) break;
      await sleep(50);
    }
    const { stdout, code } = await screen;
    expect(code).toBe(0);
    expect(stdout).toContain('EVIL');
    expect(stdout).not.toMatch(/\u001b\]|\u0007|\u001b\[2J|\u009b|\u202e/);
    for (const args of [['events'], ['events', 'show', '1'], ['events', '--csv']]) {
      const shown = await user.run(args);
      expect(shown.stdout, args.join(' ')).not.toMatch(
        /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/,
      );
    }
  });
});

describe('the receiver', () => {
  it('refuses what is not a POST of a form to the path, and goes on', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--path', '/hook']);
    const { url, port } = listener;
    expect(url).toBe(`http://127.0.0.1:${port}/hook`);
    const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
    expect((await send(at('/'), complete('1'))).status).toBe(404);
    expect((await send(at('/hook/'), complete('1'))).status).toBe(404);
    const got = await send(url, '', { method: 'GET' });
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
    expect((await send(url, Buffer.alloc(1024 * 1024 + 1, 97))).status).toBe(413);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await send(url, Buffer.alloc(3 * 1024 * 1024, 97), { headers: chunked })).status).toBe(413);
    expect((await send(url, Buffer.alloc(1024 * 1024, 97))).status).toBe(200);
    expect(
      (await send(`${url}?a=b`, complete('2'), { type: 'Application/X-WWW-Form-Urlencoded; charset=utf-8' }))
        .status,
    ).toBe(200);
    expect(await eventsOf(user)).toHaveLength(2);
  });

  it('answers ok on /healthz', async () => {
    const listener = await Listener.start(new User(), ['--path', '/hook']);
    const at = `http://127.0.0.1:${listener.port}/healthz`;
    const { status, text } = await send(at, '', { method: 'GET' });
    expect([status, text]).toEqual([200, 'ok']);
    expect((await send(at, '', { method: 'HEAD' })).status).toBe(200);
    expect((await send(at, complete('1'))).status).toBe(404);
  });

  longOnly('is not blocked by slow and idle clients', async () => {
    const listener = await Listener.start(new User());
    const { connect } = await import('node:net');
    const slow = Array.from({ length: 700 }, (_, n) => {
      const socket = connect(listener.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('connect', () => socket.write(n % 2 ? 'POST / HTTP/1.1\r\nhost: x\r\nx: ' : ''));
      return socket;
    });
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('a');
    }, 200);
    try {
      await sleep(500);
      for (let n = 0; n < 5; n += 1) {
        const started = Date.now();
        expect((await listener.post(complete(String(n)))).status).toBe(200);
        expect(Date.now() - started).toBeLessThan(2000);
      }
      const closed = (): number => slow.filter((socket) => socket.destroyed || socket.closed).length;
      await listener.until(() => closed() === slow.length, 20_000);
    } finally {
      clearInterval(drip);
      for (const socket of slow) socket.destroy();
    }
  });

  it("serves https with the user's certificate", async () => {
    const folder = freshFolder();
    const { execFileSync } = await import('node:child_process');
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const rsa = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...rsa, ...subject], { stdio: 'ignore' });
    const user = new User();
    const listener = await Listener.start(user, ['--tls-cert', cert, '--tls-key', key]);
    expect(listener.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/);
    const https = await import('node:https');
    const { readFileSync } = await import('node:fs');
    const status = await new Promise<number | undefined>((done, failed) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const call = https.request(listener.url, { method: 'POST', ca: readFileSync(cert), headers }, (got) =>
        done(got.resume().statusCode),
      );
      call.on('error', failed).end(complete('7'));
    });
    expect(status).toBe(200);
    expect(await sendRaw(listener.port, 'GET / HTTP/1.1\r\n\r\n')).not.toMatch(/200/);
    expect(await eventsOf(user)).toHaveLength(1);
    const bad = await user.run(['listen', '--port', '0', '--tls-cert', cert, '--tls-key', cert]);
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringMatching(/can't use --tls-cert and --tls-key: /),
    ]);
    expect((await user.run(['listen', '--tls-cert', cert])).code).toBe(2);
  });

  it('warns if it is open to others without a secret path', async () => {
    const user = new User();
    const wide = await Listener.start(user, ['--host', '0.0.0.0']);
    expect(wide.stderr).toMatch(/warning: .*not signed/);
    await wide.stop();
    const secret = await Listener.start(user, ['--host', '0.0.0.0', '--path', '/aB3dE6gH9jK2mN5pQ8sT1v']);
    expect(secret.stderr).not.toMatch(/warning/);
  });

  it('says which port is taken', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    const second = await user.run(['listen', '--port', String(listener.port)]);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(
      /can't listen on 127\.0\.0\.1:\d+: the port is in use\nhint: choose another port with --port/,
    );
  });

  it.each([
    [['--port', '70000']],
    [['--path', 'hook']],
    [['--forward-to', 'ftp://example.com']],
    [['--public-url', 'https://example.com']],
    [['--register', '--base-url', 'https://api.example.com/API4']],
    [['--register', '--public-url', 'https://a.example', '--tunnel', 'true']],
    [['--format', 'pdf', '--download', '.']],
    [['--count', '0']],
    [['--no-ledger']],
  ])('refuses %s', async (args) => {
    const user = new User({ STENO_API_KEY: 'k', STENO_BASE_URL: 'http://127.0.0.1:9/API4' });
    const { code, stderr } = await user.run(['listen', '--port', '0', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^steno: /)]);
  });
});

describe('the end', () => {
  it('comes with 0 after --count events, of those that count', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--count', '2', '--only', 'TRANSCRIPT_COMPLETE', '--json']);
    await listener.post(complete('1'));
    await listener.post(form({ event: 'CC_AUTH_FAILURE', order: 'o' }));
    await listener.post(complete('2'));
    const { code } = await listener.ended;
    expect(code).toBe(0);
    expect(listener.json.map(({ audiofile }) => audiofile)).toEqual(['1', '2']);
    expect(await eventsOf(user)).toHaveLength(3);
  });

  it('comes with 0 after --until, even if that event is not shown', async () => {
    const user = new User();
    const listener = await Listener.start(user, [
      '--until',
      'order_on_hold',
      '--only',
      'TRANSCRIPT_COMPLETE',
    ]);
    await listener.post(complete('1'));
    await listener.post(form({ event: 'ORDER_ON_HOLD', order: 'o', audiofiles: '1,2', hold: 'billing' }));
    expect((await listener.ended).code).toBe(0);
    expect(listener.lines).toHaveLength(1);
  });

  it('comes with 6 when the time runs out', async () => {
    const user = new User();
    const started = Date.now();
    const listener = await Listener.start(user, ['--timeout', '700ms', '--until', 'TRANSCRIPT_COMPLETE']);
    const { code, stderr } = await listener.ended;
    expect(code).toBe(6);
    expect(stderr).toMatch(/steno: no TRANSCRIPT_COMPLETE arrived within 700ms/);
    expect(Date.now() - started).toBeLessThan(8000);
  });

  it('comes with 143 on SIGTERM', async () => {
    const listener = await Listener.start(new User(), ['--until', 'TRANSCRIPT_COMPLETE']);
    expect((await listener.stop('SIGTERM')).code).toBe(143);
  });

  it.each(['--until', '--only'])(
    'comes with 2 where %s names no event, unless any is allowed',
    async (flag) => {
      const user = new User();
      const { code, stderr } = await user.run(['listen', '--port', '0', flag, 'TRANSCRIPT_COMPLET']);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^steno: unknown event 'TRANSCRIPT_COMPLET'\nhint: did you mean TRANSCRIPT_COMPLETE\?/,
      );
      const listener = await Listener.start(user, [flag, 'NEW_EVENT', '--any-event', '--count', '1']);
      await listener.post(form({ event: 'NEW_EVENT', audiofile: '7' }));
      expect((await listener.ended).code).toBe(0);
      expect((await user.run(['events', '--event', 'new_event'])).code).toBe(2);
      expect((await user.run(['events', '--event', 'NEW_EVENT', '--quiet'])).stdout).toBe('1\n');
    },
  );
});
