/** `report`: what was spent, how long it took and what is late, from the ledger and invoices that are fetched once. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../support/account.ts';
import { parseCsv } from '../support/csv.ts';
import { item, rss } from '../support/feed.ts';
import { listing } from '../support/files.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

interface InvoiceAnswer {
  readonly state?: string;
  readonly created: string;
  /** SKU, file, quantity, price. */
  readonly items: ReadonlyArray<readonly [string, number | string, number | string, number | string]>;
}

const invoiceAnswer = (id: string, { state = 'PAID', created, items }: InvoiceAnswer): object => ({
  invoice: {
    id,
    state,
    createtime: created,
    items: items.map(([sku, audiofile, quantity, price], at) => ({
      id: at,
      sku,
      audiofile,
      quantity,
      price,
    })),
  },
});

const august: InvoiceAnswer = { created: '2026-08-03T10:00:00Z', items: [['TRANS14', 1, 10, 0.86]] };
const september: InvoiceAnswer = {
  created: '2026-09-04T10:00:00Z',
  items: [
    ['TRANS6', 2, 20, 1.25],
    ['TSTMP1', 2, 20, 0.5],
  ],
};

/** Three files in two orders: two on an invoice each, one under way. */
async function spender(state = 'PAID'): Promise<OrderingAccount> {
  const it = await orderingAccount();
  const answers: Array<[string, object]> = [
    ['1', { statename: 'Delivered', title: 'One', duration: 10, total: 8.6, invoices: [501] }],
    ['2', { statename: 'Delivered', title: 'Two', duration: 20, total: 35, invoices: [502] }],
    ['3', { statename: 'Transcribing', title: 'Three', duration: 5 }],
  ];
  for (const [id, answer] of answers)
    it.service.allow(`GET /audiofile/${id}`, { body: { audiofile: { id, ...answer } } });
  it.service.allow('POST /invoice/501', { body: invoiceAnswer('501', august) });
  it.service.allow('POST /invoice/502', { body: invoiceAnswer('502', { ...september, state }) });
  await it.order(audio('a'));
  await it.user.run(['order', audio('b'), audio('c'), '--sku', 'TRANS6,TSTMP1']);
  await it.user.run(['files', '--refresh']);
  queryLedger(
    it.user,
    "UPDATE files SET ordered_at = '2026-08-01T00:00:00.000Z', changed_at = '2026-08-11T12:00:00.000Z' WHERE id = '1'",
  );
  queryLedger(
    it.user,
    "UPDATE files SET ordered_at = '2026-09-01T00:00:00.000Z', changed_at = '2026-09-09T00:00:00.000Z' WHERE id = '2'",
  );
  queryLedger(it.user, "UPDATE files SET ordered_at = '2026-09-20T00:00:00.000Z' WHERE id = '3'");
  return it;
}

const report = async (it: OrderingAccount, ...args: string[]) => it.user.run(['report', ...args]);

const calls = (it: OrderingAccount): string[] =>
  it.service.got.flatMap(({ path }) => /^\/invoice\/(.+)$/.exec(path)?.[1] ?? []).sort();

/** One that tests may look at that change nothing. */
const account = spender();

