/** What tells an episode from others, when its link changes and when its feed does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feed } from '../../src/feeds/feed.ts';
import {
  episodeNames,
  type FeedIdentities,
  type FeedMarks,
  feedIdentities,
  type Named,
} from '../../src/feeds/names.ts';
import { storedName } from '../../src/ledger/audio-names.ts';
import { escaped, type Item, item, read, rss, SELF } from '../support/feed.ts';

const marks: FeedMarks = {
  guid: undefined,
  selfLink: undefined,
  link: undefined,
  addresses: [],
  path: undefined,
  title: 'A show',
};
const FEED: FeedIdentities = { own: ['feed feeds.example/show.xml'], shared: [] };

const named = (episode: Partial<Named>): Named => ({
  guid: undefined,
  title: '',
  published: undefined,
  url: undefined,
  ...episode,
});

/** The names of the first of these episodes. */
const namesOf = (...episodes: ReadonlyArray<Partial<Named>>): string[] =>
  episodeNames(episodes.map(named), FEED)[0] ?? [];

const kinds = (names: readonly string[]): string[] => names.map((name) => name.split(' ', 1)[0] as string);

describe('a feed', () => {
  const selfLink = 'https://feeds.example/show.xml?token=secret';

  it('is known by its guid, and by its own address without the query', () => {
    expect(feedIdentities({ ...marks, selfLink }).own).toEqual(['feed feeds.example/show.xml']);
    expect(feedIdentities({ ...marks, guid: '917393E3-1B1E', selfLink }).own).toEqual([
      'guid 917393e3-1b1e',
      'feed feeds.example/show.xml',
    ]);
  });

  it('is known by its web site, then by where it is without the query, only where it names nothing better', () => {
    const link = 'https://show.example/?ref=rss';
    const addresses = ['https://feeds.example/x?token=secret'];
    const [site, place, whole] = [
      'site show.example',
      'feed feeds.example/x',
      'feed feeds.example/x?token=secret',
    ];
    expect(feedIdentities({ ...marks, selfLink, link, addresses })).toEqual({
      own: ['feed feeds.example/show.xml', whole],
      shared: [site, place],
    });
    expect(feedIdentities({ ...marks, link, addresses })).toEqual({ own: [site, whole], shared: [place] });
    expect(feedIdentities({ ...marks, addresses })).toEqual({ own: [place, whole], shared: [] });
    expect(feedIdentities(marks)).toEqual({ own: [], shared: [] });
  });

  it('is known by each address that it was read from', () => {
    const addresses = ['https://feeds.example/show.xml', 'http://a.example/f/', 'https://a.example/f'];
    expect(feedIdentities({ ...marks, selfLink, addresses })).toEqual({
      own: ['feed feeds.example/show.xml', 'feed a.example/f'],
      shared: [],
    });
  });

  it('in a file is known by its path and title, where it does not name itself', () => {
    const [path, link] = ['/feeds/show.xml', 'https://show.example/'];
    const file = 'file ["/feeds/show.xml","A show"]';
    expect(feedIdentities({ ...marks, path }).own).toEqual([file]);
    expect(feedIdentities({ ...marks, path, link }).own).toEqual(['site show.example', file]);
    expect(feedIdentities({ ...marks, path, selfLink }).own).toEqual(['feed feeds.example/show.xml']);
    expect(feedIdentities({ ...marks, path, guid: 'x' }).own).toEqual(['guid x']);
  });

  it('is the same with http and https, with and without a slash, in any spelling, with another password', () => {
    for (const text of [
      'http://feeds.example/show.xml',
      'https://FEEDS.example:443/show.xml/',
      'https://feeds.example/%73how.xml#x',
      'https://me:secret@feeds.example/show.xml',
    ])
      expect(feedIdentities({ ...marks, selfLink: text }).own).toEqual(['feed feeds.example/show.xml']);
  });

  it('that does not say what it is, and is of no address or file, gives no names', async () => {
    const feed = await read(rss(item({ guid: 'a', title: 'A', date: '2026-11-03' }), ''));
    expect(feed.episodes.map(({ names }) => names)).toEqual([[]]);
  });

  it('has names that hold no token of a private feed', async () => {
    const head = '<atom:link rel="self" href="https://feeds.example/private/s3cr3t/show.xml?auth=t0k3n"/>';
    const { episodes } = await read(rss(item({ guid: 'a' }), head));
    expect(episodes[0]?.names.length).toBeGreaterThan(0);
    expect(JSON.stringify(episodes)).not.toMatch(/s3cr3t|t0k3n/);
  });
});

