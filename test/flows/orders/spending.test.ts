/** What counts against a budget: everything that was bought in its period, whoever bought it, and whatever was known then. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrongClock } from '../../support/clock.ts';
import { type OrderingAccount, orderingAccount, queryLedger, reply } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import type { Result, User } from '../../support/steno.ts';
import { isShared, notShared, WITHOUT_LEDGER } from '../../support/store.ts';

interface Spender extends OrderingAccount {
  set(settings: Readonly<Record<string, string | undefined>>): void;
  run(...args: string[]): Promise<Result>;
  /** Orders a list of audios with these minutes, as `name=10`; without a number the length is not known. */
  buy(rows: string, ...args: string[]): Promise<Result>;
  /** The same from a machine that shares the ledger and has settings of its own. */
  elsewhere(rows: string, ...args: string[]): Promise<Result>;
  /** What the service says of a file from now on. */
  says(file: number, more: object): void;
  sent(): number;
}

function listOf(user: User, rows: string): string {
  const lines = rows.split(' ').map((row) => row.split('='));
  const name = `${rows.replace(/\W+/g, '-')}.csv`;
  const text = lines.map(([audio, minutes = '']) => `https://e.org/${audio}.mp3,${minutes}\n`);
  writeFileSync(join(user.home, name), `url,minutes\n${text.join('')}`);
  return name;
}

async function spender(settings: Readonly<Record<string, string>> = {}): Promise<Spender> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  setAll(user, settings);
  const other = { STENO_CONFIG_DIR: join(user.home, 'other-config') };
  return {
    ...account,
    set: (more) => setAll(user, more),
    run: (...args) => user.run(args),
    buy: (rows, ...args) => order('--from', listOf(user, rows), ...args),
    elsewhere: (rows, ...args) =>
      user.run(['order', '--sku', 'TRANS14', '--from', listOf(user, rows), ...args], { env: other }),
    says: (id, more) =>
      service.allow(`GET /audiofile/${id}`, (_, response) =>
        reply(response, { audiofile: { id, statename: 'Delivered', ...more } }),
      ),
    sent: () => service.calls('POST /order_url').length,
  };
}

const ok = async (result: Promise<Result>): Promise<Result> => {
  const { code, stderr } = await result;
  expect(code, stderr).toBe(0);
  return result;
};

const stops = async (result: Promise<Result>, ...texts: string[]): Promise<void> => {
  const { code, stderr } = await result;
  expect(code, stderr).toBe(2);
  for (const text of texts) expect(stderr).toContain(text);
};

describe('a budget counts', () => {
  it('what was bought before it was set, and without a price, once it is billed', async () => {
    const { buy, run, set, says, sent } = await spender();
    await ok(buy('a b'));
    says(1, { total: '31.39', duration: '30' });
    says(2, { total: '31.39', duration: '30' });
    await ok(run('files', '--refresh'));
    await ok(run('budget', 'set', '40/month'));
    set({ 'price.TRANS14': '1' });
    await stops(buy('c=10'), 'exceeds what is left of the budget of 40.00/month: -22.78');
    await ok(run('budget', 'set', '72.78/month'));
    await ok(buy('c=10'));
    expect(sent()).toBe(2);
  });

  it('what an invoice says in place of an estimate', async () => {
    const { buy, run, says, service, sent } = await spender({ 'price.TRANS14': '1' });
    await ok(buy('a=10'));
    says(1, { duration: '10', invoices: ['v1'] });
    service.allow('POST /invoice/v1', {
      body: {
        id: 'v1',
        state: 'PAID',
        createtime: '2026-08-01T00:00:00Z',
        items: [{ sku: 'TRANS14', price: '2.5', quantity: '10', audiofile: 1 }],
      },
    });
    await ok(run('budget', 'set', '30/month'));
    await ok(run('files', '--refresh'));
    await stops(
      buy('b=6'),
      'the estimate of 6.00',
      'exceeds what is left of the budget of 30.00/month: 5.00',
    );
    await ok(buy('b=5'));
    expect(sent()).toBe(2);
  });

  it('what was bought by a machine without the setting', async () => {
    const { buy, elsewhere, sent } = await spender({ 'price.TRANS14': '1', budget: '20/month' });
    await ok(elsewhere('a=15'));
    await stops(buy('b=6'), 'budget of 20.00/month: 5.00');
    await ok(buy('b=5'));
    expect(sent()).toBe(2);
  });

  it("the ledger's budget for machines that have none", async () => {
    const { elsewhere, run, sent } = await spender();
    await ok(run('budget', 'set', '5/month'));
    await stops(elsewhere('a=10'), 'the budget of 5.00/month', 'the price of TRANS14 is unknown');
    expect(sent()).toBe(0);
  });

  it('against both budgets, of the ledger and of the settings', async () => {
    const { buy, run, set, sent } = await spender({ 'price.TRANS14': '1', budget: '10/day' });
    await ok(run('budget', 'set', '15/month'));
    await stops(buy('a=11'), 'budget of 10.00/day: 10.00', 'steno config set budget');
    await ok(buy('a=10'));
    set({ budget: '100/day' });
    await stops(buy('b=6'), 'budget of 15.00/month: 5.00', 'steno budget set');
    await ok(run('budget', 'unset'));
    await ok(buy('b=6'));
    expect(sent()).toBe(2);
  });

  it('shares of a cent, as often as they come', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '1/month' });
    // Three times 20 seconds are a minute, and each is a little more than 0.333333.
    await stops(buy('a=0.333333 b=0.333333 c=0.333333'), 'the estimate of 1.000002');
    await ok(buy('a=0.333333 b=0.333333'));
    expect(sent()).toBe(1);
  });
});