describe('report', () => {
  it('has at most as many rows of each part as --limit says, and all months and sums', async () => {
    const [whole, cut] = await Promise.all(
      [[], ['--limit', '1']].map(async (more) =>
        JSON.parse((await report(await account, '--json', ...more)).stdout),
      ),
    );
    const { months, totals, counts, turnaround } = whole;
    expect(cut).toMatchObject({ months, totals, counts, turnaround });
    expect([cut.skus, cut.orders]).toEqual([[whole.skus[0]], [whole.orders[0]]]);
    const { stdout } = await report(await account, '--by', 'sku', '--limit', '2', '--csv');
    expect(stdout.trim().split('\r\n')).toHaveLength(3);
  });

  it('is one document with --json: spend, turnaround and what is late', async () => {
    const { code, stdout, stderr } = await report(await account, '--json');
    expect([code, stderr]).toEqual([0, '']);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      since: null,
      counts: { delivered: 2, open: 1, held: 0, unclear: 0, late: 1 },
      totals: [{ currency: 'USD', spent: 43.6, refunded: 0, minutes: 30, files: 2, unmeasured: 0 }],
      months: [
        { month: '2026-08', spent: 8.6, minutes: 10 },
        { month: '2026-09', spent: 35, minutes: 20 },
      ],
      skus: [
        { sku: 'TRANS6', spent: 25, minutes: 20, files: 1 },
        { sku: 'TSTMP1', spent: 10 },
        { sku: 'TRANS14', spent: 8.6 },
        { sku: 'TRANS6+TSTMP1', spent: 0, estimated: 0, unbilled: 1, files: 0 },
      ],
      orders: [
        { order: 'o2', spent: 35 },
        { order: 'o1', spent: 8.6 },
      ],
      turnaround: [
        { sku: 'TRANS14', target_days: 14, delivered: 1, on_time: 1, late: 0, median_seconds: 907_200 },
        { sku: 'TRANS6', target_days: 6, delivered: 1, on_time: 0, late: 1, slowest_seconds: 691_200 },
      ],
      waiting: [
        { kind: 'open', audiofile: '3', title: 'Three', order: 'o2', due_at: '2026-09-26T00:00:00.000Z' },
      ],
      notes: ['1 purchase not billed yet: cost not known'],
    });
    expect(document.waiting[0].late_seconds).toBeGreaterThan(0);
  });

  it('leaves out with --since what was spent and delivered before, and shows all that is under way', async () => {
    const { stdout } = await report(await account, '--since', '2026-09-01', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      since: '2026-09-01T00:00:00.000Z',
      totals: [{ spent: 35, minutes: 20, files: 1 }],
      months: [{ month: '2026-09' }],
      turnaround: [{ sku: 'TRANS6', delivered: 1 }],
      waiting: [{ audiofile: '3' }],
    });
    expect((await report(await account, '--since', '2100-01-01', '--quiet')).stdout).toBe('');
    expect((await report(await account, '--since', 'soon')).code).toBe(2);
  });

  it('leaves out with --until what came after; a date is the end of that day', async () => {
    const it = await account;
    const until = async (time: string, ...more: string[]) =>
      JSON.parse((await report(it, '--until', time, '--json', ...more)).stdout);
    expect(await until('2026-09-03')).toMatchObject({
      ...{ since: null, until: '2026-09-03T23:59:59.999Z' },
      totals: [{ spent: 8.6, minutes: 10, files: 1, unbilled: 0 }],
      months: [{ month: '2026-08' }],
      turnaround: [{ sku: 'TRANS14', delivered: 1 }],
      waiting: [{ audiofile: '3' }],
      notes: [],
    });
    expect((await until('2026-09-04')).totals).toMatchObject([{ spent: 43.6 }]);
    expect((await until('2026-09-04T09:00:00Z')).totals).toMatchObject([{ spent: 8.6 }]);
    expect((await until('2026-09-30', '--since', '2026-09-01')).totals).toMatchObject([
      { spent: 35, unbilled: 1 },
    ]);
    for (const args of [['soon'], ['2026-08-31', '--since', '2026-09-01']])
      expect((await report(it, '--until', ...args)).code).toBe(2);
  });

  it('has a row of what was ordered before the service has said anything of it', async () => {
    const it = await orderingAccount();
    const month = new Date().toISOString().slice(0, 7);
    await it.user.run(['config', 'set', 'price.TRANS14', '0.50 USD']);
    await it.user.run(['budget', 'set', '100/month']);
    writeFileSync(join(it.user.home, 'm.csv'), `url,minutes\n${audio('a')},10\n${audio('b')},\n`);
    expect((await it.order('--from', 'm.csv', '--unpriced')).code).toBe(0);
    const rows = async (...args: string[]) => (await report(it, ...args)).stdout.trim().split('\n');
    expect(await rows('--by', 'month')).toEqual([`${month}\tUSD\t0.00\t0.00\t0.00\t5.00\t2\t0\t0\t0`]);
    const { months, orders, notes } = JSON.parse((await report(it, '--json')).stdout);
    expect(months).toMatchObject([{ month, currency: 'USD', spent: 0, estimated: 5, unbilled: 2 }]);
    expect(orders).toMatchObject([{ order: 'o1', estimated: 5, unbilled: 2 }]);
    expect(notes).toEqual(['2 purchases not billed yet: about 5.00 USD by estimate, 1 of unknown cost']);
    expect(it.service.got).toHaveLength(1);
  });

  it('is one table with --csv and off a terminal, whose first column says the part', async () => {
    const [header = [], ...rows] = parseCsv((await report(await account, '--csv')).stdout);
    expect(header.slice(0, 6)).toEqual(['part', 'name', 'currency', 'spent', 'refunded', 'unpaid']);
    expect(rows.map((row) => row.slice(0, 4))).toEqual([
      ['total', '', 'USD', '43.60'],
      ['month', '2026-08', 'USD', '8.60'],
      ['month', '2026-09', 'USD', '35.00'],
      ['sku', 'TRANS6', 'USD', '25.00'],
      ['sku', 'TSTMP1', 'USD', '10.00'],
      ['sku', 'TRANS14', 'USD', '8.60'],
      ['sku', 'TRANS6+TSTMP1', 'USD', '0.00'],
      ['order', 'o2', 'USD', '35.00'],
      ['order', 'o1', 'USD', '8.60'],
      ['feed', '(none)', 'USD', '43.60'],
      ['tag', '(none)', 'USD', '43.60'],
      ['person', expect.stringContaining('@'), 'USD', '43.60'],
      ['invoice', '502', 'USD', '35.00'],
      ['invoice', '501', 'USD', '8.60'],
      ['invoice', '(none)', 'USD', '0.00'],
      ['turnaround', 'TRANS14', '', ''],
      ['turnaround', 'TRANS6', '', ''],
      ['open', '3', '', ''],
    ]);
    for (const row of rows) expect(row).toHaveLength(header.length);
    const plain = (await report(await account)).stdout.trimEnd().split('\n');
    expect(plain.map((line) => line.split('\t').slice(0, 4))).toEqual(rows.map((row) => row.slice(0, 4)));
  });

  it('is one grouping with --by, and the sum with --quiet', async () => {
    const it = await account;
    const by = async (name: string) =>
      (await report(it, '--by', name, '--csv')).stdout.split('\n').map((line) => line.split(',').slice(0, 3));
    expect(await by('month')).toEqual([
      ['month', 'currency', 'spent'],
      ['2026-08', 'USD', '8.60'],
      ['2026-09', 'USD', '35.00'],
      [''],
    ]);
    expect((await by('SKU'))[1]).toEqual(['TRANS6', 'USD', '25.00']);
    expect((await by('order'))[1]).toEqual(['o2', 'USD', '35.00']);
    const { code, stderr } = await report(it, '--by', 'moth');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/unknown --by value 'moth'\nhint: did you mean month\? .*sku/),
    ]);
    expect((await report(it, '--by', 'zz')).stderr).toMatch(
      /\nhint: choose from: month, sku, order, feed, tag, person, invoice\n$/,
    );
    expect((await report(it, '--quiet')).stdout).toBe('43.60\n');
  });

  it('shows tables with bars to people', async () => {
    const it = await account;
    const { stdout } = await it.user.onTerminal('steno report --no-color', { columns: 140 });
    for (const text of [
      'Spend by month',
      'Spend by SKU',
      'Turnaround',
      'Open, on hold and uncertain',
      '█',
      'Three',
    ])
      expect(stdout).toContain(text);
    const one = (await it.user.onTerminal('steno report --by order --no-color')).stdout;
    expect(one).toContain('Spend by order');
    expect(one).not.toContain('Turnaround');
  });

  it('is a heading and a table for each part with --markdown, without bars', async () => {
    const it = await account;
    const { code, stdout, stderr } = await report(it, '--markdown');
    const [months, skus, turnaround, waiting, ...more] = stdout.split('### ').slice(1);
    expect([code, stderr, more]).toEqual([0, '1 purchase not billed yet: cost not known\n', []]);
    expect(months).toBe(
      `Spend by month

| month | spent | minutes | files | unbilled |
| --- | ---: | ---: | ---: | ---: |
| 2026-08 | 8.60 USD | 10 | 1 |  |
| 2026-09 | 35.00 USD | 20 | 1 | 1 |

`,
    );
    expect(skus).toMatch(/^Spend by SKU\n\n\| sku \| spent \|.*\n.*\n\| TRANS6 \| 25\.00 USD \| 20 \| 1 \|/);
    expect(turnaround).toContain('\n| TRANS14 | 10.5d | 10.5d | 14d | 1 | 1 | 0 |\n');
    expect(waiting).toMatch(
      /^Open, on hold and uncertain\n\n\| audiofile \| state \| title \|.*\n.*\n\| 3 \| Transcribing \| Three \|/,
    );
    const orders = await report(it, '--by', 'order', '--markdown');
    expect(orders.stdout).toContain('\n| o2 | Two and 1 more | 35.00 USD | 20 | 1 | 1 |\n');
    expect(stdout + orders.stdout).not.toMatch(/[█▏▎▍▌▋▊▉]/);
  });

  it('of an empty ledger has nothing in any form, and asks nobody', async () => {
    const it = await orderingAccount();
    const { code, stdout, stderr } = await report(it, '--json');
    expect([code, stderr, JSON.parse(stdout).totals]).toEqual([0, '', []]);
    expect(parseCsv((await report(it, '--csv')).stdout)).toHaveLength(1);
    expect((await report(it, '--quiet')).stdout).toBe('');
    expect((await report(it)).stdout).toBe('');
    const shown = await it.user.onTerminal('steno report');
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('nothing has been ordered yet')]);
    await report(it, '--html', 'empty.html');
    expect(readFileSync(join(it.user.home, 'empty.html'), 'utf8')).toContain('</html>');
    expect(it.service.got).toEqual([]);
  });

  it('needs the ledger', async () => {
    const it = await orderingAccount();
    const { code, stderr } = await report(it, '--no-ledger');
    expect([code, stderr]).toEqual([2, expect.stringContaining('report reads the ledger')]);
  });
});

