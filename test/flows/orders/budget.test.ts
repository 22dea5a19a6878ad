/** The setting `budget`: counted in the ledger, so that no number of processes spends more together. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { periodAt } from '../../../src/lib/money.ts';
import { item, rss } from '../../support/feed.ts';
import { type OrderingAccount, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import { sliceOf } from '../../support/slices.ts';

interface Budgeted extends OrderingAccount {
  set(settings: Readonly<Record<string, string | undefined>>): void;
  /** Orders an episode of ten minutes, under a name of its own. */
  buy(name: string, ...args: string[]): ReturnType<OrderingAccount['order']>;
  /** How many orders the service got. */
  sent(): number;
}

/** Ten minutes at 1.00 each. */
async function budgeted(budget: string, price = '1'): Promise<Budgeted> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  const set: Budgeted['set'] = (settings) => setAll(user, settings);
  set({ budget, 'price.TRANS14': price || undefined });
  return {
    ...account,
    set,
    buy: (name, ...args) => {
      const more = '<itunes:duration>10:00</itunes:duration>';
      const text = rss(item({ guid: name, title: name, url: `https://m.example/${name}.mp3`, more }));
      writeFileSync(join(user.home, `${name}.xml`), text);
      return order('--feed', `${name}.xml`, '--latest', '1', ...args);
    },
    sent: () => service.calls('POST /order_url').length,
  };
}

