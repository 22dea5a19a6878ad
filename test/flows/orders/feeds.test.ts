/** `order --feed`: which episodes are ordered, what is said of them, and that none is bought twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Item, item, rss, SELF } from '../../support/feed.ts';
import { type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { Service } from '../../support/server.ts';
import { KEY } from '../../support/steno.ts';

const minutes = (n: number): string => `<itunes:duration>${n}:00</itunes:duration>`;

const three: readonly Item[] = [
  { guid: 'g3', title: 'Three', date: 'Tue, 03 Nov 2026 09:00:00 GMT', url: 'https://m.example/3.mp3' },
  { guid: 'g2', title: 'Two', date: 'Mon, 02 Nov 2026 09:00:00 GMT', url: 'https://m.example/2.mp3' },
  { guid: 'g1', title: 'One', date: 'Sun, 01 Nov 2026 09:00:00 GMT', url: 'https://m.example/1.mp3' },
].map((each, at) => ({ ...each, more: `<link>https://show.example/${3 - at}</link>${minutes(30 - at)}` }));

const feedOf = (items: readonly Item[], head = SELF): string => rss(items.map(item).join(''), head);

interface Ordering extends OrderingAccount {
  /** Writes the feed, and orders from it. */
  from(text: string, ...args: string[]): ReturnType<OrderingAccount['order']>;
  /** What the service was sent. */
  bought(): unknown[];
}

async function ordering(): Promise<Ordering> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  return {
    ...account,
    from: (text, ...args) => {
      writeFileSync(join(user.home, 'feed.xml'), text);
      return order('--feed', 'feed.xml', ...args);
    },
    bought: () => service.calls('POST /order_url').map(({ body }) => body?.url),
  };
}

const m = (n: number | string): string => `https://m.example/${n}.mp3`;

describe('the choice of episodes', () => {
  it.each([
    ['--latest', ['--latest', '2'], [m(3), m(2)]],
    ['--since', ['--since', '2026-11-02'], [m(3), m(2)]],
    ['--match, in capitals or not', ['--match', 'tW'], [m(2)]],
    ['--match with an expression', ['--match', '/^T|one/i'], [m(3), m(2), m(1)]],
    ['all of them together', ['--match', '/o/', '--since', '2026-11-01', '--latest', '1'], [m(2)]],
  ])('is that of %s', async (_, args, urls) => {
    const { from, bought } = await ordering();
    const { code, stderr } = await from(feedOf(three), ...args);
    expect(code, stderr).toBe(0);
    expect(bought()).toEqual([urls]);
    expect(stderr).toContain(`${urls.length} episode${urls.length === 1 ? '' : 's'} of 3 in 'A show'`);
  });

  it('is needed: without it the plan is shown, nothing is sent, and exit 2 names the flags', async () => {
    const { service, from, user } = await ordering();
    const { code, stdout, stderr } = await from(feedOf(three));
    expect(code).toBe(2);
    expect(stdout.split('\n')[0]).toBe(`1\tThree\t2026-11-03T09:00:00.000Z\t30\t${m(3)}\tTRANS14\t\t\t\t`);
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(stderr).toContain('estimate: unknown\n');
    expect(stderr).toContain('steno: the feed has 3 episodes; nothing was ordered\n');
    expect(stderr).toMatch(/hint: .*--latest <n>, --since <time> or --match <text>\n$/);
    expect(service.got).toEqual([]);
    expect(queryLedger(user, 'SELECT id FROM purchases')).toEqual([]);
  });

  it('is needed also where some are on order, or listed twice', async () => {
    const { service, from } = await ordering();
    expect((await from(feedOf(three), '--latest', '1')).code).toBe(0);
    const more = [...three, { guid: 'other', title: 'Copy', url: m(2) }];
    const { code, stdout, stderr } = await from(feedOf(more));
    expect(code).toBe(2);
    expect(stdout.match(/https:\S+/g)).toEqual([m(2), m(1)]);
    expect(stderr).toContain('Skipped 1 of 3: already ordered (https://m.example/3.mp3)\n');
    expect(service.got).toHaveLength(1);
  });

  it('may be empty: then nothing is ordered, and a cron job goes on', async () => {
    const { service, from } = await ordering();
    const { code, stdout, stderr } = await from(feedOf(three), '--match', 'nothing', '--json');
    expect([code, stdout], stderr).toEqual([0, '[]\n']);
    expect(service.got).toEqual([]);
  });

  it.each([[['https://e.org/a.mp3']], [['--from', 'feed.xml']], [['--key', 'x']]])(
    'stands alone: not with %j',
    async (args) => {
      const { from, service } = await ordering();
      const { code, stderr } = await from(feedOf(three), '--latest', '1', ...args);
      expect([code, service.got.length]).toEqual([2, 0]);
      expect(stderr).toMatch(
        /^steno: --(feed can't be used with|from and --feed can't be used together|key is for)/,
      );
    },
  );
});

