/** --name-as names transcripts after the file and its episode, the same way in every command that downloads. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { item, rss } from '../../support/feed.ts';
import { listing } from '../../support/files.ts';
import { type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { complete, Listener, send } from '../../support/listener.ts';

const episodes = [
  { guid: 'https://show.example/?p=2', title: 'The second', date: 'Tue, 03 Feb 2026 23:30:00 -0500' },
  { guid: 'first', title: 'The first', date: 'Mon, 02 Feb 2026 06:00:00 GMT' },
  { title: 'No name, no day' },
].map((each, at) => item({ ...each, url: `https://media.example/${at}.mp3` }));

/** An account whose service calls its files what the test says, and a feed to order from. */
async function withFeed(titles: Readonly<Record<string, string>> = {}): Promise<OrderingAccount> {
  const it = await orderingAccount();
  for (const id of ['1', '2', '3'])
    it.service.allow(`GET /audiofile/${id}`, (_, response) => {
      const title = titles[id] ?? '';
      response.end(JSON.stringify({ audiofile: { id, statename: 'Delivered', title, orders: ['o1'] } }));
    });
  writeFileSync(join(it.user.home, 'feed.xml'), rss(episodes.join('')));
  return it;
}

const ordered = async (it: OrderingAccount, ...args: string[]) =>
  it.order('--feed', 'feed.xml', '--latest', '3', ...args);

const files = (it: OrderingAccount): string[] => listing(join(it.user.home, 'out'));
const text = (it: OrderingAccount, name: string): string =>
  readFileSync(join(it.user.home, 'out', name), 'utf8');

const template = '{date} {title}.{ext}';
/** By UTC; the id stands for what the feed does not say. */
const named = ['2026-02-02 The first.txt', '2026-02-04 The second.txt', '3 No name, no day.txt'];

describe('the title, day and guid of an episode', () => {
  it('name what transcript, sync, wait and order download', async () => {
    const commands: ReadonlyArray<(it: OrderingAccount) => Promise<unknown>> = [
      (it) => it.user.run(['transcript', '1', '2', '3', '-o', 'out', '--name-as', template]),
      (it) => it.user.run(['sync', '--download', 'out', '--name-as', template]),
      (it) => it.user.run(['wait', '--download', 'out', '--name-as', template]),
    ];
    for (const command of commands) {
      const it = await withFeed();
      expect((await ordered(it)).code).toBe(0);
      await command(it);
      expect(files(it)).toEqual(named);
      expect(text(it, named[1] ?? '')).toBe('transcript 1.txt\n');
    }
    const it = await withFeed();
    const { code, stderr } = await ordered(it, '--download', 'out', '--name-as', template);
    expect([code, files(it)], stderr).toEqual([0, named]);
  });

  it('name what listen downloads, also of a file that was ordered elsewhere', async () => {
    const it = await withFeed({ 3: 'Elsewhere' });
    await it.order('--feed', 'feed.xml', '--latest', '2');
    const listener = await Listener.start(it.user, ['--download', 'out', '--name-as', template]);
    for (const id of ['1', '3']) await send(listener.url, complete(id));
    await listener.until(() => existsSync(join(it.user.home, 'out', '3 Elsewhere.txt')));
    await listener.stop();
    expect(files(it)).toEqual(['2026-02-04 The second.txt', '3 Elsewhere.txt']);
  });

  it('come before the title that the service has', async () => {
    const it = await withFeed({ 1: '0.mp3' });
    await ordered(it);
    await it.user.run(['sync', '--download', 'out', '--name-as', '{title}.{ext}']);
    expect(files(it)).toEqual(['No name, no day.txt', 'The first.txt', 'The second.txt']);
  });

  it('are asked of the ledger alone, once the service has said whose file it is', async () => {
    const it = await withFeed();
    await ordered(it);
    const { stdout } = await it.user.run([
      ...['transcript', '1', '2', '3', '-o', 'out', '--name-as', '{guid}.{ext}', '--quiet'],
    ]);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'out/https___show.example__p=2.txt',
      'out/first.txt',
      'out/3.txt',
    ]);
    expect(it.askedFiles()).toEqual(['1', '2', '3']);
    await it.user.run(['transcript', '1', '2', '3', '-o', 'again', '--name-as', '{guid}.{ext}']);
    expect(it.askedFiles()).toHaveLength(3);
  });

  it('are the id without a ledger', async () => {
    const it = await withFeed({ 2: 'Told' });
    const { stdout, stderr } = await it.user.run([
      ...['transcript', '1', '2', '--no-ledger', '--name-as', '{date}-{guid}-{title}.{ext}', '--quiet'],
    ]);
    expect([stdout, stderr]).toEqual(['1-1-1.txt\n2-2-Told.txt\n', '']);
  });
});

