/** No secret stands in the state folder, whatever a delivery, a command, a target or a former webhook holds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { eventsOf, form, Listener, Target } from '../support/listener.ts';
import { encodingsOf, expectNotInState } from '../support/secrets.ts';
import { signed } from '../support/signed.ts';
import { KEY } from '../support/steno.ts';

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