describe('the invoices of a report', () => {
  it('are fetched once where they are paid, and again while they are open', async () => {
    const it = await spender('OPEN');
    for (let n = 0; n < 3; n += 1) await report(it, '--quiet');
    expect(calls(it)).toEqual(['501', '502', '502', '502']);
    it.service.on('POST /invoice/502', { body: invoiceAnswer('502', { ...september, state: 'paid' }) });
    for (let n = 0; n < 3; n += 1) await report(it, '--quiet');
    expect(calls(it)).toEqual(['501', '502', '502', '502', '502']);
  });

  it('are fetched again after a refund, and count it', async () => {
    const it = await spender();
    expect((await report(it, '--quiet')).stdout).toBe('43.60\n');
    it.service.on('POST /audiofile/1/refund', { body: { message: 'ok' } });
    await it.user.run(['refund', '1', '--yes']);
    const { totals } = JSON.parse((await report(it, '--json')).stdout);
    expect(totals).toMatchObject([{ spent: 35, refunded: 8.6, unpaid: 0 }]);
    expect(calls(it)).toEqual(['501', '501', '502']);
  });

  it('are fetched once they are there, though the file was delivered before', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    await it.user.run(['files', '--refresh']);
    const notes = async () => JSON.parse((await report(it, '--json')).stdout).notes;
    expect(await notes()).toEqual(['1 delivered file not counted: cost not known yet']);
    it.service.on('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', duration: 10, invoices: [501] } },
    });
    it.service.on('POST /invoice/501', { body: invoiceAnswer('501', august) });
    expect([await notes(), (await report(it, '--quiet')).stdout]).toEqual([[], '8.60\n']);
  });

  it('that are not paid are said apart', async () => {
    const it = await spender('CREATED');
    const { totals } = JSON.parse((await report(it, '--json')).stdout);
    expect(totals).toMatchObject([{ spent: 8.6, unpaid: 35 }]);
  });

  it('are kept by `invoice` too', async () => {
    const it = await spender('OPEN');
    await it.user.run(['invoice', '501', '502']);
    await report(it, '--quiet');
    expect(calls(it)).toEqual(['501', '502', '502']);
  });

  it.each([
    ['there is no key', { STENO_API_KEY: undefined }, /no API key is set/],
    ['there is no address', { STENO_BASE_URL: undefined }, /no base URL is set/],
    ['the service is down', undefined, /127\.0\.0\.1/],
  ])('are those that are kept where %s, with one warning', async (_, env, reason) => {
    const it = await spender();
    await it.user.run(['invoice', '501']);
    if (!env) await it.service.close();
    const given = env ? { env } : {};
    const { code, stdout, stderr } = await it.user.run(['report', '--json', '--timeout', '3s'], given);
    const { totals, notes } = JSON.parse(stdout);
    // The other file says itself what it cost, and not whether that is paid.
    expect([code, totals[0].spent, totals[0].unpaid]).toEqual([0, 8.6, 0]);
    expect(notes).toContainEqual(
      expect.stringMatching(/^35\.00.* not counted: billed on invoices that were not read/),
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stderr).warning.message).toMatch(reason);
    // With all of them kept and paid there is nothing to ask for, so nothing to warn of.
    queryLedger(it.user, "UPDATE files SET invoices = '501'");
    expect((await it.user.run(['report', '--quiet'], given)).stderr).toBe('');
  });

  it('are not asked for with --offline', async () => {
    const it = await spender();
    await it.user.run(['invoice', '501']);
    it.service.got.length = 0;
    const { code, stdout, stderr } = await report(it, '--json', '--offline');
    expect([code, stderr, it.service.got]).toEqual([0, '', []]);
    expect(JSON.parse(stdout).totals[0].spent).toBe(8.6);
  });

  it('go along with an export, with what feeds and orders say', async () => {
    const it = await spender('OPEN');
    writeFileSync(
      join(it.user.home, 'feed.xml'),
      rss(item({ guid: 'one', title: 'One', more: '<itunes:duration>90</itunes:duration>' })),
    );
    await it.order('--feed', 'feed.xml', '--latest', '1');
    const before = JSON.parse((await report(it, '--json')).stdout);
    const fetched = calls(it).length;
    const lines = (await it.user.run(['ledger', 'export'])).stdout;
    const other = new User();
    expect((await other.run(['ledger', 'import', '-'], { stdin: lines })).code).toBe(0);
    // No key and no address: what is open can't be asked for again.
    const { stdout, stderr } = await other.run(['report', '--json']);
    const after = JSON.parse(stdout);
    expect([after.totals, after.months, after.skus]).toEqual([before.totals, before.months, before.skus]);
    expect([JSON.parse(stderr).warning.message, calls(it).length]).toEqual([
      expect.stringContaining('no API key'),
      fetched,
    ]);
    const [episode] = JSON.parse((await other.run(['files', '--json'])).stdout);
    expect(episode).toMatchObject({ audiofile: '4', minutes: 1.5 });
  });

  it('that the service refuses are one warning, and the others count', async () => {
    const it = await spender();
    it.service.on('POST /invoice/502', { status: 404, body: { message: 'There is no invoice 502.' } });
    queryLedger(it.user, "UPDATE files SET total = '', changed_at = '2026-01-01' WHERE id = '2'");
    const { code, stdout, stderr } = await report(it, '--quiet');
    expect([code, stdout]).toEqual([0, '8.60\n']);
    expect(stderr).toMatch(/^warning: could not fetch 1 invoice; .*There is no invoice 502/);
    const { notes } = JSON.parse((await report(it, '--json')).stdout);
    expect(notes).toEqual([
      '1 delivered file not counted: cost not known yet',
      '1 purchase not billed yet: cost not known',
    ]);
  });

  it('are not each tried while the service is down', async () => {
    const it = await spender();
    const ids = Array.from({ length: 40 }, (_, n) => String(601 + n));
    for (const id of ids)
      it.service.allow(`POST /invoice/${id}`, (_got, _response, socket) => socket.destroy());
    queryLedger(it.user, 'UPDATE files SET invoices = ?', ids.join());
    const { code, stderr } = await report(it, '--quiet', '--timeout', '2s');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: could not fetch 40 invoices/)]);
    expect(new Set(calls(it)).size).toBeLessThan(20);
  });

  it('that stand damaged in the ledger are fetched again', async () => {
    const it = await spender();
    await report(it, '--quiet');
    queryLedger(it.user, "UPDATE kept_invoices SET answer = '{' WHERE id = '501'");
    expect((await report(it, '--quiet')).stdout).toBe('43.60\n');
    expect(calls(it).filter((id) => id === '501')).toHaveLength(2);
  });

  it('keep every digit of ids and amounts, as numbers and as texts', async () => {
    const it = await orderingAccount();
    const long = '90071992547409931234567890';
    it.service.on('GET /audiofile/1', {
      body: `{"audiofile":{"id":1,"statename":"Delivered","duration":"0.1","invoices":[${long},"${long}1"]}}`,
    });
    it.service.on(`POST /invoice/${long}`, {
      body: `{"id":${long},"state":"PAID","createtime":"2026-08-01","total":90071992547409931.10,"items":[]}`,
    });
    it.service.on(`POST /invoice/${long}1`, {
      body: `{"id":"${long}1","state":"PAID","createtime":"2026-08-01","total":"0.2","items":[]}`,
    });
    await it.order(audio('a'));
    await it.user.run(['files', '--refresh']);
    const { stdout } = await report(it, '--json');
    expect(stdout).toContain('"spent": 90071992547409931.30');
    expect((await report(it, '--quiet')).stdout).toBe('90071992547409931.30\n');
    const kept = queryLedger<{ id: string }>(it.user, 'SELECT id FROM kept_invoices ORDER BY id');
    expect(kept.map(({ id }) => id)).toEqual([long, `${long}1`]);
  });

  it('are added up for each currency apart', async () => {
    const it = await orderingAccount();
    const items = [
      ['TRANS14', 1, 1, '€5'],
      ['TRANS14', 1, 1, '7 USD'],
      ['TRANS14', 1, 1, 9],
    ] as const;
    it.service.on('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', duration: 1, invoices: [501] } },
    });
    it.service.on('POST /invoice/501', { body: invoiceAnswer('501', { ...august, items }) });
    await it.order(audio('a'));
    await it.user.run(['files', '--refresh']);
    expect((await report(it, '--quiet')).stdout).toBe('5.00 EUR\n16.00\n');
    await it.user.run(['config', 'set', 'currency', 'EUR']);
    expect((await report(it, '--quiet')).stdout).toBe('14.00 EUR\n7.00\n');
  });
});

