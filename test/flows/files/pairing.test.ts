/** Which URL a file is of: the order of the answer tells it at first, and the service's own word corrects it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { expectNoSecretIn, signed } from '../../support/signed.ts';
import type { User } from '../../support/steno.ts';

const [a, b, c] = [audio('a'), audio('b'), audio('c')];

/** An order of these URLs, answered with the files 21, 22 and so on; `links` says what the service says of each. */
async function ordered(urls: readonly string[], links: Readonly<Record<string, string>>, ...args: string[]) {
  const account = await orderingAccount();
  const audiofiles = urls.map((_, at) => 21 + at);
  account.service.on('POST /order_url', { body: { order: 'X1', audiofiles, message: 'ok' } });
  for (const [id, originallink] of Object.entries(links))
    account.service.on(`GET /audiofile/${id}`, {
      body: { audiofile: { id, statename: 'Transcribing', originallink } },
    });
  expect((await account.order(...(args.length ? args : urls))).code).toBe(0);
  return account;
}

interface Document {
  readonly audiofile: string;
  readonly url: string | null;
  readonly key: string | null;
  readonly assumed?: true;
}

async function listed(user: User): Promise<Document[]> {
  const { stdout } = await user.run(['files', '--json']);
  return (JSON.parse(stdout) as Document[]).reverse();
}

/** Each file with its URL; `?`: that is assumed. */
const pairs = async (user: User): Promise<string[]> =>
  (await listed(user)).map(({ audiofile, url, assumed }) => `${audiofile} ${url}${assumed ? '?' : ''}`);

describe('a file that was paired with another URL of its order', () => {
  it('gets the URL that the service says: sync', async () => {
    const { user } = await ordered([a, b, c], { 21: b, 22: c, 23: a });
    expect(await pairs(user)).toEqual([`21 ${a}?`, `22 ${b}?`, `23 ${c}?`]);
    expect((await user.run(['sync'])).code).toBe(0);
    expect(await pairs(user)).toEqual([`21 ${b}`, `22 ${c}`, `23 ${a}`]);
    expect((await user.run(['sync'])).code).toBe(0);
    expect(await pairs(user)).toEqual([`21 ${b}`, `22 ${c}`, `23 ${a}`]);
  });

  it('changes places with the file that had it: file, of which one alone is asked', async () => {
    const { user } = await ordered([a, signed(b)], { 21: signed(b, 4) });
    expect((await user.run(['file', '21'])).code).toBe(0);
    expect(await pairs(user)).toEqual([`21 ${b}`, `22 ${a}?`]);
    expectNoSecretIn(user);
  });

  it('takes the key along', async () => {
    const { user, service } = await orderingAccount();
    writeFileSync(join(user.home, 'm.csv'), `url,key\n${a},one\n${b},two\n`);
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [21, 22], message: 'ok' } });
    service.on('GET /audiofile/22', {
      body: { audiofile: { id: 22, statename: 'Transcribing', originallink: a } },
    });
    expect((await user.run(['order', '--from', 'm.csv', '--sku', 'TRANS14'])).code).toBe(0);
    expect((await user.run(['file', '22'])).code).toBe(0);
    expect(await listed(user)).toMatchObject([
      { audiofile: '21', url: b, key: 'two', assumed: true },
      { audiofile: '22', url: a, key: 'one' },
    ]);
  });
});

describe('a file', () => {
  it('keeps its URL where the service names a link that the order does not have', async () => {
    const { user } = await ordered([a, b], { 21: audio('elsewhere'), 22: `${b}?utm_source=x` });
    expect((await user.run(['sync'])).code).toBe(0);
    expect(await pairs(user)).toEqual([`21 ${a}?`, `22 ${b}`]);
  });

  it('of which no URL was known gets it from the service', async () => {
    const { user, order, service } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [21], message: 'ok' } });
    service.on('GET /audiofile/21', {
      body: { audiofile: { id: 21, statename: 'Delivered', originallink: b } },
    });
    expect((await order(a, b)).code).toBe(11);
    expect(await pairs(user)).toEqual(['21 null']);
    const { code, stderr } = await user.run(['wait', '--order', 'X1']);
    expect([code, stderr]).toEqual([11, expect.stringContaining(`the files of ${a} are unknown\n`)]);
    expect(await pairs(user)).toEqual([`21 ${b}`]);
  });
});
