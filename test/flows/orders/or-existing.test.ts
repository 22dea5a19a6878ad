/** `--or-existing`: what is on order already counts as ordered. And what exit 9 tells a program. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { item, rss } from '../../support/feed.ts';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';

interface Doc {
  readonly audiofile: string | null;
  readonly url: string;
  readonly order: string | null;
  readonly left_out?: string;
  readonly error?: Readonly<Record<string, unknown>>;
}

const docs = (stdout: string): Doc[] => JSON.parse(stdout) as Doc[];

describe('--or-existing', () => {
  it('prints the document of what exists, and sends nothing', async () => {
    const { order, service } = await orderingAccount();
    const line = [audio('a'), '--or-existing', '--json'];
    expect(docs((await order(...line)).stdout)).toEqual([expect.objectContaining({ audiofile: '1' })]);
    const { code, stdout } = await order(...line);
    expect(code).toBe(0);
    expect(docs(stdout)).toEqual([expect.objectContaining({ audiofile: '1', order: 'o1', url: audio('a') })]);
    expect(docs(stdout)[0]).not.toHaveProperty('left_out');
    expect((await order(audio('a'), '--or-existing', '--quiet')).stdout).toBe('1\n');
    expect((await order(audio('a'), '--or-existing')).stdout).toContain('1\to1\t');
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('orders the rest of a list, and prints all of it', async () => {
    const { order, user, service } = await orderingAccount();
    await order(audio('a'));
    writeFileSync(join(user.home, 'm.txt'), `${audio('b')}\n${audio('a')}\n`);
    const { code, stdout } = await order('--from', 'm.txt', '--or-existing', '--json');
    expect(code).toBe(0);
    const found = docs(stdout).map(({ audiofile, url }) => [audiofile, url]);
    expect(found.sort()).toEqual([
      ['1', audio('a')],
      ['2', audio('b')],
    ]);
    expect(service.calls('POST /order_url')).toHaveLength(2);
  });

  it('gives what exists the tags that it would have been ordered with', async () => {
    const { order, user } = await orderingAccount();
    expect((await order(audio('a'), '--tag', 'spring')).code).toBe(0);
    expect((await order(audio('b'))).code).toBe(0);
    writeFileSync(
      join(user.home, 'm.csv'),
      `url,tags\n${audio('a')},talks\n${audio('b')},\n${audio('c')},\n`,
    );
    const { code, stdout, stderr } = await order(
      '--from',
      'm.csv',
      '--or-existing',
      '--tag',
      'autumn',
      '--json',
    );
    expect(code, stderr).toBe(0);
    const tags = { 1: ['spring', 'autumn', 'talks'], 2: ['autumn'], 3: ['autumn'] };
    const tagged = (text: string): object =>
      Object.fromEntries(
        (JSON.parse(text) as Array<{ audiofile: string; tags: string[] }>).map((each) => [
          each.audiofile,
          each.tags,
        ]),
      );
    expect(tagged(stdout)).toEqual(tags);
    expect(tagged((await user.run(['files', '--tag', 'autumn', '--json'])).stdout)).toEqual(tags);
    // What is left out is no part of this order.
    expect((await order(audio('a'), '--skip-ordered', '--tag', 'winter')).code).toBe(0);
    expect((await user.run(['files', '--tag', 'winter', '--json'])).stdout).toBe('[]\n');
  });

  it('waits for what exists, and downloads it', async () => {
    const { order, user, states } = await orderingAccount();
    await order(audio('a'));
    states.set('1', ['Transcribing', 'Delivered']);
    const line = [audio('a'), '--or-existing', '--download', 'texts', '--interval', '50ms', '--quiet'];
    const { code, stdout, stderr } = await order(...line);
    expect(code, stderr).toBe(0);
    expect(readdirSync(join(user.home, 'texts'))).toHaveLength(1);
    expect(stdout).toContain('texts');
    states.set('1', ['Refunded']);
    await user.run(['files', '--refresh']);
    expect((await order(audio('b'), '--or-existing', '--wait')).code).toBe(0);
  });

  it('exits with 8 where what exists ended without a transcript', async () => {
    const { order, states } = await orderingAccount();
    await order(audio('a'));
    states.set('1', ['Order Cancelled']);
    expect((await order(audio('a'), '--or-existing', '--wait')).code).toBe(8);
  });

  it('exits with 9 where other SKUs are on order, and sends nothing', async () => {
    const { order, service } = await orderingAccount();
    await order(audio('a'), '--sku', 'TSTMP1');
    const { code, stdout, stderr } = await order(
      audio('a'),
      audio('b'),
      '--sku',
      'CAPTION1',
      '--or-existing',
      '--json',
    );
    expect([code, stdout]).toEqual([9, '']);
    expect(jsonError(stderr)).toMatchObject({
      ...{ code: 'duplicate', reason: 'other_skus', order: 'o1', audiofiles: ['1'], attempt: 1 },
    });
    expect((await order(audio('a'), '--or-existing')).code).toBe(0);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('lists a row with other SKUs among others', async () => {
    const { order, user } = await orderingAccount();
    await order(audio('a'));
    writeFileSync(join(user.home, 'm.csv'), `url,sku\n${audio('a')},TRANS2\n${audio('b')},TRANS14\n`);
    const { code, stdout } = await order('--from', 'm.csv', '--or-existing', '--json');
    expect(code).toBe(10);
    expect(docs(stdout).find(({ url }) => url === audio('a'))).toMatchObject({
      left_out: 'other_skus',
      error: { reason: 'other_skus', order: 'o1' },
    });
  });

  it('is told by --skip-ordered too, which leaves such a row out', async () => {
    const { order, user, service } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const csv = `url,sku\n${audio('a')},TRANS2\n${audio('b')},TRANS14\n${audio('c')},TRANS14\n`;
    writeFileSync(join(user.home, 'm.csv'), csv);
    const line = ['--from', 'm.csv', '--skip-ordered'];
    const left = [
      { audiofile: '1', skus: ['TRANS14'], left_out: 'other_skus' },
      { audiofile: '2', skus: ['TRANS14'], left_out: 'ordered' },
    ];
    const dry = await order(...line, '--dry-run', '--json');
    expect([dry.code, JSON.parse(dry.stdout)]).toMatchObject([0, { orders: [{}], left_out: left }]);
    const plain = await order(...line, '--dry-run');
    expect(plain.stderr).toContain(`Skipped 1 of 3: already ordered (${audio('b')})`);
    expect(plain.stderr).toContain(
      `warning: Skipped 1 of 3: already ordered with other SKUs (${audio('a')} with TRANS14, not TRANS2)\nhint: to change its SKUs: steno upgrade 1 --sku <SKU>\n`,
    );
    const { code, stdout } = await order(...line, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, [{ audiofile: '3' }, ...left]]);
    expect(service.calls('POST /order_url')).toHaveLength(2);
    // What it was upgraded to is what it has.
    service.on('POST /audiofile/1/upgrade', { body: { message: 'ok' } });
    expect((await user.run(['upgrade', '1', '--sku', 'UPGRD2'])).code).toBe(0);
    expect(JSON.parse((await order(...line, '--json')).stdout)).toContainEqual(
      expect.objectContaining({ audiofile: '1', left_out: 'ordered' }),
    );
  });

  it('is told where an order stops at it', async () => {
    const { order, user } = await orderingAccount();
    await order(audio('a'));
    const { code, stderr } = await user.run(['order', audio('a'), '--sku', 'TRANS2', '--json']);
    expect([code, jsonError(stderr)]).toMatchObject([
      9,
      {
        ...{ reason: 'ordered', audiofiles: ['1'] },
        message: expect.stringContaining('with TRANS14, not TRANS2'),
        hint: expect.stringContaining('steno upgrade 1 --sku <SKU>'),
      },
    ]);
    expect((await order(audio('a'))).stderr).not.toContain('upgrade');
  });

  it('does not count what has no clear answer', async () => {
    const { order, service } = await orderingAccount();
    service.allow('POST /order_url', { status: 500 });
    expect((await order(audio('a'))).code).toBe(11);
    const { code, stderr } = await order(audio('a'), '--or-existing', '--json');
    expect(code).toBe(9);
    expect(jsonError(stderr)).toMatchObject({ reason: 'unclear', order: null, audiofiles: [], attempt: 1 });
  });
});

describe('what is left out', () => {
  it('is a row that is there twice, a recording, and an episode with a transcript', async () => {
    const { order, user } = await orderingAccount();
    setAll(user, { 'upload-command': 'echo "https://up.example/$(basename "$1")"' });
    mkdirSync(join(user.home, 'rec'));
    for (const name of ['one.mp3', 'copy.mp3', 'empty.mp3']) {
      const path = join(user.home, 'rec', name);
      writeFileSync(path, name === 'empty.mp3' ? '' : '\0x');
      utimesSync(path, 1e9, 1e9);
    }
    writeFileSync(join(user.home, 'm.txt'), `${audio('a')}\n${audio('a')}?utm_source=x\n`);
    const line = ['rec', '--from', 'm.txt', '--skip-ordered'];
    const dry = await order(...line, '--dry-run');
    expect(dry.stderr).toContain('Skipped 1: it is listed twice (m.txt, line 2)');
    const { stdout } = await order(...line, '--json');
    const found = docs(stdout).flatMap(({ url, left_out }) => (left_out ? [[url, left_out]] : []));
    expect(found.sort()).toEqual([
      [`${audio('a')}?utm_source=x`, 'repeated'],
      ['rec/empty.mp3', 'unusable'],
      ['rec/one.mp3', 'repeated'],
    ]);
    const more = '<podcast:transcript url="https://e.org/t.vtt" type="text/vtt"/>';
    const date = 'Sun, 01 Nov 2026 09:00:00 GMT';
    const items = [
      item({ guid: 'g1', title: 'T1', date, url: audio('e1'), more }),
      item({ guid: 'g2', title: 'T2', date, url: audio('e2') }),
    ];
    writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
    const feed = await order('--feed', 'f.xml', '--latest', '2', '--json');
    expect(docs(feed.stdout)).toContainEqual(
      expect.objectContaining({ url: audio('e1'), left_out: 'transcript' }),
    );
  });

  it('says of an unclear row what was to be ordered', async () => {
    const { order, user, service } = await orderingAccount();
    service.allow('POST /order_url', { status: 500 });
    writeFileSync(join(user.home, 'm.csv'), `url,key\n${audio('a')},k1\n`);
    expect((await order('--from', 'm.csv')).code).toBe(11);
    const { code, stdout, stderr } = await order('--from', 'm.csv', '--json');
    expect(code).toBe(9);
    expect(docs(stdout)).toEqual([
      expect.objectContaining({
        ...{ url: audio('a'), key: 'k1', skus: ['TRANS14'], left_out: 'unclear' },
        error: expect.objectContaining({ reason: 'unclear', attempt: 1 }),
      }),
    ]);
    expect(jsonError(stderr)).toMatchObject({ reason: 'unclear', attempt: 1 });
  });
});
