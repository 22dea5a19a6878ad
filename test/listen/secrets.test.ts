/** No secret stands in the state folder, whatever a delivery, a command, a target or a previous webhook holds. */
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, form, Listener, Target } from '../support/listener.ts';
import { encodingsOf, expectNotInState } from '../support/secrets.ts';
import { signed } from '../support/signed.ts';
import { KEY, type User } from '../support/steno.ts';
import { lockLedger, waitingIn } from '../support/waiting.ts';

const forms = encodingsOf(KEY);

describe('a delivery that holds the key', () => {
  it('in any encoding is masked before it is written and forwarded, and is otherwise the same', async () => {
    const { user } = await account({ STENO_BASE_URL: undefined });
    const target = await Target.start();
    const exec = 'cat >> in.json; env >> env.txt; echo ran';
    const listener = await Listener.start(user, ['--forward-to', target.url, '--exec', exec, '--jobs', '1']);
    const texts = Object.values(forms);
    for (const text of texts) {
      const odd = Buffer.from([0x26, 0x78, 0x3d, 0xff, 0xfe, 0x26]);
      const before = form({ event: 'X', audiofile: '1' });
      const body = Buffer.concat([Buffer.from(`${before}&a=${text}`), odd, Buffer.from('last=%41+b')]);
      expect((await listener.post(body)).status).toBe(200);
    }
    const ran = (): number => listener.stderr.split('ran\n').length - 1;
    await listener.until(() => target.got.length === texts.length && ran() === texts.length);
    // While it runs: the log of the database is read too.
    expectNotInState(user, KEY);
    await listener.stop();
    const forwarded = target.got.map(({ body }) => body.toString('latin1'));
    for (const text of forwarded) {
      expect(text).toMatch(/^webhook_version=1&event=X&audiofile=1&a=.*\*\*\*\*/);
      expect(text.endsWith('&x=\xff\xfe&last=%41+b')).toBe(true);
    }
    const given = ['in.json', 'env.txt'].map((name) => readFileSync(join(user.home, name), 'utf8'));
    for (const seen of [...forwarded, listener.stdout, listener.stderr, ...given])
      for (const text of texts) expect(seen).not.toContain(text);
    expectNotInState(user, KEY);
  });

  it('inside other text of a field is masked in all that is kept, forwarded and given to a command', async () => {
    const key = 'ab/cd+ef"gh&ijKLM9';
    const { user } = await account({ STENO_BASE_URL: undefined, STENO_API_KEY: key });
    const target = await Target.start();
    const exec = 'cat >> in.json; env | grep ^STENO_EVENT_ >> env.txt; echo ran';
    const listener = await Listener.start(user, ['--forward-to', target.url, '--exec', exec, '--jobs', '1']);
    const json = JSON.stringify(key).slice(1, -1);
    const html = key.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const numbers = [...key].map((each) => `&#${each.charCodeAt(0)};`).join('');
    const escapes = [...key].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const written = [json, json.replaceAll('/', '\\/'), html, numbers, escapes];
    const values = written.flatMap((text) => [`{"k":"${text}"}`, encodeURIComponent(`"${text}"`)]);
    for (const value of values)
      expect((await listener.post(form({ event: 'X', audiofile: '1', value }))).status).toBe(200);
    const ran = (): number => listener.stderr.split('ran\n').length - 1;
    await listener.until(() => target.got.length === values.length && ran() === values.length);
    await listener.stop();
    const bodies = target.got.map(({ body }) => new URLSearchParams(body.toString()).get('value') ?? '');
    const kept = queryLedger<{ body: Uint8Array }>(user, 'SELECT body FROM events').map(
      ({ body }) => new URLSearchParams(Buffer.from(body).toString()).get('value') ?? '',
    );
    const twice = [...bodies, ...kept].map((text) => decodeURIComponent(text));
    for (const text of twice) expect(text).toContain('****');
    for (const text of [...bodies, ...kept, ...twice, textIn(user, 'in.json'), textIn(user, 'env.txt')])
      for (const each of [key, ...written, JSON.stringify(escapes)]) expect(text).not.toContain(each);
  });

  it('is masked in waiting.db too, where it waits for a ledger that another process holds', async () => {
    const { user } = await account({ STENO_BASE_URL: undefined });
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    for (const text of Object.values(forms))
      expect((await listener.post(`${complete('1')}&waits=here&a=${text}`)).status).toBe(200);
    expect(waitingIn(user).join('')).toContain('waits=here');
    expectNotInState(user, KEY);
    lock.release();
    await listener.stop();
    expectNotInState(user, KEY);
    expect(await eventsOf(user)).toHaveLength(Object.keys(forms).length);
  });

  it('is masked in each column, in its content type, and beside a signature', async () => {
    const { user } = await account({ STENO_BASE_URL: undefined });
    const target = await Target.start();
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    const names = { event: KEY, audiofile: KEY, order: KEY, webhook_version: KEY, [KEY]: '1' };
    const link = signed(`https://example.com/${encodeURIComponent(KEY)}.mp3`);
    await listener.post(form({ ...names, audiofiles: `a,${KEY}`, originallink: link }), {
      type: `application/x-www-form-urlencoded; x="${KEY}"`,
    });
    await listener.until(() => target.got.length === 1);
    await listener.stop();
    const [{ body, headers } = { body: Buffer.alloc(0), headers: {} }] = target.got;
    expect(body.toString()).toContain('X-Amz-Signature');
    for (const each of Object.values(forms)) expect(`${body} ${JSON.stringify(headers)}`).not.toContain(each);
    expectNotInState(user, KEY);
    expect(await eventsOf(user)).toMatchObject([{ event: '****', audiofile: '****' }]);
  });
});