describe('an episode', () => {
  const first: Item = { ...three[0], url: 'https://cdn1.example/p/3.mp3?token=one' };
  const without = (each: Item, ...names: Array<keyof Item>): Item => ({
    ...each,
    ...Object.fromEntries(names.map((name) => [name, undefined])),
  });

  it.each<[string, Item, Item, string, string]>([
    ['token', first, { ...first, url: 'https://cdn1.example/p/3.mp3?token=two' }, SELF, SELF],
    ['host', first, { ...first, url: 'https://other.example/p/3.mp3?token=one' }, SELF, SELF],
    ['scheme', first, { ...first, url: 'http://cdn1.example/p/3.mp3?token=one' }, SELF, SELF],
    [
      'whole address, its guid being the same',
      first,
      { ...first, url: 'https://x.example/n.mp3' },
      SELF,
      SELF,
    ],
    [
      'token, where it has no guid and no date',
      without(first, 'guid', 'date'),
      { ...without(first, 'guid', 'date'), url: 'https://cdn1.example/p/3.mp3?token=two' },
      SELF,
      SELF,
    ],
    [
      'address, and the feed its token',
      first,
      { ...first, url: 'https://x.example/n.mp3' },
      SELF.replace('show.xml', 'show.xml?key=1'),
      SELF.replace('show.xml', 'show.xml?key=2'),
    ],
    [
      'address, and the feed its own',
      first,
      { ...first, url: 'https://x.example/n.mp3' },
      `<podcast:guid>917393E3-1B1E-5CEF</podcast:guid>${SELF}`,
      '<podcast:guid>917393e3-1b1e-5cef</podcast:guid><atom:link rel="self" href="https://new.example/f"/>',
    ],
    [
      'address, in a feed that has but a channel link',
      first,
      { ...first, url: 'https://x.example/n.mp3' },
      '<link>http://show.example/</link>',
      '<link>https://show.example</link>',
    ],
  ])('is not bought twice when it changes its %s', async (_, before, after, head, newHead) => {
    const { from, bought } = await ordering();
    const rest = three.slice(1);
    expect((await from(feedOf([before, ...rest], head), '--match', '/Three|New/')).code).toBe(0);
    const second = await from(feedOf([after, ...rest], newHead), '--match', '/Three|New/');
    expect(second.code, second.stderr).toBe(9);
    expect(second.stderr).toMatch(
      /was ordered as order o1 (?:just now|\d+s ago) \(same (guid|enclosure|title)\)\n/,
    );
    const skipped = await from(feedOf([after, ...rest], newHead), '--match', '/Three|New/', '--skip-ordered');
    expect(skipped.code).toBe(0);
    expect(bought()).toEqual([[before.url]]);
  });

  it('is another one where only the query tells it from others', async () => {
    const { from, bought } = await ordering();
    const url = (n: number): string => `https://m.example/get.php?id=${n}`;
    const two = [2, 1].map((n) => ({ guid: `g${n}`, title: `T${n}`, url: url(n) }));
    expect((await from(feedOf(two), '--match', 'T1')).code).toBe(0);
    expect((await from(feedOf(two), '--match', 'T2')).code).toBe(0);
    expect(bought()).toEqual([[url(1)], [url(2)]]);
  });

  it.each<[string, Item, Item]>([
    ['under a new guid, at the same path', first, { ...first, guid: 'new', url: `${first.url}2` }],
    ['under a new guid, with the same title and date', first, { ...first, guid: 'new', url: m('n') }],
    [
      'next week, where only the query of its link is another',
      { ...first, url: 'https://m.example/dl.php?f=42.mp3' },
      {
        guid: 'g4',
        title: 'Three',
        date: 'Tue, 10 Nov 2026 09:00:00 GMT',
        url: 'https://m.example/dl.php?f=43.mp3',
      },
    ],
    [
      'next week, where only a parameter named like tracking is another',
      { ...first, url: 'https://m.example/dl.php?pk_id=42' },
      {
        guid: 'g4',
        title: 'Three',
        date: 'Tue, 10 Nov 2026 09:00:00 GMT',
        url: 'https://m.example/dl.php?pk_id=43',
      },
    ],
  ])('is another one %s', async (_, before, after) => {
    const { from, bought } = await ordering();
    const rest = three.slice(1);
    for (const each of [before, after])
      expect((await from(feedOf([each, ...rest]), '--match', 'Three', '--skip-ordered')).code).toBe(0);
    expect(bought()).toEqual([[before.url], [after.url]]);
  });

  it.each<[string, Item, Item]>([
    ['under the same guid', { guid: '1', title: 'A' }, { guid: '1', title: 'B' }],
    ['with the same title and time', { guid: '1', title: 'A' }, { guid: '2', title: 'A' }],
    ['with the same title and time, without guids', { title: 'A' }, { title: 'A' }],
  ])('is another one in another show of the site, %s', async (_, one, other) => {
    const { from, bought } = await ordering();
    const site = '<link>https://show.example/</link>';
    const self = (name: string): string =>
      `${site}<atom:link rel="self" href="https://feeds.example/${name}"/>`;
    const { date } = first;
    expect((await from(feedOf([{ ...one, date, url: m('a') }], self('a')), '--latest', '1')).code).toBe(0);
    expect((await from(feedOf([{ ...other, date, url: m('b') }], self('b')), '--latest', '1')).code).toBe(0);
    expect(bought()).toEqual([[m('a')], [m('b')]]);
  });

  it('at the very same URL under a new guid is left out and named; --again and --key buy it', async () => {
    const { from, order, bought } = await ordering();
    expect((await from(feedOf(three), '--latest', '1')).code).toBe(0);
    const renumbered = three.map((each) => ({ ...each, guid: `new-${each.guid}` }));
    for (const more of [[], ['--skip-ordered']]) {
      const { code, stderr } = await from(feedOf(renumbered), '--match', 'Three', ...more);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(
        /warning: left out: the episode 'Three': https:\S+ was ordered as order o1 (?:just now|\d+s ago) under the guid 'g3'; its guid in the feed is now 'new-g3'\nhint: .*--again.*--key/,
      );
    }
    expect(bought()).toHaveLength(1);
    expect((await from(feedOf(renumbered), '--latest', '2')).code).toBe(0);
    expect(bought().slice(1)).toEqual([[m(2)]]);
    expect((await from(feedOf(renumbered), '--latest', '1', '--again')).code).toBe(0);
    expect((await order(m(3), '--key', 'another three')).code).toBe(0);
    expect(bought().slice(2)).toEqual([[m(3)], [m(3)]]);
    expect((await from(feedOf(renumbered), '--latest', '1')).code).toBe(9);
  });

  it('that lists the very same URL under two guids is bought once, and the other one is named', async () => {
    const { from, bought } = await ordering();
    const items = [{ ...three[0], guid: 'copy', title: 'Rerun' }, ...three];
    const { code, stderr } = await from(feedOf(items), '--latest', '2');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      "warning: left out: episode 'Three': it has the same audio as episode 'Rerun', under another guid",
    );
    expect(bought()).toEqual([[m(3)]]);
  });

  it('that was ordered by its URL is not bought again from the feed', async () => {
    const { order, from, bought } = await ordering();
    expect((await order(m(3))).code).toBe(0);
    expect((await from(feedOf(three), '--latest', '2', '--skip-ordered')).code).toBe(0);
    expect(bought()).toEqual([[m(3)], [m(2)]]);
  });

  it('of which the feed has a transcript is left out, and not replaced, unless --again', async () => {
    const { from, bought } = await ordering();
    const transcript = '<podcast:transcript url="https://show.example/3.vtt" type="text/vtt"/>';
    const items = [{ ...three[0], more: transcript }, ...three.slice(1)];
    const { code, stderr } = await from(feedOf(items), '--latest', '2');
    expect(code).toBe(0);
    expect(stderr).toContain(
      "Skipped 1: the feed already has its transcript (add --again to order it) ('Three')\n",
    );
    const json = JSON.parse((await from(feedOf(items), '--latest', '2', '--skip-ordered', '--json')).stdout);
    expect(json).toMatchObject([
      { audiofile: '1', guid: 'g2', left_out: 'ordered' },
      { audiofile: null, url: m(3), guid: 'g3', title: 'Three', left_out: 'transcript' },
    ]);
    expect((await from(feedOf(items), '--latest', '1', '--again')).code).toBe(0);
    expect(bought()).toEqual([[m(2)], [m(3)]]);
  });

  it("whose audio can't be ordered is left out with a warning, and holds up no other", async () => {
    const { from, bought } = await ordering();
    const items = [
      { ...three[0], url: 'ftp://m.example/3.mp3' },
      { ...three[1], url: '2.mp3' },
      three[2] ?? {},
    ];
    const chosen = await from(feedOf(items, ''), '--latest', '3');
    expect([chosen.code, bought()], chosen.stderr).toEqual([0, [[m(1)]]]);
    const whole = await from(feedOf(items, ''), '--again');
    expect(whole.code).toBe(2);
    for (const { stderr } of [chosen, whole]) {
      expect(stderr).toContain(
        "warning: left out: the episode 'Three': its audio is not at an http or https URL: ftp://m.example/3.mp3\n",
      );
      expect(stderr).toContain(
        "warning: left out: the episode 'Two': the address of its audio is relative, and the feed does not say to what: 2.mp3\n",
      );
    }
    const only = await from(feedOf(items, ''), '--match', 'Three');
    expect([only.code, bought().length]).toEqual([2, 1]);
  });

  it('whose guid another of the chosen has, with other audio, stops all of them', async () => {
    const { from, service } = await ordering();
    const items = [{ ...three[0], guid: 'g2' }, ...three.slice(1)];
    const { code, stderr } = await from(feedOf(items), '--latest', '2');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^(.*\n)?steno: two of the chosen episodes have the guid 'g2', with different audio\nhint: /,
    );
    expect((await from(feedOf(items), '--latest', '1')).code).toBe(0);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('fills {title}, {link}, {date} and {guid} of the notes, and has an order of its own then', async () => {
    const { from, service, user } = await ordering();
    const tricky = { ...three[0], title: 'All $& of {link}' };
    const notes = '{title}: {link} {date} {guid} {other}';
    expect((await from(feedOf([tricky, ...three.slice(1)]), '--latest', '2', '--notes', notes)).code).toBe(0);
    expect(service.got.map(({ body }) => body?.notes)).toEqual([
      'All $& of {link}: https://show.example/3 2026-11-03 g3 {other}',
      'Two: https://show.example/2 2026-11-02 g2 {other}',
    ]);
    writeFileSync(join(user.home, 'notes'), 'About {title}\n');
    expect((await from(feedOf(three), '--match', 'One', '--notes-file', 'notes')).code).toBe(0);
    expect(service.got.at(-1)?.body).toMatchObject({ notes: 'About One' });
    expect((await from(feedOf(three), '--match', 'One', '--again', '--param', 'title=A')).code).toBe(0);
    expect(service.got.at(-1)?.body).toMatchObject({ title: 'A' });
  });

  it('is kept with its title, date, duration, guid and link', async () => {
    const { from, user } = await ordering();
    expect((await from(feedOf(three), '--latest', '1')).code).toBe(0);
    const columns = 'title, published, seconds, guid, link, feed';
    const [row] = queryLedger(user, `SELECT ${columns} FROM purchase_items`);
    expect(row).toEqual({
      title: 'Three',
      published: '2026-11-03T09:00:00.000Z',
      seconds: 1800,
      guid: 'g3',
      link: 'https://show.example/3',
      feed: 'A show',
    });
  });
});

