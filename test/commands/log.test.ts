/** `log`: who did what that costs or returns money, what became of it and what it cost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { outputs } from '../support/commands.ts';
import { parseCsv } from '../support/csv.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';

interface Entry {
  readonly kind: string;
  readonly status: string;
  readonly cost: number | null;
  readonly cost_source: string;
  readonly unpaid: number;
  readonly order: string | null;
  readonly audiofiles: readonly string[];
  readonly by: Readonly<Record<string, unknown>>;
  readonly test: boolean;
  readonly via: string | null;
  readonly detail: string | null;
  readonly attempt: number;
  readonly settlements: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

const runOk = async ({ user }: OrderingAccount, ...args: string[]) => {
  const result = await user.run(args);
  expect([args, result.code, result.stderr]).toEqual([args, 0, expect.anything()]);
  return result;
};

const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(
  schemaOf('log', outputs) ?? {},
);

const logOf = async (it: OrderingAccount, ...args: string[]): Promise<Entry[]> => {
  const entries = JSON.parse((await runOk(it, 'log', '--json', ...args)).stdout);
  expect([validate(entries), validate.errors]).toEqual([true, null]);
  return entries;
};

const shown = ({ kind, status, cost, cost_source: source }: Entry): string =>
  [kind, status, cost ?? '-', source].join(' ');

/** A file with an invoice of one line for each SKU. */
function bill(
  { service }: OrderingAccount,
  file: string,
  lines: ReadonlyArray<readonly [sku: string, amount: number]>,
  { state = 'PAID', statename = 'Delivered' } = {},
): void {
  const invoice = `5${file}`;
  service.allow(`GET /audiofile/${file}`, {
    body: { audiofile: { id: file, statename, title: `Talk ${file}`, duration: 10, invoices: [invoice] } },
  });
  const items = lines.map(([sku, total]) => ({ sku, audiofile: file, total }));
  service.allow(`POST /invoice/${invoice}`, {
    body: { id: invoice, state, createtime: '2026-11-01T00:00:00Z', items },
  });
}

const refresh = async (it: OrderingAccount): Promise<void> => {
  await runOk(it, 'files', '--refresh');
  await runOk(it, 'report');
};

const CI = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'ada/talks',
  GITHUB_RUN_ID: '77',
  GITHUB_ACTOR: 'ada',
};

