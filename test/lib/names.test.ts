/** What names an audio, an episode, a feed, a recording, an order and an account. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feed } from '../../src/feeds/feed.ts';
import { makeAudio, makeEpisode, makeFile } from '../../src/ledger/purchase.ts';
import {
  accountName,
  audioIdentity,
  type EpisodeMarks,
  episodeNames,
  type FeedMarks,
  feedNames,
  isContentName,
  isUploadName,
  isUrlName,
  keyName,
  refundName,
  sameBy,
  storedName,
  upgradeNames,
  uploadName,
  urlName,
} from '../../src/lib/names.ts';
import { escaped, type Item, item, read, rss, SELF } from '../support/feed.ts';

const none: FeedMarks = {
  guid: undefined,
  addresses: [],
  saidAddresses: [],
  path: undefined,
  title: 'A show',
};
const ADDRESS = 'https://feeds.example/show.xml';
const FEED: FeedMarks = { ...none, addresses: [ADDRESS], title: '' };
const DATE = '2026-11-03T09:00:00.000Z';

const marks = (episode: Partial<EpisodeMarks>): EpisodeMarks => ({
  guid: undefined,
  title: '',
  published: undefined,
  url: undefined,
  ...episode,
});

/** The names of the first of these episodes. */
const namesOf = (...episodes: ReadonlyArray<Partial<EpisodeMarks>>): string[] =>
  episodeNames(episodes.map(marks), FEED)[0] ?? [];

const kinds = (names: readonly string[]): string[] => names.map((name) => name.split(' ', 1)[0] as string);

const shared = (one: readonly string[], other: readonly string[]): string[] =>
  kinds(one.filter((name) => other.includes(name)));

