/** The ids of an order may come in any sequence: whatever acts on whose file it is asks the service first. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';
import type { User } from '../../support/steno.ts';

const [a, b, c] = [audio('a'), audio('b'), audio('c')];

interface Made {
  readonly link?: string;
  readonly state?: string;
  /** The id in the answer, where it is another. */
  readonly id?: number;
}

/** An order of these URLs, answered with these ids; `made` says what the service says of each. */
async function ordered(urls: readonly string[], made: Readonly<Record<string, Made>>) {
  const account = await orderingAccount();
  const audiofiles = Object.keys(made).map(Number);
  account.service.on('POST /order_url', { body: { order: 'X1', audiofiles, message: 'ok' } });
  for (const [id, { link, state = 'Delivered', id: own = Number(id) }] of Object.entries(made))
    account.service.allow(`GET /audiofile/${id}`, {
      body: { audiofile: { id: own, statename: state, originallink: link } },
    });
  const { code } = await account.order(...urls);
  const before = account.service.calls('POST /order_url').length;
  account.service.allow('POST /order_url', { body: { order: 'X2', audiofiles: [91], message: 'ok' } });
  return {
    ...account,
    code,
    bought: () =>
      account.service
        .calls('POST /order_url')
        .slice(before)
        .map(({ body }) => body?.url),
  };
}

const documents = async (user: User, ...args: string[]): Promise<Array<Record<string, unknown>>> =>
  JSON.parse((await user.run([...args, '--json'])).stdout);

const RETRY = ['--skip-ordered', '--retry-ended'];

describe('files whose ids came in another sequence than the URLs', () => {
  it('are retried by what the service says: the one that ended, and not the other', async () => {
    const { order, bought, askedFiles } = await ordered([a, b, c], {
      21: { link: b, state: 'Transcribing' },
      22: { link: c },
      23: { link: a, state: 'Error' },
    });
    const { code, stderr } = await order(a, b, c, ...RETRY);
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 of 3')]);
    expect(bought()).toEqual([[a]]);
    expect([...new Set(askedFiles())].sort()).toEqual(['21', '22', '23']);
  });

  it('are found by --or-existing, which asks for no others', async () => {
    const { user, order, askedFiles } = await ordered([a, b, c], {
      21: { link: b },
      22: { link: a },
      23: { link: c },
    });
    const { code, stdout } = await order(a, '--or-existing', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ audiofile: '22', url: a, existing: true }]);
    expect(askedFiles()).toEqual(['21', '22']);
    expect(await documents(user, 'files')).toMatchObject([
      { audiofile: '23', url: c, assumed: true },
      { audiofile: '22', url: a },
      { audiofile: '21', url: b },
    ]);
  });

  it('give each transcript the name of its own recording', async () => {
    const { user } = await ordered([a, b], { 21: { link: b }, 22: { link: a } });
    const { code, stderr } = await user.run([
      'transcript',
      '21',
      '22',
      '--name-as',
      '{basename}.{ext}',
      '-o',
      'out/',
    ]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const folder = join(user.home, 'out');
    const texts = readdirSync(folder)
      .sort()
      .map((name) => `${name} ${readFileSync(join(folder, name), 'utf8')}`);
    expect(texts).toEqual(['a.txt transcript 22.txt\n', 'b.txt transcript 21.txt\n']);
  });

  it('are asked for no call by the order itself, and are marked until they are', async () => {
    const { user, askedFiles } = await ordered([a, b], { 21: { link: b }, 22: { link: a } });
    expect(await documents(user, 'files')).toMatchObject([
      { audiofile: '22', url: b, assumed: true, state: 'ordered' },
      { audiofile: '21', url: a, assumed: true, state: 'ordered' },
    ]);
    expect(askedFiles()).toEqual([]);
  });
});

describe('where the service does not say whose file it is', () => {
  it('nothing is bought again: exit 9, which says why', async () => {
    const { user, order, bought } = await ordered([a, b], {
      21: { state: 'Error' },
      22: { link: audio('z') },
    });
    const { code, stderr } = await order(a, b, ...RETRY);
    expect([code, stderr]).toEqual([9, expect.stringContaining('does not say which file of order X1 it is')]);
    expect(bought()).toEqual([]);
    expect(await documents(user, 'files')).toMatchObject([{ assumed: true }, { assumed: true }]);
  });

  it('two files may be of one URL', async () => {
    const { user } = await ordered([a, b], { 21: { link: a }, 22: { link: `${a}?utm_source=x` } });
    await user.run(['files', '--refresh']);
    const files = await documents(user, 'files');
    expect(files.map(({ url, assumed }) => [url, assumed])).toEqual([
      [a, undefined],
      [a, undefined],
    ]);
  });
});

describe('a recording of several files', () => {
  it('has ended when all of them have', async () => {
    const { user, order, bought, service } = await ordered([a], {
      21: { link: a, state: 'Error' },
      22: { link: a },
    });
    await user.run(['files', '--refresh']);
    expect((await order(a, ...RETRY)).code).toBe(0);
    expect(bought()).toEqual([]);
    expect(await documents(user, 'order', a, '--sku', 'TRANS14', '--or-existing')).toMatchObject([
      { audiofile: '22' },
    ]);
    service.allow('GET /audiofile/22', {
      body: { audiofile: { id: 22, statename: 'Refunded', originallink: a } },
    });
    await user.run(['file', '22']);
    expect((await order(a, ...RETRY)).code).toBe(0);
    expect(bought()).toEqual([[a]]);
  });
});

describe('an answer with fewer files than URLs', () => {
  it.each([
    ['track', ['track', '22']],
    ['settle', ['attempts', 'settle', '1', '--placed', 'X1', '--file', '22']],
  ])('is completed by %s, which leaves the file of the other URL alone', async (_, line) => {
    const { user, service, code } = await ordered([a, b], { 21: { link: b } });
    expect(code).toBe(11);
    service.allow('GET /audiofile/22', {
      body: { audiofile: { id: 22, statename: 'Transcribing', originallink: a } },
    });
    const done = await user.run(line);
    expect(done.code, done.stderr).toBe(0);
    await user.run(['files', '--refresh']);
    const files = await documents(user, 'files');
    expect(files.map(({ audiofile, url, assumed }) => [audiofile, url, assumed]).sort()).toEqual([
      ['21', b, undefined],
      ['22', a, undefined],
    ]);
  });
});

describe('an answer about another file', () => {
  it('is refused, said, and changes nothing', async () => {
    const { user, order, bought } = await ordered([a], { 1: { link: a, state: 'Error', id: 999 } });
    const { code, stderr } = await user.run(['file', '1']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('about audiofile 999')]);
    expect(await documents(user, 'files')).toMatchObject([{ audiofile: '1', state: 'ordered' }]);
    expect((await order(a, ...RETRY)).code).toBe(0);
    expect(bought()).toEqual([]);
  });
});
