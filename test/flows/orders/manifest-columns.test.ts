/** Manifests that name local files, tags, and columns of other programs. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { item, rss } from '../../support/feed.ts';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import type { Result } from '../../support/steno.ts';

interface Listing extends OrderingAccount {
  /** Writes a recording that is not new. */
  recording(name: string, content?: string): void;
  /** Orders a manifest with this text. */
  list(text: string, ...args: string[]): Promise<Result>;
  sent(): unknown[];
  json<T>(...args: string[]): Promise<T>;
}

async function listing(): Promise<Listing> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  setAll(user, { 'upload-command': 'echo "https://up.example/$(basename "$1")"' });
  return {
    ...account,
    recording: (name, content = name) => {
      const path = join(user.home, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `\0${content}`);
      utimesSync(path, 1e9, 1e9);
    },
    list: (text, ...args) => {
      mkdirSync(join(user.home, 'lists'), { recursive: true });
      writeFileSync(join(user.home, 'lists/m.csv'), text);
      return order('--from', 'lists/m.csv', ...args);
    },
    sent: () => service.calls('POST /order_url').map(({ body }) => body?.url),
    json: async (...args) => JSON.parse((await user.run([...args, '--json'])).stdout),
  };
}

describe('a path in a manifest', () => {
  it('is uploaded and ordered among URLs, in the order of the rows', async () => {
    const { recording, list, sent } = await listing();
    recording('rec/one.mp3');
    recording('lists/two.mp3');
    const text = `url,path,sku\n${audio('a')},,\n,rec/one.mp3,\n${audio('b')},,\n,two.mp3,TRANS2\n`;
    const { code, stderr } = await list(text);
    expect(code, stderr).toBe(0);
    expect(sent()).toEqual([
      [audio('a'), 'https://up.example/one.mp3', audio('b')],
      ['https://up.example/two.mp3'],
    ]);
  });

  it('is known by its content', async () => {
    const { recording, list, sent } = await listing();
    recording('one.mp3', 'x');
    recording('copy.mp3', 'x');
    expect((await list('path\none.mp3\n')).code).toBe(0);
    expect((await list('path\ncopy.mp3\n')).code).toBe(9);
    const { code, stderr } = await list('{"path":"copy.mp3"}\n', '--skip-ordered');
    expect([code, sent().length]).toEqual([0, 1]);
    expect(stderr).toContain('Skipped 1 of 1: already ordered (copy.mp3)');
  });

  it.each([
    ['url,path\nhttps://e.org/a.mp3,one.mp3\n', 'line 2: the row has both a url and a path'],
    ['url,path\n,\n', 'line 2: both url and path are empty'],
    ['path,key\none.mp3,k\n', 'line 2: the row has both a path and a key'],
    ['path\none.mp3\nnone.mp3\n', 'line 3: there is no file none.mp3'],
    ['path\nlists\n', 'line 2: lists is a folder'],
  ])('is checked before anything is sent: %j', async (text, message) => {
    const { recording, list, sent } = await listing();
    recording('one.mp3');
    const { code, stderr } = await list(text);
    expect([code, sent()]).toEqual([2, []]);
    expect(stderr).toContain(message);
  });
});

describe('a column that is not known', () => {
  it.each([
    ['csv', `url,author,Speaker\n${audio('a')},x,y\n`],
    ['JSON lines', `{"url":"${audio('a')}","author":"x"}\n`],
  ])('is refused by its name, unless --ignore-columns: %s', async (_, text) => {
    const { list, sent } = await listing();
    const { code, stderr } = await list(text);
    expect(code).toBe(2);
    expect(stderr).toContain("'author'");
    expect(stderr).toContain('--ignore-columns');
    expect((await list(text, '--ignore-columns')).code).toBe(0);
    expect(sent()).toEqual([[audio('a')]]);
  });

  it('is suggested where it is misspelled', async () => {
    const { list } = await listing();
    expect((await list(`url,tgas\n${audio('a')},x\n`)).stderr).toMatch(/hint: .*tags/);
  });
});

describe('tags', () => {
  it('of the flag and of the row are kept, shown and searched', async () => {
    const { list, json, user } = await listing();
    const text = `url,tags\n${audio('a')},news|"it"\n${audio('b')},\n${audio('c')},new\n`;
    const { code, stderr } = await list(text.replaceAll('"', ''), '--tag', 'Season 1', '--tag', 'x');
    expect(code, stderr).toBe(0);
    const all = await json<Array<{ url: string; tags: string[] }>>('files');
    expect(all.map(({ url, tags }) => [url, tags])).toEqual([
      [audio('c'), ['Season 1', 'x', 'new']],
      [audio('b'), ['Season 1', 'x']],
      [audio('a'), ['Season 1', 'x', 'news', 'it']],
    ]);
    const found = async (tag: string): Promise<number> =>
      (await json<unknown[]>('files', '--tag', tag)).length;
    const counts = { 'Season 1': 3, x: 3, news: 1, new: 1, ne: 0, 'season 1': 0, url: 0 };
    for (const [tag, count] of Object.entries(counts)) expect([tag, await found(tag)]).toEqual([tag, count]);
    expect((await user.run(['order', audio('d'), '--sku', 'TRANS14', '--tag', ' '])).code).toBe(2);
  });

  it('and feeds add up in a report', async () => {
    const { order, user, service, list } = await listing();
    const episode = item({
      ...{ guid: 'g1', title: 'T1', date: 'Sun, 01 Nov 2026 09:00:00 GMT', url: audio('e') },
    });
    writeFileSync(join(user.home, 'f.xml'), rss(episode));
    expect((await order('--feed', 'f.xml', '--latest', '1', '--tag', 'a')).code).toBe(0);
    expect((await list(`url,tags\n${audio('b')},a|b\n${audio('c')},\n`)).code).toBe(0);
    for (const id of [1, 2, 3])
      service.allow(`GET /audiofile/${id}`, {
        body: {
          audiofile: { id, statename: 'Delivered', duration: '10', total: '10.00', invoices: [`v${id}`] },
        },
      });
    for (const id of [1, 2, 3])
      service.allow(`POST /invoice/v${id}`, {
        body: {
          ...{ id: `v${id}`, state: 'PAID', createtime: '2026-11-10 10:00:00', total: '10.00' },
          items: [{ sku: 'TRANS14', quantity: '10', price: '1.00', total: '10.00', audiofile: id }],
        },
      });
    await user.run(['files', '--refresh']);
    const by = async (what: string): Promise<string[][]> => {
      const { stdout } = await user.run(['report', '--by', what, '--csv']);
      return stdout
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.split(',').slice(0, 3))
        .sort();
    };
    expect((await by('tag')).map(([name, , spent]) => [name, Number(spent)])).toEqual([
      ['(none)', 10],
      ['a + b', 10],
      ['a', 10],
    ]);
    expect((await by('feed')).map(([name, , spent]) => [name, Number(spent)])).toEqual([
      ['(none)', 20],
      ['A show', 10],
    ]);
  });
});