describe('a folder of --download', () => {
  it('gets nothing a second time under another template, or below a folder of one', async () => {
    const it = await withFeed();
    await ordered(it);
    const sync = async (nameAs: string) =>
      (await it.user.run(['sync', '--download', 'out', '--name-as', nameAs])).stderr;
    await sync('{order}/{title}.{ext}');
    expect(it.fetched()).toHaveLength(3);
    expect(await sync('{id}.{ext}')).toContain('0 downloaded');
    expect(await sync('{order}/{title}.{ext}')).toContain('0 downloaded');
    for (const args of [
      ['wait', '1'],
      ['wait', '1', '--name-as', '{guid}.{ext}'],
    ]) {
      const { stdout, stderr } = await it.user.run([...args, '--download', 'out', '--json']);
      expect(JSON.parse(stdout).downloads, stderr).toMatchObject([
        { path: join(it.user.home, 'out/o1/The second.txt') },
      ]);
      expect(stderr).toContain('already exists, not written: out/o1/The second.txt');
    }
    const listener = await Listener.start(it.user, ['--download', 'out', '--name-as', 'x-{id}.{ext}']);
    await send(listener.url, complete('1'));
    await listener.until(() => /The second\.txt/.test(listener.stderr));
    await listener.stop();
    expect(it.fetched()).toHaveLength(3);
    expect(listing(join(it.user.home, 'out', 'o1'))).toHaveLength(3);
  });

  it('gets what is not there any more under the name that is asked for now, when it is waited for', async () => {
    const it = await withFeed();
    await ordered(it);
    await it.user.run(['sync', '--download', 'out', '--name-as', '{title}.{ext}']);
    renameSync(join(it.user.home, 'out', 'The first.txt'), join(it.user.home, 'kept.txt'));
    await it.user.run(['wait', '2', '--download', 'out', '--name-as', '{guid}.{ext}']);
    expect(files(it)).toEqual(['No name, no day.txt', 'The second.txt', 'first.txt']);
  });

  it('has a draft replaced under the name that it has', async () => {
    const it = await withFeed();
    await ordered(it);
    await it.user.run(['sync', '--download', 'out', '--name-as', '{title}.{ext}']);
    const path = join(it.user.home, 'out', 'The first.txt');
    writeFileSync(path, 'draft');
    const hash = createHash('sha256').update('draft').digest('hex');
    queryLedger(it.user, 'UPDATE downloads SET draft = 1, sha256 = ? WHERE file = ?', hash, '2');
    const { stdout } = await it.user.run(['sync', '--download', 'out', '--quiet']);
    expect([stdout, readFileSync(path, 'utf8'), files(it).length]).toEqual([
      'out/The first.txt\n',
      'transcript 2.txt\n',
      3,
    ]);
  });
});

describe('--name-as is refused', () => {
  it.each([
    ['without --download', ['wait', '1', '--name-as', '{id}'], /--name-as requires --download/],
    ['without --download', ['sync', '--name-as', '{id}'], /--name-as requires --download/],
    ['without --download', ['listen', '--name-as', '{id}'], /--name-as requires --download/],
    [
      'for an order',
      ['order', 'https://a.example/a.mp3', '--sku', 'TRANS14', '--name-as', 'x'],
      /--download/,
    ],
    [
      'with a wrong name',
      ['sync', '--download', 'out', '--name-as', '{nope}'],
      /does not know \{nope\}\nhint: .*\{guid\}, \{date\}/,
    ],
    [
      'for several formats',
      ['sync', '--download', 'out', '--format', 'txt,srt', '--name-as', '{id}'],
      /the same name/,
    ],
    ['out of the folder', ['wait', '1', '--download', 'out', '--name-as', '../{id}'], /not a name below/],
    ['out of the folder', ['listen', '--download', 'out', '--name-as', '/{id}'], /not a name below/],
  ])('%s: %j', async (_, args, message) => {
    const it = await orderingAccount();
    const { code, stderr } = await it.user.run(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect([it.service.got, existsSync(join(it.user.home, 'out'))]).toEqual([[], false]);
  });
});