describe('an episode', () => {
  const episode: Item = {
    guid: 'ep-7',
    title: 'Seven',
    date: '2026-11-03T09:30:00Z',
    url: 'https://media.example/shows/7.mp3?token=one',
  };
  const other = item({ guid: 'ep-6', title: 'Six', url: 'https://media.example/shows/6.mp3?token=one' });
  const namesIn = async (changed: Item, head = SELF): Promise<readonly string[]> =>
    (await read(rss(item({ ...episode, ...changed }) + other, head))).episodes[0]?.names ?? [];
  const common = async (changed: Item, head?: string): Promise<string[]> => {
    const before = await namesIn({});
    return kinds((await namesIn(changed, head)).filter((name) => before.includes(name)));
  };

  it('has a name by its guid, its path, and its title and date', async () => {
    expect(await namesIn({})).toEqual([
      expect.stringMatching(/^guid [0-9a-f]{32} ep-7$/),
      expect.stringMatching(/^enclosure [0-9a-f]{32} \/shows\/7\.mp3$/),
      expect.stringMatching(/^title [0-9a-f]{32} 2026-11-03T09:30:00\.000Z Seven$/),
    ]);
  });

  it('stays the same with another token and another host', async () => {
    expect(await common({ url: 'https://cdn.example:8443/shows/7.mp3?token=two' })).toEqual([
      'guid',
      'enclosure',
      'title',
    ]);
  });

  it('stays the same by its guid where all else changes', async () => {
    expect(await common({ url: 'https://cdn.example/x', title: '7', date: '2026-11-04' })).toEqual(['guid']);
  });

  it('stays the same by its path, or its title and date, where the guid is another', async () => {
    expect(await common({ guid: 'new', title: '7' })).toEqual(['enclosure']);
    expect(await common({ guid: 'new', url: 'https://cdn.example/x.mp3' })).toEqual(['title']);
  });

  it('stays the same when its feed gets a guid', async () => {
    const guid = '<podcast:guid>917393e3-1b1e-5cef</podcast:guid>';
    expect(await common({}, SELF + guid)).toEqual(['guid', 'enclosure', 'title']);
    const [before, after] = [
      await namesIn({}, SELF + guid),
      await namesIn({}, `${guid}<atom:link rel="self" href="https://new.example/feed"/>`),
    ];
    expect(before.filter((name) => after.includes(name))).toHaveLength(3);
  });

  it('is another in another feed, whatever it is called there', async () => {
    expect(await common({}, '<atom:link rel="self" href="https://feeds.example/other.xml"/>')).toEqual([]);
  });
});

describe('a guid that is a link', () => {
  const signature = (n: number): string => `Expires=17${n}&Signature=s3cr3t${n}&Key-Pair-Id=K1`;
  const url = (n: number): string => `https://media.example/7.mp3?x=1&${signature(n)}`;
  const signed = (n: number): Promise<Feed> =>
    read(rss(item({ guid: url(n), more: `<link>${escaped(url(n))}</link>` })));

  it('is the same with another signature, and is kept without it', async () => {
    const [one, two] = [await signed(1), await signed(2)];
    expect(one.episodes[0]?.guid).toBe('https://media.example/7.mp3?x=1');
    expect(one.episodes[0]?.link).toBe('https://media.example/7.mp3?x=1');
    expect(one.episodes[0]?.names).toEqual(two.episodes[0]?.names);
    expect(JSON.stringify([one, two])).not.toContain('s3cr3t');
  });

  it('is another with another parameter', () => {
    const [a, b] = ['https://show.example/?p=1', 'https://show.example/?p=2'];
    expect(namesOf({ guid: a })).not.toEqual(namesOf({ guid: b }));
    expect(namesOf({ guid: a }, { guid: b })).toEqual([
      'guid everywhere show.example/?p=1',
      expect.stringMatching(/^guid [0-9a-f]{32} https:\/\/show\.example\/\?p=1$/),
    ]);
  });
});

describe('a guid that no other show can have', () => {
  const everywhere = (guid: string): string[] =>
    namesOf({ guid }, { guid: 'another' }).filter((name) => name.startsWith('guid everywhere '));
  const uuid = '917393e3-1b1e-5cef-ace4-edaa54e1f810';

  it.each([
    [uuid, uuid],
    [uuid.toUpperCase(), uuid],
    [`urn:uuid:${uuid}`, uuid],
    [`URN:UUID:${uuid}`, uuid],
    [`{${uuid}}`, uuid],
    ['5f0c1a2b3c4d5e6f70819202', '5f0c1a2b3c4d5e6f70819202'],
    [uuid.replaceAll('-', '').toUpperCase(), uuid.replaceAll('-', '')],
    ['a1'.repeat(20), 'a1'.repeat(20)],
    ['1a'.repeat(32), '1a'.repeat(32)],
    ['tag:soundcloud,2010:tracks/7', 'tag:soundcloud,2010:tracks/7'],
    ['tag:show.example,2026-11-03:7', 'tag:show.example,2026-11-03:7'],
    ['http://show.example/7', 'show.example/7'],
    ['https://SHOW.example/7', 'show.example/7'],
    ['https://show.example/?p=7', 'show.example/?p=7'],
  ])('is a name in every feed: %s', (guid, text) => {
    expect(everywhere(guid)).toEqual([`guid everywhere ${text}`]);
  });

  it.each([
    '7',
    'ep-7',
    `x${uuid}`,
    `${uuid}x`,
    '00000000-0000-0000-0000-000000000007',
    '00000000000000000000000a',
    '202611030900202611030900',
    'a1'.repeat(15),
    'a'.repeat(25),
    'tag:e,1',
    'tag:show.example,2026:',
    'https://show.example/',
    'https://show.example',
    'http://localhost/?p=7',
    'http://127.0.0.1/7',
    'ftp://show.example/7',
    'see https://show.example/7',
  ])('is not %s', (guid) => {
    expect(everywhere(guid)).toEqual([]);
    expect(namesOf({ guid }, { guid: 'another' })).toHaveLength(1);
  });

  it('names neither of two episodes that share it in another spelling', () => {
    const [one, other] = [uuid, uuid.toUpperCase()].map((guid) => ({ guid }));
    expect(namesOf(one ?? {}, other ?? {})).toEqual([expect.stringMatching(/^guid [0-9a-f]{32} /)]);
  });
});

