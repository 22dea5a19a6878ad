/** Amounts: the same groups, sums and currency wherever they are shown. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseCsv } from '../support/csv.ts';
import { type OrderingAccount, orderingAccount } from '../support/ledger.ts';

type Row = Readonly<Record<string, unknown>>;

let account: OrderingAccount;
const json = async (...args: string[]) => JSON.parse((await account.user.run([...args, '--json'])).stdout);

beforeAll(async () => {
  account = await orderingAccount();
  const { user, service } = account;
  writeFileSync(
    join(user.home, 'list.csv'),
    'url,tags\nhttps://e.com/a.mp3,tv|radio\nhttps://e.com/b.mp3,radio|tv\nhttps://e.com/c.mp3,radio\nhttps://e.com/d.mp3,\n',
  );
  await account.order('--from', 'list.csv');
  for (const [at, total] of [8.6, 4.3, 2.1, 1].entries()) {
    const id = String(at + 1);
    const invoice = `v${at % 2}`;
    service.allow(`GET /audiofile/${id}`, {
      body: { audiofile: { id, statename: 'Delivered', title: id, duration: 5, total, invoices: [invoice] } },
    });
    const items = [8.6, 4.3, 2.1, 1].flatMap((each, n) =>
      n % 2 === at % 2 ? [{ sku: 'TRANS14', audiofile: n + 1, quantity: 1, price: each }] : [],
    );
    service.allow(`POST /invoice/${invoice}`, {
      body: { invoice: { id: invoice, state: 'PAID', createtime: `2026-0${8 + (at % 2)}-03`, items } },
    });
  }
  await user.run(['files', '--refresh']);
}, 60_000);

describe('report', () => {
  it('has a row for each set of tags, and (none) for files without', async () => {
    const rows = parseCsv((await account.user.run(['report', '--by', 'tag', '--csv'])).stdout);
    expect(rows.slice(1).map((row) => row.slice(0, 3))).toEqual([
      ['radio + tv', 'USD', '12.90'],
      ['radio', 'USD', '2.10'],
      ['(none)', 'USD', '1.00'],
    ]);
    expect((await json('report')).tags.map(({ tag }: Row) => tag)).toEqual(['radio + tv', 'radio', '(none)']);
    const { stdout } = await account.user.run(['report', '--by', 'tag', '--markdown']);
    expect(stdout).toContain('| radio + tv | 12.90 USD |');
  });

  it('adds up to the total in every grouping', async () => {
    const { totals, months, skus, orders, feeds, tags, persons, invoices } = await json('report');
    expect(totals).toMatchObject([{ currency: 'USD', spent: 16 }]);
    for (const rows of [months, skus, orders, feeds, tags, persons, invoices])
      expect(rows.reduce((sum: number, { spent }: { spent: number }) => sum + spent, 0)).toBeCloseTo(16, 9);
    expect(invoices).toMatchObject([
      { invoice: 'v0', spent: 10.7 },
      { invoice: 'v1', spent: 5.3 },
    ]);
    expect(persons).toMatchObject([{ person: expect.stringContaining('@'), spent: 16 }]);
  });
});

describe('invoice without ids', () => {
  it('lists what the ledger knows, newest first, and asks nobody', async () => {
    const calls = account.service.got.length;
    const list = await json('invoice');
    expect(list).toMatchObject([
      { invoice: 'v1', state: 'PAID', currency: 'USD', items: [{ audiofile: '2' }, { audiofile: '4' }] },
      { invoice: 'v0', currency: 'USD' },
    ]);
    expect((await account.user.run(['invoice', '--quiet'])).stdout).toBe('v1\nv0\n');
    const [header = [], first = []] = parseCsv((await account.user.run(['invoice', '--csv'])).stdout);
    expect([header[0], first[0]]).toEqual(['invoice', 'v1']);
    expect(account.service.got).toHaveLength(calls);
  });

  it('has those that files name and nobody read', async () => {
    const other = await orderingAccount();
    other.service.allow('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', total: 1, invoices: [77] } },
    });
    await other.order('https://e.com/a.mp3');
    await other.user.run(['files', '--refresh']);
    const { code, stdout } = await other.user.run(['invoice', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      [{ invoice: '77', state: null, total: null, items: [] }],
    ]);
  });
});

describe('the currency', () => {
  it('is USD in every document unless it is set', async () => {
    account.service.allow('GET /prepay_balance', { body: { balance: '12.50' } });
    await account.user.run(['budget', 'set', '500/year']);
    const everywhere = async (): Promise<unknown[]> => [
      ...(await json('files')).map(({ currency }: Row) => currency),
      (await json('file', '1')).currency,
      (await json('report')).totals[0].currency,
      (await json('invoice', 'v0')).currency,
      (await json('budget')).budgets[0].currency,
      (await json('log'))[0].currency,
      (await json('balance')).currency,
    ];
    expect(new Set(await everywhere())).toEqual(new Set(['USD']));
    await account.user.run(['config', 'set', 'currency', 'EUR']);
    expect(new Set(await everywhere())).toEqual(new Set(['EUR']));
    await account.user.run(['config', 'unset', 'currency']);
  });
});

describe('order --minutes', () => {
  it('is the length of each URL on the line', async () => {
    const it = await orderingAccount();
    await it.user.run(['config', 'set', 'price.TRANS14', '0.86']);
    const estimate = async (...args: string[]) =>
      JSON.parse((await it.user.run(['order', ...args, '--sku', 'TRANS14', '--dry-run', '--json'])).stdout)
        .estimate;
    const urls = ['https://e.com/a.mp3', 'https://e.com/b.mp3'];
    expect(await estimate(...urls, '--minutes', '35.5')).toMatchObject({
      low: 61.06,
      high: 61.06,
      currency: 'USD',
    });
    const { code } = await it.user.run([
      'order',
      ...urls,
      '--sku',
      'TRANS14',
      '--minutes',
      '10',
      '--max-cost',
      '17',
    ]);
    expect([code, it.service.got]).toEqual([2, []]);
  });

  it.each([
    [['--from', 'list.csv', '--minutes', '5'], '--minutes'],
    [['--feed', 'feed.xml', '--latest', '1', '--minutes', '5'], '--minutes'],
    [['https://e.com/a.mp3', '--minutes', 'five'], 'length in minutes'],
    [['https://e.com/a.mp3', '--minutes', '0'], 'length in minutes'],
    [['https://e.com/a.mp3', '--minutes', ''], '--minutes'],
    [['./talk.mp3', '--minutes', '5'], '--minutes'],
  ])('is refused: %j', async (args, message) => {
    const { user, service } = account;
    writeFileSync(join(user.home, 'talk.mp3'), 'audio');
    const calls = service.got.length;
    const { code, stderr } = await user.run(['order', ...args, '--sku', 'TRANS14', '--dry-run']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(service.got).toHaveLength(calls);
  });
});

describe('sums of more digits than a number keeps', () => {
  it('are exact in budget and log, and limit what is ordered', async () => {
    const it = await orderingAccount();
    await it.user.run(['config', 'set', 'price.TRANS14', '100000000.01']);
    await it.user.run(['budget', 'set', '19000000000/year']);
    for (const name of ['a', 'b', 'c'])
      expect((await it.order(`https://e.com/${name}.mp3`, '--minutes', '60')).code).toBe(0);
    expect((await it.order('https://e.com/d.mp3', '--minutes', '60')).code).toBe(2);
    const { code, stdout } = await it.user.run(['budget', '--json']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/"estimated": 18000000001\.80,/)]);
    expect(stdout).toMatch(/"left": 999999998\.20,/);
    await it.user.run([
      'order',
      'https://e.com/e.mp3',
      'https://e.com/f.mp3',
      '--sku',
      'TRANS14',
      '--minutes',
      '4',
    ]);
    expect((await it.user.run(['log', '--json'])).stdout).toMatch(/"cost": 800000000\.08,/);
  });

  it('are exact where one file alone costs as much, also in another ledger', async () => {
    const { user, service } = await orderingAccount();
    await user.run(['order', 'https://e.com/a.mp3', '--sku', 'TRANS14']);
    service.allow('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', duration: 10, total: 9999999999.99 } },
    });
    await user.run(['files', '--refresh']);
    await user.run(['budget', 'set', '20000000000/year']);
    expect((await user.run(['log', '--json'])).stdout).toMatch(/"cost": 9999999999\.99,/);
    expect((await user.run(['budget', '--json'])).stdout).toMatch(/"billed": 9999999999\.99,/);
    const exported = await user.run(['ledger', 'export']);
    expect(exported.code).toBe(0);
    const other = await orderingAccount();
    expect((await other.user.run(['ledger', 'import', '-'], { stdin: exported.stdout })).code).toBe(0);
    expect((await other.user.run(['log', '--json'])).stdout).toMatch(/"cost": 9999999999\.99,/);
  });
});