describe('a purchase of unknown cost', () => {
  it('stops all others until a refresh tells its length', async () => {
    const { order, buy, run, says, sent } = await spender({ 'price.TRANS14': '1' });
    await ok(order('https://e.org/talk.mp3'));
    await ok(run('budget', 'set', '20/month'));
    const stopped = buy('b=5');
    await stops(
      stopped,
      'the budget of 20.00/month is set, but the cost of 1 purchase is unknown: attempt 1',
    );
    await stops(
      stopped,
      '(https://e.org/talk.mp3): no length\nhint: ask the service for the length: steno files',
    );
    says(1, { statename: 'Transcribing', duration: '12.5' });
    await ok(run('files', '--refresh'));
    await stops(buy('b=8'), 'budget of 20.00/month: 7.50');
    await ok(buy('b=7.5'));
    expect(sent()).toBe(2);
  });

  it('stops all others until its price is set', async () => {
    const { buy, run, set, sent } = await spender();
    await ok(buy('a=10'));
    await ok(run('budget', 'set', '12/month'));
    await stops(
      buy('b=1'),
      'no price for TRANS14\nhint: set the price per minute: steno config set price.TRANS14',
    );
    set({ 'price.TRANS14': '1' });
    await stops(buy('b=3'), 'budget of 12.00/month: 2.00');
    await ok(buy('b=2'));
    expect(sent()).toBe(2);
  });

  it('is allowed by --unpriced while something is left, and not under 0/month', async () => {
    const { order, run, set, buy, sent } = await spender({ 'price.TRANS14': '1', budget: '0/month' });
    await stops(order('https://e.org/a.mp3', '--unpriced'), 'the budget of 0.00/month is used up');
    set({ budget: '10/month' });
    await ok(order('https://e.org/a.mp3', '--unpriced'));
    await stops(buy('b=10', '--unpriced'), 'the budget of 10.00/month is used up: nothing is left');
    await ok(buy('b=9', '--unpriced'));
    expect(sent()).toBe(2);
    const { stdout } = await run('budget', '--json');
    expect(JSON.parse(stdout).budgets).toMatchObject([{ estimated: 9, unknown: 1, left: 1 }]);
  });

  it('needs a budget to be allowed by --unpriced, as --up-to-budget does', async () => {
    const { buy, sent } = await spender();
    await stops(
      buy('a=1', '--unpriced'),
      '--unpriced requires a budget\nhint: set one with: steno budget set',
    );
    await stops(buy('a=1', '--up-to-budget'), '--up-to-budget requires a budget');
    expect(sent()).toBe(0);
  });
});

