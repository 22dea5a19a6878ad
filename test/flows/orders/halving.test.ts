/** A refused order of a list is sent again in halves: one bad row holds up no other. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { item, rss } from '../../support/feed.ts';
import { audio, type OrderingAccount, orderingAccount, reply, statuses } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import { sliceOf } from '../../support/slices.ts';
import { finished, type Result } from '../../support/steno.ts';

type Refuses = (urls: readonly string[], call: number) => { status: number; message: string } | undefined;

interface Picky extends OrderingAccount {
  /** How many calls ordered something, or were to. */
  calls(): number;
  /** The URLs that were bought. */
  bought: string[];
  /** Orders a list of these URLs. */
  list(urls: readonly string[], ...args: string[]): Promise<Result>;
}

const badUrls: Refuses = (urls) =>
  urls.some((url) => url.includes('bad')) ? { status: 400, message: 'no audio there' } : undefined;

/** A service that refuses some orders. */
async function picky(refuses: Refuses = badUrls): Promise<Picky> {
  const account = await orderingAccount();
  const { service, user, order } = account;
  const bought: string[] = [];
  let calls = 0;
  service.allow('POST /order_url', ({ body }, response) => {
    calls += 1;
    const urls = body?.url as string[];
    const refusal = refuses(urls, calls);
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      return reply(response, { message: refusal.message });
    }
    const audiofiles = urls.map((url) => bought.push(url));
    reply(response, { order: `o${calls}`, audiofiles, message: 'ok' });
  });
  return {
    ...account,
    bought,
    calls: () => calls,
    list: (urls, ...args) => {
      writeFileSync(join(user.home, 'm.csv'), `url\n${urls.join('\n')}\n`);
      return order('--from', 'm.csv', ...args);
    },
  };
}

/** So many rows, of which these are bad. */
const rows = (count: number, ...bad: number[]): string[] =>
  Array.from({ length: count }, (_, at) => audio(`${bad.includes(at) ? 'bad' : 'a'}${at}`));
const good = (urls: readonly string[]): string[] => urls.filter((url) => !url.includes('bad')).sort();