describe('a budget', () => {
  it('lets pass what it holds, to the cent, and no order more', async () => {
    const { buy, sent } = await budgeted('20/month');
    expect((await buy('a')).code).toBe(0);
    expect((await buy('b')).code).toBe(0);
    const { code, stdout, stderr } = await buy('c');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'steno: the estimate of 10.00 exceeds what is left of the budget of 20.00/month: 0.00\nhint: ',
    );
    expect(stderr).toContain(`wait until ${periodAt('month', Date.now()).end.slice(0, 10)}`);
    expect(sent()).toBe(2);
  });

  it('is for all orders of a command together', async () => {
    const { order, user, sent } = await budgeted('20/month');
    const more = '<itunes:duration>10:00</itunes:duration>';
    const items = [1, 2, 3].map((n) => item({ guid: `${n}`, url: `https://m.example/${n}.mp3`, more }));
    writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
    const all = await order('--feed', 'f.xml', '--latest', '3', '--per-order', '1');
    expect([all.code, sent()]).toEqual([2, 0]);
    expect((await order('--feed', 'f.xml', '--latest', '2', '--per-order', '1')).code).toBe(0);
    expect(sent()).toBe(2);
  });

  it('is held by eight processes at once: where it allows three, exactly three order', async () => {
    const { buy, sent, service, user } = await budgeted('35/day');
    let orders = 0;
    service.on('POST /order_url', (_, response) => {
      orders += 1;
      const body = JSON.stringify({ order: `p${orders}`, audiofiles: [orders], message: 'ok' });
      setTimeout(() => response.end(body), 300);
    });
    const ends = await Promise.all(Array.from({ length: 8 }, (_, n) => buy(`n${n}`)));
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 0, 0, 2, 2, 2, 2, 2]);
    for (const { code, stderr } of ends)
      if (code === 2) expect(stderr).toContain('exceeds what is left of the budget of 35.00/day: 5.00');
    expect([sent(), statuses(user)]).toEqual([3, ['placed', 'placed', 'placed']]);
  });

  it('gets back what was refused, and keeps what is unclear', async () => {
    const { buy, service, user } = await budgeted('10/month');
    const placed = { body: { order: 'x', audiofiles: [1], message: 'ok' } };
    service.on('POST /order_url', { status: 400, body: { message: 'no' } }, { status: 500 }, placed);
    expect((await buy('a')).code).toBe(1);
    expect((await buy('b')).code).toBe(11);
    expect((await buy('c')).code).toBe(2);
    const [attempt] = queryLedger<{ number: number }>(
      user,
      "SELECT number FROM purchases WHERE status = 'uncertain'",
    );
    expect((await user.run(['attempts', 'settle', String(attempt?.number), '--not-placed'])).code).toBe(0);
    expect((await buy('c')).code).toBe(0);
  });

  it('does not count test orders, and does not stop them', async () => {
    const { buy, sent, set } = await budgeted('10/month');
    expect((await buy('a', '--test')).code).toBe(0);
    expect((await buy('b')).code).toBe(0);
    set({ budget: '1/month' });
    expect((await buy('c', '--test')).code).toBe(0);
    expect((await buy('d')).code).toBe(2);
    expect(sent()).toBe(3);
  });

  it('lets pass a test order of which no price is known, and one that no ledger counts', async () => {
    const { buy } = await budgeted('10/month', '');
    expect((await buy('a', '--test')).code).toBe(0);
    expect((await buy('b', '--test', '--no-ledger', '--again')).code).toBe(0);
  });

  it('stops what has no known price, unless --unpriced', async () => {
    const { buy, order, sent, set } = await budgeted('10/month', '');
    const unpriced = await buy('a');
    expect(unpriced.code).toBe(2);
    expect(unpriced.stderr).toContain(
      "steno: Can't check the budget of 10.00/month: the price of TRANS14 is unknown",
    );
    expect(unpriced.stderr).toMatch(/hint: set the price.*price\.TRANS14.*--unpriced/);
    expect(sent()).toBe(0);
    expect((await buy('a', '--unpriced')).code).toBe(0);
    set({ 'price.TRANS14': '1' });
    expect((await order('https://e.org/a.mp3')).stderr).toContain('the length of 1 audio file is unknown');
    expect((await order('https://e.org/a.mp3', '--unpriced')).stderr).toContain(
      'the budget of 10.00/month is used up: nothing is left for orders of unknown cost',
    );
    // By now the price of the first one is known, and nothing is left.
    expect((await buy('b', '--unpriced')).code).toBe(2);
    expect(sent()).toBe(1);
  });

  it('counts what is known of an order that --unpriced lets pass', async () => {
    const { order, buy, user } = await budgeted('15/month');
    const more = '<itunes:duration>10:00</itunes:duration>';
    const items = [
      item({ guid: '1', url: 'https://m.example/1.mp3', more }),
      item({ guid: '2', url: 'https://m.example/2.mp3' }),
    ];
    writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
    expect((await order('--feed', 'f.xml', '--latest', '2', '--unpriced')).code).toBe(0);
    const { code, stderr } = await buy('a', '--unpriced');
    expect(code).toBe(2);
    expect(stderr).toContain('exceeds what is left of the budget of 15.00/month: 5.00');
  });

  it.each(sliceOf(['month', 'day', 'week', 'year'] as const, 4))(
    'begins anew with each %s, in UTC',
    async (period) => {
      const { buy, user, sent } = await budgeted(`10/${period}`);
      expect((await buy('a')).code).toBe(0);
      const { start } = periodAt(period, Date.now());
      const boughtAt = (moment: string): unknown =>
        queryLedger(user, 'UPDATE purchase_items SET counted_at = ?', moment);
      boughtAt(start);
      expect((await buy('b')).code).toBe(2);
      boughtAt(new Date(Date.parse(start) - 1).toISOString());
      expect((await buy('b')).code).toBe(0);
      expect(sent()).toBe(2);
    },
  );

  it('in another currency than prices, or than what was spent, is not compared', async () => {
    const { buy, sent, set } = await budgeted('100 EUR/month', '1 USD');
    const prices = await buy('a');
    expect(prices.code).toBe(2);
    expect(prices.stderr).toContain(
      "prices are in USD, which can't be compared with the budget of 100.00 EUR/month",
    );
    set({ budget: '100/month' });
    expect((await buy('a')).code).toBe(0);
    set({ budget: '100 EUR/month', 'price.TRANS14': '1 EUR' });
    const spent = await buy('b');
    expect(spent.code).toBe(2);
    expect(spent.stderr).toContain("10.00 USD can't be counted against the budget of 100.00 EUR/month");
    set({ budget: '100/month' });
    expect((await buy('b')).stderr).toContain(
      "10.00 USD can't be counted against the budget of 100.00/month",
    );
    set({ currency: 'USD' });
    expect((await buy('b')).stderr).toContain(
      "prices are in EUR, which can't be compared with the budget of 100.00 USD/month",
    );
    expect(sent()).toBe(1);
  });

  it('stops no plan, which says that it would', async () => {
    const { buy, sent } = await budgeted('9/month');
    const { code, stdout, stderr } = await buy('a', '--dry-run');
    expect([code, sent()]).toEqual([0, 0]);
    expect(stdout).toContain('https://m.example/a.mp3');
    expect(stderr).toContain(
      'warning: the estimate of 10.00 exceeds what is left of the budget of 9.00/month: 9.00',
    );
    const json = await buy('a', '--dry-run', '--json');
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([0, { estimate: { high: 10 } }]);
    expect(JSON.parse(json.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      warning: { message: expect.stringContaining('exceeds what is left') },
    });
  });

  it('that is larger than a database counts is one that is never reached', async () => {
    const { buy } = await budgeted('1e30/month');
    expect((await buy('a')).code).toBe(0);
  });
});

