/** What an order will cost, before it is sent: the estimate, its ground, and --max-cost. */
import { copyFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { item, rss } from '../../support/feed.ts';
import { type OrderingAccount, orderingAccount, reply } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';

interface Billed {
  readonly minutes: string;
  readonly price: string;
  readonly quantity?: string;
  readonly state?: string;
  readonly created?: string;
  readonly sku?: string;
}

interface Costing extends OrderingAccount {
  set(name: string, value: string): void;
  /** Orders from a feed with episodes of these lengths; no length where it is empty. */
  episodes(durations: readonly string[], ...args: string[]): ReturnType<OrderingAccount['order']>;
  /** Has the service deliver and bill files, each on an invoice of its own, and has the ledger hear of them. */
  billed(...bills: readonly Billed[]): Promise<void>;
}

async function costing(): Promise<Costing> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  return {
    ...account,
    set: (name, value) => setAll(user, { [name]: value }),
    episodes: (durations, ...args) => {
      const items = durations.map((duration, at) =>
        item({
          guid: `g${at}`,
          title: `Talk ${at}`,
          url: `https://m.example/${at}.mp3`,
          more: duration && `<itunes:duration>${duration}</itunes:duration>`,
        }),
      );
      writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
      return order('--feed', 'f.xml', '--latest', '99', ...args);
    },
    billed: async (...bills) => {
      for (const [at, { minutes, price, quantity = minutes, ...bill }] of bills.entries()) {
        const [id, { state = 'PAID', sku = 'TRANS14' }] = [at + 1, bill];
        service.on(`GET /audiofile/${id}`, (_, response) =>
          reply(response, {
            audiofile: { id, statename: 'Delivered', duration: minutes, invoices: [`v${id}`] },
          }),
        );
        service.allow(`POST /invoice/v${id}`, {
          body: {
            id: `v${id}`,
            state,
            createtime: bill.created ?? '2026-08-01T00:00:00Z',
            items: [{ sku, price, quantity, audiofile: id }],
          },
        });
      }
      const urls = bills.map((_, at) => `https://old.example/${at}.mp3`);
      const { code, stderr } = await order(...urls, '--wait', '--interval', '100ms');
      expect(code, stderr).toBe(0);
    },
  };
}

const isOrder = ({ path }: { path: string }): boolean => path === '/order_url';

/** What is said of the estimate. */
const told = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => /^estimate|^[A-Z0-9]+ at |unknown/.test(line));

