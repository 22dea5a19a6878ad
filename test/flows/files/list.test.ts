/** `files`, alias `ls`: what the ledger knows, filtered, refreshed and exported. */

import { writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { parseCsv } from '../../support/csv.ts';
import { item, rss } from '../../support/feed.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Five files in three orders, and a test; all but the fourth were asked about. */
async function stocked(): Promise<OrderingAccount> {
  const it = await orderingAccount();
  it.states.set('2', ['Transcribing']).set('3', ['Order Cancelled']).set('5', ['A State Of Its Own']);
  const notes = 'mind the "gap", please';
  const rows = [
    { url: audio('a'), notes, names: ['Ada', 'Bo'] },
    { url: audio('b'), notes, names: ['Ada', 'Bo'] },
    { url: audio('c'), notes: 'c' },
    { url: audio('d') },
    { url: audio('e') },
  ].map((row) => JSON.stringify(row));
  await it.user.run(['order', '--from', '-', '--sku', 'TRANS14'], { stdin: rows.join('\n') });
  await it.order(audio('f'), '--test');
  await it.user.run(['file', '1', '2', '3', '5']);
  return it;
}

/** One that several tests may look at. */
const shop = stocked();

const ids = (text: string): string => text.trim().split('\n').join(' ');

describe('files', () => {
  it('of an empty ledger are none, in every form', async () => {
    const { user } = await orderingAccount();
    const forms: string[] = [];
    for (const line of [['files'], ['ls', '--json'], ['ls', '--csv'], ['ls', '--quiet']]) {
      const { code, stdout, stderr } = await user.run(line);
      expect([line, code, stderr]).toEqual([line, 0, '']);
      forms.push(stdout);
    }
    expect(forms.with(2, '')).toEqual(['', '[]\n', '', '']);
    expect(parseCsv(forms[2] ?? '')).toHaveLength(1);
    expect((await user.onTerminal('steno files')).stdout).toContain('no files yet; order one: ');
  });

  it('that none of a filter fits are told from those of an empty ledger', async () => {
    const { user } = await stocked();
    const { stdout } = await user.onTerminal('steno files --state Refunded');
    expect(stdout).toMatch(/^no files match \(6 in all\)\r?\n$/);
  });

  it('come newest first and can be chosen by state, order and time', async () => {
    const { user } = await shop;
    queryLedger(user, "UPDATE files SET ordered_at = '2025-06-15T10:00:00.000Z' WHERE id IN ('1', '2')");
    const wanted: ReadonlyArray<readonly [string, string]> = [
      ['', '6 5 4 3 2 1'],
      ['--state Delivered', '1'],
      ['--state delivered,TRANSCRIBING', '2 1'],
      ['--state=Order-Cancelled', ''],
      ['--order o3', '5 4'],
      ['--order nope', ''],
      ['--order o1 --state Transcribing', '2'],
      ['--since 1h', '6 5 4 3'],
      ['--since 3650d', '6 5 4 3 2 1'],
      ['--since 2025-06-15', '6 5 4 3 2 1'],
      ['--since 2025-06-15T10:00:00Z', '6 5 4 3 2 1'],
      ['--since 2025-06-15T12:00:00+02:00', '6 5 4 3 2 1'],
      ['--since 2025-06-15T10:00:00.001Z', '6 5 4 3'],
      ['--since 2100-01-01', ''],
      ['--limit 2', '6 5'],
      ['--limit 2 --state Delivered', '1'],
    ];
    for (const [args, found] of wanted) {
      const { code, stdout } = await user.run(['files', '--quiet', ...args.split(' ').filter(Boolean)]);
      expect([args, code, ids(stdout)]).toEqual([args, args === '--state=Order-Cancelled' ? 2 : 0, found]);
    }
    const odd = await user.run([
      'files',
      '--quiet',
      '--state',
      'a state of its own',
      '--state',
      'Order Cancelled,ordered',
    ]);
    expect(ids(odd.stdout)).toBe('6 5 4 3');
  });

  it.each([
    ['--since', 'soon', /not a time/],
    ['--since', '2026-02-30', /not a time/],
    ['--since', '', /not a time/],
    ['--state', 'Deliverd', /unknown state 'Deliverd'\nhint: did you mean Delivered/],
    ['--limit', '0', /--limit/],
    ['--limit', 'x', /--limit/],
  ])('refuses %s %j', async (flag, value, says) => {
    const { user } = await orderingAccount();
    const { code, stderr } = await user.run(['files', flag, value]);
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  it('hold all that is known as JSON, with times in ISO 8601', async () => {
    const { user, service } = await stocked();
    await user.run(['transcript', '1', '--format', 'txt', '-o', 'here/']);
    const { stdout, stderr, code } = await user.run(['files', '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const all = JSON.parse(stdout) as Array<Record<string, unknown>>;
    expect(all.map((file) => file.audiofile)).toEqual(['6', '5', '4', '3', '2', '1']);
    expect(all[5]).toEqual({
      audiofile: '1',
      state: 'Delivered',
      ended: 'delivered',
      title: 'Talk 1',
      order: 'o1',
      url: audio('a'),
      skus: ['TRANS14'],
      names: ['Ada', 'Bo'],
      notes: 'mind the "gap", please',
      hold: null,
      remark: null,
      test: false,
      invoices: [],
      ordered_at: expect.stringMatching(iso),
      changed_at: expect.stringMatching(iso),
      checked_at: expect.stringMatching(iso),
      heard_at: null,
      downloads: [
        {
          audiofile: '1',
          format: 'txt',
          bytes: 17,
          path: `${user.home}/here/1.txt`,
          downloaded_at: expect.stringMatching(iso),
        },
      ],
      answer: {
        audiofile: { id: 1, statename: 'Delivered', title: 'Talk 1', originallink: audio('a') },
      },
      key: null,
      ...{ tags: [], feed: null, guid: null, link: null, published_at: null, source: null },
      by: { user: userInfo().username, host: hostname(), job: null, actor: null },
      minutes: null,
      total: null,
      currency: 'USD',
    });
    expect(all[2]).toMatchObject({
      state: 'ordered',
      title: null,
      checked_at: null,
      answer: null,
      ended: null,
    });
    expect(all[0]).toMatchObject({ test: true });
    expect(service.got.filter((got) => got.path === '/order_url')).toHaveLength(4);
  });

  it('hold all that is known as CSV, and as rows off a terminal', async () => {
    const { user } = await shop;
    const csv = parseCsv((await user.run(['files', '--csv'])).stdout);
    const header = csv[0] ?? [];
    const first = Object.fromEntries(header.map((name, at) => [name, csv[6]?.[at]]));
    expect(csv).toHaveLength(7);
    expect(first).toMatchObject({
      audiofile: '1',
      state: 'Delivered',
      order: 'o1',
      url: audio('a'),
      skus: 'TRANS14',
      names: 'Ada|Bo',
      notes: 'mind the "gap", please',
      ended: 'delivered',
      ordered_at: expect.stringMatching(iso),
      checked_at: expect.stringMatching(iso),
    });
    // As people see them, and every other one a member of the JSON.
    expect(header.slice(0, 9).join(' ')).toBe(
      'audiofile state title minutes total order ordered_at changed_at url',
    );
    const [document] = JSON.parse((await user.run(['files', '--json', '--limit', '1'])).stdout);
    expect(header.filter((name) => !(name in document))).toEqual(['job']);
    const rowsOf = async (...form: string[]) =>
      (await user.run(['files', ...form])).stdout
        .replace(/\n$/, '')
        .split('\n')
        .map((row) => row.split('\t'));
    const [all, own] = [await rowsOf('--columns', 'all'), await rowsOf()];
    expect([all.length, own.length]).toEqual([6, 6]);
    for (const row of all) expect(row).toHaveLength(header.length);
    // Off a terminal, the columns of the table, filled or not.
    const end = header.indexOf('job') + 1;
    expect(own).toEqual(all.map((row) => row.slice(0, end)));
  });

  it('have minutes and total, aligned for people and exact for scripts', async () => {
    const { user, service, order } = await orderingAccount();
    const said = [
      { duration: 3, total: 2.5 },
      { duration: '12.5', total: '1,234.125' },
      { duration: 0.25, total: '€7' },
      { total: 'see the invoice' },
    ];
    for (const [at, each] of said.entries()) {
      const audiofile = { id: at + 1, statename: 'Delivered', title: `Talk ${at + 1}`, ...each };
      service.on(`GET /audiofile/${at + 1}`, { body: { audiofile } });
    }
    await order(...['a', 'b', 'c', 'd'].map(audio));
    await user.run(['files', '--refresh']);
    const amounts = async (): Promise<unknown> =>
      (JSON.parse((await user.run(['files', '--json'])).stdout) as Array<Record<string, unknown>>).map(
        ({ minutes, total, currency }) => [minutes, total, currency],
      );
    expect(await amounts()).toEqual([
      [null, null, 'USD'],
      [0.25, 7, 'EUR'],
      [12.5, 1234.125, 'USD'],
      [3, 2.5, 'USD'],
    ]);
    await user.run(['config', 'set', 'currency', 'gbp']);
    expect(await amounts()).toEqual([
      [null, null, 'GBP'],
      [0.25, 7, 'EUR'],
      [12.5, 1234.125, 'GBP'],
      [3, 2.5, 'GBP'],
    ]);
    const [header = [], ...rows] = parseCsv((await user.run(['files', '--csv'])).stdout);
    const cells = (row: readonly string[]) =>
      ['minutes', 'total', 'currency'].map((name) => row[header.indexOf(name)]);
    expect(rows.map(cells)).toEqual([
      ['', 'see the invoice', 'GBP'],
      ['0.25', '€7', 'EUR'],
      ['12.5', '1,234.125', 'GBP'],
      ['3', '2.5', 'GBP'],
    ]);
    const { stdout } = await user.onTerminal('steno files', { columns: 200 });
    const shown = stdout.split('\r\n').filter((line) => /Talk/.test(line));
    expect(shown.map((line) => /Talk \d (.*?\S) {2,}o1/.exec(line)?.[1])).toEqual([
      '         see the invoice',
      '   15 s        7.000 EUR',
      ' 13 min     1234.125 GBP',
      '  3 min        2.500 GBP',
    ]);
  });

  it('have the minutes that the feed says as long as the service says none', async () => {
    const { user, order } = await orderingAccount();
    const more = '<itunes:duration>1:30:20</itunes:duration>';
    writeFileSync(join(user.home, 'feed.xml'), rss(item({ guid: 'one', title: 'One', more })));
    await order('--feed', 'feed.xml', '--latest', '1');
    const [file] = JSON.parse((await user.run(['files', '--json'])).stdout);
    expect(file).toMatchObject({ minutes: 90.33, total: null });
  });

  it('keep long ids and amounts to the digit', async () => {
    const { user, service, order } = await orderingAccount();
    const long = '90071992547409931234567890';
    service.on('POST /order_url', { body: `{"order":${long}1,"audiofiles":[${long}],"message":"ok"}` });
    service.on(`GET /audiofile/${long}`, {
      body: `{"audiofile":{"id":${long},"statename":"Delivered","total":1.10,"invoices":[${long}2]}}`,
    });
    await order(audio('a'));
    const { stdout } = await user.run(['files', '--refresh', '--json']);
    for (const text of [
      `"audiofile": "${long}"`,
      `"order": "${long}1"`,
      `"id": ${long}`,
      '"total": 1.10',
      `"${long}2"`,
    ])
      expect(stdout).toContain(text);
  });

  it('ask the service about open files only with --refresh, and again only about those that are open', async () => {
    const { user, askedFiles, states, service } = await stocked();
    service.got.length = 0;
    await user.run(['files']);
    expect(askedFiles()).toEqual([]);
    states.set('4', ['On Hold']);
    const { code, stdout } = await user.run(['files', '--refresh', '--quiet']);
    expect([code, ids(stdout)]).toEqual([0, '6 5 4 3 2 1']);
    expect(askedFiles().sort()).toEqual(['2', '4', '5']);
    service.got.length = 0;
    // By state it is chosen after the refresh, by order before it.
    states.set('2', ['Delivered']);
    const refreshed = await user.run([
      'files',
      '--refresh',
      '--order',
      'o1',
      '--state',
      'Delivered',
      '--quiet',
    ]);
    expect(ids(refreshed.stdout)).toBe('2 1');
    expect(askedFiles()).toEqual(['2']);
  });

  it('are listed even if some could not be refreshed; then it ends with 10', async () => {
    const { user, service } = await stocked();
    service.on('GET /audiofile/2', { status: 404 });
    const { code, stdout, stderr } = await user.run(['files', '--refresh', '--quiet']);
    expect([code, ids(stdout)]).toEqual([10, '6 5 4 3 2 1']);
    expect(stderr).toMatch(
      /^steno: 2: the service does not know audiofile 2 [^\n]*\nsteno: 1 of 3 failed\n$/,
    );
    const json = await user.run(['files', '--refresh', '--json']);
    expect(JSON.parse(json.stdout)).toHaveLength(6);
    expect(jsonError(json.stderr)).toMatchObject({
      code: 'partial',
      failures: [{ what: '2', code: 'missing' }],
    });
  });

  it('show a page to people, and how many more there are', async () => {
    const { user } = await shop;
    const { stdout } = await user.onTerminal('steno files --limit 2 --no-color');
    expect(stdout).toMatch(/AUDIOFILE +STATE +TITLE +ORDER +ORDERED/);
    expect(stdout).toContain('2 of 6; show more with --limit');
    expect(stdout).toMatch(/just now|\d+[sm] ago/);
  });

  it('in a state that the service spells otherwise are found under its name', async () => {
    const { user, order, states } = await orderingAccount();
    states.set('1', ['delivered ']);
    await order(audio('a'));
    const { stdout } = await user.run(['files', '--refresh', '--state', 'Delivered', '--quiet']);
    expect(stdout).toBe('1\n');
  });

  it('of a held order are on hold before the service is asked', async () => {
    const { user, service, order } = await orderingAccount();
    service.on('POST /order_url', {
      body: { order: 'h', audiofiles: [9], message: 'held', hold: 'billing' },
    });
    await order(audio('a'));
    const { stdout } = await user.run(['files', '--state', 'On Hold', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ audiofile: '9', state: 'On Hold', hold: 'billing' }]);
  });
});