describe('rows that several processes order', () => {
  /** A list of so many rows of ten minutes at 1.00, and a service that takes its time. */
  async function list(rows: number, budget: string, ...refused: number[]): Promise<Budgeted> {
    const account = await budgeted(budget);
    const lines = Array.from({ length: rows }, (_, n) => `https://m.example/${n}.mp3,10`);
    writeFileSync(join(account.user.home, 'list.csv'), `url,minutes\n${lines.join('\n')}\n`);
    let calls = 0;
    account.service.allow('POST /order_url', ({ body }, response) => {
      calls += 1;
      const [id, fails] = [calls, refused.includes(calls)];
      const answer = {
        order: `o${id}`,
        audiofiles: ([body?.url ?? []].flat() as string[]).map((_, n) => id * 100 + n),
      };
      setTimeout(() => {
        response.writeHead(fails ? 400 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(fails ? { message: 'no' } : answer));
      }, 250);
    });
    return account;
  }

  const placed = async ({ user }: Budgeted): Promise<unknown[]> =>
    JSON.parse((await user.run(['files', '--json'])).stdout);

  it.each([
    ['--skip-ordered', '1'],
    ['--skip-ordered', '2'],
    ['--up-to-budget', '1'],
    ['--up-to-budget', '2'],
  ])('count once, and all that fits is bought: %s, %s an order', async (flag, perOrder) => {
    const account = await list(6, '60/month');
    const line = ['--from', 'list.csv', '--skip-ordered', flag, '--per-order', perOrder];
    const ends = await Promise.all([1, 2, 3, 4].map(() => account.order(...line)));
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0, 0, 0]);
    expect(await placed(account)).toHaveLength(6);
  });

  it('and no more than fits is bought', async () => {
    const account = await list(6, '40/month');
    const line = ['--from', 'list.csv', '--skip-ordered', '--up-to-budget', '--per-order', '1'];
    const ends = await Promise.all([1, 2, 3, 4].map(() => account.order(...line)));
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0, 0, 0]);
    expect(await placed(account)).toHaveLength(4);
  });

  it('leave room for others where the service refuses one', async () => {
    const account = await list(2, '10/month', 1);
    const line = ['--from', 'list.csv', '--skip-ordered', '--up-to-budget', '--per-order', '1'];
    await Promise.all([1, 2].map(() => account.order(...line)));
    expect(await placed(account)).toHaveLength(1);
  });
});
