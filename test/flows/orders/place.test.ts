/** Nothing is bought twice: an order is in the ledger before it is sent, and its outcome after. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, ledgerOf, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { finished, KEY, User } from '../../support/steno.ts';
import { notShared, WITHOUT_LEDGER } from '../../support/store.ts';
import { deadAddress, Wire } from '../../support/wire.ts';

const url = audio('a');
const placed = { body: { order: 'x1', audiofiles: [7], message: 'ok' } };

describe('an order', () => {
  it('that could not reach the service says that nothing was ordered', async () => {
    const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: await deadAddress() });
    const { code, stderr } = await user.run(['order', url, '--sku', 'TRANS14']);
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/^steno: can't reach .*; nothing was ordered\n/),
    ]);
  });

  it('with SKU and URL swapped is told the right line', async () => {
    const { code, stderr } = await new User().run(['--sandbox', 'order', 'TRANS14', '--sku', url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`steno order ${url} --sku TRANS14`)]);
  });

  it('is in the ledger before the service has the request', async () => {
    const { service, user, order } = await orderingAccount();
    let seen: unknown[] = [];
    service.on('POST /order_url', (_, response) => {
      seen = queryLedger(
        user,
        'SELECT status, url, test FROM purchases JOIN purchase_items ON purchase = purchases.id',
      );
      response.end(JSON.stringify(placed.body));
    });
    expect((await order(url)).code).toBe(0);
    expect(seen).toEqual([{ status: 'sending', url, test: 0 }]);
    expect(statuses(user)).toEqual(['placed']);
  });

  it('keeps its order, its files and what was ordered', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'), audio('b'), '--sku', 'TSTMP1', '--notes', 'two', '--name', 'Ada', '--name', 'Bo');
    expect(queryLedger(user, 'SELECT profile, order_id, skus, names, notes, hold FROM purchases')).toEqual([
      {
        profile: 'default',
        order_id: 'o1',
        skus: 'TRANS14,TSTMP1',
        names: 'Ada|Bo',
        notes: 'two',
        hold: null,
      },
    ]);
    expect(queryLedger(user, 'SELECT id, order_id, test, state FROM files ORDER BY seq')).toEqual([
      { id: '1', order_id: 'o1', test: 0, state: '' },
      { id: '2', order_id: 'o1', test: 0, state: '' },
    ]);
  });

  it('of the same URL stops with 9, names the order, and sends nothing', async () => {
    const { service, order } = await orderingAccount();
    expect((await order(url)).code).toBe(0);
    const { code, stdout, stderr } = await order(url);
    expect([code, stdout]).toEqual([9, '']);
    expect(stderr).toMatch(
      /^steno: https:\/\/example\.com\/a\.mp3 was ordered as order o1 (?:just now|\d+s ago)\nhint: add --again [^\n]*--skip-ordered [^\n]*steno files --order o1\n/,
    );
    const asJson = await order(url, audio('b'), '--json');
    expect(asJson.code).toBe(9);
    expect(jsonError(asJson.stderr)).toMatchObject({ code: 'duplicate', hint: expect.any(String) });
    expect(service.got).toHaveLength(1);
  });

  it('goes through once more with --again, and once more without the ledger', async () => {
    const { service, user, order } = await orderingAccount();
    await order(url);
    expect((await order(url, '--again')).code).toBe(0);
    expect((await order(url, ...WITHOUT_LEDGER)).code).toBe(0);
    expect((await order(url)).code).toBe(9);
    expect(service.got).toHaveLength(3);
    expect(statuses(user)).toEqual(['placed', 'placed']);
    expect(queryLedger(user, 'SELECT id FROM files ORDER BY seq')).toEqual([{ id: '1' }, { id: '2' }]);
  });

  it('leaves out what is on order with --skip-ordered, and orders the rest', async () => {
    const { service, order } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const { code, stdout, stderr } = await order(
      audio('b'),
      audio('c'),
      audio('a'),
      '--skip-ordered',
      '--quiet',
    );
    expect([code, stdout], stderr).toEqual([0, '3\n']);
    expect(service.got[1]?.body?.url).toEqual([audio('c')]);
    const nothing = await order(audio('a'), audio('c'), '--skip-ordered');
    expect([nothing.code, nothing.stdout]).toEqual([0, '']);
    expect(nothing.stderr).toMatch(/Skipped 2 of 2: already ordered/);
    const json = await order(audio('a'), '--skip-ordered', '--json');
    expect([json.code, json.stderr]).toEqual([0, '']);
    expect(JSON.parse(json.stdout)).toMatchObject([{ audiofile: '1', order: 'o1', left_out: 'ordered' }]);
    expect(service.got).toHaveLength(2);
  });

  it('that is a test does not count, and is not counted', async () => {
    const { service, user, order } = await orderingAccount();
    for (const args of [['--test'], ['--test'], [], ['--test']])
      expect((await order(url, ...args)).code, args.join()).toBe(0);
    expect((await order(url)).code).toBe(9);
    expect(service.got).toHaveLength(4);
    expect(queryLedger(user, 'SELECT test FROM files ORDER BY seq')).toEqual(
      [1, 1, 0, 1].map((test) => ({ test })),
    );
  });

  it('that is a test never takes the place of a real file of the same id', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', placed);
    await order(url);
    await order(audio('b'), '--test');
    expect(queryLedger(user, 'SELECT id, test FROM files')).toEqual([{ id: '7', test: 0 }]);
  });

  it('is one however its URL is spelled, and is sent as it was written', async () => {
    const { service, order } = await orderingAccount();
    const spelling = 'HTTPS://EXAMPLE.com:443/x/../a.mp3#t=10';
    expect((await order(spelling)).code).toBe(0);
    for (const other of [url, 'https://EXAMPLE.com/a.mp3', 'https://example.com:443/a.mp3', `${url}#x`])
      expect((await order(other)).code, other).toBe(9);
    expect(service.got.map((got) => got.body?.url)).toEqual([[spelling]]);
  });

  it('of another path, query, scheme or port is another order', async () => {
    const { service, order } = await orderingAccount();
    await order(url);
    const others = [
      'https://example.com/A.mp3',
      `${url}?x=1`,
      'http://example.com/a.mp3',
      'https://example.com:8443/a.mp3',
    ];
    expect((await order(...others)).code).toBe(0);
    expect(service.got).toHaveLength(2);
  });

  it('with a URL twice is a mistake unless one of them may be left out', async () => {
    const { service, order } = await orderingAccount();
    const twice = [url, 'https://EXAMPLE.com/a.mp3#x'];
    const refused = await order(...twice);
    expect([refused.code, service.got.length]).toEqual([2, 0]);
    expect(refused.stderr).toContain('twice');
    expect((await order(...twice, '--skip-ordered')).code).toBe(0);
    expect(service.got[0]?.body?.url).toEqual([url]);
  });

  it.skipIf(notShared('each account of a base URL must be chosen there'))(
    'of one profile does not count for another',
    async () => {
      const { service, user, order } = await orderingAccount();
      const orderAs = async (profile: string) => {
        await user.run(['config', 'set', 'timeout', '30', '--profile', profile]);
        const env = { STENO_API_KEY: `key-of-${profile}` };
        return user.run(['order', url, '--sku', 'TRANS14', '--profile', profile], { env });
      };
      expect((await orderAs('one')).code).toBe(0);
      expect((await orderAs('two')).code).toBe(0);
      expect((await order(url)).code).toBe(0);
      expect((await orderAs('one')).code).toBe(9);
      expect(service.got).toHaveLength(3);
      const list = await user.run(['files', '--quiet', '--profile', 'two']);
      expect(list.stdout).toBe('2\n');
    },
  );

  it('is kept without the key, even where the service sends the key back', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { status: 400, body: { message: `bad key ${KEY}` } }, placed);
    service.on('GET /audiofile/7', {
      body: {
        audiofile: {
          id: 7,
          statename: 'Transcribing',
          title: `by ${KEY}`,
          api_key: KEY,
          link: encodeURIComponent(KEY),
        },
      },
    });
    await order(url, '--notes', `use ${KEY}`);
    await order(`${url}?k=${encodeURIComponent(KEY)}`, '--notes', `use ${KEY}`);
    await user.run(['files', '--refresh']);
    const { stdout, code } = await user.run(['files', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)[0]).toMatchObject({
      title: 'by ****',
      answer: { audiofile: { id: 7, api_key: '****' } },
    });
    for (const name of ['', '-wal']) {
      const bytes = readIfThere(ledgerOf(user) + name);
      for (const form of [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')])
        expect(bytes.includes(form), form).toBe(false);
    }
    expect((await order(`${url}?k=${encodeURIComponent(KEY)}`)).code).toBe(9);
  });
});

const clear: ReadonlyArray<readonly [string, Answer, number]> = [
  ['400', { status: 400, body: { message: 'no such host' } }, 1],
  ['401', { status: 401, body: { message: 'who?' } }, 3],
  ['404', { status: 404 }, 4],
  ['422', { status: 422 }, 1],
  ['429', { status: 429 }, 1],
  ['503', { status: 503, headers: { 'retry-after': '1' } }, 1],
];

const unclear: ReadonlyArray<readonly [string, Answer]> = [
  ['500', { status: 500 }],
  ['502', { status: 502, body: '<html><h1>Bad gateway</h1></html>' }],
  ['504', { status: 504 }],
  ['a reset', (_, __, socket) => void socket.resetAndDestroy()],
  ['an empty answer', { body: '' }],
  ['a page in place of an answer', { body: '<html>hello</html>' }],
  ['an answer without ids', { body: { message: 'fine' } }],
  [
    'half an answer',
    (_, response, socket) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"order":', () => socket.destroy());
    },
  ],
  ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
];

describe('after', () => {
  it.each(clear)('%s the URL may be ordered again', async (_, answer, exit) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', answer, placed);
    expect((await order(url)).code).toBe(exit);
    expect(statuses(user)).toEqual(['refused']);
    expect((await order(url)).code).toBe(0);
    expect(statuses(user)).toEqual(['refused', 'placed']);
    expect(service.got).toHaveLength(2);
  });

  it.each(unclear)('%s the next order stops with 9 and says what to look at', async (_, answer) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', answer);
    const first = await order(url);
    expect(first.code, first.stderr).toBe(11);
    expect(statuses(user)).toEqual(['uncertain']);
    const next = await order('https://EXAMPLE.com/a.mp3#x');
    expect(next.code).toBe(9);
    expect(next.stderr).toMatch(/may have gone through[^\n]*\nhint: [^\n]*balance[^\n]*account[^\n]*--again/);
    expect(service.got).toHaveLength(1);
  });

  it('an unclear answer the URL is not left out by --skip-ordered, and --again settles it', async () => {
    const { service, order } = await orderingAccount();
    const next = { body: { order: 'x2', audiofiles: [8], message: 'ok' } };
    service.on('POST /order_url', { status: 500 }, placed, next);
    await order(url);
    expect((await order(url, '--skip-ordered')).code).toBe(9);
    expect(service.got).toHaveLength(1);
    expect((await order(url, '--again')).code).toBe(0);
    expect((await order(url)).stderr).toContain('was ordered as order x1');
    expect((await order(url, audio('b'), '--skip-ordered')).code).toBe(0);
    expect(service.got[2]?.body?.url).toEqual([audio('b')]);
  });

  it.skipIf(notShared('an account belongs to one base URL there'))(
    'a connection that was never made the URL may be ordered again',
    async () => {
      const { user, order } = await orderingAccount();
      const dead = await user.run(['order', url, '--sku', 'TRANS14', '--base-url', await deadAddress()]);
      expect(dead.code).toBe(7);
      expect(statuses(user)).toEqual(['refused']);
      expect((await order(url)).code).toBe(0);
    },
  );

  it('a time-out the outcome is unknown', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', () => {});
    expect((await order(url, '--timeout', '300ms')).code).toBe(11);
    expect(statuses(user)).toEqual(['uncertain']);
    expect((await order(url)).code).toBe(9);
    expect(service.got).toHaveLength(1);
  });
});

/** The orders that arrive at a server that takes its time with each. */
describe('eight processes that order the same URL at the same moment', () => {
  it('send one order: one ends with 0, seven with 9', async () => {
    const { service, user, order } = await orderingAccount();
    const answer = { order: 'o1', audiofiles: [1], message: 'ok' };
    service.on('POST /order_url', (_, response) =>
      setTimeout(() => response.end(JSON.stringify(answer)), 400),
    );
    const ends = await Promise.all(Array.from({ length: 8 }, () => order(url)));
    expect(ends.map(({ code }) => code).sort(), ends.map(({ stderr }) => stderr).join('')).toEqual([
      0, 9, 9, 9, 9, 9, 9, 9,
    ]);
    expect(service.got).toHaveLength(1);
    expect(statuses(user)).toEqual(['placed']);
  });
});