describe('a refused order of a list', () => {
  it('is sent again in halves, and the refused row is named with its line', async () => {
    const { user, list, bought } = await picky();
    const urls = rows(7, 4);
    const { code, stdout, stderr } = await list(urls);
    expect(code, stderr).toBe(10);
    expect(bought.sort()).toEqual(good(urls));
    expect(stdout.trim().split('\n')).toHaveLength(6);
    expect(stderr).toContain('1 of 7 rows failed');
    expect(stderr).toContain(`m.csv, line 6: ${urls[4]}: the service refused (HTTP 400: no audio there)`);
    expect(stderr).not.toContain('line 5');
    expect(statuses(user).filter((status) => status === 'sending' || status === 'uncertain')).toEqual([]);
    expect((await list(good(urls))).code).toBe(9);
  });

  it('blames no other row in the JSON', async () => {
    const { list } = await picky();
    const { code, stdout, stderr } = await list(rows(6, 0), '--json');
    expect(code).toBe(10);
    const files = JSON.parse(stdout) as Array<{ url: string; audiofile: string | null; error?: object }>;
    expect(files).toHaveLength(6);
    expect(files.filter(({ error }) => error).map(({ url }) => url)).toEqual([audio('bad0')]);
    expect(files.filter(({ audiofile }) => audiofile)).toHaveLength(5);
    expect(jsonError(stderr)).toMatchObject({
      code: 'partial',
      failures: [{ what: `m.csv, line 2: ${audio('bad0')}`, code: 'failed', status: 400 }],
    });
  });

  it.each(
    sliceOf<readonly [string, number[]]>(
      [
        ['anywhere', [3, 77, 140, 260, 333, 480, 610, 700, 850, 999]],
        ['all in one order', [0, 5, 10, 15, 20, 25, 30, 35, 40, 45]],
        ['the first ones', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
      ],
      3,
    ),
  )('of 1,000 rows with 10 bad ones, %s, takes at most 160 calls', { timeout: 120_000 }, async (_, bad) => {
    const { list, bought, calls } = await picky();
    const { code, stderr } = await list(rows(1_000, ...bad));
    expect(code, stderr).toBe(10);
    expect(stderr).toContain('10 of 1000 rows failed');
    expect(bought).toHaveLength(990);
    expect(calls()).toBeLessThanOrEqual(160);
  });

  it.each([
    ['a bad SKU', 400],
    ['no balance', 422],
    ['a wrong address', 404],
  ])('ends with 1 where three stand alone and are refused alike: %s', async (message, status) => {
    const { list, calls } = await picky(() => ({ status, message }));
    const { code, stdout, stderr } = await list(rows(120));
    expect([code, stdout]).toEqual([1, '']);
    // What follows is sent once, in case it is another matter.
    expect(calls()).toBeLessThanOrEqual(24);
    expect(stderr).toContain('120 of 120 rows failed');
    expect(stderr).toContain(message);
  });

  it('orders the good rows beside a bad quarter', async () => {
    const { list, bought } = await picky();
    const urls = rows(12, 5, 8, 9, 10, 11);
    const { code, stderr } = await list(urls);
    expect(code, stderr).toBe(10);
    expect(bought.sort()).toEqual(good(urls));
    expect(stderr).toContain('5 of 12 rows failed');
  });

  it('ends over all orders of a list, and not for each of them', async () => {
    const { list, calls } = await picky(() => ({ status: 400, message: 'a bad SKU' }));
    const { code, stderr } = await list(rows(40), '--per-order', '2');
    expect(code).toBe(1);
    // The third that stands alone is in the second order; what follows is sent once.
    expect(calls()).toBe(3 + 2 + 18);
    expect(stderr).toContain('40 of 40 rows failed');
  });

  it('is listed in the order of its rows', async () => {
    const { list } = await picky();
    const urls = rows(9, 0, 4, 8);
    const { stdout } = await list(urls, '--json', '--per-order', '5');
    expect((JSON.parse(stdout) as Array<{ url: string }>).map(({ url }) => url)).toEqual(urls);
  });

  it('goes on where each is refused for a reason of its own, up to 60 further calls', async () => {
    const { list, calls } = await picky((urls) => ({ status: 400, message: `${urls.length} ${urls[0]}` }));
    const { code, stderr } = await list(rows(70), '--json', '--per-order', '70');
    expect(code, stderr).toBe(1);
    expect(calls()).toBe(61);
    expect(stderr).toContain('60 further calls were not enough to find the bad rows');
  });

  it.each(
    sliceOf<readonly [string, number[]]>(
      [
        ['all but one', Array.from({ length: 49 }, (_, at) => at)],
        ['two of three', Array.from({ length: 33 }, (_, at) => at + 9)],
        ['every second one', Array.from({ length: 25 }, (_, at) => at * 2)],
      ],
      3,
    ),
  )('of 50 rows with %s of them bad finds each within 60 further calls', async (_, bad) => {
    const { list, calls, bought } = await picky((urls) =>
      urls.some((url) => url.includes('bad')) ? { status: 400, message: `no audio: ${urls}` } : undefined,
    );
    const urls = rows(50, ...bad);
    const { code, stderr } = await list(urls);
    expect(code, stderr).toBe(10);
    expect(calls()).toBeLessThanOrEqual(61);
    expect(bought.sort()).toEqual(good(urls));
    expect(stderr).toContain(`${bad.length} of 50 rows failed`);
    for (const at of bad) expect(stderr).toContain(`line ${at + 2}: ${urls[at]}: the service refused`);
  });

  it.each([413, 400])('that is too large is not cut smaller than it must be (%s)', async (status) => {
    const { list, calls, bought } = await picky((urls) =>
      urls.length > 15 ? { status, message: 'too many' } : undefined,
    );
    const { code } = await list(rows(50));
    expect([code, calls(), bought.length]).toEqual([0, 7, 50]);
  });

  it.each([408, 500, 504])('is not sent again where the answer is not clear (%s)', async (status) => {
    const { user, list, calls } = await picky(() => ({ status, message: 'hm' }));
    expect((await list(rows(4))).code).toBe(11);
    expect(calls()).toBe(1);
    expect(statuses(user)).toEqual(['uncertain']);
  });

  it.each([401, 403, 429])('is not halved after %s', async (status) => {
    const { list, calls } = await picky(() => ({ status, message: 'hm' }));
    expect([1, 3]).toContain((await list(rows(4))).code);
    expect(calls()).toBe(1);
  });

  it('stops at an unclear half, and the rest is not sent', async () => {
    const { list, bought, calls, user } = await picky((urls, call) =>
      call === 3 ? { status: 500, message: 'hm' } : badUrls(urls, call),
    );
    const { code, stderr } = await list(rows(8, 0), '--json');
    expect(code).toBe(11);
    expect(calls()).toBe(3);
    expect(bought).toEqual([]);
    expect(statuses(user)).toEqual(['refused', 'refused', 'uncertain']);
    expect(jsonError(stderr).failures).toContainEqual(expect.objectContaining({ what: 'not sent' }));
  });

  it('of URLs on the command line is not halved', async () => {
    const { order, calls } = await picky();
    expect((await order(...rows(3, 1))).code).toBe(1);
    expect(calls()).toBe(1);
  });

  it('leaves a trace of each half where it is killed', async () => {
    let kill = (): void => {};
    const { user, list, service, bought } = await picky((urls, call) => {
      if (call === 3) kill();
      return badUrls(urls, call);
    });
    writeFileSync(join(user.home, 'm.csv'), `url\n${rows(4, 0).join('\n')}\n`);
    const child = user.start(['order', '--sku', 'TRANS14', '--from', 'm.csv']);
    kill = () => child.kill('SIGKILL');
    await finished(child);
    expect(statuses(user)).toEqual(['refused', 'refused', 'sending']);
    const sent = service.calls('POST /order_url').length;
    // The half that was killed may have been bought: it is held, the other one is ordered.
    const { code, stderr } = await list(rows(4, 0), '--skip-ordered');
    expect(code, stderr).toBe(10);
    expect(stderr).toContain('2 URLs not ordered');
    const later = service.calls('POST /order_url').slice(sent);
    expect(later.flatMap(({ body }) => body?.url)).not.toContain(audio('a2'));
    expect(bought).toContain(audio('a1'));
  });
});

describe('a half', () => {
  it('is held to the budget', async () => {
    const { user, order, bought } = await picky();
    setAll(user, { 'price.TRANS14': '1', budget: '30/month' });
    const lines = rows(3, 1).map((url) => `${url},10`);
    writeFileSync(join(user.home, 'm.csv'), `url,minutes\n${lines.join('\n')}\n`);
    expect((await order('--from', 'm.csv')).code).toBe(10);
    expect(bought).toHaveLength(2);
    // The refused ones cost nothing: ten are left.
    writeFileSync(join(user.home, 'm.csv'), `url,minutes\n${audio('c')},10\n`);
    expect((await order('--from', 'm.csv')).code).toBe(0);
    writeFileSync(join(user.home, 'm.csv'), `url,minutes\n${audio('d')},1\n`);
    expect((await order('--from', 'm.csv')).code).toBe(2);
  });

  it('of a feed is ordered too', async () => {
    const { user, order, bought } = await picky();
    const items = rows(4, 2).map((url, at) =>
      item({ guid: `g${at}`, title: `T${at}`, date: 'Sun, 01 Nov 2026 09:00:00 GMT', url }),
    );
    writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
    const { code, stderr } = await order('--feed', 'f.xml', '--latest', '4');
    expect(code, stderr).toBe(10);
    expect(bought).toHaveLength(3);
    expect(stderr).toContain(audio('bad2'));
  });

  it('of a folder uploads nothing again, and names the local file', async () => {
    const { user, order, bought } = await picky();
    const url = 'https://up.example/$(basename "$1")?X-Amz-Signature=0123456789abcdef0123456789abcdef';
    setAll(user, { 'upload-command': `echo "$1" >> "$LOG"; echo "${url}"` });
    user.env.LOG = join(user.home, 'log');
    mkdirSync(join(user.home, 'rec'));
    for (const name of ['a.mp3', 'b.mp3', 'bad.mp3', 'd.mp3', 'e.mp3']) {
      const path = join(user.home, 'rec', name);
      writeFileSync(path, `\0${name}`);
      utimesSync(path, 1e9, 1e9);
    }
    const { code, stderr } = await order('rec');
    expect(code, stderr).toBe(10);
    expect(bought).toHaveLength(4);
    expect(stderr).toMatch(/rec\/bad\.mp3: the service refused/);
    expect(readFileSync(join(user.home, 'log'), 'utf8').trim().split('\n')).toHaveLength(5);
  });
});