describe('a feed', () => {
  it('is known by its guid, by its address, and by its address and title', () => {
    expect(feedNames({ ...none, guid: '917393E3-1B1E', addresses: [ADDRESS] })).toEqual([
      'guid 917393e3-1b1e',
      'feed feeds.example/show.xml',
      'feed feeds.example/show.xml A show',
    ]);
  });

  it('is known by what it says of its address only together with its title', () => {
    const saidAddresses = [ADDRESS, 'https://new.example/feed'];
    expect(feedNames({ ...none, saidAddresses })).toEqual([
      'feed feeds.example/show.xml A show',
      'feed new.example/feed A show',
    ]);
    expect(feedNames({ ...none, saidAddresses, title: '' })).toEqual([]);
  });

  it('is known by the whole of its address: one site may have two of them under one path', () => {
    const at = (query: string): string[] => feedNames({ ...none, addresses: [`${ADDRESS}?${query}`] });
    expect(shared(at('show=1'), at('show=2'))).toEqual([]);
    expect(at('show=1&utm_source=x')).toEqual(at('show=1'));
  });

  it('is known by each address that it was read from', () => {
    const addresses = [ADDRESS, 'http://a.example/f/', 'https://a.example/f'];
    expect(feedNames({ ...none, title: '', addresses })).toEqual([
      'feed feeds.example/show.xml',
      'feed a.example/f',
    ]);
  });

  it('in a file is known by its path and title, where it does not name itself', () => {
    const path = '/feeds/show.xml';
    const file = 'file ["/feeds/show.xml","A show"]';
    expect(feedNames({ ...none, path })).toEqual([file]);
    expect(feedNames({ ...none, path, guid: 'x' })).toEqual(['guid x']);
    expect(feedNames({ ...none, path, saidAddresses: [ADDRESS] })).not.toContain(file);
    expect(feedNames({ ...none, path, title: '', saidAddresses: [ADDRESS] })).toEqual([
      'file ["/feeds/show.xml",""]',
    ]);
    expect(feedNames({ ...none, path, title: 'Café' })).toEqual(
      feedNames({ ...none, path, title: 'Cafe\u0301' }),
    );
  });

  it('is the same with http and https, with and without a slash, in any spelling, with another password', () => {
    for (const text of [
      'http://feeds.example/show.xml',
      'https://FEEDS.example:443/show.xml/',
      'https://feeds.example/%73how.xml#x',
      'https://me:secret@feeds.example/show.xml',
    ])
      expect(feedNames({ ...none, title: '', addresses: [text] })).toEqual(['feed feeds.example/show.xml']);
  });

  it('that does not say what it is, and is of no address or file, names no episode but one that moved', async () => {
    const feed = await read(rss(item({ guid: 'a', title: 'A', date: '2026-11-03' }), ''));
    expect(feed.episodes.map(({ names }) => kinds(names))).toEqual([['episode']]);
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
  const common = async (changed: Item, head?: string): Promise<string[]> =>
    shared(await namesIn({}), await namesIn(changed, head));

  it('is named by its guid in its feed, and by guid, title and date in a feed that moved', async () => {
    expect(await namesIn({})).toEqual([
      expect.stringMatching(/^guid [0-9a-f]{32} ep-7$/),
      expect.stringMatching(/^episode [0-9a-f]{32} \["ep-7","2026-11-03T09:30:00\.000Z Seven"\]$/),
    ]);
  });

  it('without a guid is named by its title and date, and without these by its path', async () => {
    expect(await namesIn({ guid: undefined })).toEqual([
      expect.stringMatching(/^title [0-9a-f]{32} 2026-11-03T09:30:00\.000Z Seven$/),
    ]);
    expect(await namesIn({ guid: undefined, date: undefined })).toEqual([
      expect.stringMatching(/^enclosure [0-9a-f]{32} \/shows\/7\.mp3$/),
    ]);
  });

  it('stays the same by its guid where all else changes', async () => {
    expect(await common({ url: 'https://cdn.example/x', title: '7', date: '2026-11-04' })).toEqual(['guid']);
  });

  it('is another with another guid, though title, date and path are the same', async () => {
    expect(await common({ guid: 'new' })).toEqual([]);
    expect(await common({ guid: 'new', url: 'https://cdn.example/shows/7.mp3' })).toEqual([]);
    expect(await common({ guid: 'Ep-7' })).toEqual([]);
  });

  it('stays the same when its feed gets a guid, and when that feed then moves', async () => {
    const guid = '<podcast:guid>917393e3-1b1e-5cef</podcast:guid>';
    expect(await common({ title: 'New' }, SELF + guid)).toEqual(['guid']);
    const moved = `${guid}<atom:link rel="self" href="https://new.example/feed"/>`;
    expect(shared(await namesIn({}, SELF + guid), await namesIn({ title: 'New' }, moved))).toEqual(['guid']);
  });

  describe('in a feed that moved', () => {
    const moved = '<atom:link rel="self" href="https://new.example/feed"/>';

    it('stays the same by guid, title and date together', async () => {
      expect(await common({ url: 'https://new.example/x.mp3' }, moved)).toEqual(['episode']);
      for (const changed of [{ guid: '8' }, { title: 'Eight' }, { date: '2026-11-04' }])
        expect(await common(changed, moved)).toEqual([]);
    });

    const uuid = '917393e3-1b1e-5cef-ace4-edaa54e1f810';
    const of = (guid: string, title: string, more: Partial<EpisodeMarks> = {}): string[] =>
      episodeNames([marks({ guid, title: 'Seven', published: DATE, ...more })], { ...none, title })[0] ?? [];

    it('that has another title stays the same only by a guid that no other show has', () => {
      expect(shared(of(uuid, 'A show'), of(uuid, 'Another'))).toEqual(['episode']);
      expect(shared(of('7', 'A show'), of('7', 'A show'))).toEqual(['episode']);
      expect(shared(of('7', 'A show'), of('7', 'Another'))).toEqual([]);
      expect(of('7', '')).toEqual([]);
      expect(of(uuid, '', { published: undefined })).toEqual([]);
      expect(of(uuid, '', { title: '' })).toEqual([]);
    });

    it.each([
      [uuid, uuid],
      [uuid.toUpperCase(), uuid],
      [`urn:uuid:${uuid}`, uuid],
      [`{${uuid}}`, uuid],
      ['5f0c1a2b3c4d5e6f70819202', '5f0c1a2b3c4d5e6f70819202'],
      [uuid.replaceAll('-', '').toUpperCase(), uuid.replaceAll('-', '').toUpperCase()],
      ['a1'.repeat(20), 'a1'.repeat(20)],
      ['1a'.repeat(32), '1a'.repeat(32)],
      ['tag:soundcloud,2010:tracks/7', 'tag:soundcloud,2010:tracks/7'],
      ['tag:show.example,2026-11-03:7', 'tag:show.example,2026-11-03:7'],
      ['http://show.example/7', 'show.example/7'],
      ['https://SHOW.example/7', 'show.example/7'],
      ['HTTPS://show.example/7', 'show.example/7'],
      ['TAG:show.example,2026:7', 'TAG:show.example,2026:7'],
      ['917393e3-1b1e-5cef-ace4-000000000007', '917393e3-1b1e-5cef-ace4-000000000007'],
      ['https://show.example/?p=7', 'show.example/?p=7'],
    ])('no other show has the guid %s', (guid, text) => {
      expect(of(guid, '')).toEqual([`episode everywhere ${JSON.stringify([text, `${DATE} Seven`])}`]);
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
      'see tag:show.example,2026:7',
      'http://show.example.7x/1',
      'https://',
    ])('another show may have the guid %s', (guid) => {
      expect(of(guid, '')).toEqual([]);
      expect(of(guid, 'A show')).toEqual([expect.stringMatching(/^episode [0-9a-f]{32} /)]);
    });
  });

  it('is another in another feed with the same guid, or with the same title and time', async () => {
    const elsewhere = '<atom:link rel="self" href="https://feeds.example/other.xml"/>';
    expect(await common({ title: 'One' }, elsewhere)).toEqual([]);
    expect(await common({ guid: '8' }, elsewhere)).toEqual([]);
    const untitled = { guid: undefined };
    expect(shared(await namesIn(untitled), await namesIn(untitled, elsewhere))).toEqual([]);
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

  it('is the same with http and https, and another with another parameter', () => {
    expect(namesOf({ guid: 'http://show.example/?p=1' })).toEqual(
      namesOf({ guid: 'https://show.example/?p=1' }),
    );
    expect(namesOf({ guid: 'https://show.example/?p=1' })).not.toEqual(
      namesOf({ guid: 'https://show.example/?p=2' }),
    );
  });
});

it('a guid is the same however an accent is written, and is no link where one stands in it', () => {
  expect(namesOf({ guid: 'Café' })).toEqual(namesOf({ guid: 'Cafe\u0301' }));
  expect(namesOf({ guid: 'x:https://e.org/%7ea' })[0]).toMatch(/ x:https:\/\/e\.org\/%7ea$/);
  expect(namesOf({ guid: 'https://e.org/?u=https://x.org/1' })).not.toEqual(
    namesOf({ guid: 'https://e.org/?u=x.org/1' }),
  );
});

describe('what two episodes of a feed share names neither', () => {
  it('a guid: then title and date do, if the feed has them', () => {
    expect(namesOf({ guid: '1' }, { guid: '2' })).toHaveLength(1);
    expect(namesOf({ guid: '1' }, { guid: '1' })).toEqual([]);
    expect(kinds(namesOf({ guid: '1', title: 'A', published: DATE }, { guid: '1' }))).toEqual(['title']);
    expect(kinds(namesOf({ guid: '1', url: 'https://m.example/a.mp3' }, { guid: '1' }))).toEqual([]);
  });

  it('a guid in another spelling', () => {
    const uuid = '917393e3-1b1e-5cef-ace4-edaa54e1f810';
    expect(namesOf({ guid: uuid }, { guid: uuid.toUpperCase() })).toEqual([]);
  });

  it('a path', () => {
    const [a, b] = ['https://m.example/play.mp3?id=1', 'https://n.example/play.mp3?id=2'];
    expect(namesOf({ url: a }, { url: 'https://m.example/b.mp3' })).toHaveLength(1);
    expect(namesOf({ url: a }, { url: b })).toEqual([]);
  });

  it('a title and date', () => {
    const news = { title: 'News', published: DATE };
    expect(namesOf(news, { ...news, published: '2026-11-03T10:00:00.000Z' })).toHaveLength(1);
    expect(namesOf(news, news)).toEqual([]);
    const [a, b] = ['https://m.example/a.mp3', 'https://m.example/b.mp3'];
    expect(namesOf({ ...news, url: a }, { ...news, url: b })).toEqual([]);
  });

  it('but what one of them lacks is not shared', () => {
    expect(namesOf({ guid: 'undefined' }, {}, {})).toHaveLength(1);
  });
});

describe('a path', () => {
  it('is no name where it is empty', () => {
    expect(namesOf({ url: 'https://m.example/?id=1' }, { url: 'https://m.example/b' })).toEqual([]);
  });

  it('is no name beside a guid, or a title and date', () => {
    const url = 'https://m.example/7.mp3';
    expect(kinds(namesOf({ url, guid: '7' }))).toEqual(['guid']);
    expect(kinds(namesOf({ url, title: 'A', published: DATE }))).toEqual(['title']);
    expect(kinds(namesOf({ url, title: 'A' }))).toEqual(['enclosure']);
    expect(kinds(namesOf({ url, published: DATE }))).toEqual(['enclosure']);
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

it('a title is the same however an accent is written', () => {
  expect(namesOf({ title: 'Café', published: DATE })).toEqual(
    namesOf({ title: 'Cafe\u0301', published: DATE }),
  );
});

describe('names of any feed', () => {
  const links = ['http://e.org/a', 'https://e.org/a', 'https://E.org/a'];
  const text = fc.oneof(
    fc.constantFrom('a', 'b', '', 'undefined', ...links),
    fc.string({ unit: 'grapheme', maxLength: 2_000 }),
  );
  const episode = fc.record({
    guid: fc.option(text, { nil: undefined }),
    title: text,
    published: fc.option(fc.constantFrom(DATE), { nil: undefined }),
    url: fc.option(fc.webUrl({ withQueryParameters: true }), { nil: undefined }),
  });
  const feed = fc.constantFrom<FeedMarks>(none, FEED, {
    ...none,
    guid: 'x',
    saidAddresses: ['https://s.example/x'],
  });

  it('belong to one episode each, and the ledger can keep them apart', () => {
    fc.assert(
      fc.property(fc.array(episode, { maxLength: 12 }), feed, (all, of) => {
        const names = episodeNames(all, of).flat();
        expect(new Set(names).size).toBe(names.length);
        const stored = names.map(storedName);
        expect(new Set(stored).size).toBe(names.length);
        expect(stored.filter((name) => Buffer.byteLength(name) > 1024)).toEqual([]);
        const known = ['guid', 'title', 'enclosure', 'episode'];
        expect(kinds(stored).filter((kind) => !known.includes(kind))).toEqual([]);
      }),
    );
  });

  const plain = fc.stringMatching(/^[a-z0-9 ]{1,6}$/);

  it('are never those of another guid, whatever else the two have in common, and however the feed goes on', () => {
    fc.assert(
      fc.property(
        plain,
        plain,
        episode,
        fc.array(episode, { maxLength: 3 }),
        feed,
        (one, other, like, rest, of) => {
          fc.pre(one !== other);
          const today = episodeNames([{ ...like, guid: one }], of)[0] ?? [];
          const nextWeek = episodeNames([{ ...like, guid: other }, ...rest], of)[0] ?? [];
          fc.pre(!rest.some(({ guid }) => guid === other));
          expect(shared(today, nextWeek)).toEqual([]);
        },
      ),
    );
  });

  it('are those of the same guid in the same feed, whatever else changes', () => {
    fc.assert(
      fc.property(plain, episode, episode, (guid, before, after) => {
        const names = (one: EpisodeMarks): string[] => episodeNames([{ ...one, guid }], FEED)[0] ?? [];
        expect(shared(names(before), names(after))).toContain('guid');
      }),
    );
  });

  it('are never those of a show at another address, except by guid, title and date', () => {
    const elsewhere = { ...FEED, addresses: ['https://feeds.example/other.xml'] };
    fc.assert(
      fc.property(episode, episode, fc.boolean(), (one, other, alike) => {
        const second = alike ? { ...other, guid: one.guid } : other;
        const common = shared(
          episodeNames([one], { ...FEED, title: 'A show' })[0] ?? [],
          episodeNames([second], { ...elsewhere, title: 'A show' })[0] ?? [],
        );
        const isMoved =
          one.guid &&
          second.guid &&
          one.published &&
          second.published &&
          one.title.normalize('NFC') === second.title.normalize('NFC');
        if (!isMoved) expect(common).toEqual([]);
        expect(common.filter((kind) => kind !== 'episode')).toEqual([]);
      }),
    );
  });
});

describe('a URL', () => {
  const BASE = 'https://media.example/talks/a.mp3';

  it.each([
    ...[
      'pk_id',
      'pk_content',
      'pk_cid',
      'pk_source',
      'pk',
      'pkcampaign',
      'ref',
      'referrer',
      'source',
      'src',
      'id',
    ],
    ...['s', 'sid', 'cid', 'eid', 'mc', 'mc_id', 'campaign', 'medium', 'content', 'term', 'utm', 'utmsource'],
    ...['mtm_id', 'matomo_id', 'piwik_id', 'xmtm_campaign', 'mtm_campaigns', 'guce_id'],
    ...['gl', 'ga', 'kx', 'track', 'trk', 'f', 'v', 'p', 'e', 'token', 'key', 'sig', 'expires', 'hash'],
  ])('names another audio with another %s', (name) => {
    expect(audioIdentity(`${BASE}?${name}=41`)).not.toBe(audioIdentity(`${BASE}?${name}=42`));
    expect(audioIdentity(`${BASE}?${name}=41`)).not.toBe(audioIdentity(BASE));
  });

  it('names another audio with any other parameter that is not known to be tracking', () => {
    const tracking =
      /^(utm_|_?_?(g|hs)|fbclid|igsh|[a-z]+clid|(mtm|matomo|piwik|pk)_|li_fat|rdt_|s_kw|_open|mc_|mkt|oly|guc|srsl|epik|sccid|ef_id|vero|wicked|_kx|dm_i|irclick)/i;
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_][a-z_0-9-]{0,10}$/), fc.nat(), fc.nat(), (name, one, other) => {
        fc.pre(one !== other && !tracking.test(name));
        expect(urlName(`${BASE}?${name}=${one}`)).not.toBe(urlName(`${BASE}?${name}=${other}`));
      }),
    );
  });
});

describe('names of different kinds', () => {
  const text = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc.constantFrom('sha256:ab', 'url https://e.org/a', 'upload x'),
  );

  it('never meet, but for a key that says that it is a content', () => {
    fc.assert(
      fc.property(text, fc.webUrl(), fc.stringMatching(/^[0-9a-f]{64}$/), (key, url, hash) => {
        const names = [
          ...makeAudio(url).names,
          ...makeAudio(url, key).names,
          ...makeFile(url, hash, {}).names,
          uploadName(url),
        ];
        expect(new Set(names).size).toBe(names.length);
        expect(names.filter(isUrlName)).toEqual([urlName(url)]);
        expect(names.filter(isUploadName)).toEqual([uploadName(url)]);
        expect(isContentName(names[2] ?? '')).toBe(true);
      }),
    );
    expect(makeAudio('https://e.org/a', 'sha256:ab').names).toEqual(makeFile('', 'ab', {}).names);
  });

  it('say in words why two audios are the same', () => {
    const [path] = namesOf({ url: 'https://m.example/7.mp3' });
    const [titled] = namesOf({ title: 'A', published: DATE });
    const [guid] = namesOf({ guid: '7' });
    const [moved] = episodeNames([marks({ guid: '7', title: 'A', published: DATE })], none)[0] ?? [];
    expect(
      [keyName('x'), ...makeFile('', 'ab', {}).names, guid, titled, path, moved].map((name = '') =>
        sameBy(name),
      ),
    ).toEqual([...['same key', 'same content', 'same guid', 'same title', 'same enclosure'], 'same guid']);
  });

  it('of an episode begin with that of its URL', () => {
    expect(makeEpisode('https://e.org/a#x', ['guid x'], {}).names).toEqual(['url https://e.org/a', 'guid x']);
  });
});

describe('an upgrade and a refund', () => {
  it('are known by their file, and an upgrade by each of its SKUs', () => {
    expect(upgradeNames('7', ['TSTMP1', 'DIFFQ2', 'TSTMP1'])).toEqual([
      'upgrade DIFFQ2 7',
      'upgrade TSTMP1 7',
    ]);
    expect(refundName('7')).toBe('refund 7');
  });

  it('share no name with another file or another kind', () => {
    const sku = fc.stringMatching(/^[A-Z0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.string(), fc.string(), sku, (one, other, each) => {
        const names = [one, other].map((file) => [refundName(file), ...upgradeNames(file, [each])]);
        expect(new Set(names.flat()).size).toBe(one === other ? 2 : 4);
      }),
    );
  });
});

it('the names of an account fold case', () => {
  expect(['acme', 'Acme', 'ACME'].map(accountName)).toEqual(['acme', 'acme', 'acme']);
  expect(accountName('A.b_c@D-1')).toBe('a.b_c@d-1');
  fc.assert(fc.property(fc.string(), (name) => accountName(accountName(name)) === accountName(name)));
});
