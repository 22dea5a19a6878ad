/** Feeds in pages (RFC 5005): which pages are read, where they may lead, and what happens where one fails. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFeed } from '../../src/feeds/read.ts';
import { ATOM, item, rss } from '../support/feed.ts';
import { type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { type Answer, Service } from '../support/server.ts';

const m = (n: number): string => `https://m.example/${n}.mp3`;
const episode = (n: number): string =>
  item({
    guid: `g${n}`,
    title: `Show ${n}`,
    date: `2026-10-${String(n).padStart(2, '0')}T09:00:00Z`,
    url: m(n),
  });
const page = (numbers: readonly number[], next?: string, rel = 'next'): string =>
  rss(numbers.map(episode).join(''), next === undefined ? '' : `<atom:link rel="${rel}" href="${next}"/>`);

interface Paged extends OrderingAccount {
  readonly host: Service;
  /** Orders from the first page. */
  from(...args: string[]): ReturnType<OrderingAccount['order']>;
  bought(): unknown[];
  pagesRead(): string[];
}

/** A feed whose pages are at /1, /2, … of a host. */
async function paged(...pages: Array<string | Answer>): Promise<Paged> {
  const account = await orderingAccount();
  const host = await Service.start();
  for (const [at, body] of pages.entries())
    host.allow(`GET /${at + 1}`, typeof body === 'string' ? { body } : body);
  return {
    ...account,
    host,
    from: (...args) => account.order('--feed', `${host.origin}/1`, ...args),
    bought: () => account.service.calls('POST /order_url').flatMap(({ body }) => body?.url),
    pagesRead: () => host.got.map(({ path }) => path),
  };
}

describe('a later page that fails', () => {
  it.each<[string, string | Answer, number, string]>([
    ['is missing', { status: 404 }, 1, '/2 answered HTTP 404'],
    ['is a web page', '<html></html>', 2, 'is a web page, not a feed'],
    ['is no XML', 'sorry', 2, 'is not a feed'],
    ['redirects for ever', { status: 302, headers: { location: '/2' } }, 1, 'redirects more than 10 times'],
  ])('stops the order where it %s', async (_, second, exit, message) => {
    const { from, service } = await paged(page([9, 8], '/2'), second);
    const { code, stderr } = await from('--match', 'Show');
    expect(code, stderr).toBe(exit);
    expect(stderr).toContain('page 2 of the feed http://127.0.0.1');
    expect(stderr).toContain(message);
    expect(stderr).toContain('hint: nothing was ordered; try again later, or choose fewer episodes');
    expect(service.got).toEqual([]);
  });

  it.each([
    ['--latest', ['--latest', '2']],
    ['--since', ['--since', '2026-10-09']],
    ['--match with --latest', ['--match', '8', '--latest', '1']],
  ])('does not matter where the first page has all of %s', async (_, args) => {
    const { from, pagesRead } = await paged(page([9, 8], '/2'), { status: 500 });
    const { code, stderr } = await from(...args);
    expect(code, stderr).toBe(0);
    expect(pagesRead()).toEqual(['/1']);
    expect(stderr).toContain("of 2 in 'A show' (1 page read, older ones not needed)");
  });
});

