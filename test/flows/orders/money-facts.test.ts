/** What an upgrade, a refund or a raw call costs counts the same however it became known. */
import { beforeAll, describe, expect, it } from 'vitest';
import { wrongClock } from '../../support/clock.ts';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { setAll } from '../../support/settings.ts';

type Line = readonly [sku: string, total: number];

/** The service says this of file 1 and its invoice 501. */
function bills({ service }: OrderingAccount, state: string, lines: readonly Line[], total: number): void {
  const items = lines.map(([sku, amount]) => ({
    sku,
    audiofile: 1,
    quantity: 1,
    price: amount,
    total: amount,
  }));
  service.allow('GET /audiofile/1', {
    body: { audiofile: { id: 1, statename: state, title: 'Talk', duration: 10, total, invoices: [501] } },
  });
  service.allow('POST /invoice/501', {
    body: { invoice: { id: 501, state: 'PAID', createtime: '2026-10-03T10:00:00Z', items } },
  });
}

async function sums({ user }: OrderingAccount) {
  await user.run(['files', '--refresh']);
  const json = async (...args: string[]) => JSON.parse((await user.run([...args, '--json'])).stdout);
  const { totals } = await json('report');
  const log = (await json('log')) as Array<{ cost: number | null }>;
  const [budget] = (await json('budget')).budgets;
  return {
    report: totals[0]?.spent,
    log: log.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    budget: budget.billed + budget.estimated - budget.refunded,
  };
}

async function ordered(env: Readonly<Record<string, string>> = {}): Promise<OrderingAccount> {
  const account = await orderingAccount();
  await account.user.run(['budget', 'set', '500/year']);
  bills(account, 'Delivered', [['TRANS14', 10]], 10);
  expect(
    (await account.user.run(['order', audio('a'), '--sku', 'TRANS14', '--unpriced'], { env })).code,
  ).toBe(0);
  return account;
}

const unclear: Answer = { status: 500, body: { message: 'oops' } };

describe('settled is the same as answered', () => {
  it.each([
    [
      'upgrade',
      ['upgrade', '1', '--sku', 'TSTMP1', '--unpriced'],
      'Delivered',
      [
        ['TRANS14', 10],
        ['TSTMP1', 5],
      ],
      15,
      15,
    ],
    [
      'refund with a fee',
      ['refund', '1', '--yes'],
      'Refunded',
      [
        ['TRANS14', 10],
        ['REFUND', -8],
      ],
      2,
      2,
    ],
  ] as const)('%s', async (name, line, state, lines, total, spent) => {
    const account = await ordered();
    expect(await sums(account)).toEqual({ report: 10, log: 10, budget: 10 });
    account.service.on(`POST /audiofile/1/${name.split(' ')[0]}`, unclear);
    expect((await account.user.run([...line])).code).toBe(11);
    bills(account, state, lines, total);
    expect((await account.user.run(['attempts', 'settle', '2', '--placed'])).code).toBe(0);
    expect(await sums(account)).toEqual({ report: spent, log: spent, budget: spent });
  });
});

it('an upgrade that was settled as not placed leaves what was billed to those that were', async () => {
  const account = await ordered();
  const upgrade = ['upgrade', '1', '--sku', 'TSTMP1', '--unpriced'];
  account.service.on('POST /audiofile/1/upgrade', unclear);
  expect((await account.user.run(upgrade)).code).toBe(11);
  account.service.on('POST /audiofile/1/upgrade', { body: { message: 'ok' } });
  expect((await account.user.run([...upgrade, '--again'])).code).toBe(0);
  const lines: Line[] = [
    ['TRANS14', 10],
    ['TSTMP1', 5],
  ];
  bills(account, 'Delivered', lines, 15);
  expect(await sums(account)).toEqual({ report: 15, log: 15, budget: 15 });
  expect((await account.user.run(['attempts', 'settle', '2', '--not-placed'])).code).toBe(0);
  expect(await sums(account)).toEqual({ report: 15, log: 15, budget: 15 });
});