describe('a feed that changes', () => {
  const uuid = (n: number): string => `0b5e6c8e-3b1f-4c52-9d58-00000000000${n}`;
  const self = (path: string): string => `<atom:link rel="self" href="https://feeds.example/${path}"/>`;
  const site = '<link>https://show.example/</link>';
  const itemsOn = (host: string, guid: (n: number) => string, more: Item = {}): Item[] =>
    [2, 1].map((n) => ({ ...three[n], guid: guid(n), url: `https://${host}/${n}.mp3`, ...more }));
  const short = String;

  /** Orders the latest episode of a feed, before and after a change of it; returns what was bought. */
  async function orderedTwice(
    before: { feed: string; at: string },
    after: { feed: string; at: string; movedFrom?: string },
  ): Promise<number> {
    const { service, order, user } = await orderingAccount();
    const host = await Service.start();
    for (const { feed, at, movedFrom } of [{ ...before, movedFrom: undefined }, after]) {
      const isFile = at.endsWith('.xml');
      if (isFile) writeFileSync(join(user.home, at), feed);
      else host.on(`GET ${at.replace(/\?.*/, '')}`, { body: feed });
      if (movedFrom) host.on(`GET ${movedFrom}`, { status: 301, headers: { location: at } });
      const source = isFile ? at : host.origin + (movedFrom ?? at);
      const { code, stderr } = await order('--feed', source, '--latest', '1', '--skip-ordered');
      expect(code, stderr).toBe(0);
    }
    return service.calls('POST /order_url').length;
  }

  const [oldHost, newHost] = ['old.cdn.example', 'new.cdn.example/x'];
  const feeds = (guid: (n: number) => string, head: string, newHead: string) =>
    [feedOf(itemsOn(oldHost, guid), head), feedOf(itemsOn(newHost, guid), newHead)] as const;

  it.each<[string, readonly [string, string], string, { at: string; movedFrom?: string }]>([
    [
      'moves, with guids of its own',
      feeds(uuid, site + self('old'), site + self('new')),
      '/old',
      { at: '/new' },
    ],
    ['moves, with short guids', feeds(short, site + self('old'), site + self('new')), '/old', { at: '/new' }],
    [
      'moves behind a redirect',
      feeds(short, self('old'), self('new')),
      '/old',
      { at: '/new', movedFrom: '/old' },
    ],
    ['gains a self link', feeds(short, '', self('new')), '/old', { at: '/old' }],
    ['loses its self link', feeds(short, site + self('old'), site), '/old', { at: '/old' }],
    ['gains a site', feeds(short, '', site), '/old', { at: '/old' }],
    ['has no marks, and moves', feeds(uuid, '', ''), '/old', { at: '/new' }],
    ['is a file without marks', feeds(short, '', ''), 'f.xml', { at: 'f.xml' }],
    ['is a file that gains a site', feeds(short, '', site), 'f.xml', { at: 'f.xml' }],
    ['is a file that gains a self link', feeds(uuid, '', self('new')), 'f.xml', { at: 'f.xml' }],
    [
      'says where it moves to',
      feeds(
        short,
        `${self('old')}<itunes:new-feed-url>https://feeds.example/new</itunes:new-feed-url>`,
        self('new'),
      ),
      '/old',
      { at: '/new' },
    ],
  ])('and %s has no episode that is bought twice', async (_, [feed, changed], at, after) => {
    expect(await orderedTwice({ feed, at }, { feed: changed, ...after })).toBe(1);
  });

  it.each<[string, string, string, string, string]>([
    ['another self link', self('a'), self('b'), '/a', '/b'],
    ['another address', '', '', '/a', '/b'],
    [
      'another query of its address, on the same site',
      site + self('a'),
      site + self('b'),
      '/f?s=1',
      '/f?s=2',
    ],
    ['another file', '', '', 'a.xml', 'b.xml'],
    ['the same file, and another title', '', '<title>Another</title>', 'a.xml', 'a.xml'],
    ['the same file, and another self link', self('a'), self('b'), 'a.xml', 'a.xml'],
  ])(
    'is another show with %s, and may have the same short guids',
    async (_, head, otherHead, at, otherAt) => {
      const named = (text: string): string => (text.includes('<title>') ? text : `<title>One</title>${text}`);
      const make = (host: string, title: string, top: string): string =>
        feedOf(itemsOn(host, short, { title }), named(top)).replace('<title>A show</title>', '');
      const [feed, other] = [make('a.example/a', 'A', head), make('b.example/b', 'B', otherHead)];
      expect(await orderedTwice({ feed, at }, { feed: other, at: otherAt })).toBe(2);
    },
  );
});