describe('log', () => {
  it('lists what was bought, the latest first, with the cost as soon as it is known', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    await it.order(audio('b'), audio('c'));
    expect((await logOf(it)).map((entry) => [...entry.audiofiles, shown(entry)])).toEqual([
      ['2', '3', 'order placed - unknown'],
      ['1', 'order placed - unknown'],
    ]);
    bill(it, '1', [['TRANS14', 8.6]]);
    bill(it, '2', [['TRANS14', 1.5]], { state: 'SUBMITTED' });
    bill(it, '3', [['TRANS14', 2]]);
    await refresh(it);
    expect((await logOf(it)).map((entry) => [shown(entry), entry.unpaid])).toEqual([
      ['order placed 3.5 billed', 1.5],
      ['order placed 8.6 billed', 0],
    ]);
  });

  it('has estimates until then', async () => {
    const it = await orderingAccount();
    await runOk(it, 'config', 'set', 'price.TRANS14', '0.86');
    const rows = `url,sku,minutes\n${audio('a')},TRANS14,10\n`;
    await it.user.run(['order', '--from', '-'], { stdin: rows });
    expect((await logOf(it)).map(shown)).toEqual(['order placed 8.6 estimated']);
  });

  it('says who it was: a person, or a CI job and who started it', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    await it.user.run(['order', audio('b'), '--sku', 'TRANS14'], { env: CI });
    const [job, person] = await logOf(it);
    expect(job?.by).toMatchObject({
      job: 'https://github.com/ada/talks/actions/runs/77/attempts/1',
      actor: 'ada',
    });
    expect(person?.by).toMatchObject({
      user: expect.any(String),
      host: expect.any(String),
      job: null,
      actor: null,
    });
    const { stdout } = await it.user.onTerminal('steno log --no-color', { columns: 200 });
    expect(stdout).toContain('ada, https://github.com/ada/talks');
  });

  it('is a table for people, rows for scripts, and CSV', async () => {
    const it = await orderingAccount();
    expect((await it.user.onTerminal('steno log')).stdout).toContain('no purchases in this ledger yet');
    await it.order(audio('a'), audio('b'));
    const table = (await it.user.onTerminal('steno log --no-color', { columns: 160 })).stdout;
    expect(table).toMatch(/KIND +STATUS/);
    expect(table).toContain('a.mp3 and 1 more');
    expect(table).toMatch(/\w@\w/);
    const [head = [], ...rows] = parseCsv((await runOk(it, 'log', '--csv')).stdout);
    expect(rows.map((row) => row[head.indexOf('urls')])).toEqual([`${audio('a')} ${audio('b')}`]);
    const plain = (await runOk(it, 'log')).stdout.slice(0, -1).split('\n');
    expect(plain.map((line) => line.split('\t').length)).toEqual([head.length]);
    expect((await runOk(it, 'log', '--quiet')).stdout).toBe('1\n');
  });

  it('shows people URLs and titles, all of the ids, and no order that was sent again in halves', async () => {
    const it = await orderingAccount();
    const wrong = audio('b');
    it.service.allow('POST /order_url', ({ body }, response) => {
      const urls = [body?.url ?? []].flat() as string[];
      const isRefused = urls.includes(wrong);
      response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
      const ids = urls.map((url) => url.charCodeAt(url.length - 5));
      response.end(JSON.stringify(isRefused ? { message: 'no' } : { order: 'o', audiofiles: ids }));
    });
    writeFileSync(join(it.user.home, 'list.txt'), `${['a', 'b', 'c', 'd'].map(audio).join('\n')}\n`);
    await it.order('--from', 'list.txt');
    await it.user.run(['files', '--refresh']);
    expect((await logOf(it)).filter(({ status }) => status === 'refused')).toHaveLength(3);
    const { stdout } = await it.user.onTerminal('steno log --no-color', { columns: 300 });
    expect(stdout.match(/ order +refused /g)).toHaveLength(1);
    expect(stdout).toMatch(/ 99 and 1 more .*c\.mp3 and 1 more .*Talk 99 and 1 more/);
  });

  it('shows only what was asked for', async () => {
    const it = await orderingAccount();
    for (const name of ['a', 'b', 'c']) await it.order(audio(name));
    it.service.on('POST /audiofile/2/upgrade', { body: { message: 'ok' } });
    await runOk(it, 'upgrade', '2', '--sku', 'TSTMP1');
    const kinds = async (...args: string[]) =>
      (await logOf(it, ...args)).map(({ kind, order }) => `${kind} ${order}`);
    expect(await kinds('--order', 'o2')).toEqual(['upgrade null', 'order o2']);
    expect(await kinds('--file', '2')).toEqual(['upgrade null', 'order o2']);
    expect(await kinds('--file', '9')).toEqual([]);
    expect(await kinds('--limit', '1')).toEqual(['upgrade null']);
    queryLedger(
      it.user,
      "UPDATE purchases SET started_at = '2020-01-01T00:00:00.000Z' WHERE order_id = 'o1'",
    );
    expect(await kinds('--since', '1d')).toHaveLength(3);
    expect((await it.user.run(['log', '--since', 'soon'])).code).toBe(2);
    expect((await it.user.run(['log', '--no-ledger'])).code).toBe(2);
  });

  it('shows the latest of many, and says so', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    queryLedger(
      it.user,
      `INSERT INTO purchases (id, profile, kind, outcome, status, test, started_at)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       SELECT 'P' || i, (SELECT min(profile) FROM purchases), 'order', 'refused', 'refused', 0, '2026-01-01T00:00:00.000Z'
       FROM n`,
    );
    const { stdout, stderr } = await runOk(it, 'log');
    expect(stdout.split('\n')).toHaveLength(101);
    expect(stderr).toContain('the latest 100; show more with --limit or --since');
    const all = await logOf(it, '--limit', '5000');
    expect([all.length, new Set(all.map(({ attempt }) => attempt)).size]).toEqual([1201, 1201]);
  });

  it('counts a refund once, and takes off what the service returned by itself', async () => {
    const it = await orderingAccount();
    for (const name of ['a', 'b']) await it.order(audio(name));
    for (const file of ['1', '2']) bill(it, file, [['TRANS14', 8.6]], { statename: 'Pre-Processing' });
    await refresh(it);
    it.service.on('POST /audiofile/1/refund', { body: { message: 'ok' } });
    await runOk(it, 'refund', '1', '--yes');
    expect((await it.user.run(['refund', '1', '--yes', '--again'])).code).toBe(0);
    bill(
      it,
      '2',
      [
        ['TRANS14', 8.6],
        ['TRANS14', -8.6],
      ],
      { statename: 'Order Cancelled' },
    );
    await refresh(it);
    expect((await logOf(it)).map(shown)).toEqual([
      'refund placed 0 billed',
      'refund placed -8.6 billed',
      'order placed 0 billed',
      'order placed 8.6 billed',
    ]);
  });
});