describe('a scope that other feeds may share', () => {
  const shared: FeedIdentities = { own: [], shared: ['site show.example'] };
  const within = (episode: Partial<Named>): string[] =>
    kinds(episodeNames([named(episode), named({})], shared)[0] ?? []);

  it('holds a title with its date, and a guid that no other show can have, and nothing else', () => {
    const published = '2026-11-03T09:00:00.000Z';
    expect(within({ title: 'A', published })).toEqual(['title']);
    expect(within({ guid: 'https://show.example/7' })).toEqual(['guid', 'guid']);
    expect(within({ guid: '7', url: 'https://m.example/7.mp3', title: 'A' })).toEqual([]);
  });
});

describe('a mark that two episodes share names neither', () => {
  it('a guid', () => {
    expect(namesOf({ guid: '1' }, { guid: '2' })).toHaveLength(1);
    expect(namesOf({ guid: '1' }, { guid: '1' })).toEqual([]);
  });

  it('a path', () => {
    const [a, b] = ['https://m.example/play.mp3?id=1', 'https://n.example/play.mp3?id=2'];
    expect(namesOf({ url: a }, { url: 'https://m.example/b.mp3' })).toHaveLength(1);
    expect(namesOf({ url: a }, { url: b })).toEqual([]);
  });

  it('a title and date', () => {
    const news = { title: 'News', published: '2026-11-03T09:00:00.000Z' };
    expect(namesOf(news, { ...news, published: '2026-11-03T10:00:00.000Z' })).toHaveLength(1);
    expect(namesOf(news, news)).toEqual([]);
  });
});

describe('a path', () => {
  it('is no name where it is empty', () => {
    expect(namesOf({ url: 'https://m.example/?id=1' }, { url: 'https://m.example/b' })).toEqual([]);
  });

  it('with a query is no name in a feed of one episode: the next may differ in the query alone', () => {
    const url = 'https://m.example/latest.mp3?id=7';
    expect(namesOf({ url })).toEqual([]);
    expect(namesOf({ url: 'https://m.example/7.mp3' })).toHaveLength(1);
    expect(namesOf({ url: 'https://m.example/7.mp3?utm_source=rss' })).toHaveLength(1);
  });

  it('is the same in every spelling', () => {
    const b = { url: 'https://m.example/b.mp3' };
    expect(namesOf({ url: 'https://m.example/%7ea%2fb.mp3' }, b)).toEqual(
      namesOf({ url: 'http://x.example/./~a%2Fb.mp3?t=1#x' }, b),
    );
  });
});

describe('a title and date', () => {
  it('are a name only together', () => {
    expect(namesOf({ title: 'A' })).toEqual([]);
    expect(namesOf({ published: '2026-11-03T09:00:00.000Z' })).toEqual([]);
  });

  it('are the same however an accent is written', () => {
    const published = '2026-11-03T09:00:00.000Z';
    expect(namesOf({ title: 'Café', published })).toEqual(namesOf({ title: 'Cafe\u0301', published }));
  });
});

describe('names of any feed', () => {
  const links = ['http://e.org/a', 'https://e.org/a', 'https://E.org/a'];
  const text = fc.oneof(
    fc.constantFrom('a', 'b', '', ...links),
    fc.string({ unit: 'grapheme', maxLength: 2_000 }),
  );
  const episodes = fc.array(
    fc.record({
      guid: fc.option(text, { nil: undefined }),
      title: text,
      published: fc.option(fc.constantFrom('2026-11-03T09:00:00.000Z'), { nil: undefined }),
      url: fc.option(fc.webUrl({ withQueryParameters: true }), { nil: undefined }),
    }),
    { maxLength: 12 },
  );

  it('belong to one episode each, and the ledger can keep them apart', () => {
    fc.assert(
      fc.property(
        episodes,
        fc.constantFrom<FeedIdentities>({ own: [], shared: [] }, FEED, {
          own: [...FEED.own, 'guid x'],
          shared: ['site y'],
        }),
        (all, identities) => {
          const names = episodeNames(all, identities).flat();
          expect(new Set(names).size).toBe(names.length);
          const stored = names.map(storedName);
          expect(new Set(stored).size).toBe(names.length);
          expect(stored.filter((name) => Buffer.byteLength(name) > 1024)).toEqual([]);
          expect(kinds(stored).filter((kind) => !['guid', 'enclosure', 'title'].includes(kind))).toEqual([]);
        },
      ),
    );
  });
});
