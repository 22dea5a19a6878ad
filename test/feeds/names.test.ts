/** What tells an episode from others, when its link changes and when its feed does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feed } from '../../src/feeds/feed.ts';
import { episodeNames, feedIdentities, type Named } from '../../src/feeds/names.ts';
import { storedName } from '../../src/ledger/audio-names.ts';
import { escaped, type Item, item, read, rss, SELF } from '../support/feed.ts';

const marks = { guid: undefined, selfLink: undefined, link: undefined, address: undefined };
const FEED = ['feed feeds.example/show.xml'];

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
    expect(feedIdentities({ ...marks, selfLink, link: 'https://show.example/' })).toEqual([
      'feed feeds.example/show.xml',
    ]);
    expect(feedIdentities({ ...marks, guid: '917393E3-1B1E', selfLink })).toEqual([
      'guid 917393e3-1b1e',
      'feed feeds.example/show.xml',
    ]);
  });

  it('is known by its web site, then by where it is, only where it names nothing better', () => {
    const [link, address] = ['https://show.example/?ref=rss', 'https://feeds.example/x?token=secret'];
    expect(feedIdentities({ ...marks, link, address })).toEqual(['site show.example']);
    expect(feedIdentities({ ...marks, address })).toEqual(['feed feeds.example/x']);
    expect(feedIdentities(marks)).toEqual([]);
  });

  it('is the same with http and https, with and without a slash, in any spelling, with another password', () => {
    for (const text of [
      'http://feeds.example/show.xml',
      'https://FEEDS.example:443/show.xml/',
      'https://feeds.example/%73how.xml#x',
      'https://me:secret@feeds.example/show.xml',
    ])
      expect(feedIdentities({ ...marks, selfLink: text })).toEqual(['feed feeds.example/show.xml']);
  });

  it('in a file that does not say what it is gives no names', async () => {
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
    expect(namesOf({ guid: a }, { guid: b })).toHaveLength(1);
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
  const text = fc.oneof(fc.constantFrom('a', 'b', ''), fc.string({ unit: 'grapheme', maxLength: 2_000 }));
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
      fc.property(episodes, fc.constantFrom([], FEED, [...FEED, 'guid x']), (all, identities) => {
        const names = episodeNames(all, identities).flat();
        expect(new Set(names).size).toBe(names.length);
        const stored = names.map(storedName);
        expect(new Set(stored).size).toBe(names.length);
        expect(stored.filter((name) => Buffer.byteLength(name) > 1024)).toEqual([]);
        expect(kinds(stored).filter((kind) => !['guid', 'enclosure', 'title'].includes(kind))).toEqual([]);
      }),
    );
  });
});
