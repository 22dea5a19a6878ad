/** Which episodes --latest, --since and --match mean. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Choice, chooseEpisodes, parseMatch } from '../../src/feeds/choose.ts';
import { type Item, item, read, rss } from '../support/feed.ts';
import { excessGrowth } from '../support/growth.ts';
import { runs } from '../support/runs.ts';

let urls = 0;
/** Each has audio of its own. */
const episode = (each: Item): string => {
  urls += 1;
  return item({ url: `https://media.example/${urls}.mp3`, ...each });
};

const transcript = '<podcast:transcript url="https://media.example/t.vtt"/>';
const items = [
  { title: 'News 3', date: '2026-11-03', guid: '3' },
  { title: 'Talk 5', date: '2026-11-05', guid: '5', more: transcript },
  { title: 'News 1', date: '2026-11-01', guid: '1' },
  { title: 'Old news', guid: 'none' },
  { title: 'News 4', date: '2026-11-04', guid: '4' },
];
const text = rss(items.map(episode).join(''));

const chosen = async (choice: Choice, feed = text) => {
  const { episodes, withTranscript, undated } = chooseEpisodes(await read(feed), choice);
  const guids = (all: typeof episodes) => all.map(({ guid }) => guid);
  return { episodes: guids(episodes), withTranscript: guids(withTranscript), undated: guids(undated) };
};

describe('--latest', () => {
  it('means the newest, whatever the order of the feed', async () => {
    expect(await chosen({ latest: 3, again: true })).toMatchObject({ episodes: ['5', '4', '3'] });
  });

  it('means those without a date last', async () => {
    expect((await chosen({ latest: 99, again: true })).episodes).toEqual(['5', '4', '3', '1', 'none']);
  });

  it('goes by the order of the feed where it has no dates', async () => {
    const feed = rss(['a', 'b', 'c'].map((guid) => episode({ guid })).join(''));
    expect((await chosen({ latest: 2 }, feed)).episodes).toEqual(['a', 'b']);
  });

  it('does not replace an episode that has a transcript by an older one', async () => {
    expect(await chosen({ latest: 2 })).toMatchObject({ episodes: ['4'], withTranscript: ['5'] });
    expect(await chosen({ latest: 2, again: true })).toMatchObject({
      episodes: ['5', '4'],
      withTranscript: [],
    });
  });
});

describe('--since', () => {
  it('means that moment and later, and tells what has no date', async () => {
    expect(await chosen({ since: '2026-11-03T00:00:00.000Z', again: true })).toEqual({
      episodes: ['5', '4', '3'],
      withTranscript: [],
      undated: ['none'],
    });
    expect((await chosen({ since: '2026-11-03T00:00:00.001Z', again: true })).episodes).toEqual(['5', '4']);
  });
});

describe('--match', () => {
  const matching = async (pattern: string) => (await chosen({ match: parseMatch(pattern) })).episodes;

  it('finds a text anywhere in a title, in capitals or not', async () => {
    expect(await matching('nEWs')).toEqual(['4', '3', '1', 'none']);
    expect(await matching('news 3')).toEqual(['3']);
    expect(await matching('.')).toEqual([]);
  });

  it('takes a text between slashes for a regular expression', async () => {
    expect(await matching('/^News [34]$/')).toEqual(['4', '3']);
    expect(await matching('/^news/')).toEqual([]);
    expect(await matching('/^news/i')).toEqual(['4', '3', '1']);
    expect(await matching('/')).toEqual([]);
  });

  it('takes accents as equal, however they are written', () => {
    expect(parseMatch('CAFÉ')(['Cafe\u0301 news'])).toEqual([true]);
  });

  it.each([
    ['', 'requires a text'],
    ['  ', 'requires a text'],
    ['/(/', 'Invalid regular expression'],
    ['/a/gx', "'gx' are not flags"],
    ['x'.repeat(1_001), 'at most 1000 characters'],
  ])('refuses %s', (pattern, message) => {
    expect(() => parseMatch(pattern)(['a title'])).toThrow(message);
  });

  it('stops an expression that would not end', () => {
    const match = parseMatch('/^(a+)+$/');
    expect(() => match([`${'a'.repeat(900)}!`])).toThrow('takes more than 2 s');
    expect(match(['aaa', 'b'])).toEqual([true, false]);
  });

  it('finds in any titles what String finds', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string({ minLength: 1 }), (titles, part) => {
        fc.pre(part.trim() !== '' && !part.startsWith('/'));
        const expected = titles.map((title) => title.toLowerCase().includes(part.toLowerCase()));
        expect(parseMatch(part)(titles)).toEqual(expected);
      }),
    );
  });

  it('takes time in proportion to the titles', () => {
    const match = parseMatch('aaab');
    expect(
      excessGrowth(
        (title) => match([title]),
        (length) => 'a'.repeat(length),
      ),
    ).toBeUndefined();
  });
});

describe('several of them', () => {
  it('mean the latest of what the others mean', async () => {
    const match = parseMatch('news');
    expect((await chosen({ latest: 1, match })).episodes).toEqual(['4']);
    expect((await chosen({ since: '2026-11-03', match })).episodes).toEqual(['4', '3']);
    expect((await chosen({ since: '2026-11-03', latest: 5, match })).undated).toEqual(['none']);
  });
});

describe('any choice', () => {
  it('gives episodes of the feed, each once, the newest first, and no more than asked for', async () => {
    const dates = fc.option(fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ date: dates, more: fc.constantFrom('', transcript) }), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
        fc.option(fc.constantFrom('2026-11-02T00:00:00.000Z'), { nil: undefined }),
        async (all, latest, since) => {
          const feed = await read(rss(all.map((each, at) => episode({ ...each, guid: `${at}` })).join('')));
          const { episodes, withTranscript } = chooseEpisodes(feed, { latest, since });
          const meant = [...episodes, ...withTranscript];
          expect(new Set(meant).size).toBe(meant.length);
          expect(feed.episodes).toEqual(expect.arrayContaining(meant));
          expect(meant.length).toBeLessThanOrEqual(latest ?? all.length);
          expect(episodes.some(({ hasTranscript }) => hasTranscript)).toBe(false);
          const published = episodes.map((each) => each.published ?? '');
          expect(published).toEqual([...published].sort().reverse());
          if (since) expect(published.every((date) => date >= since)).toBe(true);
        },
      ),
      { numRuns: runs(100) },
    );
  });
});
