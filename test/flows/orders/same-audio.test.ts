/** One audio is bought once, however its link is written; a key says what is one audio where the link does not. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../support/csv.ts';
import { audio, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { signed, signers } from '../../support/signed.ts';

const url = audio('a');

const claimsOf = (user: Parameters<typeof queryLedger>[0]): Array<Record<string, unknown>> =>
  queryLedger(
    user,
    'SELECT name, number AS attempt FROM item_names JOIN purchases ON purchases.id = purchase AND holds = 1 ORDER BY name',
  );

describe('the same audio', () => {
  const links: ReadonlyArray<readonly [string, string, string, string]> = [
    ...signers.map((by) => [by, signed(url, 1, by), signed(url, 2, by), 'its signature'] as const),
    ['a signature and none', signed(url), url, 'its signature'],
    ['none and a signature', url, signed(url), 'its signature'],
    ['escapes', 'https://e.org/%c3%bc%2f%7e.mp3', 'https://e.org/ü%2F~.mp3', 'spelling'],
    ['the host', 'https://E.org./x.mp3?', 'https://e.org/x.mp3', 'spelling'],
    ['tracking', `${url}?id=1`, `${url}?id=1&utm_source=mail&fbclid=x`, 'tracking parameters'],
  ];

  it.each(links)(
    'under two links (%s) is ordered once, and exit 9 says why it is the same',
    async (_, one, two, why) => {
      const { service, order } = await orderingAccount();
      expect((await order(one)).code).toBe(0);
      const second = await order(two);
      expect([second.code, second.stdout]).toEqual([9, '']);
      expect(second.stderr).toMatch(
        new RegExp(
          `^steno: https?://\\S+ was ordered as order o1 (?:just now|\\d+s ago) \\(differs only in ${why}\\)\\n`,
        ),
      );
      expect(service.got.map((got) => got.body?.url)).toEqual([[one]]);
      const same = await order(one);
      expect(same.code).toBe(9);
      expect(same.stderr).not.toContain('differs');
      expect((await order(two, '--skip-ordered')).code).toBe(0);
      expect(service.got).toHaveLength(1);
    },
  );

  it('twice in one command is a mistake that says why, unless one may be left out', async () => {
    const { service, user, order } = await orderingAccount();
    const two = [signed(url, 1), signed(url, 2)];
    const refused = await order(...two);
    expect([refused.code, service.got.length]).toEqual([2, 0]);
    expect(refused.stderr).toContain(`${url} is given twice (differs only in its signature)`);
    writeFileSync(join(user.home, 'm'), `${url}\n${url}?utm_source=x\n`);
    const listed = await order('--from', 'm');
    expect(listed.code).toBe(2);
    expect(listed.stderr).toContain('is the same as in m, line 1 (differs only in tracking parameters)');
    expect((await order(...two, '--skip-ordered')).code).toBe(0);
    expect(service.got.map((got) => got.body?.url)).toEqual([[two[0]]]);
  });

  it('is bought once by eight processes that have eight links to it', async () => {
    const { service, user, order } = await orderingAccount();
    const answer = { order: 'o1', audiofiles: [1], message: 'ok' };
    service.on('POST /order_url', (_, response) =>
      setTimeout(() => response.end(JSON.stringify(answer)), 300),
    );
    const ends = await Promise.all(Array.from({ length: 8 }, (_, n) => order(signed(url, n + 1))));
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 9, 9, 9, 9, 9, 9, 9]);
    expect(service.got).toHaveLength(1);
    expect(statuses(user)).toEqual(['placed']);
  });
});

describe('--key', () => {
  it('is the name of the audio in place of its URL, and is shown in files', async () => {
    const { service, user, order } = await orderingAccount();
    const latest = audio('latest');
    expect((await order(latest, '--key', 'show 1')).code).toBe(0);
    const again = await order(audio('moved'), '--key', ' show 1 ');
    expect(again.code).toBe(9);
    expect(again.stderr).toMatch(/moved\.mp3 was ordered as order o1 (?:just now|\d+s ago) \(same key\)\n/);
    expect((await order(latest, '--key', 'show 2')).code).toBe(0);
    expect((await order(latest)).code).toBe(0);
    expect(service.got).toHaveLength(3);
    const json = JSON.parse((await user.run(['files', '--json'])).stdout) as Array<{ key: unknown }>;
    expect(json.map(({ key }) => key)).toEqual([null, 'show 2', 'show 1']);
    const rows = (await user.run(['files'])).stdout.split('\n').slice(0, -1);
    const [header = [], ...cells] = parseCsv((await user.run(['files', '--csv'])).stdout);
    const at = header.indexOf('key');
    expect(cells.map((row) => row[at])).toEqual(['', 'show 2', 'show 1']);
    expect(rows.map((row) => row.split('\t')[at])).toEqual(['', 'show 2', 'show 1']);
    const screen = await user.onTerminal('steno files --no-color', { columns: 160 });
    expect(screen.stdout).toMatch(/ KEY\r?\n[\s\S]* show 2\r?\n/);
  });

  it.each([
    ['no URL', ['--key', 'k']],
    ['two URLs', [audio('a'), audio('b'), '--key', 'k']],
    ['a manifest', ['--from', 'm', '--key', 'k']],
    ['a URL and a manifest', [audio('a'), '--from', 'm', '--key', 'k']],
    ['an empty key', [audio('a'), '--key', ' ']],
  ])('with %s is a mistake', async (_, args) => {
    const { service, user, order } = await orderingAccount();
    writeFileSync(join(user.home, 'm'), `${audio('b')}\n`);
    const { code, stderr } = await order(...args);
    expect([code, service.got.length], stderr).toEqual([2, 0]);
  });

  it('is a column of a manifest', async () => {
    const { service, user, order } = await orderingAccount();
    writeFileSync(join(user.home, 'm'), `url,key\n${audio('x')},one\n${audio('x')},two\n`);
    expect((await order('--from', 'm')).code).toBe(0);
    expect(service.got.map((got) => got.body?.url)).toEqual([[audio('x'), audio('x')]]);
    writeFileSync(join(user.home, 'm'), `url,key\n${audio('y')},two\n${audio('y')},three\n`);
    expect((await order('--from', 'm', '--skip-ordered')).code).toBe(0);
    expect(
      queryLedger(
        user,
        'SELECT items.key, items.url FROM files JOIN purchase_items AS items ON items.file = files.id ORDER BY seq',
      ),
    ).toEqual([
      { key: 'one', url: audio('x') },
      { key: 'two', url: audio('x') },
      { key: 'three', url: audio('y') },
    ]);
    writeFileSync(join(user.home, 'm'), `url,key\n${audio('p')},k\n${audio('q')},k\n`);
    const twice = await order('--from', 'm');
    expect(twice.code).toBe(2);
    expect(twice.stderr).toContain('the same as in m, line 2 (same key)');
  });
});

describe('a claim', () => {
  it('is on every URL of an order or on none', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    expect((await order(audio('a'), audio('b'), audio('c'))).code).toBe(9);
    expect(claimsOf(user)).toEqual([{ name: `url ${audio('b')}`, attempt: 1 }]);
    expect((await order(audio('c'), audio('a'))).code).toBe(0);
    expect(claimsOf(user).map(({ attempt }) => attempt)).toEqual([2, 1, 2]);
    expect(service.got).toHaveLength(2);
  });

  it('that --again took over returns to the order that was placed, if the new one is refused', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('a'));
    service.on('POST /order_url', { status: 400 });
    expect((await order(audio('a'), audio('b'), '--again')).code).toBe(1);
    expect(claimsOf(user)).toEqual([{ name: `url ${audio('a')}`, attempt: 1 }]);
    const next = await order(audio('a'));
    expect(next.code).toBe(9);
    expect(next.stderr).toContain('as order o1');
  });

  it('that --again took over stays with the new order, if that is placed', async () => {
    const { user, order } = await orderingAccount();
    await order(url);
    await order(url, '--again');
    expect(claimsOf(user)).toEqual([{ name: `url ${url}`, attempt: 2 }]);
    expect((await order(url)).stderr).toContain('as order o2');
  });
});