describe('--no-ledger', () => {
  it.each(['setting', 'ledger'])('orders nothing under a budget of the %s', async (from) => {
    const { buy, run, set, sent } = await spender({ 'price.TRANS14': '1' });
    if (from === 'setting') set({ budget: '100/month' });
    else await ok(run('budget', 'set', '100/month'));
    await stops(
      buy('a=1', ...WITHOUT_LEDGER),
      "the budget is counted in the ledger, so --no-ledger can't be used under it\nhint: leave out --no-ledger, or remove the budget",
      from === 'setting' ? 'steno config unset budget' : 'steno budget unset',
    );
    expect(sent()).toBe(0);
    await ok(buy('a=1', ...WITHOUT_LEDGER, '--test'));
  });
});

describe('--up-to-budget', () => {
  const leftOut = (stdout: string): unknown[] =>
    (JSON.parse(stdout) as Array<Record<string, unknown>>).map(
      ({ url, left_out, order }) => `${url} ${left_out ?? order}`,
    );

  it('orders the rows that fit, from the top, and names the others', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '25/month' });
    const { code, stdout, stderr } = await buy('a=10 b=10 c=10 d=1', '--up-to-budget', '--json');
    expect(code, stderr).toBe(0);
    expect(leftOut(stdout)).toEqual([
      'https://e.org/a.mp3 o1',
      'https://e.org/b.mp3 o1',
      'https://e.org/c.mp3 budget',
      'https://e.org/d.mp3 budget',
    ]);
    const next = await ok(buy('a=10 b=10 c=10 d=1', '--up-to-budget', '--skip-ordered'));
    expect([next.stdout, next.stderr]).toEqual(['', expect.stringContaining('covers none of them: 2 of 2')]);
    const rest = await buy('d=1 c=10', '--up-to-budget', '--skip-ordered');
    expect([rest.code, rest.stdout]).toEqual([0, expect.stringContaining('3')]);
    expect(rest.stderr).toContain('left out because of the budget: 1 of 2');
    expect(sent()).toBe(2);
  });

  it('keeps to the order of the rows, however they are grouped into orders', async () => {
    const { user, service, order } = await spender({
      'price.TRANS14': '1',
      'price.TRANS6': '2',
      budget: '30/month',
    });
    const rows = [1, 2, 3, 4, 5, 6].map((n) => `https://e.org/${n}.mp3,${n % 2 ? 'TRANS14' : 'TRANS6'},5`);
    writeFileSync(join(user.home, 'm.csv'), `url,sku,minutes\n${rows.join('\n')}\n`);
    const plan = await order('--from', 'm.csv', '--up-to-budget', '--dry-run', '--json');
    const run = await order('--from', 'm.csv', '--up-to-budget', '--json');
    expect([plan.code, run.code]).toEqual([0, 0]);
    const urls = (...numbers: number[]) => numbers.map((n) => `https://e.org/${n}.mp3`);
    expect(service.calls('POST /order_url').map(({ body }) => body?.url)).toEqual([urls(1, 3), urls(2, 4)]);
    const planned = JSON.parse(plan.stdout) as { orders: Array<{ request: { url: string[] } }> };
    expect(planned.orders.map(({ request }) => request.url)).toEqual([urls(1, 3), urls(2, 4)]);
    expect(planned).toMatchObject({ estimate: { high: 30 } });
  });

  it('stops at the first row of unknown cost', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '25/month' });
    const { code, stdout } = await buy('a=10 b c=10', '--up-to-budget', '--json');
    expect([code, leftOut(stdout).map((row) => String(row).split(' ')[1])]).toEqual([
      0,
      ['o1', 'budget', 'budget'],
    ]);
    const { stdout: none, stderr } = await ok(buy('x y=1', '--up-to-budget', '--json'));
    expect(leftOut(none)).toEqual(['https://e.org/x.mp3 budget', 'https://e.org/y.mp3 budget']);
    expect(JSON.parse(stderr).warning).toEqual({
      message: expect.stringMatching(
        /covers none of them: 2 of 2 \(Can't check the budget of [^ ]+:.*: https:\/\/e\.org\/x\.mp3\)/,
      ),
      hint: expect.stringContaining('column minutes'),
    });
    expect(sent()).toBe(1);
  });

  it('leaves out every row, in documents as ever, where not even the first of the rest fits', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '25/month', currency: 'USD' });
    const line = ['a=10 b=20 c=5 d e=4', '--up-to-budget', '--skip-ordered', '--json'] as const;
    const first = await ok(buy(...line));
    const [, ...rest] = JSON.parse(first.stdout) as Array<Record<string, unknown>>;
    const second = await ok(buy(...line));
    const ordered = expect.objectContaining({ audiofile: '1', order: 'o1', left_out: 'ordered' });
    expect(JSON.parse(second.stdout)).toEqual([...rest, ordered]);
    expect(rest.map(({ url, minutes, left_out }) => [url, minutes, left_out])).toEqual([
      ['https://e.org/b.mp3', 20, 'budget'],
      ['https://e.org/c.mp3', 5, 'budget'],
      ['https://e.org/d.mp3', null, 'budget'],
      ['https://e.org/e.mp3', 4, 'budget'],
    ]);
    expect(JSON.parse(second.stderr).warning.message).toMatch(
      /covers none of them: 4 of 4 \(the estimate of 20\.00 USD exceeds what is left/,
    );
    const plan = await ok(buy(...line, '--dry-run'));
    expect(JSON.parse(plan.stdout)).toMatchObject({ orders: [] });
    expect(sent()).toBe(1);
  });

  it('orders nothing while the cost of an earlier purchase is not known', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '25/month' });
    await ok(buy('a', '--unpriced'));
    await stops(buy('b=1', '--up-to-budget'), 'is set, but the cost of 1 purchase is unknown');
    expect(sent()).toBe(1);
  });

  it('orders nothing where what fits is more than --max-cost', async () => {
    const { buy, sent } = await spender({ 'price.TRANS14': '1', budget: '25/month' });
    await stops(buy('a=10 b=10 c=10', '--up-to-budget', '--max-cost', '19'), 'exceeds --max-cost 19.00');
    await ok(buy('a=10 b=10 c=10', '--up-to-budget', '--max-cost', '20'));
    expect(sent()).toBe(1);
  });

  it('is never exceeded by many processes at once', async () => {
    const { buy, service, user } = await spender({ 'price.TRANS14': '1', budget: '45/month' });
    let files = 0;
    service.on('POST /order_url', (got, response) => {
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      setTimeout(() => reply(response, { order: `o${files}`, audiofiles, message: 'ok' }), 200);
    });
    const ends = await Promise.all(
      [1, 2, 3, 4].map((n) => buy(`a${n}=10 b${n}=10`, '--up-to-budget', '--per-order', '1')),
    );
    expect(
      ends.map(({ code }) => code),
      ends.map((end) => end.stderr).join(),
    ).toEqual([0, 0, 0, 0]);
    const [row] = queryLedger<{ sum: number }>(
      user,
      'SELECT CAST(sum(estimate) AS BIGINT) AS sum FROM purchase_items WHERE counted_at IS NOT NULL',
    );
    expect(Number(row?.sum)).toBe(40_000_000);
    expect(service.calls('POST /order_url')).toHaveLength(4);
  });
});