describe('the JSON of --feed', () => {
  it('is the orders of a plan, and always an array of what was ordered, of one order and of none', async () => {
    const { from } = await ordering();
    const json = async (...args: string[]) =>
      JSON.parse((await from(feedOf(three), '--json', ...args)).stdout) as unknown;
    expect(await json()).toMatchObject({ orders: [{ skus: ['TRANS14'] }] });
    const estimate = { low: null, high: null, unpriced: [{ sku: 'TRANS14' }], unmeasured: [] };
    expect(await json('--latest', '1', '--dry-run')).toMatchObject({
      orders: [
        {
          skus: ['TRANS14'],
          request: { url: [m(3)], sku: ['TRANS14'] },
          audios: [{ title: 'Three', published_at: '2026-11-03T09:00:00.000Z', minutes: 30, guid: 'g3' }],
          estimate,
        },
      ],
      estimate,
    });
    expect(await json('--latest', '1')).toMatchObject([{ order: 'o1' }]);
    expect(await json('--latest', '1', '--skip-ordered')).toMatchObject([
      { order: 'o1', left_out: 'ordered' },
    ]);
    expect(await json('--latest', '1', '--skip-ordered', '--dry-run')).toMatchObject({ orders: [] });
    expect(await json('--latest', '1', '--again', '--wait')).toMatchObject([{ order: 'o2' }]);
  });
});