describe('orders without a known end, and those on hold', () => {
  it('are in the report, an order that is being sent is not', async () => {
    const it = await orderingAccount();
    it.service.on('POST /order_url', {
      body: { order: 'h1', audiofiles: [1], hold: 'billing', message: 'ok' },
    });
    it.states.set('1', ['On Hold']);
    await it.order(audio('held'));
    it.service.on('POST /order_url', { status: 502 });
    expect((await it.order(audio('lost'))).code).toBe(11);
    const { counts, waiting } = JSON.parse((await report(it, '--json')).stdout);
    expect(counts).toMatchObject({ open: 0, held: 1, unclear: 1, late: 0 });
    expect(waiting).toMatchObject([
      { kind: 'held', audiofile: '1', order: 'h1', due_at: null, url: audio('held') },
      { kind: 'unclear', audiofile: null, attempt: 2, title: null, url: audio('lost'), skus: ['TRANS14'] },
    ]);
    it.service.on('POST /order_url', () => {});
    const sending = it.user.start(['order', audio('now'), '--sku', 'TRANS14']);
    await until(() => it.service.calls('POST /order_url').length === 3, 'the order is being sent');
    const during = await report(it, '--json');
    sending.kill('SIGKILL');
    expect(JSON.parse(during.stdout).counts.unclear).toBe(1);
  });
});

