/** What a file is, all the way from its order: key, feed, guid, page, date, source and who ordered it. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { item, rss } from '../../support/feed.ts';
import { listing } from '../../support/files.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';
import { Service } from '../../support/server.ts';
import { setAll } from '../../support/settings.ts';
import { signed } from '../../support/signed.ts';
import { WITHOUT_LEDGER } from '../../support/store.ts';

type Document = Record<string, unknown>;

const json = async ({ user }: Pick<OrderingAccount, 'user'>, ...args: string[]): Promise<Document[]> => {
  const { stdout, stderr } = await user.run([...args, '--json']);
  expect(stdout, stderr).not.toBe('');
  return [JSON.parse(stdout)].flat();
};

const episodes = rss(
  [
    {
      guid: 'g/2',
      title: 'Two: the “end”',
      date: 'Tue, 03 Feb 2026 06:00:00 GMT',
      url: 'https://m.example/2.mp3',
    },
    { guid: 'g1', title: 'One', date: 'Mon, 02 Feb 2026 06:00:00 GMT', url: 'https://m.example/1.mp3' },
  ]
    .map((each) => item({ ...each, more: '<link>https://show.example/page</link>' }))
    .join(''),
);

const episode = {
  ...{ feed: 'A show', guid: 'g/2', title: 'Two: the “end”', link: 'https://show.example/page' },
  ...{ published_at: '2026-02-03T06:00:00.000Z', key: null, source: null, tags: [] },
};

describe('an episode of a feed', { timeout: 60_000 }, () => {
  it('has the feed, its guid, page, date and title in every command', async () => {
    const it = await orderingAccount();
    writeFileSync(join(it.user.home, 'feed.xml'), episodes);
    const order = ['order', '--feed', 'feed.xml', '--latest', '1', '--sku', 'TRANS14'];
    expect(await json(it, ...order)).toMatchObject([episode]);
    expect(await json(it, ...order, '--skip-ordered')).toMatchObject([{ ...episode, left_out: 'ordered' }]);
    for (const line of [['files'], ['file', '1'], ['wait', '1'], ['track', '1'], ['files', '--refresh']])
      expect(await json(it, ...line), line.join(' ')).toMatchObject([{ audiofile: '1', ...episode }]);
    // The service calls it otherwise.
    expect((await json(it, 'file', '1'))[0]?.answer).toMatchObject({ audiofile: { title: 'Talk 1' } });
    const [csv = ''] = (await it.user.run(['files', '--csv'])).stdout.split('\r\n');
    for (const name of ['feed', 'guid', 'link', 'published_at', 'source', 'tags'])
      expect(csv.split(',')).toContain(name);
  });

  it('has them without a ledger, and where it was refused', async () => {
    const it = await orderingAccount();
    writeFileSync(join(it.user.home, 'feed.xml'), episodes);
    const order = ['order', '--feed', 'feed.xml', '--latest', '1', '--sku', 'TRANS14'];
    expect(await json(it, ...order, ...WITHOUT_LEDGER)).toMatchObject([{ audiofile: '1', ...episode }]);
    it.service.on('POST /order_url', { status: 400, body: { message: 'no' } });
    expect(await json(it, ...order)).toMatchObject([{ ...episode, error: { status: 400 } }]);
  });

  it('is found by the title or the address of the feed, which is not kept', async () => {
    const it = await orderingAccount();
    const host = await Service.start();
    host.allow('GET /feed.xml', { body: episodes, headers: { 'content-type': 'application/rss+xml' } });
    const address = `${new URL(host.baseUrl).origin}${new URL(host.baseUrl).pathname}/feed.xml?token=s3cr3t`;
    await it.order('--feed', address, '--latest', '2');
    await it.order(audio('other'));
    const ids = async (...args: string[]) => (await it.user.run(['files', '--quiet', ...args])).stdout;
    expect((await ids('--feed', address)).split('\n').filter(Boolean)).toHaveLength(2);
    expect((await ids('--feed', 'A show')).split('\n').filter(Boolean)).toHaveLength(2);
    expect(await ids('--feed', 'A sho')).toBe('');
    expect(await ids('--feed', 'https://other.example/feed.xml')).toBe('');
    const kept = ['purchase_items', 'labels', 'item_names'].map((table) =>
      queryLedger(it.user, `SELECT * FROM ${table}`),
    );
    expect(JSON.stringify(kept)).not.toContain('s3cr3t');
  });
});

describe('a key', { timeout: 60_000 }, () => {
  it('finds its file, and reaches the command of listen with the feed and the title', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'), '--key', 'show 41/b');
    await it.order(audio('b'));
    expect(await json(it, 'files', '--key', 'show 41/b')).toMatchObject([
      { audiofile: '1', key: 'show 41/b' },
    ]);
    expect((await it.user.run(['files', '--key', 'nope', '--quiet'])).stdout).toBe('');
    writeFileSync(join(it.user.home, 'feed.xml'), episodes);
    await it.order('--feed', 'feed.xml', '--latest', '1');
    const exec =
      'echo "$STENO_EVENT_AUDIOFILE|$STENO_EVENT_KEY|$STENO_EVENT_FEED|$STENO_EVENT_TAGS|$STENO_EVENT_TITLE" >> ran';
    const listener = await Listener.start(it.user, ['--exec', exec, '--json']);
    await listener.post(complete('1', 'a'));
    await listener.post(complete('3', 'x'));
    await listener.until(() => listing(it.user.home).includes('ran') && ran().length === 2);
    await listener.stop();
    function ran(): string[] {
      return readFileSync(join(it.user.home, 'ran'), 'utf8').trim().split('\n').sort();
    }
    // The title of the first is known once the service was asked.
    expect(ran()).toEqual([expect.stringMatching(/^1\|show 41\/b\|\|\|/), '3||A show||Two: the “end”']);
    expect(listener.json).toMatchObject([
      { audiofile: '1', key: 'show 41/b', feed: null, tags: [] },
      { audiofile: '3', key: null, feed: 'A show', title: 'Two: the “end”' },
    ]);
  });

  it('can not be replaced by a field of an event', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'), '--key', 'mine');
    const listener = await Listener.start(it.user, [
      '--exec',
      'echo "$STENO_EVENT_KEY|$STENO_EVENT_FEED" > ran',
    ]);
    await listener.post(`${complete('1', 'a')}&key=theirs&feed=theirs`);
    await listener.until(() => listing(it.user.home).includes('ran'));
    await listener.stop();
    expect(readFileSync(join(it.user.home, 'ran'), 'utf8')).toBe('mine|\n');
  });
});

describe('who ordered', { timeout: 60_000 }, () => {
  it.each([
    ['GITHUB_ACTOR', 'octocat'],
    ['GITLAB_USER_LOGIN', 'tanuki'],
  ])('has the actor of the CI job: %s', async (name, actor) => {
    const it = await orderingAccount({ [name]: actor });
    await it.order(audio('a'));
    expect(await json(it, 'files')).toMatchObject([{ by: { actor, host: expect.any(String) } }]);
    expect((await it.user.run(['files'])).stdout.split('\t')).toContain(actor);
  });
});

describe('names of transcripts', { timeout: 60_000 }, () => {
  it('take key, feed, guid and date, with a slash that makes no folder', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'), '--key', 'show 41%2Fb/../c');
    writeFileSync(join(it.user.home, 'feed.xml'), episodes);
    await it.order('--feed', 'feed.xml', '--latest', '1');
    const save = async (id: string, template: string) =>
      (await it.user.run(['transcript', id, '-o', 'out', '--name-as', template, '--quiet', '--force']))
        .stdout;
    expect(await save('1', '{key}.{ext}')).toBe('out/show 41_b_.._c.txt\n');
    expect(await save('2', '{feed}/{date} {title} {guid}.{ext}')).toBe(
      'out/A show/2026-02-03 Two_ the “end” g_2.txt\n',
    );
    // What is not known is the id.
    expect(await save('1', '{feed}-{tag}.{ext}')).toBe('out/1-1.txt\n');
    const unknown = await it.user.run(['transcript', '1', '--name-as', '{what}.{ext}']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('{dir}, {basename}')]);
  });

  it('take the folder and the name of a URL, decoded, and never give two files one name', async () => {
    const it = await orderingAccount();
    const urls = ['2026/a%20b%2Fc.mp3', '2026/a%20b%2Fc.wav', '%E0%A4%A/50%25.mp3'];
    for (const url of urls) await it.order(signed(`https://example.com/shows/${url}`));
    const line = ['transcript', '1', '2', '3', '-o', 'out', '--name-as', '{dir}/{basename}.{ext}', '--quiet'];
    const { stdout, stderr } = await it.user.run(line);
    expect(stdout.split('\n'), stderr).toEqual([
      ...['out/2026/a b_c.txt', 'out/2026/a b_c-2.txt', 'out/%E0%A4%A/50%.txt', ''],
    ]);
    const again = await it.user.run([
      ...line.slice(0, 1),
      '2',
      ...line.slice(4),
      '--skip-existing',
      '--json',
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject([{ path: 'out/2026/a b_c-2.txt', skipped: true }]);
  });

  it('take the folder and the name of a recording, whose path is its source', async () => {
    const it = await orderingAccount();
    setAll(it.user, { 'upload-command': 'echo "https://up.example/$(sha256sum < "$1" | cut -c1-8).bin"' });
    const path = join(it.user.home, 'rec', 'May 3', 'call 100%.v2.mp3');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '\0\u00ff');
    utimesSync(path, 1e9, 1e9);
    expect(await json(it, 'order', 'rec', '--sku', 'TRANS14')).toMatchObject([{ source: path, feed: null }]);
    const { stdout } = await it.user.run([
      'sync',
      '--download',
      'out',
      '--name-as',
      '{dir}/{basename}.{ext}',
      '--quiet',
    ]);
    expect(stdout).toBe('out/May 3/call 100%.v2.txt\n');
  });

  it('mirror the folders below the one that was ordered, and nothing above them', async () => {
    const it = await orderingAccount();
    setAll(it.user, { 'upload-command': 'echo "https://up.example/$(sha256sum < "$1" | cut -c1-8).bin"' });
    for (const [at, name] of ['top.mp3', '2026/may/a.mp3', '2026/june/a.mp3', '2026/-x..y/a.mp3'].entries()) {
      const path = join(it.user.home, 'deep', 'rec', name);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, `\0\u00ff${at}`);
      utimesSync(path, 1e9, 1e9);
    }
    expect((await it.user.run(['order', 'deep/rec', '--sku', 'TRANS14'])).code).toBe(0);
    await it.order(audio('by-url'));
    const line = ['sync', '--download', 'out', '--name-as', '{path}/{basename}.{ext}', '--quiet'];
    const { stdout } = await it.user.run(line);
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      ...[
        'out/2026/_x..y/a.txt',
        'out/2026/june/a.txt',
        'out/2026/may/a.txt',
        'out/by-url.txt',
        'out/top.txt',
      ],
    ]);
  });

  it('name the recording for the command of sync, and never one that an event names', async () => {
    const it = await orderingAccount();
    setAll(it.user, { 'upload-command': 'echo "https://up.example/$(sha256sum < "$1" | cut -c1-8).bin"' });
    const path = join(it.user.home, 'a talk.mp3');
    writeFileSync(path, '\0\u00ff');
    utimesSync(path, 1e9, 1e9);
    await it.user.run(['order', 'a talk.mp3', '--sku', 'TRANS14']);
    await it.order(audio('by-url'));
    const exec = 'printf "%s=%s\\n" "$STENO_EVENT_AUDIOFILE" "$STENO_EVENT_SOURCE_PATH" >> told';
    expect((await it.user.run(['sync', '--download', 'out', '--exec', exec])).code).toBe(0);
    const told = readFileSync(join(it.user.home, 'told'), 'utf8').trim().split('\n').toSorted();
    expect(told).toEqual([`1=${path}`, '2=']);
  });

  it('have the name of a recording as their title until the service has one', async () => {
    const it = await orderingAccount();
    setAll(it.user, { 'upload-command': ': "$1"; echo https://up.example/9f86d081.mp3' });
    const path = join(it.user.home, 'Monday talk.mp3');
    writeFileSync(path, '\0\u00ff');
    utimesSync(path, 1e9, 1e9);
    const { code, stderr } = await it.user.run(['order', 'Monday talk.mp3', '--sku', 'TRANS14']);
    expect([code, stderr]).toEqual([0, '']);
    const titleOf = async (title: string) => {
      const originallink = 'https://up.example/9f86d081.mp3';
      it.service.on('GET /audiofile/1', {
        body: { audiofile: { id: 1, statename: 'Transcribing', title, originallink } },
      });
      const [shown] = await json(it, 'file', '1');
      const [listed] = await json(it, 'files');
      expect(listed?.title).toBe(shown?.title);
      return shown?.title;
    };
    expect(await titleOf('9f86d081.mp3')).toBe('Monday talk');
    expect(await titleOf('9f86d081')).toBe('Monday talk');
    expect(await titleOf('Keynote')).toBe('Keynote');
  });
});