describe('a cost that is not known', () => {
  const sandboxed = async (refreshes: boolean): Promise<string[]> => {
    const { user } = await orderingAccount();
    const run = async (...args: string[]) => {
      const result = await user.run([...args, '--sandbox']);
      expect([args, result.code, result.stderr]).toEqual([args, 0, expect.anything()]);
      return result.stdout;
    };
    const costs = async (): Promise<string> =>
      (JSON.parse(await run('log', '--json')) as Entry[])
        .map(({ cost, unpaid }) => `${cost ?? '-'} ${unpaid ?? '-'}`)
        .join(', ');
    const seen: string[] = [];
    await run('api', 'POST', '/order_url', 'url=https://example.com/slow9.mp3?minutes=10', 'sku=TRANS14');
    if (refreshes) {
      await run('files', '--refresh');
      seen.push(await costs());
    }
    await run('api', 'POST', '/audiofile/1001/upgrade', 'sku=UPGRD1');
    await run('api', 'POST', '/audiofile/1001/refund');
    seen.push(await costs());
    await run('files', '--refresh');
    const { totals } = JSON.parse(await run('report', '--json'));
    seen.push(`spent ${totals[0].spent}, refunded ${totals[0].refunded}`, await costs());
    return seen;
  };

  it('stays unknown after a refund, until the invoices tell it', { timeout: 60_000 }, async () => {
    const end = ['spent 0, refunded 12.5', '-12.5 0, 3.9 0, 8.6 0'];
    expect(await sandboxed(false)).toEqual(['- 0, - 0, - 0', ...end]);
    expect(await sandboxed(true)).toEqual(['8.6 -', '- 0, - 0, 8.6 0', ...end]);
  });

  it('of an upgrade after a refund counts, and is not refunded', { timeout: 60_000 }, async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    it.service.allow('POST /audiofile/1/refund', { body: { message: 'ok' } });
    it.service.allow('POST /audiofile/1/upgrade', { status: 500, body: {} });
    await runOk(it, 'refund', '1', '--yes');
    expect((await it.user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(11);
    const about = { id: '1', statename: 'Refunded', duration: 10, total: 0 };
    it.service.allow('GET /audiofile/1', { body: { audiofile: about } });
    await runOk(it, 'files', '--refresh');
    expect((await logOf(it)).map(shown)).toEqual([
      'upgrade unclear - unknown',
      'refund placed - unknown',
      'order placed - unknown',
    ]);
    await runOk(it, 'budget', 'set', '100/month');
    expect(JSON.parse((await runOk(it, 'budget', '--json')).stdout).budgets[0].unknown).toBe(2);
    it.service.allow('GET /audiofile/1', {
      body: { audiofile: { ...about, statename: 'Delivered', total: 50 } },
    });
    await runOk(it, 'files', '--refresh');
    expect((await logOf(it)).map(shown)[0]).toBe('upgrade unclear 50 billed');
  });
});

describe('invoice lines that name no file', () => {
  const billed = async (items: readonly object[]) => {
    const it = await orderingAccount();
    for (const name of ['a', 'b']) await it.order(audio(name));
    for (const id of ['1', '2'])
      it.service.allow(`GET /audiofile/${id}`, {
        body: { audiofile: { id, statename: 'Delivered', duration: 10, total: 0, invoices: ['7'] } },
      });
    it.service.allow('POST /invoice/7', {
      body: { id: '7', state: 'PAID', createtime: '2026-11-01T00:00:00Z', items },
    });
    await runOk(it, 'files', '--refresh');
    const { totals, orders } = JSON.parse((await runOk(it, 'report', '--json')).stdout);
    await runOk(it, 'budget', 'set', '100/year');
    const { budgets } = JSON.parse((await runOk(it, 'budget', '--json')).stdout);
    const log = (await logOf(it)).map(({ cost }) => cost);
    const { spent, refunded } = totals[0];
    return {
      spent,
      refunded,
      orders: orders.length,
      billed: budgets[0].billed,
      back: budgets[0].refunded,
      log,
    };
  };

  it.each([
    ['are shared', [{ sku: 'TRANS14', total: 24 }], 24, 12],
    [
      'are a discount below zero',
      [
        { sku: 'TRANS14', audiofile: '1', total: 12 },
        { sku: 'TRANS14', audiofile: '2', total: 12 },
        { sku: 'DISCOUNT', total: -4 },
      ],
      20,
      10,
    ],
  ])('%s by the files that name the invoice', { timeout: 60_000 }, async (_, items, all, each) => {
    expect(await billed(items)).toEqual({
      ...{ spent: all, refunded: 0, orders: 2, billed: all, back: 0 },
      log: [each, each],
    });
  });
});

describe('a month in which everything went wrong once', () => {
  it('is told by the log', async () => {
    const it = await orderingAccount();
    const { user, service } = it;
    const settle = (...args: string[]) => runOk(it, 'attempts', 'settle', ...args);

    // An order of unknown price, and one that was refused.
    await it.order(audio('first'));
    service.on('POST /order_url', { status: 402, body: { message: 'The balance is too low.' } });
    expect((await it.order(audio('refused'))).code).toBe(1);
    // The connection broke after it was sent; somebody was sure that it was not placed, and was wrong.
    service.on('POST /order_url', (_, __, socket) => socket.destroy());
    expect((await it.order(audio('lost'))).code).toBe(11);
    expect((await logOf(it))[0]).toMatchObject({ status: 'unclear', cost_source: 'unknown' });
    await settle('3', '--not-placed');
    expect((await logOf(it))[0]).toMatchObject({ status: 'refused', cost_source: 'none' });
    await settle('3', '--reopen');
    await settle('3', '--placed', 'o90', '--file', '90');
    // A held order, released later.
    service.on('POST /order_url', { body: { order: 'o4', audiofiles: [4], hold: 'billing', message: 'ok' } });
    bill(it, '4', [['TRANS14', 4]], { state: 'CREATED', statename: 'On Hold' });
    await it.order(audio('held'));
    await refresh(it);
    expect((await logOf(it))[0]).toMatchObject({ cost: 4, unpaid: 4, cost_source: 'billed' });
    bill(it, '4', [['TRANS14', 4]], { statename: 'Transcribing' });
    // An order by a CI job, a test, and one of the raw calls.
    service.on('POST /order_url', { body: { order: 'o5', audiofiles: [5], message: 'ok' } });
    await user.run(['order', audio('job'), '--sku', 'TRANS14'], { env: CI });
    service.on('POST /order_url', { body: { order: 'o6', audiofiles: [6], message: 'ok' } });
    await it.order(audio('test'), '--test');
    service.on('POST /order_url', { body: { order: 'o7', audiofiles: [7], message: 'ok' } });
    await runOk(it, 'api', 'POST', '/order_url', `url=${audio('raw')}`, 'sku=TRANS14');
    // An upgrade without a clear answer, which went through, and a refund.
    service.on('POST /audiofile/1/upgrade', { status: 502 });
    expect((await user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(11);
    await settle('8', '--placed');
    bill(it, '5', [['TRANS14', 5]], { statename: 'Pre-Processing' });
    await refresh(it);
    service.on('POST /audiofile/5/refund', { body: { message: 'ok' } });
    await runOk(it, 'refund', '5', '--yes');
    // The prices become known.
    bill(it, '1', [
      ['TRANS14', 1],
      ['TSTMP1', 0.5],
    ]);
    bill(it, '90', [['TRANS14', 3]]);
    bill(it, '7', [['TRANS14', 7]], { state: 'OPEN' });
    await refresh(it);

    const story = (await logOf(it)).reverse();
    expect(story.map((entry) => `${entry.attempt} ${shown(entry)}`)).toEqual([
      '1 order placed 1 billed',
      '2 order refused - none',
      '3 order placed 3 billed',
      '4 order placed 4 billed',
      '5 order placed 5 billed',
      '6 order placed - none',
      '7 order placed 7 billed',
      '8 upgrade placed 0.5 billed',
      '9 refund placed -5 billed',
    ]);
    expect(story.map(({ unpaid }) => unpaid)).toEqual([0, 0, 0, 0, 0, 0, 7, 0, 0]);
    expect(story[1]?.detail).toContain('The balance is too low.');
    expect(story[2]).toMatchObject({
      order: 'o90',
      audiofiles: ['90'],
      settlements: [
        { placed: false, undone_by: expect.any(String), undone_at: expect.any(String) },
        { placed: true, order: 'o90', by: expect.any(String), undone_at: null },
      ],
    });
    expect(story[4]?.by).toMatchObject({ actor: 'ada' });
    expect([story[5]?.test, story[6]?.via]).toEqual([true, 'POST /order_url']);
    expect(story[7]).toMatchObject({ audiofiles: ['1'], settlements: [{ placed: true }] });

    const { totals } = JSON.parse((await runOk(it, 'report', '--json')).stdout);
    expect(totals).toMatchObject([{ spent: 8.5, refunded: 5, unpaid: 7 }]);
    const rows = (await runOk(it, 'log')).stdout;
    for (const text of ['settled as not placed by', 'undone by', 'settled as placed (order o90)', 'ada'])
      expect(rows).toContain(text);
  });
});
