/** `wait`: until every file is delivered or can no longer be. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { audio, orderingAccount, queryLedger, ZIP_HEADER } from '../../support/ledger.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';
import { deadAddress } from '../../support/wire.ts';

const soon = ['--interval', '50ms'];

describe.concurrent('wait', () => {
  it('looks until a file is delivered, and tells what it became', async () => {
    const { user, states, askedFiles } = await orderingAccount();
    states.set('5', ['Pre-Processing', 'Transcribing', 'A State Of Its Own', 'Delivered']);
    const { code, stdout, stderr } = await user.run(['wait', '5', ...soon, '--quiet']);
    expect([code, stdout, stderr]).toEqual([0, '5\n', '']);
    expect(askedFiles()).toHaveLength(4);
  });

  it('waits for several at once and asks about each until it has ended', async () => {
    const { user, states, askedFiles } = await orderingAccount();
    states
      .set('1', ['Delivered'])
      .set('2', ['Transcribing', 'Transcribing', 'Delivered'])
      .set('3', ['Processing', 'Delivered']);
    const { code, stdout } = await user.run(['wait', '3', '1', '2', '1', ...soon, '--json']);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Array<{ audiofile: string }>).map((each) => each.audiofile)).toEqual([
      '3',
      '1',
      '2',
    ]);
    expect(askedFiles().sort().join('')).toBe('122233');
  });

  it.each([
    ['Order Cancelled', 8, 'unfinished'],
    ['Refunded', 8, 'unfinished'],
    ['Error', 8, 'unfinished'],
    ['On Hold', 5, 'held'],
  ])('ends at %s with %i', async (state, exit, kind) => {
    const { user, states } = await orderingAccount();
    states.set('5', ['Transcribing', state]);
    const { code, stdout, stderr } = await user.run(['wait', '5', ...soon, '--json']);
    expect(code).toBe(exit);
    expect(JSON.parse(stdout)).toMatchObject({
      audiofile: '5',
      state,
      answer: { audiofile: { id: 5, statename: state } },
      error: { code: kind },
    });
    expect(jsonError(stderr)).toMatchObject({ code: kind, message: expect.stringContaining('5') });
  });

  it('names a line that waits on, after a time-out, also for what the ledger does not have', async () => {
    const { user, states, order } = await orderingAccount();
    states.set('7', ['Transcribing']);
    states.set('1', ['Transcribing']);
    const hintOf = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await user.run(['wait', ...args, ...soon, '--timeout', '300ms']);
      expect(code, stderr).toBe(6);
      return stderr.split('\n').find((line) => line.startsWith('hint: ')) ?? '';
    };
    const end = '--interval 50ms --timeout 300ms';
    expect(await hintOf('7')).toBe(`hint: resume with: steno wait 7 ${end}`);
    await order(audio('a'));
    expect(await hintOf('--order', 'o1')).toContain(`resume with: steno wait --order o1 ${end}; `);
    expect(await hintOf()).toBe(`hint: resume with: steno wait ${end}; or check later with: steno sync`);
  });

  it('is named with ids after an order that left no trace in the ledger', async () => {
    const { states, order } = await orderingAccount({ STENO_LEDGER: undefined });
    states.set('1', ['Transcribing']);
    const line = ['--wait', ...soon, '--timeout', '1s'];
    expect((await order(audio('a'), '--no-ledger', ...line)).stderr).toContain(
      'hint: resume with: steno wait 1\n',
    );
  });

  it('names a file as it was asked for, where the answer names none', async () => {
    const { service, user } = await account();
    service.allow('GET /audiofile/a5', { body: '{"audiofile":{"id":null,"statename":"Delivered"}}' });
    expect(JSON.parse((await user.run(['wait', 'a5', '--json'])).stdout)).toMatchObject({ audiofile: 'a5' });
    expect((await user.run(['wait', 'a5', '--quiet'])).stdout).toBe('a5\n');
    service.allow('GET /audiofile/a6', { body: '{"audiofile":{"id":"a6","statename":null}}' });
    const { code, stderr } = await user.run(['wait', 'a6', '--interval', '100ms', '--timeout', '1s']);
    expect([code, stderr]).toEqual([
      6,
      expect.stringContaining('a6: not delivered: the service reports no state'),
    ]);
  });

  it('goes on through every other state of the document', async () => {
    const { user, states, askedFiles } = await orderingAccount();
    const passing = [
      'Technical Difficulty',
      'Temporary Error',
      'Billing Processing',
      'Order Chargeable',
      'Out for edit',
      '',
    ];
    states.set('5', [...passing, 'Delivered']);
    expect((await user.run(['wait', '5', '--interval', '10ms'])).code).toBe(0);
    expect(askedFiles()).toHaveLength(passing.length + 1);
  });

  it('waits for the others while one is held or has failed', async () => {
    const { user, states } = await orderingAccount();
    states.set('1', ['On Hold']).set('2', ['Processing', 'Processing', 'Delivered']).set('3', ['Error']);
    const held = await user.run(['wait', '1', '2', ...soon, '--quiet']);
    expect([held.code, held.stdout]).toEqual([5, '2\n']);
    expect(held.stderr).toMatch(/^steno: audiofile 1: on hold[^\n]*\nhint: [^\n]*balance/);
    states
      .set('1', ['On Hold', 'On Hold', 'Delivered'])
      .set('2', ['Processing', 'Processing', 'Processing', 'Delivered']);
    const released = await user.run(['wait', '1', '2', '3', ...soon, '--quiet']);
    expect([released.code, released.stdout]).toEqual([8, '1\n2\n']);
    expect(released.stderr).toMatch(
      /^steno: audiofile 3: ended as 'Error', so there will be no transcript\nhint: see why: steno file <id>; .*\n$/,
    );
  });

  it.each([
    ['answers nothing', () => {}],
    ['asks for a long pause', { status: 503, headers: { 'retry-after': '50' } }],
    ['is broken', { status: 500 }],
  ])('gives up with 6 in time even if the service %s', async (_, answer) => {
    const { user, service } = await orderingAccount();
    service.on('GET /audiofile/5', answer);
    const start = Date.now();
    const { code, stderr } = await user.run(['wait', '5', ...soon, '--timeout', '800ms']);
    expect(code, stderr).toBe(6);
    expect(Date.now() - start).toBeLessThan(6000);
  });

  it('takes a last look just before its time is over', async () => {
    const { user, service, states } = await orderingAccount();
    states.set('5', ['Transcribing', 'Delivered']);
    const { code } = await user.run(['wait', '5', '--interval', '1h', '--timeout', '4s']);
    expect(code).toBe(0);
    const [first, last] = service.got.map((got) => got.at);
    expect((last ?? 0) - (first ?? 0)).toBeGreaterThan(2000);
  });

  it('ends with 4 at a file that the service does not know, and lists it among others', async () => {
    const { user, service } = await orderingAccount();
    service.on('GET /audiofile/5', { status: 404, body: { message: 'no such file' } });
    const alone = await user.run(['wait', '5', ...soon]);
    expect([alone.code, service.got.length]).toEqual([4, 1]);
    const { code, stdout, stderr } = await user.run(['wait', '4', '5', ...soon, '--quiet']);
    expect([code, stdout]).toEqual([10, '4\n']);
    expect(stderr).toMatch(
      /^steno: 5: the service does not know audiofile 5 [^\n]*\nsteno: 1 of 2 failed\n$/,
    );
  });

  it('ends with 3 at once if the key is not accepted', async () => {
    const { user, service } = await orderingAccount();
    service.on('*', { status: 401 });
    expect((await user.run(['wait', '5', '6', ...soon])).code).toBe(3);
    service.on('*', { body: { audiofile: { id: 6, statename: 'Delivered' } } });
    service.on('GET /audiofile/5', { status: 403 });
    expect((await user.run(['wait', '5', '6', ...soon])).code).toBe(10);
  });

  it('bridges failures of the service, resets and answers that can not be read', async () => {
    const { user, service } = await orderingAccount();
    const working = { body: { audiofile: { id: 5, statename: 'Transcribing' } } };
    const broken = { status: 500 };
    service.on(
      'GET /audiofile/5',
      working,
      ...[broken, broken, broken, broken, broken],
      (_, __, socket) => void socket.resetAndDestroy(),
      working,
      { body: '<html>Log in to the hotel network</html>' },
      { status: 429, headers: { 'retry-after': '0' } },
      working,
      { body: { audiofile: { id: 5, statename: 'Delivered' } } },
    );
    const { code, stderr } = await user.run(['wait', '5', ...soon]);
    expect(code, stderr).toBe(0);
  });

  it('ends with 7 if the service can not be reached at all', async () => {
    const { user } = await orderingAccount({ STENO_BASE_URL: await deadAddress() });
    const { code, stderr } = await user.run(['wait', '5', '--interval', '10ms']);
    expect(code).toBe(7);
    expect(stderr).toContain("can't reach");
  });

  it('keeps the interval that was asked for', async () => {
    const { user, service, states } = await orderingAccount();
    states.set('5', ['Processing', 'Processing', 'Processing', 'Delivered']);
    await user.run(['wait', '5', '--interval', '300ms']);
    const gaps = service.got.slice(1).map((got, at) => got.at - (service.got[at]?.at ?? 0));
    expect(gaps).toHaveLength(3);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(290);
  });

  it('begins with short pauses that grow', async () => {
    const { user, service, states } = await orderingAccount();
    states.set('5', ['Processing', 'Processing', 'Processing', 'Delivered']);
    await user.run(['wait', '5']);
    const [first = 0, second = 0, third = 0] = service.got
      .slice(1)
      .map((got, at) => got.at - (service.got[at]?.at ?? 0));
    expect(first).toBeGreaterThanOrEqual(950);
    expect(second).toBeGreaterThanOrEqual(first * 1.1);
    expect(third).toBeGreaterThanOrEqual(second * 1.1);
    expect(third).toBeLessThan(10_000);
  });

  it('takes the files of an order, or all that are open, from the ledger', async () => {
    const { user, states, order, askedFiles, service } = await orderingAccount();
    states.set('1', ['Delivered']).set('2', ['Processing', 'Delivered']).set('3', ['Order Cancelled']);
    await order(audio('a'), audio('b'));
    await order(audio('c'));
    await order(audio('d'), '--test');
    const ofOrder = await user.run(['wait', '--order', 'o1', ...soon, '--quiet']);
    expect([ofOrder.code, ofOrder.stdout]).toEqual([0, '1\n2\n']);
    service.got.length = 0;
    const open = await user.run(['wait', ...soon]);
    expect([open.code, askedFiles()]).toEqual([8, ['3']]);
    const nothing = await user.run(['wait', ...soon, '--json']);
    expect([nothing.code, JSON.parse(nothing.stdout), nothing.stderr]).toEqual([0, [], '']);
    expect((await user.run(['wait'])).stderr).toBe('no files are in progress\n');
    expect(askedFiles()).toEqual(['3']);
    const unknown = await user.run(['wait', '--order', 'nope']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no order nope')]);
    expect((await user.run(['wait', '1', '--order', 'o1'])).code).toBe(2);
  });

  it('with --download has the same columns on a terminal as in rows and CSV, the path among them', async () => {
    const { user, states, order } = await orderingAccount();
    states.set('1', ['Delivered']).set('2', ['Delivered']);
    await order(audio('a'), audio('b'));
    const line = ['wait', '1', '2', ...soon, '--download', 'd'];
    const { stdout } = await user.onTerminal(`steno ${line.join(' ')} --no-color`, { columns: 200 });
    const [head = '', row = ''] = stdout.trim().split(/\r?\n/).slice(-3);
    expect(head).toMatch(/^AUDIOFILE {2}STATE .* PATH$/);
    expect(row).toMatch(/^1 .*Delivered .* d\/1\.txt$/);
    expect((await user.run([...line, '--columns', 'audiofile,path'])).stdout).toBe(
      '1\td/1.txt\n2\td/2.txt\n',
    );
    const rows = (await user.run(line)).stdout.split('\n').map((each) => each.split('\t'));
    expect(rows[0]?.slice(0, 2)).toEqual(['1', 'Delivered']);
    expect(rows[0]?.at(-1)).toBe('d/1.txt');
    const csv = (await user.run([...line, '--csv'])).stdout.split('\r\n')[0]?.split(',') ?? [];
    for (const name of head
      .toLowerCase()
      .split(/ +/)
      .filter((each) => csv.includes(each)))
      expect(csv).toContain(name);
    expect(csv).toContain('path');
  });

  it('lets the page of a file break no path of its downloads', async () => {
    const { user, states, order } = await orderingAccount();
    states.set('1', ['Delivered']);
    await order(audio('a'));
    await user.run(['wait', '1', ...soon, '--download', 'd', '--format', 'txt,docx']);
    const paths = ['d/1.txt', 'd/1.docx'].map((path) => join(user.home, path));
    const columns = 20 + (paths[1] ?? '').length;
    const { stdout } = await user.onTerminal('steno file 1 --no-progress', { columns });
    for (const path of paths) expect(stdout).toContain(path);
  });

  it('downloads each transcript once, in each format, and keeps that in the ledger', async () => {
    const { user, states, order, fetched } = await orderingAccount();
    states.set('1', ['Processing', 'Processing', 'Delivered']).set('2', ['Delivered']);
    await order(audio('a'), audio('b'));
    const args = ['wait', '1', '2', ...soon, '--download', 'to/here', '--format', 'txt,docx', '--json'];
    const { code, stdout } = await user.run(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        audiofile: '1',
        order: 'o1',
        downloads: [
          { audiofile: '1', format: 'txt', path: join(user.home, 'to/here/1.txt'), bytes: 17 },
          { audiofile: '1', format: 'docx' },
        ],
      },
      {
        audiofile: '2',
        downloads: [
          { audiofile: '2', format: 'txt' },
          { audiofile: '2', format: 'docx' },
        ],
      },
    ]);
    expect(listing(join(user.home, 'to/here'))).toEqual(['1.docx', '1.txt', '2.docx', '2.txt']);
    expect(readFileSync(join(user.home, 'to/here/2.docx'), 'utf8')).toBe(`${ZIP_HEADER}transcript 2.docx\n`);
    expect(fetched().sort()).toEqual(['1.docx', '1.txt', '2.docx', '2.txt']);
    const again = await user.run([...args.slice(0, -1), '--quiet']);
    expect([again.stdout, again.stderr]).toEqual(['', expect.stringContaining('to/here/2.docx')]);
    expect(fetched()).toHaveLength(4);
    const sync = await user.run(['sync', '--download', 'to/here', '--format', 'txt,docx', '--quiet']);
    expect([sync.code, sync.stdout, fetched().length]).toEqual([0, '', 4]);
  });

  it('tries a download again that broke off, and does not repeat those that came', async () => {
    const { user, service, fetched } = await orderingAccount();
    const broken = { status: 500 };
    service.on('POST /audiofile/5/transcript.docx', broken, broken, broken, broken, {
      body: `${ZIP_HEADER}whole`,
    });
    const { code, stdout, stderr } = await user.run([
      'wait',
      '5',
      ...soon,
      '--download',
      '.',
      '--format',
      'txt,docx',
      '--quiet',
    ]);
    expect([code, stdout], stderr).toEqual([0, '5.txt\n5.docx\n']);
    expect(fetched()).toEqual(['5.txt', ...Array(5).fill('5.docx')]);
  });

  it('gives up a download that never comes, and says so', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /audiofile/5/transcript.txt', { status: 400, body: { message: 'lost it' } });
    const { code, stderr } = await user.run(['wait', '5', '6', ...soon, '--download', 'd', '--quiet']);
    expect(code).toBe(10);
    expect(stderr).toMatch(/^steno: 5: [^\n]*lost it/);
    expect(listing(join(user.home, 'd'))).toEqual(['6.txt']);
  });

  it.each([
    ['saw it end', "state = 'Delivered', ended = 'delivered'"],
    ['heard of it', "heard_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"],
  ])('looks at once when another process %s', async (_, change) => {
    const { user, states, order, askedFiles } = await orderingAccount();
    states.set('1', ['Transcribing', 'Delivered']);
    await order(audio('a'));
    const end = finished(user.start(['wait', '--interval', '1h']));
    await until(() => askedFiles().length === 1, 'a look');
    await sleep(300);
    expect(askedFiles()).toHaveLength(1);
    queryLedger(user, `UPDATE files SET ${change} WHERE id = '1'`);
    const start = Date.now();
    expect((await end).code).toBe(0);
    expect(Date.now() - start).toBeLessThan(5000);
    expect(askedFiles()).toHaveLength(2);
  });

  it('asks only about the files that another process has news of', async () => {
    const { user, states, order, askedFiles } = await orderingAccount();
    for (const id of ['1', '2', '3']) states.set(id, ['Transcribing', 'Delivered']);
    await order(audio('a'), audio('b'), audio('c'));
    const end = finished(user.start(['wait', '--interval', '1h', '--quiet']));
    await until(() => askedFiles().length === 3, 'the first looks');
    await sleep(300);
    const heard = "UPDATE files SET heard_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id";
    queryLedger(user, `${heard} = '2'`);
    await until(() => askedFiles().length > 3, 'a look at the second');
    await sleep(1_200);
    expect(askedFiles().slice(3)).toEqual(['2']);
    queryLedger(user, `${heard} <> '2'`);
    expect(await end).toMatchObject({ code: 0, stdout: '1\n2\n3\n' });
    expect(askedFiles()).toHaveLength(6);
  });

  it('does not ask without end when an event and the service disagree', async () => {
    const { user, states, order, askedFiles } = await orderingAccount();
    states.set('1', ['Transcribing']);
    await order(audio('a'));
    const end = finished(user.start(['wait', '--interval', '1h', '--timeout', '4s']));
    await until(() => askedFiles().length === 1, 'a look');
    queryLedger(
      user,
      "UPDATE files SET state = 'Delivered', ended = 'delivered', heard_at = '2020' WHERE id = '1'",
    );
    expect((await end).code).toBe(6);
    // The first look, the one for the event, and the last.
    expect(askedFiles().length).toBeLessThanOrEqual(4);
  });

  it('does without a ledger if the ids are named', async () => {
    const { user } = await orderingAccount();
    expect((await user.run(['wait', '5', '--no-ledger'])).code).toBe(0);
    expect(listing(join(user.home, 'state')).filter((name) => name.startsWith('ledger'))).toEqual([]);
  });
});
