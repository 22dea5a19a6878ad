/** Who may ask, and for what: other users of this machine, other sites, tricks of DNS, and hostile texts. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listing, modeOf } from '../support/files.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';
import { KEY } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { errorOf, Pages } from './pages.ts';

let account: OrderingAccount;
let pages: Pages;

beforeAll(async () => {
  account = await orderingAccount();
  await account.order(audio('one'), audio('two'));
  await account.user.run(['files', '--refresh']);
  pages = await Pages.startForAll(account.user);
});

afterAll(async () => {
  await pages?.stop();
});

const paths = [
  'about',
  'files',
  'counts',
  'attempts',
  'file/1',
  'file/1/transcript',
  'search?q=a',
  'events',
  'event/1',
  'spend',
  'health',
  'live',
];

describe('without the cookie', () => {
  it.each(paths)('answers 403 to /api/%s and tells nothing', async (path) => {
    const answer = await pages.ask(`/api/${path}`);
    expect(answer.status).toBe(403);
    expect(errorOf(answer).code).toBe('auth');
    expect(answer.text).not.toMatch(/Talk|example\.com/);
  });

  const cookies: ReadonlyArray<readonly [what: string, cookie: () => string]> = [
    ['none at all', () => ''],
    ['another', () => `steno-${pages.port}=${'a'.repeat(43)}`],
    ['a part of it', () => pages.cookie.slice(0, -1)],
    ['the right one under another name', () => pages.cookie.replace('steno', 'other')],
    ['that of another port', () => pages.cookie.replace(String(pages.port), '1')],
    ['one that is far too long', () => `steno-${pages.port}=${'a'.repeat(5000)}`],
  ];
  it.each(cookies)('refuses %s', async (_, cookie) => {
    const answer = await pages.ask('/api/about', { headers: { cookie: cookie() } });
    expect(answer.status).toBe(403);
  });

  it('finds it among those of other servers', async () => {
    const cookie = `a=b; ${pages.cookie}; steno-1=c`;
    expect((await pages.ask('/api/about', { headers: { cookie } })).status).toBe(200);
  });

  it('takes none from the query or from another header', async () => {
    const secret = pages.cookie.split('=')[1] ?? '';
    const headers = { authorization: `Bearer ${secret}` };
    expect((await pages.ask(`/api/about?token=${secret}`, { headers })).status).toBe(403);
  });

  it('asks for it before it says whether there is such an address, or reads a body', async () => {
    expect((await pages.ask('/api/nothing')).status).toBe(403);
    expect((await pages.ask('/api/downloads', { method: 'POST', body: '{' })).status).toBe(403);
  });

  it('sets none and allows no other origin', async () => {
    const { headers } = await pages.call('about');
    expect(headers['set-cookie']).toBeUndefined();
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('its address', () => {
  const visit = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };

  it('opens it once, leaves a cookie, and leads to an address without the token', async () => {
    const own = await Pages.startSilently(account.user, ['ui', '--no-open']);
    await own.until(() => own.stdout.includes('/open/'));
    const { pathname } = own.url;
    expect(pathname).toMatch(/^\/open\/[\w-]{43}$/);
    // What may not open it does not use it up.
    for (const [method, headers, status] of [
      ['HEAD', {}, 405],
      ['POST', {}, 405],
      ['GET', { ...visit, 'sec-fetch-dest': 'iframe' }, 403],
      ['GET', { ...visit, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 403],
      ['GET', { host: `localhost:${own.port}` }, 403],
      ['GET', { origin: 'https://evil.example' }, 403],
    ] as const)
      expect((await own.ask(pathname, { method, headers })).status).toBe(status);
    const { status, headers } = await own.ask(pathname, { headers: visit });
    expect([status, headers.location]).toEqual([303, '/#/files']);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^steno-${own.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`)),
    ]);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect(cookie).not.toContain(pathname.slice('/open/'.length));
    expect((await own.ask('/api/about', { headers: { cookie } })).status).toBe(200);
    const again = await own.ask(pathname, { headers: visit });
    expect([again.status, again.headers['set-cookie']]).toEqual([403, undefined]);
    // A browser that has the cookie just goes to the page.
    const back = await own.ask(pathname, { headers: { ...visit, cookie } });
    expect([back.status, back.headers['set-cookie']]).toEqual([303, undefined]);
    expect((await own.ask(`/open/${'a'.repeat(43)}`, { headers: visit })).status).toBe(403);
    expect((await own.ask('/api/about', { headers: { cookie: pages.cookie } })).status).toBe(403);
  });
});

describe('connections without the cookie', () => {
  it('give way, so that nobody shuts the owner out', async () => {
    const live = await pages.live();
    const sockets = Array.from({ length: 110 }, () => {
      const socket = connect(pages.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost:'));
      return socket.on('error', () => {});
    });
    await until(() => sockets.every(({ pending, closed }) => closed || !pending), 'all connections');
    await until(() => sockets.slice(0, 8).every(({ closed }) => closed), 'the end of the oldest');
    for (let count = 0; count < 5; count += 1) expect((await pages.call('files')).status).toBe(200);
    expect(sockets.at(-1)?.closed).toBe(false);
    queryLedger(account.user, "UPDATE files SET remark = 'seen' WHERE id = '2'");
    await until(() => live.messages.some(({ type }) => type === 'changed'), 'a page that is still told');
    for (const socket of sockets) socket.destroy();
    live.close();
  });
});

describe('with the cookie, but from elsewhere', () => {
  const foreign: ReadonlyArray<readonly [string, Record<string, string>]> = [
    ['a name that leads here (rebinding)', { host: 'evil.example' }],
    ['such a name with our port', { host: 'evil.example:PORT' }],
    ['localhost, which may lead elsewhere', { host: 'localhost:PORT' }],
    ['our address without the port', { host: '127.0.0.1' }],
    ['another port of this machine', { host: '127.0.0.1:1' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another server on this machine', { origin: 'http://127.0.0.1:1' }],
    ['a file or a sandboxed frame', { origin: 'null' }],
    ['another site, by what the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['another port, by what the browser says', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    [
      'a link to data',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    ],
  ];

  it.each(foreign)('refuses %s with 403', async (_, headers) => {
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(pages.port))]),
    );
    for (const path of ['files', 'live']) {
      const answer = await pages.call(path, { headers: named });
      expect(answer.status).toBe(403);
      expect(answer.text).not.toMatch(/Talk|example\.com/);
    }
    const posted = await pages.call('downloads', { method: 'POST', body: '{}', headers: named });
    expect(posted.status).toBe(403);
  });

  it('serves the empty page to whoever follows a link, and nothing of it to other sites', async () => {
    const visit = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect((await pages.ask('/', { headers: visit })).status).not.toBe(403);
    for (const dest of ['iframe', 'object', 'embed'])
      expect((await pages.ask('/', { headers: { ...visit, 'sec-fetch-dest': dest } })).status).toBe(403);
    const script = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'script',
    };
    expect((await pages.ask('/app.js', { headers: script })).status).toBe(403);
    expect((await pages.ask('/', { headers: { ...visit, host: 'evil.example' } })).status).toBe(403);
  });

  it('answers no preflight', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const answer = await pages.ask('/api/files', { method: 'OPTIONS', headers });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('every answer', () => {
  it.each(['/', '/app.js', `/open/${'a'.repeat(43)}`, '/nothing', '/api/about', '/api/files'])(
    'of %s has the headers that keep a page to itself',
    async (path) => {
      const { headers } = await pages.ask(path, { headers: { cookie: pages.cookie } });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).not.toContain('unsafe');
      for (const part of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(part);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    },
  );
});

describe('methods, sizes and types', () => {
  it.each([
    ['DELETE', '/api/files', 405],
    ['POST', '/api/files', 405],
    ['PUT', '/api/file/1', 405],
    ['GET', '/api/downloads', 405],
    ['GET', '/api/event/1/replay', 405],
    ['POST', '/api/live', 405],
    ['POST', '/', 405],
    ['GET', '/api/nothing', 404],
    ['GET', '/api/', 404],
    ['GET', '/api/file/1/check/more', 404],
    ['GET', '/api/constructor', 404],
    ['GET', '/__proto__', 404],
  ])('answers %s %s with %i', async (method, path, status) => {
    const answer = await pages.ask(path, { method, headers: { cookie: pages.cookie } });
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers.allow).toMatch(/GET|POST/);
    expect(errorOf(answer).message).not.toBe('');
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'takes no body of type %j, which another site could send without asking',
    async (type) => {
      const answer = await pages.call('event/1/replay', {
        ...{ method: 'POST', body: '{"to":"http://127.0.0.1:1/"}', headers: { 'content-type': type } },
      });
      expect(answer.status).toBe(415);
    },
  );

  it.each(['', 'null', '[]', '"a"', '{', '{"to":', '{"to":5}', '{"to":{"a":1}}', 'a'.repeat(10_000)])(
    'answers 400 to a body that is no object with texts: %.20s',
    async (body) => {
      const answer = await pages.call('event/1/replay', { method: 'POST', body });
      expect(answer.status).toBe(400);
    },
  );

  it('refuses a body that is too large, told or not', async () => {
    const body = 'x'.repeat(5 * 1024 * 1024);
    const post = { method: 'POST', body };
    const told = await pages.call('event/1/replay', post).catch(() => undefined);
    expect(told?.status ?? 413).toBe(413);
    const headers = { 'transfer-encoding': 'chunked' };
    const untold = await pages.call('event/1/replay', { ...post, headers }).catch(() => undefined);
    expect(untold?.status ?? 413).toBe(413);
    expect((await pages.call('about')).status).toBe(200);
  });

  it('goes on after what is no HTTP, a header that is too long and a client that leaves', async () => {
    for (const text of [
      '\0\0\0',
      'GET',
      `GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`,
      'GET /api/files HTTP/1.1\r\n\r\n',
    ])
      await new Promise<void>((done) => {
        const socket = connect(pages.port, '127.0.0.1', () =>
          socket.write(text, () => setTimeout(() => socket.destroy(), 20)),
        );
        socket.on('close', () => done()).on('error', () => {});
      });
    expect((await pages.call('about')).status).toBe(200);
  });
});

describe('hostile ids and paths', () => {
  const decoded = (id: string): string => {
    try {
      return decodeURIComponent(id);
    } catch {
      return id;
    }
  };

  it.each([
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '%2Fetc%2Fpasswd',
    '..',
    '%00',
    '%ff',
    '%',
    '1%0d%0ax: y',
    "1'; DROP TABLE files; --",
    '%25%27%22%3C',
    'a'.repeat(8_000),
  ])('finds no file %.30s', async (id) => {
    const path = encodeURI(`file/${id}`).replaceAll('%25', '%');
    for (const rest of ['', '/transcript', '/check']) {
      const answer = await pages.call(path + rest);
      expect([400, 404]).toContain(answer.status);
      expect(answer.text).not.toContain('root:');
    }
    const answer = await pages.post('downloads', { ids: [decoded(id)], formats: ['txt'] });
    expect([400, 404]).toContain(answer.status);
  });

  it.each([
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/dist/steno.js',
    '//etc/passwd',
    '/ui/index.html',
    '/app.js/',
    '/app.js%00',
    'http://127.0.0.1/',
  ])('serves no file at %s', async (path) => {
    const { status, text } = await pages.ask(path);
    expect(status).toBe(404);
    expect(text).not.toContain('steno-cli');
  });

  it.each(['0', '-1', '1.5', 'x', '999999999999999999999', '%00', '1 OR 1=1'])(
    'finds no event %s',
    async (n) => {
      expect((await pages.call(`event/${encodeURI(n).replaceAll('%25', '%')}`)).status).toBe(404);
    },
  );

  it.each([
    'sort=seq',
    'sort=title;DROP',
    'dir=up',
    'kind=state',
    'kind=constructor',
    'offset=-1',
    'limit=x',
    'offset=1e3',
  ])('refuses files?%s', async (query) => {
    const answer = await pages.call(`files?${query}`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).code).toBe('usage');
  });

  it.each([
    "%' OR 1=1 --",
    '%',
    '_',
    '\\',
    '"',
    '\0',
    '\ud800',
    '100%',
    '😀',
    'a'.repeat(3000),
    '🇩🇪'.repeat(500),
  ])('takes %.20j for a word', async (word) => {
    const q = new URLSearchParams({ q: word }).toString();
    for (const path of ['files', 'events']) expect((await pages.call(`${path}?${q}`)).status).toBe(200);
  });

  it('takes a percent sign and an underscore for themselves', async () => {
    const total = async (q: string): Promise<number> =>
      (await pages.json<{ total: number }>(`files?${new URLSearchParams({ q })}`)).total;
    expect(await total('%')).toBe(0);
    expect(await total('_')).toBe(0);
    expect(await total('talk')).toBe(2);
  });

  it('downloads no format and to no folder that is none', async () => {
    for (const body of [
      {},
      { formats: ['exe'] },
      { formats: ['../txt'] },
      { formats: ['txt'], folder: '\0' },
      { formats: ['txt'], folder: 'x'.repeat(5_000) },
      { formats: ['txt'], folder: 5 },
    ])
      expect((await pages.post('downloads', { ids: ['1'], ...body })).status).toBe(400);
  });

  it.each([
    '',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'x',
    '/hook',
    '--exec',
  ])('replays to no target %j', async (to) => {
    queryLedger(
      account.user,
      `INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
         VALUES (77, 'default', 'received', '2026-11-01T00:00:00.000Z', '::1', 'text/plain', CAST('event=X' AS BLOB), 'X', '1', '', '')
         ON CONFLICT DO NOTHING`,
    );
    const answer = await pages.post('event/77/replay', { to });
    expect(answer.status).toBe(400);
  });
});

describe('the key', () => {
  it('is in no answer, though it stands in titles, notes, events and errors', async () => {
    const title = `${KEY} <script>alert(1)</script>`;
    queryLedger(
      account.user,
      "UPDATE files SET title = ?, answer = ?, remark = ? WHERE id = '1'",
      title,
      JSON.stringify({ key: KEY }),
      KEY,
    );
    queryLedger(
      account.user,
      `INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
       VALUES (78, 'default', 'received', '2026-11-01T00:00:00.000Z', '::1', 'text/plain', CAST(? AS BLOB), 'X', '1', '1', '')`,
      `event=X&api_key=${encodeURIComponent(KEY)}`,
    );
    const secret = [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64').slice(0, 20)];
    const all = [
      'about',
      'files',
      'file/1',
      'events',
      'event/78',
      'spend',
      'spend.csv',
      'health',
      `files?q=${encodeURIComponent(KEY)}`,
    ];
    // Text is text: what shows it must not take it for markup.
    expect((await pages.json<{ file: { title: string } }>('file/1')).file.title).toContain('<script>');
    expect((await pages.call('file/1')).headers['content-type']).toBe('application/json; charset=utf-8');
    for (const path of all) {
      const { status, text } = await pages.call(path);
      expect(status, path).toBe(200);
      for (const each of secret) expect(text, path).not.toContain(each);
    }
    const error = await pages.post('event/78/replay', { to: `ftp://${encodeURIComponent(KEY)}` });
    expect(error.status).toBe(400);
    for (const each of secret) expect(error.text).not.toContain(each);
    expect(`${pages.stdout}${pages.stderr}`).not.toContain(KEY);
  });

  it('and the cookie are in no file of the state folder that others may read', () => {
    const folder = account.user.env.STENO_STATE_DIR ?? '';
    for (const name of listing(folder).filter((each) => each.startsWith('ui-')))
      expect(modeOf(`${folder}/${name}`)).toBe('600');
    expect(modeOf(folder)).toBe('700');
  });

  it('lets no cell of the CSV be a formula', async () => {
    queryLedger(account.user, "UPDATE files SET order_id = '=cmd()', title = '@SUM(1)' WHERE id = '2'");
    queryLedger(account.user, "UPDATE purchases SET order_id = '=cmd()'");
    const { text, headers } = await pages.call('spend.csv?by=order');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe('attachment; filename="steno-spend-by-order.csv"');
    expect(text).toContain("'=cmd()");
    expect(text).not.toMatch(/(^|,)=/m);
  });
});

describe('with STENO_ALLOW', () => {
  it('shows everything, but neither downloads nor replays', async () => {
    const { user, service } = account;
    const folder = user.env.STENO_STATE_DIR ?? '';
    const reading = await Pages.start(user, ['ui', '--no-open'], { env: { STENO_ALLOW: 'read' } });
    const before = listing(folder);
    service.got.length = 0;
    for (const path of ['files', 'file/1', 'search?q=a', 'events', 'spend', 'health'])
      expect((await reading.call(path)).status, path).toBe(200);
    // A read may keep the index of `search`.
    const after = listing(folder).filter((name) => !/^search\.db/.test(name) || before.includes(name));
    expect(after).toEqual(before);
    const calls = service.got.length;
    for (const [path, body, says] of [
      [
        'downloads',
        { ids: ['1'], formats: ['txt'] },
        /^a download is not allowed: it changes files, .* only read$/,
      ],
      ['zip', { ids: ['1'], formats: ['txt'] }, /^a download is not allowed/],
      ['event/78/replay', { to: 'http://127.0.0.1:9/' }, /^a replay is not allowed: it .*sends events, /],
    ] as const) {
      const answer = await reading.post(path, body);
      expect([answer.status, errorOf(answer)]).toEqual([
        403,
        { code: 'not_allowed', message: expect.stringMatching(says), hint: expect.any(String) },
      ]);
    }
    expect(service.got.length).toBe(calls);
  });

  it('refuses one of them alone', async () => {
    const env = { STENO_ALLOW: 'read,local' };
    const reading = await Pages.start(account.user, ['ui', '--no-open'], { env });
    expect((await reading.post('downloads', { ids: ['1'], formats: ['nope'] })).status).toBe(400);
    expect((await reading.post('event/78/replay', { to: 'http://127.0.0.1:9/' })).status).toBe(403);
  });
});

describe('a read', () => {
  it('never orders, upgrades, refunds or sets a webhook, and asks the service for nothing but health', async () => {
    account.service.got.length = 0;
    for (const path of [
      'about',
      'files',
      'file/1',
      'file/1/transcript',
      'events',
      'event/78',
      'spend',
      'spend.csv',
    ])
      await pages.call(path);
    expect(account.service.got).toEqual([]);
    await pages.call('health');
    expect(account.service.got.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