describe('a feed by its address', () => {
  it('is read without the key, over redirects, and its relative links belong to where it ended', async () => {
    const { service, order } = await orderingAccount();
    const host = await Service.start();
    const text = feedOf([{ ...three[0], url: 'audio/3.mp3' }], '');
    host.on('GET /feed', { status: 301, headers: { location: '/moved/feed.xml' } });
    host.on('GET /moved/feed.xml', { body: text });
    const { code, stderr } = await order('--feed', `${host.origin}/feed?token=t`, '--latest', '1');
    expect(code, stderr).toBe(0);
    expect(service.got.map(({ body }) => body?.url)).toEqual([[`${host.origin}/moved/audio/3.mp3`]]);
    const sent = host.got.map(({ headers, text: body, path, query }) =>
      JSON.stringify([headers, body, path, [...query]]),
    );
    expect(sent.join()).not.toContain(JSON.stringify(KEY).slice(1, -1));
    expect(sent.join()).not.toContain('api_key');
    expect(host.got[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe("a feed that can't be used", () => {
  const laughs = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>${feedOf(three).replace(/^<\?xml.*\n/, '')}`;

  it.each([
    ['HTML', '<!doctype html><html><body>Hi</body></html>', 'is a web page, not a feed'],
    ['empty', '', 'is empty'],
    ['no XML', 'https://m.example/1.mp3\n', 'is not a feed'],
    [
      'without enclosures',
      rss('<item><title>Text</title></item>'),
      'has no episodes with audio (1 entry without)',
    ],
    ['without items', rss(''), 'has no episodes with audio (no entries)'],
    ['a billion laughs', laughs, 'it declares entities of its own'],
    ['broken off', feedOf(three).slice(0, 400), "can't be read: line "],
    [
      'relative, and of no address',
      feedOf([{ ...three[0], url: 'a.mp3' }], ''),
      'is relative, and the feed does not say to what',
    ],
    ['RSS 1.0', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', 'is RSS 1.0'],
  ])('is told in one line: %s', async (_, text, why) => {
    const { from, service } = await ordering();
    const { code, stdout, stderr } = await from(text, '--latest', '1');
    expect([code, stdout], stderr).toEqual([2, '']);
    expect(stderr).toContain(why);
    expect(stderr.match(/^steno: /gm)).toHaveLength(1);
    expect(service.got).toEqual([]);
  });

  it.each([
    ['--latest', '0'],
    ['--since', 'sometime'],
    ['--match', '/(/'],
  ])("or a choice that can't be read: %s %s", async (...flags) => {
    const { from, service } = await ordering();
    const { code, stderr } = await from(feedOf(three), ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(flags[1]);
    expect(service.got).toEqual([]);
  });
});