describe('kill -9', () => {
  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'before sending leaves an attempt that the next order stops at',
    async () => {
      // A name server that never answers, so to speak: the connection is made, but TLS never begins.
      const wire = await Wire.start(() => {});
      const user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: wire.baseUrl.replace('http:', 'https:') });
      const child = user.start(['order', url, '--sku', 'TRANS14']);
      const end = finished(child);
      while (wire.connections === 0) await sleep(10);
      child.kill('SIGKILL');
      await end;
      expect(statuses(user)).toEqual(['sending']);
      const next = await user.run(['order', url, '--sku', 'TRANS14']);
      expect(next.code).toBe(9);
      expect(next.stderr).toMatch(/was started but has no outcome: it may have gone through\nhint: /);
      expect(wire.connections).toBe(1);
    },
  );

  it('right after the answer leaves an order that is known or unclear, never forgotten', async () => {
    for (const delay of [0, 2, 5, 10, 20]) {
      const { service, user, order } = await orderingAccount();
      const answered = new Promise<void>((done) =>
        service.on('POST /order_url', (_, response) => {
          response.end(JSON.stringify(placed.body), () => setTimeout(done, delay));
        }),
      );
      const child = user.start(['order', url, '--sku', 'TRANS14']);
      const exit = once(child, 'exit');
      await answered;
      child.kill('SIGKILL');
      await exit;
      expect(['sending', 'placed']).toContain(statuses(user)[0]);
      expect((await order(url)).code, `${delay} ms after the answer`).toBe(9);
      expect(service.got).toHaveLength(1);
    }
  });
});

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