describe('--html', () => {
  it('writes a page, into a folder that is made, and in the place of an earlier one', async () => {
    const it = await account;
    const path = join(it.user.home, 'deep', 'er', 'report.html');
    const first = await report(it, '--html', 'deep/er/report.html');
    expect([first.code, first.stdout]).toEqual([0, '']);
    const page = readFileSync(path, 'utf8');
    expect(page).toMatch(/^<!doctype html>/i);
    for (const text of ['43.60', '2026', 'TRANS14', '<svg', '</html>']) expect(page).toContain(text);
    const { ino } = statSync(path);
    writeFileSync(join(it.user.home, 'old.html'), 'old');
    const forced = await report(it, '--html', 'old.html', '--force', '--quiet');
    expect(forced.stdout).toBe('old.html\n');
    expect(readFileSync(join(it.user.home, 'old.html'), 'utf8')).toMatch(/<\/html>\s*$/);
    const again = await report(it, '--html', 'deep/er/report.html', '--json');
    expect(JSON.parse(again.stdout)).toEqual({ path: 'deep/er/report.html' });
    // Written beside it and renamed, so that a reader has one of the two, never half of one.
    expect([statSync(path).ino === ino, listing(join(it.user.home, 'deep/er'))]).toEqual([
      false,
      ['report.html'],
    ]);
  });

  it('replaces no file that is no report, and no link that leads nowhere, without --force', async () => {
    const it = await account;
    const [notes, link] = [join(it.user.home, 'notes.md'), join(it.user.home, 'link.html')];
    writeFileSync(notes, 'my notes');
    symlinkSync(join(it.user.home, 'nowhere'), link);
    for (const path of [notes, link]) {
      const { code, stdout, stderr } = await report(it, '--html', path);
      const said = `steno: ${path} already exists\nhint: replace it with --force\n`;
      expect([code, stdout, stderr]).toEqual([1, '', said]);
    }
    expect(readFileSync(notes, 'utf8')).toBe('my notes');
    expect(listing(it.user.home)).not.toContain('nowhere');
  });

  it.each([[], ['--force']])('leaves nothing behind where it fails (%s)', async (...flags) => {
    const it = await account;
    mkdirSync(join(it.user.home, 'taken.html', 'x'), { recursive: true });
    const { code, stderr } = await report(it, '--html', 'taken.html', '--json', ...flags);
    expect([code, jsonError(stderr).message]).toEqual([1, expect.stringContaining("can't write taken.html")]);
    expect(listing(it.user.home).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it.each([
    [['--html', ''], /name after --html is empty/],
    [['--html', 'x.html', '--by', 'sku'], /--by can't be used/],
    [['--force'], /--force .*--html/s],
  ])('refuses %j', async (args, message) => {
    const it = await account;
    const { code, stderr } = await report(it, ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
