/** `steno budget`: what it is, what was bought under it, and what is left. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { setAll } from '../support/settings.ts';
import type { Result } from '../support/steno.ts';

async function budgets(settings: Readonly<Record<string, string>> = {}) {
  const { user, service } = await account();
  setAll(user, settings);
  const budget = (...args: string[]): Promise<Result> => user.run(['budget', ...args]);
  const shown = async (): Promise<Array<Record<string, unknown>>> =>
    JSON.parse((await budget('--json')).stdout).budgets;
  return { user, service, budget, shown };
}

describe('budget', () => {
  it('says that none is set', async () => {
    const { budget, service } = await budgets();
    for (const [form, stdout] of [
      ['--json', '{\n  "budgets": []\n}\n'],
      ['--quiet', ''],
    ] as const)
      expect(await budget(form)).toMatchObject({ code: 0, stdout });
    expect((await budget('--csv')).stdout).toMatch(/^budget,source,[^\n]*\n$/);
    expect(service.got).toEqual([]);
  });

  it('of the settings is in whoami, beside the ledger and the account', async () => {
    const { user } = await budgets({ budget: '10/day' });
    const { code, stdout } = await user.run(['whoami', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        ...{ budget: '10/day', account: 'default', ledger: expect.stringContaining('ledger.db') },
        sources: { budget: expect.any(String), account: expect.any(String), ledger: 'this machine' },
      },
    ]);
  });

  it('shows that of the ledger and that of the settings, with where each is set', async () => {
    const { user, budget, shown } = await budgets({ budget: '10/day', currency: 'eur' });
    const set = await budget('set', '500/month');
    expect([set.code, set.stderr + set.stdout]).toEqual([0, expect.stringContaining('500.00 EUR/month')]);
    expect(await shown()).toMatchObject([
      {
        budget: '500.00 EUR/month',
        source: 'ledger',
        billed: 0,
        estimated: 0,
        unknown: 0,
        left: 500,
        limit: 500,
      },
      { budget: '10.00 EUR/day', left: 10, currency: 'EUR', set_by: null, set_at: null },
    ]);
    expect((await shown())[0]).toMatchObject({ currency: 'EUR', set_by: expect.any(String) });
    expect((await budget('--quiet')).stdout).toBe('500.00\n10.00\n');
    expect((await budget('--csv')).stdout).toMatch(/\n500\.00 EUR\/month,ledger,.*\r?\n10\.00 EUR\/day,/);
    expect((await user.onTerminal('steno budget')).stdout).toMatch(/500\.00 EUR\/month.*ledger/);
    expect(await user.run(['budget'], { env: { STENO_BUDGET: '7/week' } })).toMatchObject({
      stdout: expect.stringMatching(/7\.00 EUR\/week\tenvironment STENO_BUDGET/),
    });
  });

  it('is taken away, and set anew', async () => {
    const { budget, shown } = await budgets();
    expect((await budget('unset')).code).toBe(0);
    await budget('set', '0/month');
    expect(await shown()).toMatchObject([{ budget: '0.00/month', left: 0, limit: 0 }]);
    await budget('set', '$5 / week');
    expect(await shown()).toMatchObject([{ budget: '5.00 USD/week', left: 5 }]);
    expect((await budget('unset')).code).toBe(0);
    expect(await shown()).toEqual([]);
  });

  it.each([
    '',
    '5',
    '/month',
    '5/fortnight',
    '-5/month',
    '200min/month',
    '5 XYZ/month',
    '1,5/month',
    'a lot/day',
  ])('is not %j', async (text) => {
    const { user, budget, shown } = await budgets();
    for (const run of [budget('set', text), user.run(['config', 'set', 'budget', text])]) {
      const { code, stdout, stderr } = await run;
      expect([code, stdout, stderr.match(/^steno: /gm)?.length]).toEqual([2, '', 1]);
    }
    expect(await shown()).toEqual([]);
  });

  it('and a price and a currency are money that exists', async () => {
    const { user } = await budgets();
    for (const line of [
      ['config', 'set', 'currency', 'MIN'],
      ['config', 'set', 'price.TRANS14', '1 MIN'],
      ['balance', '--min', '20min'],
    ])
      expect((await user.run(line)).code).toBe(2);
    expect((await user.run(['config', 'set', 'currency', 'chf'])).code).toBe(0);
  });

  it('adds up no dollars and euros, here or for the next order', async () => {
    const { user, service, budget, shown } = await budgets({ 'price.TRANS14': '1' });
    let id = 0;
    service.allow('POST /order_url', (_, response) => {
      id += 1;
      response.end(JSON.stringify({ order: `o${id}`, audiofiles: [id], message: 'ok' }));
    });
    const order = (name: string): string[] => [
      'order',
      `https://example.com/${name}.mp3`,
      '--sku',
      'TRANS14',
    ];
    for (const name of ['a', 'b']) expect((await user.run(order(name))).code).toBe(0);
    service.allow('*', ({ path }, response) => {
      const file = path.split('/').at(-1);
      const total = file === '1' ? '$21.00' : '12.00 EUR';
      response.end(JSON.stringify({ audiofile: { id: file, statename: 'Delivered', total } }));
    });
    await user.run(['files', '--refresh']);
    await budget('set', '20/month');
    const [only] = await shown();
    const { billed, currency, not_counted } = only ?? {};
    expect([`${billed} ${currency}`, not_counted]).toEqual(['12 EUR', ['21.00 USD']]);
    expect((await budget()).stderr).toContain("21.00 USD can't be counted against the budget of 20.00/month");
    const stopped = await user.run([...order('c'), '--unpriced']);
    expect([stopped.code, stopped.stderr]).toEqual([
      2,
      expect.stringContaining("can't be counted against the budget"),
    ]);
  });

  it('of the environment is named by hints as what it is', async () => {
    const { user } = await budgets({ 'price.TRANS14': '1' });
    const env = { STENO_BUDGET: '1/month' };
    writeFileSync(join(user.home, 'm.csv'), 'url,sku,minutes\nhttps://example.com/a.mp3,TRANS14,5\n');
    const over = await user.run(['order', '--from', 'm.csv'], { env });
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('STENO_BUDGET=<amount>/month')]);
    const without = await user.run(['order', '--from', 'm.csv', '--no-ledger'], { env });
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('unset STENO_BUDGET')]);
  });

  it('counts what has become known since', async () => {
    const { user, service, budget, shown } = await budgets();
    await budget('set', '20/month');
    service.allow('POST /order_url', { body: { order: 'o1', audiofiles: [1], message: 'ok' } });
    service.allow('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Transcribing', duration: '10' } },
    });
    await user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14', '--unpriced']);
    expect(await shown()).toMatchObject([{ unknown: 1, estimated: 0 }]);
    await user.run(['files', '--refresh']);
    await user.run(['config', 'set', 'price.TRANS14', '1']);
    expect(await shown()).toMatchObject([{ unknown: 0, estimated: 10, left: 10 }]);
  });

  it('sends nobody to refresh what has no file', async () => {
    const { user, service, budget } = await budgets({ 'price.TRANS14': '1' });
    await budget('set', '20/month');
    service.allow('POST /order_url', { status: 500 });
    const line = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14', '--unpriced'];
    expect((await user.run(line)).code).toBe(11);
    const next = await user.run(['order', 'https://example.com/b.mp3', '--sku', 'TRANS14']);
    expect([next.code, next.stderr]).toEqual([2, expect.stringMatching(/steno attempts.*steno track <id>/)]);
    expect(next.stderr).not.toContain('files --refresh');
  });

  it('needs the ledger', async () => {
    const { budget } = await budgets();
    for (const args of [[], ['set', '5/day'], ['unset']])
      expect((await budget(...args, '--no-ledger')).code).toBe(2);
  });
});

describe('on a terminal', () => {
  it('is a sentence with dates, and red once it is overspent', async () => {
    const { user, service, budget } = await budgets({ 'price.TRANS14': '1' });
    service.allow('POST /order_url', { body: { order: 'o1', audiofiles: [1], message: 'ok' } });
    await budget('set', '50/year');
    await user.run(['order', 'https://e.com/a.mp3', '--sku', 'TRANS14', '--minutes', '40']);
    const year = new Date().getUTCFullYear();
    const plain = (await user.onTerminal('steno budget --no-color', { columns: 200 })).stdout;
    expect(plain).toMatch(
      new RegExp(
        `^10\\.00 USD left of the budget of 50\\.00 USD from ${year}-01-01 to ${year}-12-31 \\(UTC\\): .*40\\.00 USD estimated`,
      ),
    );
    expect(plain).toMatch(/50\.00\/year is set in the ledger by /);
    await budget('set', '30/year');
    const over = (await user.onTerminal('steno budget', { columns: 200, env: { NO_COLOR: '' } })).stdout;
    expect(over).toContain('\u001b[31m10.00 USD over the budget of 30.00 USD from ');
  });
});
