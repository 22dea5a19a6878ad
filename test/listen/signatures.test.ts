/** A delivery may hold a link with a signature: it is forwarded as it came, and kept and shown without it. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complete, form, Listener, Target } from '../support/listener.ts';
import { expectNoSecretIn, SECRET, signed } from '../support/signed.ts';
import { User } from '../support/steno.ts';

const url = 'https://example.com/a.mp3';
const delivery = (n: number): Buffer =>
  Buffer.concat([
    Buffer.from(form({ event: 'TRANSCRIPT_COMPLETE', audiofile: String(n), order: 'o1' })),
    Buffer.from([0x26, 0x78, 0x3d, 0xff, 0xfe]),
    Buffer.from(`&${new URLSearchParams({ originallink: signed(url, n) })}&last=%41+b`),
  ]);

describe('a delivery with a signed link', () => {
  it('is forwarded to every target as it came, and kept without the signature, otherwise to the byte', async () => {
    const [user, one, two] = [new User(), await Target.start(), await Target.start()];
    two.status = (call) => (call === 1 ? 503 : 200);
    const listener = await Listener.start(user, ['--forward-to', `${one.url},${two.url}`, '--json']);
    await listener.post(delivery(1));
    await listener.until(() => one.got.length === 1 && two.got.length === 2);
    for (const { body } of [...one.got, ...two.got]) expect(body.equals(delivery(1))).toBe(true);
    await listener.stop();
    expect(listener.stdout + listener.stderr).not.toContain(SECRET);
    expectNoSecretIn(user);
    const shown = await user.run(['events', 'show', '1', '--json']);
    const kept = Buffer.from(JSON.parse(shown.stdout).body_base64, 'base64');
    expect(kept.toString('latin1')).toBe(
      delivery(1)
        .toString('latin1')
        .replace(/originallink=[^&]*/, `originallink=${encodeURIComponent(url)}`),
    );
    for (const line of [['events'], ['events', 'show', '1'], ['events', '--csv']])
      expect((await user.run(line)).stdout).not.toContain(SECRET);
  });

  it('is forwarded as it is kept by the next listener, which never had it', async () => {
    const [user, target] = [new User(), await Target.start()];
    const { port, url: to } = target;
    await target.close();
    const first = await Listener.start(user, ['--forward-to', to]);
    await first.post(delivery(1));
    await first.stop('SIGKILL');
    const again = await Target.start(port);
    const next = await Listener.start(user, ['--forward-to', to]);
    await next.until(() => again.got.length === 1);
    expect(again.got[0]?.body.toString('latin1')).not.toContain(SECRET);
    expect(again.got[0]?.body.toString('latin1')).toContain(encodeURIComponent(url));
  });

  it('holds up no other, and beyond 16 MB in memory the kept one is forwarded', async () => {
    const [user, target] = [new User(), await Target.start()];
    const { port, url: to } = target;
    await target.close();
    const listener = await Listener.start(user, ['--forward-to', to, '--quiet']);
    const big = (n: number): string => `${delivery(n).toString('latin1')}&pad=${'x'.repeat(900_000)}`;
    for (let n = 1; n <= 36; n += 1) expect((await listener.post(big(n))).status).toBe(200);
    await listener.post(complete('99'));
    const again = await Target.start(port);
    await listener.until(() => again.got.length === 37);
    // Those that are being sent, eight at a time, are beside those that wait.
    const withSecret = again.got.filter(({ body }) => body.includes(SECRET)).length;
    expect(withSecret).toBeGreaterThan(10);
    expect(withSecret).toBeLessThan(30);
  });

  it('is given to --exec without the signature', async () => {
    const user = new User();
    const script = join(user.home, 'script.sh');
    writeFileSync(script, '#!/bin/sh\ncat > in.json; env > env.txt\n');
    chmodSync(script, 0o755);
    const listener = await Listener.start(user, ['--exec', script, '--count', '1']);
    await listener.post(delivery(1));
    await listener.ended;
    for (const name of ['in.json', 'env.txt']) {
      const text = readFileSync(join(user.home, name), 'utf8');
      expect(text).not.toContain(SECRET);
      expect(text).toContain(url);
    }
  });
});

describe('the signature in what the user gives', () => {
  it('is used, and neither shown nor kept: --forward-to a workflow, --exec with an escaped link', async () => {
    const [user, target] = [new User(), await Target.start()];
    const query = `api-version=2016-10-01&sp=%2Ftriggers%2Frun&sv=1.0&sig=${SECRET}`;
    const link = `https://m.example/a?x=1\\&X-Amz-Signature=${SECRET}\\&X-Amz-Date=1`;
    const listener = await Listener.start(user, [
      ...['--forward-to', `${target.url}?${query}`, '--exec', `true ${link}`, '--count', '1'],
    ]);
    await listener.post(complete('1'));
    await listener.ended;
    expect(target.got).toHaveLength(1);
    expect(listener.stdout + listener.stderr).not.toContain(SECRET);
    const shown = await user.run(['events', 'show', '1', '--json']);
    expect(shown.stdout).toContain('api-version=2016-10-01');
    expect(shown.stdout).toContain('https://m.example/a');
    expect(shown.stdout).not.toContain(SECRET);
    expectNoSecretIn(user);
  });
});