describe('the estimate', () => {
  it('of what has no price and no length is not known, and never zero', async () => {
    const { order, service } = await costing();
    const { code, stdout, stderr } = await order('https://e.org/a.mp3', 'https://e.org/b.mp3', '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'estimate: unknown\n' +
        'the price of TRANS14 is unknown: no invoice lists it\n' +
        'the length of 2 audio files is unknown: https://e.org/a.mp3, https://e.org/b.mp3\n',
    );
    expect(stdout + stderr).not.toMatch(/\b0(\.0+)?\b/);
    expect(service.got).toEqual([]);
  });

  it('comes from the price that is set, in the currency that is set', async () => {
    const { episodes, set } = await costing();
    set('price.TRANS14', '0.86');
    expect(told((await episodes(['30:00', '1:00'], '--dry-run')).stderr)).toEqual([
      'estimate: 26.66 USD',
      'TRANS14 at 0.86/min (from the settings)',
    ]);
    set('currency', 'usd');
    expect(told((await episodes(['30:00'], '--dry-run')).stderr)).toEqual([
      'estimate: 25.80 USD',
      'TRANS14 at 0.86 USD/min (from the settings)',
    ]);
    set('price.TRANS14', '1 EUR');
    expect(told((await episodes(['30:00'], '--dry-run')).stderr)[0]).toBe('estimate: 30.00 EUR');
  });

  it('comes from the invoices of the account, each fetched once', async () => {
    const { billed, episodes, service } = await costing();
    await billed(
      { minutes: '10', price: '0.50', created: '2026-08-03T00:00:00Z' },
      { minutes: '20', price: '0.50', created: '2026-10-01T00:00:00Z' },
    );
    for (const _ of [1, 2])
      expect(told((await episodes(['30:00'], '--dry-run')).stderr)).toEqual([
        'estimate: 15.00 USD',
        'TRANS14 at 0.50/min (from 2 invoices since August)',
      ]);
    expect(service.got.filter(({ path }) => path.startsWith('/invoice/'))).toHaveLength(2);
    expect(service.got.filter(isOrder)).toHaveLength(1);
  });

  it('is a range where earlier bills differ, and says so', async () => {
    const { billed, episodes } = await costing();
    await billed({ minutes: '10', price: '0.50' }, { minutes: '20', price: '0.60' });
    expect(told((await episodes(['10:00'], '--dry-run')).stderr)).toEqual([
      'estimate: 5.00 to 6.00 USD',
      'TRANS14 at 0.50 to 0.60/min (from 2 invoices since August)',
    ]);
  });

  it('takes a set price before a learned one', async () => {
    const { billed, episodes, set } = await costing();
    await billed({ minutes: '10', price: '0.50' });
    set('price.TRANS14', '2');
    expect(told((await episodes(['10:00'], '--dry-run')).stderr)[0]).toBe('estimate: 20.00 USD');
  });

  it('does not take a quantity for minutes where it is none', async () => {
    const { billed, episodes } = await costing();
    await billed({ minutes: '10', price: '9', quantity: '1' });
    const { stderr } = await episodes(['10:00'], '--dry-run');
    expect(told(stderr)[0]).toBe('estimate: unknown');
  });

  it('has the length of a file from its header', async () => {
    const { order, user, set } = await costing();
    set('upload-command', 'echo https://up.example/a.mp3');
    set('price.TRANS14', '60');
    const path = join(user.home, 'tone.wav');
    copyFileSync(resolve('test/data/tone-adpcm.wav'), path);
    utimesSync(path, 1e9, 1e9);
    const { stdout, stderr } = await order('tone.wav', '--dry-run', '--json');
    const [plan] = JSON.parse(stdout).orders as [
      { estimate: { high: number }; audios: [{ minutes: number }] },
    ];
    expect(plan.estimate.high, stderr).toBeGreaterThan(0);
    expect(plan.audios[0].minutes).toBeGreaterThan(0);
  });

  it('names each part that is not known, whatever is known beside it', async () => {
    const { episodes, set } = await costing();
    set('price.TRANS14', '1');
    const { stderr } = await episodes(['10:00', '', '0', ''], '--dry-run', '--sku', 'TSTMP1');
    expect(told(stderr)).toEqual([
      'estimate: unknown',
      'TRANS14 at 1.00/min (from the settings)',
      'the price of TSTMP1 is unknown: no invoice lists it',
      'the length of 3 audio files is unknown: Talk 1, Talk 2, Talk 3',
    ]);
  });

  it('is in the JSON of a plan, with null for what is not known', async () => {
    const { episodes, set } = await costing();
    const estimates = async (...durations: string[]): Promise<unknown> => {
      const plan = JSON.parse((await episodes(durations, '--dry-run', '--json')).stdout);
      expect(plan.estimate).toEqual(plan.orders[0].estimate);
      return (plan.orders as Array<{ estimate: unknown }>).map(({ estimate }) => estimate);
    };
    expect(await estimates('10:00')).toMatchObject([{ low: null, high: null, currency: null }]);
    set('price.TRANS14', '0.10 USD');
    expect(await estimates('10:00')).toMatchObject([
      { low: 1, high: 1, currency: 'USD', prices: [{ sku: 'TRANS14', from: 'setting' }], unpriced: [] },
    ]);
    expect(await estimates('10:00', '')).toMatchObject([
      { low: null, high: null, known: [{ amount: 1, currency: 'USD' }], unmeasured: ['Talk 1'] },
    ]);
  });

  it('of a test order is nothing: it costs nothing', async () => {
    const { episodes, set } = await costing();
    set('price.TRANS14', '1');
    expect(told((await episodes(['10:00'], '--dry-run', '--test')).stderr)).toEqual(['estimate: 0.00 USD']);
    expect((await episodes(['10:00', ''], '--test', '--max-cost', '0')).code).toBe(0);
  });

  it('says which invoice could not be read', async () => {
    const { billed, episodes, service } = await costing();
    await billed({ minutes: '10', price: '0.50' });
    service.on('POST /invoice/v1', { status: 404, body: { message: 'gone' } });
    const { code, stderr } = await episodes(['10:00'], '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: invoice v1 could not be read: /m);
    expect(told(stderr)[0]).toBe('estimate: unknown');
  });
});

describe('--max-cost', () => {
  it('stops what would cost more, and lets pass what costs as much', async () => {
    const { episodes, set, service } = await costing();
    set('price.TRANS14', '0.333');
    const { code, stdout, stderr } = await episodes(['10:00', '20:00'], '--max-cost', '9.98');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'steno: the estimate of 9.99 exceeds --max-cost 9.98; nothing was ordered\nhint: ',
    );
    expect(service.got).toEqual([]);
    expect((await episodes(['10:00', '20:00'], '--max-cost', '$9.99')).code).toBe(0);
    expect(service.got.filter(isOrder)).toHaveLength(1);
  });

  it('counts all orders of the command together, and only what is not on order', async () => {
    const { episodes, set, service } = await costing();
    set('price.TRANS14', '1');
    expect((await episodes(['10:00'], '--max-cost', '10')).code).toBe(0);
    const args = ['--per-order', '1', '--skip-ordered', '--max-cost'];
    expect((await episodes(['10:00', '10:00', '10:00'], ...args, '19')).code).toBe(2);
    expect(service.got.filter(isOrder)).toHaveLength(1);
    expect((await episodes(['10:00', '10:00', '10:00'], ...args, '20')).code).toBe(0);
    expect(service.got.filter(isOrder)).toHaveLength(3);
  });

  it('takes the upper end of a range', async () => {
    const { billed, episodes, service } = await costing();
    await billed({ minutes: '10', price: '0.50' }, { minutes: '20', price: '0.60' });
    const { code, stderr } = await episodes(['10:00'], '--max-cost', '5.99');
    expect(code).toBe(2);
    expect(stderr).toContain('the estimate of 5.00 to 6.00 exceeds --max-cost 5.99');
    expect(service.got.filter(isOrder)).toHaveLength(1);
  });

  it('stops what is not known, and says which part', async () => {
    const { episodes, order, set, service } = await costing();
    const unpriced = await episodes(['10:00'], '--max-cost', '1000');
    expect(unpriced.code).toBe(2);
    expect(unpriced.stderr).toContain(
      "steno: Can't check --max-cost 1000.00: the price of TRANS14 is unknown: no invoice lists it\n" +
        'hint: set the price per minute: steno config set price.TRANS14 <amount>\n',
    );
    set('price.TRANS14', '1');
    const unmeasured = await episodes(['10:00', ''], '--max-cost', '1000');
    expect(unmeasured.code).toBe(2);
    expect(unmeasured.stderr).toContain('the length of 1 audio file is unknown: Talk 1');
    const url = await order('https://e.org/a.mp3', '--max-cost', '1000');
    expect(url.code).toBe(2);
    expect(url.stderr).toContain('the length of 1 audio file is unknown: https://e.org/a.mp3');
    expect(service.got).toEqual([]);
  });

  it('stops no plan, which says that it would cost more', async () => {
    const { episodes, set, service } = await costing();
    set('price.TRANS14', '1');
    const { code, stdout, stderr } = await episodes(['10:00'], '--dry-run', '--max-cost', '9');
    expect(code).toBe(0);
    expect(stdout).toContain('https://m.example/0.mp3');
    expect(told(stderr)[0]).toBe('estimate: 10.00 USD');
    expect(stderr).toContain('warning: the estimate of 10.00 exceeds --max-cost 9.00');
    expect(service.got).toEqual([]);
  });

  it('holds a list whose rows have minutes, as CSV and as JSON lines', async () => {
    const { order, user, set, service } = await costing();
    set('price.TRANS14', '1');
    const lists = [
      'url,minutes\nhttps://e.org/a.mp3,10\nhttps://e.org/b.mp3, 1.1 \n',
      '{"url":"https://e.org/a.mp3","minutes":10}\n{"url":"https://e.org/b.mp3","minutes":"1.1"}\n',
    ];
    for (const list of lists) {
      writeFileSync(join(user.home, 'm'), list);
      const { stdout } = await order('--from', 'm', '--dry-run', '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        orders: [{ audios: [{ minutes: 10 }, { minutes: 1.1 }] }],
        estimate: { low: 11.1, high: 11.1 },
      });
      expect((await order('--from', 'm', '--max-cost', '11.09')).code).toBe(2);
    }
    expect(service.got).toEqual([]);
    expect((await order('--from', 'm', '--max-cost', '11.10')).code).toBe(0);
  });

  it.each(['0', '-1', 'ten', '1e3', '10:00', '1,5', '0x10', 'NaN', '525601'])(
    'is for lengths that can be read: not %s minutes',
    async (minutes) => {
      const { order, user, service } = await costing();
      const lists = [
        `url\tminutes\nhttps://e.org/a.mp3\t1\nhttps://e.org/b.mp3\t${minutes}\n`,
        `{"url":"https://e.org/a.mp3"}\n\n{"url":"https://e.org/b.mp3","minutes":"${minutes}"}\n`,
      ];
      for (const list of lists) {
        writeFileSync(join(user.home, 'm'), list);
        const { code, stderr } = await order('--from', 'm');
        expect([code, stderr]).toEqual([
          2,
          expect.stringContaining(`m, line 3: '${minutes}' is not a length in minutes`),
        ]);
      }
      expect(service.got).toEqual([]);
    },
  );

  it('is not compared with a price in another currency', async () => {
    const { episodes, set, service } = await costing();
    set('price.TRANS14', '1 USD');
    const named = await episodes(['10:00'], '--max-cost', '1000 EUR');
    set('currency', 'EUR');
    const setting = await episodes(['10:00'], '--max-cost', '1000');
    for (const { code, stderr } of [named, setting]) {
      expect(code).toBe(2);
      expect(stderr).toContain("prices are in USD, which can't be compared with --max-cost 1000.00 EUR");
    }
    expect(service.got).toEqual([]);
  });

  it.each(['', 'cheap', '-1', '1,5', '10 euros', '1/month', 'NaN', '1e9999', '20min', '20 XYZ'])(
    "that can't be read is an error: %j",
    async (amount) => {
      const { episodes, service } = await costing();
      const { code, stderr } = await episodes(['10:00'], `--max-cost=${amount}`);
      expect(code).toBe(2);
      expect(stderr).toContain('--max-cost');
      expect(stderr.match(/^steno: /gm)).toHaveLength(1);
      expect(service.got).toEqual([]);
    },
  );
});