describe('a page leads', () => {
  it.each([
    ['this machine', 'http://127.0.0.1:9/2', 'which is this machine'],
    ['this machine, in IPv6', 'http://[::ffff:127.0.0.1]:9/2', 'which is this machine'],
    ['this machine, by name', 'http://localhost:9/2', 'which is this machine'],
    ['a private address', 'http://192.168.1.1/2', 'which is a private address'],
    ['the metadata of a cloud', 'http://169.254.169.254/2', 'which is a private address'],
    ['a private address in IPv6', 'http://[fd00::1]/2', 'which is a private address'],
  ])('not to %s', async (_, next, message) => {
    const proxy = (await Service.start()).on('GET /1', { body: page([9], next) }).never('GET /2');
    const { order, service } = await orderingAccount({ http_proxy: proxy.origin, no_proxy: '127.0.0.1' });
    const { code, stderr } = await order('--feed', 'http://feeds.invalid/1', '--match', 'Show');
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(message);
    expect(service.got).toEqual([]);
  });

  it('not there by a redirect either', async () => {
    const proxy = (await Service.start())
      .on('GET /1', { body: page([9], 'http://feeds.invalid/2') })
      .on('GET /2', { status: 302, headers: { location: 'http://10.0.0.1/3' } })
      .never('GET /3');
    const { order } = await orderingAccount({ http_proxy: proxy.origin, no_proxy: '127.0.0.1' });
    const { code, stderr } = await order('--feed', 'http://feeds.invalid/1', '--match', 'Show');
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('http://feeds.invalid/1 leads to http://10.0.0.1/3, which is a private address');
  });

  it('nowhere but to http and https', async () => {
    const { from, bought } = await paged(page([9], 'file:///etc/passwd'));
    expect((await from('--match', 'Show')).code).toBe(0);
    expect(bought()).toEqual([m(9)]);
  });

  it('to another host without the password of the first', async () => {
    const other = (await Service.start()).on('GET /3', { body: page([7]) });
    const host = (await Service.start())
      .on('GET /1', { body: page([9], '/2') })
      .on('GET /2', { body: page([8], `${other.origin}/3`) });
    const { order } = await orderingAccount();
    const feed = host.origin.replace('//', '//me:secret@').concat('/1');
    const { code, stderr } = await order('--feed', feed, '--match', 'Show');
    expect(code, stderr).toBe(0);
    const mine = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(host.got.map(({ headers }) => headers.authorization)).toEqual([mine, mine]);
    expect(other.got[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('a feed ends', () => {
  it.each([
    ['itself', '/2', ['/1', '/2']],
    ['itself, with a fragment', '/2#older', ['/1', '/2']],
    ['an earlier page', '/1', ['/1', '/2']],
  ])('where a page names %s', async (_, next, read) => {
    const { from, bought, pagesRead } = await paged(page([9], '/2'), page([8], next));
    const { code, stderr } = await from('--match', 'Show');
    expect(code, stderr).toBe(0);
    expect([bought(), pagesRead()]).toEqual([[m(9), m(8)], read]);
  });

  it.each([
    ['the same episodes', [9, 8]],
    ['no episodes', []],
  ])('where a page has %s under a new address', async (_, numbers) => {
    const { from, bought, pagesRead } = await paged(
      page([9, 8], '/2'),
      page(numbers, '/3'),
      page(numbers, '/4'),
    );
    const { code, stderr } = await from('--match', 'Show');
    expect(code, stderr).toBe(0);
    expect([bought(), pagesRead()]).toEqual([
      [m(9), m(8)],
      ['/1', '/2'],
    ]);
  });

  it('after 200 pages, which a warning says', async () => {
    const { host, order } = await paged();
    host.allow('*', ({ path }, response) => {
      const n = Number(path.slice(1));
      const body = rss(
        item({ guid: `g${n}`, title: `Show ${n}`, url: m(n) }),
        `<atom:link rel="next" href="/${n + 1}"/>`,
      );
      response.writeHead(200).end(body);
    });
    const { code, stderr } = await order('--feed', `${host.origin}/1`, '--match', '/ 200$/', '--json');
    expect(code, stderr).toBe(0);
    expect(host.got).toHaveLength(200);
    const { warning } = JSON.parse(stderr.split('\n')[0] ?? '') as { warning: Record<string, string> };
    expect(warning).toEqual({
      message: `the feed ${host.origin}/1 was read up to page 200 (200 episodes); older episodes were left out`,
      hint: 'a feed is read up to 200 pages, 100000 entries or 256 MB; order older episodes by their URLs',
    });
  }, 60_000);

  it.each([
    ['entries', { pages: 9, entries: 2, bytes: 1e6 }],
    ['bytes', { pages: 9, entries: 9, bytes: 700 }],
  ])('after so many %s', async (_, bounds) => {
    const { host, pagesRead } = await paged(page([9], '/2'), page([8], '/3'), page([7]));
    const reading = { env: {}, signal: new AbortController().signal, userAgent: 'steno/test', bounds };
    const feed = await readFeed(`${host.origin}/1`, reading);
    expect([feed.pages, pagesRead()]).toEqual([2, ['/1', '/2']]);
    expect(feed.unread).toMatchObject({ message: expect.stringContaining('up to page 2 (2 episodes)') });
  });

  it('with a file, which a warning says', async () => {
    const { user, order, bought } = await paged();
    writeFileSync(join(user.home, 'feed.xml'), page([9, 8], 'https://feeds.invalid/2'));
    const all = await order('--feed', 'feed.xml', '--match', 'Show');
    expect(all.code, all.stderr).toBe(0);
    expect(all.stderr).toContain(
      'warning: the feed feed.xml continues at a URL, which is not fetched for a file: older episodes were left out\n',
    );
    expect(bought()).toEqual([m(9), m(8)]);
    const some = await order('--feed', 'feed.xml', '--latest', '1', '--dry-run', '--again');
    expect(some.stderr).not.toContain('warning');
  });
});

describe('pages are read', () => {
  const three = [page([9, 8], '/2'), page([7, 6], '/3'), page([5, 4])] as const;

  it.each<[string, string[], number, number[]]>([
    ['--match alone needs all', ['--match', 'Show'], 3, [9, 8, 7, 6, 5, 4]],
    ['--latest, until there are as many', ['--latest', '3'], 2, [9, 8, 7]],
    ['--latest, more than there are', ['--latest', '30'], 3, [9, 8, 7, 6, 5, 4]],
    ['--since, until one is older', ['--since', '2026-10-07'], 2, [9, 8, 7]],
    ['--since, where the next page begins with older ones', ['--since', '2026-10-08'], 2, [9, 8]],
    ['--latest of those that match', ['--match', '/[86]/', '--latest', '2'], 2, [8, 6]],
    ['--match, no older than --since', ['--match', '/[84]/', '--since', '2026-10-07'], 2, [8]],
  ])('as the choice wants: %s', async (_, args, pages, numbers) => {
    const { from, bought, pagesRead } = await paged(...three);
    const { code, stderr } = await from(...args);
    expect(code, stderr).toBe(0);
    expect([pagesRead().length, bought()]).toEqual([pages, numbers.map(m)]);
    expect(stderr).toContain(`${numbers.length} episode`);
    expect(stderr).toContain(`(${pages} pages read`);
  });

  it('to the end where nothing is chosen: the whole feed is shown, and none of it ordered', async () => {
    const { from, service } = await paged(...three);
    const { code, stderr } = await from();
    expect(code).toBe(2);
    expect(stderr).toContain('steno: the feed has 6 episodes; nothing was ordered\n');
    expect(service.got).toEqual([]);
  });

  it('to the end where the oldest come first', async () => {
    const { from, bought } = await paged(page([4, 5], '/2'), page([6, 7], '/3'), page([8, 9]));
    const { code, stderr } = await from('--latest', '2');
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([m(9), m(8)]);
  });

  it('beyond one without audio', async () => {
    const { from, bought } = await paged(
      rss('<item><guid>x</guid></item>', '<atom:link rel="next" href="/2"/>'),
      page([9]),
    );
    expect((await from('--latest', '1')).code).toBe(0);
    expect(bought()).toEqual([m(9)]);
  });

  it('by the header Link too', async () => {
    const link = '</x>; rel=first, </2?a=1,2>; title="a, b"; rel="last next"';
    const { from, bought } = await paged({ headers: { link }, body: page([9]) }, page([8]));
    expect((await from('--match', 'Show')).code).toBe(0);
    expect(bought()).toEqual([m(9), m(8)]);
  });

  it('in Atom, and not where the link is of the web site', async () => {
    const entry = (n: number): string =>
      `<entry><id>g${n}</id><title>Show ${n}</title><updated>2026-10-0${n}T09:00:00Z</updated>` +
      `<link rel="enclosure" type="audio/mpeg" href="${m(n)}"/></entry>`;
    const atom = (n: number, links: string): string =>
      `<feed xmlns="${ATOM}" xml:base="/sub/"><title>A show</title>${links}${entry(n)}</feed>`;
    const { from, bought } = await paged(
      atom(9, '<link rel="next" type="text/html" href="/web"/><link rel="next" href="/2"/>'),
      atom(8, '<link rel="next" type="text/html" href="/web"/>'),
    );
    const { code, stderr } = await from('--match', 'Show');
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([m(9), m(8)]);
  });

  it('as archives too, which may repeat all of a newer document', async () => {
    const { from, bought } = await paged(
      page([9, 8], '/2', 'prev-archive'),
      page([8, 9], '/3', 'prev-archive'),
      page([7, 6]),
    );
    const { code, stderr } = await from('--match', 'Show');
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([m(9), m(8), m(7), m(6)]);
    expect(stderr).toContain("4 episodes of 4 in 'A show' (3 pages read)");
  });
});

describe('an episode on two pages', () => {
  const date = '2026-10-08T09:00:00Z';
  it.each([
    ['with the same guid and audio', { guid: 'g8', title: 'Show 8', date, url: m(8) }],
    ['with a new token in its link', { guid: 'g8', title: 'Show 8', date, url: `${m(8)}?session=2` }],
    ['without a guid', { title: 'Show 8', date, url: m(8) }],
  ])('counts once: %s', async (_, again) => {
    const { guid } = again as { guid?: string };
    const first = rss(
      episode(9) + item({ guid, title: 'Show 8', date, url: m(8) }),
      '<atom:link rel="next" href="/2"/>',
    );
    const { from, bought } = await paged(first, rss(item(again) + episode(7) + episode(6)));
    const { code, stderr } = await from('--latest', '3', '--json');
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([m(9), m(8), m(7)]);
  });

  it('is another where its guid has other audio, title and date: that is said', async () => {
    const { from, service } = await paged(
      page([9], '/2'),
      rss(item({ guid: 'g9', title: 'Other', date, url: m(5) })),
    );
    const { code, stderr } = await from('--match', '/./');
    expect(code).toBe(2);
    expect(stderr).toContain("two of the chosen episodes have the guid 'g9', with different audio");
    expect(service.got).toEqual([]);
  });

  it('is the same audio in a later run, however many pages that reads', async () => {
    const { from, bought } = await paged(page([9, 8], '/2'), page([7]));
    expect((await from('--latest', '1')).code).toBe(0);
    const { code, stderr } = await from('--match', 'Show', '--skip-ordered');
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([m(9), m(8), m(7)]);
  });
});