describe('the period of a budget', () => {
  it.skipIf(!isShared)('is that of the database, whatever the clock of the machine says', async () => {
    const { user, run, buy, sent } = await spender({ 'price.TRANS14': '1' });
    await ok(run('budget', 'set', '10/month'));
    await ok(buy('a=10'));
    for (const days of [40, -40]) {
      const list = listOf(user, 'b=10');
      const order = user.run(['order', '--sku', 'TRANS14', '--from', list], { env: wrongClock(user, days) });
      await stops(order, 'budget of 10.00/month: 0.00');
    }
    expect(sent()).toBe(1);
  });

  it.skipIf(notShared('it is about the file of the local ledger'))(
    'does not come again where the clock is set back',
    async () => {
      const { user, run, buy, sent } = await spender({ 'price.TRANS14': '1' });
      await ok(run('budget', 'set', '10/month'));
      await ok(buy('a=10'));
      const ahead = new Date(Date.now() + 40 * 86_400_000).toISOString();
      queryLedger(user, 'UPDATE purchase_items SET counted_at = ?', ahead);
      // The clock is right again, and before the purchase.
      await stops(buy('b=1'), 'budget of 10.00/month: 0.00');
      await ok(run('budget', 'set', '11/month'));
      await ok(buy('b=1'));
      await stops(buy('c=1'), 'budget of 11.00/month: 0.00');
      expect(sent()).toBe(2);
    },
  );
});