const textIn = (user: User, name: string): string => {
  const path = join(user.home, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

const PASSWORD = 'pa55/w+rd@x';
const IN_URL = encodeURIComponent(PASSWORD);

/** An address with a name, a password and the key in it. */
const guarded = (port: number, password = PASSWORD): string =>
  `http://me:${encodeURIComponent(password)}@127.0.0.1:${port}/hook?k=${encodeURIComponent(KEY)}`;

const targetsOf = (user: User): string[] =>
  queryLedger<{ target: string }>(user, 'SELECT DISTINCT target FROM actions ORDER BY kind, target').map(
    ({ target }) => target,
  );

describe('a command or an address that holds a secret', () => {
  it('is kept masked, and resumed only on the machine that started it', async () => {
    const { user } = await account({ STENO_BASE_URL: undefined });
    const target = await Target.start();
    const { port } = target;
    await target.close();
    const exec = `: '${KEY}' ftp://a:${IN_URL}@h/; sleep 0.3; echo ran >> ran.txt`;
    const args = ['--forward-to', guarded(port), '--exec', exec];
    const first = await Listener.start(user, args);
    for (const id of ['1', '2']) expect((await first.post(complete(id))).status).toBe(200);
    await first.stop('SIGKILL');
    expectNotInState(user, KEY, PASSWORD);
    // As if another machine had received the first one.
    const sql = `UPDATE actions SET target = replace(target, '@${hostname()}', '@elsewhere') WHERE event = 1`;
    queryLedger(user, sql);
    expect(targetsOf(user)).toContain(`http://***@127.0.0.1:${port}/hook?k=**** @${hostname()}`);
    const again = await Target.start(port);
    const here = await Listener.start(user, args);
    await here.until(() => again.got.length === 1 && textIn(user, 'ran.txt').length > 0);
    await sleep(1_000);
    await here.stop();
    expect(again.got.map(({ body }) => /audiofile=(\d)/.exec(body.toString())?.[1])).toEqual(['2']);
    expect(again.got[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`,
    );
    expectNotInState(user, KEY, PASSWORD);
    const shown = await user.run(['events', 'show', '1']);
    expect(shown.stdout, shown.stderr).toContain('http://***@127.0.0.1');
    expect(shown.stdout).not.toContain(encodeURIComponent(PASSWORD));
  });

  it('does not stand for another that differs in the secret alone', async () => {
    const { user } = await account({ STENO_BASE_URL: undefined });
    const target = await Target.start();
    const urls = [guarded(target.port, 'one'), guarded(target.port, 'two')];
    const listener = await Listener.start(user, ['--forward-to', urls.join(',')]);
    await listener.post(complete('1'));
    await listener.until(() => target.got.length === 2);
    await listener.stop();
    expect(new Set(target.got.map(({ headers }) => headers.authorization)).size).toBe(2);
    expect(new Set(targetsOf(user)).size).toBe(2);
  });
});