describe('a refund is of its purchase', () => {
  it.each([3, -3])('though the clock was wrong by %i days when it was ordered', async (days) => {
    const account = await orderingAccount();
    await account.user.run(['budget', 'set', '500/year']);
    bills(account, 'Pre-Processing', [['TRANS14', 10]], 10);
    const env = wrongClock(account.user, days);
    await account.user.run(['order', audio('a'), '--sku', 'TRANS14', '--unpriced'], { env });
    await sums(account);
    account.service.on('POST /audiofile/1/refund', { body: { message: 'ok' } });
    expect((await account.user.run(['refund', '1', '--yes'])).code).toBe(0);
    bills(account, 'Refunded', [['TRANS14', 10]], 10);
    expect(await sums(account)).toEqual({ report: 0, log: 0, budget: 0 });
  });
});

describe('names of parameters', () => {
  let account: OrderingAccount;
  beforeAll(async () => {
    account = await orderingAccount();
  });

  it.each(['url[]', 'sku[]', 'URL', 'Sku', 'url[0]', 'test[]', 'Test', '%75rl', 'api.key', 'names[]'])(
    'with a flag of their own are refused in any spelling: %s',
    async (name) => {
      const { code, stderr } = await account.order(audio('p'), '--param', `${name}=https://e.com/b.mp3`);
      expect([code, stderr]).toEqual([2, expect.stringContaining("can't be set with --param")]);
      expect(account.service.got).toEqual([]);
    },
  );

  it.each(['url[]', 'URL', 'url[0]'])(
    'of a raw order are read as the service reads them: %s',
    async (name) => {
      const { user, service } = await orderingAccount();
      const line = ['api', 'POST', '/order_url', `${name}=${audio('a')}`, 'sku[]=TRANS14'];
      await user.run(line);
      expect((await user.run(['order', audio('a'), '--sku', 'TRANS14'])).code).toBe(9);
      expect(service.got).toHaveLength(1);
    },
  );
});

describe('a test of an upgrade or a refund', () => {
  it('of a file that has none counts as money', async () => {
    const account = await ordered();
    account.service.on('POST /audiofile/1/upgrade', { body: { message: 'ok' } });
    const line = ['api', 'POST', '/audiofile/1/upgrade', 'sku=TSTMP1', 'test=true'];
    const limited = await account.user.run(line);
    expect([limited.code, limited.stderr]).toEqual([2, expect.stringContaining('budget')]);
    expect((await account.user.run([...line, '--unpriced'])).code).toBe(0);
    const [entry] = JSON.parse((await account.user.run(['log', '--json'])).stdout);
    expect(entry).toMatchObject({ kind: 'upgrade', test: false });
  });

  it('of 100 and 101 costs nothing', async () => {
    const account = await ordered();
    account.service.on('POST /audiofile/100/upgrade', { body: { message: 'ok' } });
    expect(
      (await account.user.run(['api', 'POST', '/audiofile/100/upgrade', 'sku=TSTMP1', 'test=true'])).code,
    ).toBe(0);
    const [entry] = JSON.parse((await account.user.run(['log', '--json'])).stdout);
    expect(entry).toMatchObject({ kind: 'upgrade', test: true });
  });
});

it('an upgrade of 4.15 minutes is estimated by 4.15 minutes', async () => {
  const account = await orderingAccount();
  setAll(account.user, { 'price.TRANS14': '1', 'price.TSTMP1': '1', budget: '500/year' });
  account.service.allow('GET /audiofile/1', {
    body: { audiofile: { id: 1, statename: 'Transcribing', duration: 4.15 } },
  });
  await account.order(audio('a'), '--minutes', '4.15');
  await account.user.run(['files', '--refresh']);
  account.service.on('POST /audiofile/1/upgrade', { body: { message: 'ok' } });
  expect((await account.user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(0);
  const log = JSON.parse((await account.user.run(['log', '--json'])).stdout);
  expect(log.map(({ cost }: { cost: number }) => cost)).toEqual([4.15, 4.15]);
});
