/** Signatures of links are secrets: sent to the service, and neither kept nor shown. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { expectNoSecretIn, SECRET, signed } from '../../support/signed.ts';
import type { Result } from '../../support/steno.ts';

const url = audio('a');
const link = signed(url, 7);

const expectNoSecretOn = ({ stdout, stderr }: Result): void => {
  expect(stdout).not.toContain(SECRET);
  expect(stderr).not.toContain(SECRET);
};

describe.concurrent('the signature of a link', () => {
  it('is sent, and then neither in the ledger nor in what is shown of it', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', title: `Talk at ${link}`, originallink: link } },
    });
    const placed = await order(link, '--notes', `also at ${link} (see there)`, '--name', `Ann ${link}`);
    expect([placed.code, placed.stdout]).toEqual([0, `1\to1\tordered\t${url}\t\n`]);
    expect(service.got[0]?.body?.url).toEqual([link]);
    expect(service.got[0]?.body?.notes).toContain(link);
    for (const line of [
      ['files', '--refresh'],
      ['files', '--json'],
      ['files', '--csv'],
      ['file', '1'],
      ['file', '1', '--csv'],
      ['__complete', 'audiofile'],
      ['track', '1', '--json'],
      ['order', link, '--sku', 'TRANS14', '--debug'],
    ]) {
      const result = await user.run(line);
      expectNoSecretOn(result);
      expect(result.stdout + result.stderr, line.join(' ')).toContain('a.mp3');
    }
    expectNoSecretIn(user);
  });

  it.each([
    ['S3', (n: number) => `X-Amz-Signature=${SECRET}${n}&X-Amz-Date=2026010${n}T000000Z&X-Amz-Expires=60`],
    ['Google', (n: number) => `X-Goog-Signature=${SECRET}${n}`],
    ['CloudFront', (n: number) => `Signature=${SECRET}${n}&Key-Pair-Id=${SECRET}`],
    ['Azure', (n: number) => `sp=r&sv=1.0&sig=${SECRET}${n}`],
  ])('of %s is known without the rest of its parameters, and not bought twice', async (_, query) => {
    const { service, user, order } = await orderingAccount();
    const placed = await order(`${url}?${query(1)}`);
    expect([placed.code, placed.stdout]).toEqual([0, `1\to1\tordered\t${url}\t\n`]);
    const again = await order(`${url}?${query(2)}`);
    expect([again.code, again.stderr]).toEqual([9, expect.stringContaining('differs only in its signature')]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    for (const result of [placed, again, await user.run(['files', '--json'])]) expectNoSecretOn(result);
    expectNoSecretIn(user);
  });

  it('is cut where its link is encoded, in a text and in another link', async () => {
    const { service, user, order } = await orderingAccount();
    const around = (n: number): string => `https://wrap.example/p?u=${encodeURIComponent(signed(url, n))}`;
    const title = `at ${encodeURIComponent(link)} there`;
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered', title } } });
    for (const form of [[], ['--json'], ['--csv']])
      expectNoSecretOn(await order(around(1), '--dry-run', '--notes', title, ...form));
    expect((await order(around(1), '--notes', title)).code).toBe(0);
    expect(service.calls('POST /order_url')[0]?.body).toMatchObject({ url: [around(1)], notes: title });
    expect((await order(around(2))).code).toBe(9);
    for (const line of [
      ['files', '--refresh'],
      ['files', '--csv'],
      ['file', '1'],
      ['file', '1', '--csv'],
    ]) {
      const result = await user.run(line);
      expectNoSecretOn(result);
      expect(result.stdout).toContain(`at ${encodeURIComponent(url)} there`);
    }
    expectNoSecretIn(user);
  });

  it("passes in the service's own answer to one call under --json", async () => {
    const { service, user } = await orderingAccount();
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'x', originallink: link } } });
    const { stdout } = await user.run(['file', '1', '--json']);
    const file = JSON.parse(stdout);
    expect([file.url, file.answer.audiofile.originallink]).toEqual([url, link]);
    const waited = JSON.parse((await user.run(['wait', '1', '--json', '--timeout', '1s'])).stdout);
    expect([waited.url, waited.answer.audiofile.originallink]).toEqual([url, link]);
    expectNoSecretIn(user);
  });

  it.each([[], ['--json'], ['--csv'], ['--quiet']])('is not in a plan: --dry-run %s', async (...form) => {
    const { user, order } = await orderingAccount();
    writeFileSync(join(user.home, 'm'), `url,notes\n${link},"at ${signed(audio('n'))}, really"\n`);
    const result = await order('--from', 'm', '--dry-run', '--param', `see=${link}`, ...form);
    expect(result.code).toBe(0);
    expectNoSecretOn(result);
    expect(result.stdout).toContain(url);
  });

  it.each([
    ['a refusal', { status: 400, body: { message: `can't fetch ${link}: gone` } }, 1],
    ['an unclear answer', { status: 500, body: `broke at '${link}'` }, 11],
  ])('is not in %s, nor kept with it', async (_, answer, exit) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', answer);
    for (const form of [['--debug'], ['--json', '--again']]) {
      const result = await order(link, ...form);
      expect(result.code).toBe(exit);
      expectNoSecretOn(result);
    }
    for (const line of [['attempts', '--json'], ['attempts'], ['files'], ['order', link, '--sku', 'TRANS14']])
      expectNoSecretOn(await user.run(line));
    expectNoSecretIn(user);
  });

  it('is not in what is said of a manifest', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { status: 500 });
    writeFileSync(join(user.home, 'm'), `${link}\n${signed(audio('b'))}\n`);
    const first = await order('--from', 'm', '--per-order', '1');
    expect(first.code).toBe(11);
    const second = await order('--from', 'm', '--per-order', '1', '--json', '--skip-ordered');
    for (const result of [first, second]) expectNoSecretOn(result);
    expect(second.stderr).toContain(url);
    const twice = await order(link, signed(url, 8));
    expect(twice.code).toBe(2);
    expectNoSecretOn(twice);
  });
});
