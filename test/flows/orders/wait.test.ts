/** `order --wait --download` as one flow, and orders of several parts. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer, jsonError } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { interruptTwice } from '../../support/interrupt.ts';
import { audio, orderingAccount, statuses } from '../../support/ledger.ts';
import { finished } from '../../support/steno.ts';
import { WITHOUT_LEDGER } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const soon = ['--interval', '50ms'];
const three = ['a', 'b', 'c'].map(audio).join('\n');

describe.concurrent('order --wait', () => {
  it('orders, waits and downloads in one go, and tells all of it as JSON', async () => {
    const { user, order, states, service } = await orderingAccount();
    states.set('1', ['Processing', 'Delivered']).set('2', ['Delivered']);
    const args = [audio('a'), audio('b'), '--wait', ...soon, '--download', 'd', '--format', 'txt,srt'];
    const { code, stdout, stderr } = await order(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject(
      [1, 2].map((id) => ({
        audiofile: `${id}`,
        state: 'Delivered',
        title: `Talk ${id}`,
        order: 'o1',
        url: audio(id === 1 ? 'a' : 'b'),
        skus: ['TRANS14'],
        answer: { audiofile: { id, statename: 'Delivered', title: `Talk ${id}` } },
        downloads: ['txt', 'srt'].map((format) => ({
          audiofile: `${id}`,
          format,
          path: join(user.home, `d/${id}.${format}`),
          bytes: 17,
        })),
      })),
    );
    expect(listing(join(user.home, 'd'))).toEqual(['1.srt', '1.txt', '2.srt', '2.txt']);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('prints the names of the transcripts with --quiet, and waits with --download alone', async () => {
    const { order } = await orderingAccount();
    const { code, stdout, stderr } = await order(audio('a'), '--download', 'd', '--quiet');
    expect([code, stdout, stderr]).toEqual([0, 'd/1.txt\n', '']);
  });

  it('does not end with 2 where the service names an id that no path can hold: the order is placed', async () => {
    const { service, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'o1', audiofiles: ['q8/../w'], message: 'ok' } });
    const { code, stderr } = await order(audio('a'), '--wait', ...soon);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Stopped waiting: '.* Order o1 is placed and continues\./),
    ]);
  });

  it.each([
    ['Order Cancelled', 8],
    ['Error', 8],
    ['On Hold', 5],
  ])('ends as wait does at %s', async (state, exit) => {
    const { user, order, states, fetched } = await orderingAccount();
    states.set('1', ['Processing', state]);
    const { code, stdout, stderr } = await order(audio('a'), ...soon, '--download', 'd', '--json');
    expect(code).toBe(exit);
    expect(JSON.parse(stdout)).toMatchObject([
      { order: 'o1', state, answer: { audiofile: { statename: state } }, downloads: [], error: {} },
    ]);
    expect(jsonError(stderr).message).toContain('1');
    expect([fetched(), listing(join(user.home, 'd'))]).toEqual([[], []]);
    expect(statuses(user)).toEqual(['placed']);
  });

  it('ends with 5 at once if the order is held, and has told its ids', async () => {
    const { order, service, askedFiles } = await orderingAccount();
    service.on('POST /order_url', {
      body: { order: 'h1', audiofiles: [9], message: 'held', hold: 'billing' },
    });
    const { code, stdout, stderr } = await order(audio('a'), '--wait', '--json');
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        audiofile: '9',
        order: 'h1',
        state: 'On Hold',
        hold: 'billing',
        answer: null,
        error: { code: 'held' },
      },
    ]);
    expect(jsonError(stderr)).toMatchObject({ code: 'held', message: expect.stringContaining('h1') });
    expect(askedFiles()).toEqual([]);
  });

  it('tells what was paid for when Ctrl-C ends the waiting', async () => {
    const { user, states, askedFiles } = await orderingAccount();
    states.set('1', ['Transcribing']);
    const child = user.start([
      'order',
      audio('a'),
      '--sku',
      'TRANS14',
      '--wait',
      '--json',
      ...WITHOUT_LEDGER,
    ]);
    const end = finished(child);
    await until(() => askedFiles().length > 0, 'a look');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: '1', order: 'o1', error: { code: 'interrupted' } },
    ]);
    expect(jsonError(stderr)).toMatchObject({ code: 'interrupted' });
  });

  it('does not wait for a test order', async () => {
    const { order, service } = await orderingAccount();
    expect((await order(audio('a'), '--test', '--wait')).code).toBe(2);
    expect(service.got).toEqual([]);
  });
});

describe.concurrent('an order of several parts', () => {
  const inParts = (...args: string[]): string[] => [
    'order',
    '--from',
    '-',
    '--sku',
    'TRANS14',
    '--per-order',
    '1',
    ...args,
  ];

  it('ends with 10 where some were refused, and lists them', async () => {
    const { user, service } = await orderingAccount();
    service.on(
      'POST /order_url',
      { body: { order: 'p1', audiofiles: [1], message: 'ok' } },
      { status: 400, body: { message: 'no audio there' } },
      { body: { order: 'p3', audiofiles: [3], message: 'ok' } },
    );
    const { code, stdout, stderr } = await user.run(inParts('--quiet'), { stdin: three });
    expect([code, stdout]).toEqual([10, '1\n3\n']);
    expect(stderr).toMatch(
      /^steno: stdin, line 2: https:\/\/example\.com\/b\.mp3: [^\n]*no audio there[^\n]*\nsteno: 1 of 3 orders failed\n$/,
    );
    expect(statuses(user)).toEqual(['placed', 'refused', 'placed']);
    service.on('POST /order_url', { body: { order: 'p4', audiofiles: [4], message: 'ok' } });
    const rest = await user.run(inParts('--skip-ordered', '--json'), { stdin: three });
    expect([rest.code, JSON.parse(rest.stdout)]).toEqual([
      0,
      [
        expect.objectContaining({
          audiofile: '4',
          order: 'p4',
          answer: { order: 'p4', audiofiles: [4], message: 'ok' },
        }),
        ...['1', '3'].map((audiofile) => expect.objectContaining({ audiofile, left_out: 'ordered' })),
      ],
    ]);
    expect(service.got.at(-1)?.body?.url).toEqual([audio('b')]);
  });

  it('stops with 11 at the first that is unclear, and says what was not sent', async () => {
    const { user, service } = await orderingAccount();
    const answer = (n: number) => ({ body: { order: `p${n}`, audiofiles: [n], message: 'ok' } });
    service.on('POST /order_url', answer(1), { status: 502 }, answer(3));
    const { code, stdout, stderr } = await user.run(inParts('--quiet'), { stdin: three });
    expect([code, stdout]).toEqual([11, '1\n']);
    expect(stderr).toMatch(
      /b\.mp3: [^\n]*may have gone through\nsteno: not sent: 1 order, because an earlier one failed; [^\n]*\nsteno: 1 of 3 orders failed\nhint: check the balance/,
    );
    expect(service.got).toHaveLength(2);
    expect(statuses(user)).toEqual(['placed', 'uncertain']);
    const next = await user.run(inParts('--skip-ordered', '--quiet'), { stdin: three });
    expect([next.code, next.stdout]).toEqual([10, '3\n']);
    expect(next.stderr).toMatch(/^steno: [^\n]*b\.mp3: [^\n]*had no clear answer/);
  });

  it.each([
    ['the key is not accepted', { status: 401 }, 3],
    ['the service can not be understood', { body: 'hello' }, 11],
  ])('sends no more when %s', async (_, answer, exit) => {
    const { user, service } = await orderingAccount();
    service.on('POST /order_url', answer);
    expect((await user.run(inParts(), { stdin: three })).code).toBe(exit);
    expect(service.got).toHaveLength(1);
  });

  it('tells at a second Ctrl-C what was placed before it, and what was not sent', async () => {
    const { user, service } = await orderingAccount();
    const second = new Promise<void>((done) =>
      service.on('POST /order_url', { body: { order: 'p1', audiofiles: [1], message: 'ok' } }, () => done()),
    );
    const child = user.start(inParts('--quiet'));
    child.stdin.end(three);
    const end = finished(child);
    await second;
    await interruptTwice(child);
    const { code, stdout, stderr } = await end;
    expect([code, stdout]).toEqual([11, '1\n']);
    expect(stderr).toMatch(
      /\nsteno: [^\n]*b\.mp3: [^\n]*may have gone through\nsteno: not sent: 1 order, because the command was interrupted; run the same command again with --skip-ordered\nsteno: 1 of 3 orders failed\nhint: [^\n]*steno attempts\n$/,
    );
    expect(statuses(user)).toEqual(['placed', 'uncertain']);
    expect(service.got).toHaveLength(2);
  });

  it('waits for what was placed and then tells what was not', async () => {
    const { user, service, states } = await orderingAccount();
    service.on(
      'POST /order_url',
      { body: { order: 'p1', audiofiles: [1], message: 'ok' } },
      { status: 400, body: { message: 'no audio' } },
      {
        body: { order: 'p3', audiofiles: [3], message: 'ok' },
      },
    );
    states.set('3', ['Order Cancelled']);
    const { code, stdout, stderr } = await user.run(inParts('--download', 'd', ...soon, '--quiet'), {
      stdin: three,
    });
    expect([code, stdout]).toEqual([10, 'd/1.txt\n']);
    expect(stderr).toMatch(/b\.mp3: [^\n]*no audio[^\n]*\nsteno: 3: ended as 'Order Cancelled'/);
  });

  it('of which one is held is placed, with a warning, or ends with 5 if so asked', async () => {
    const { user, service } = await orderingAccount();
    const held = { body: { order: 'h', audiofiles: [2], message: 'held', hold: 'some new reason' } };
    const fine = { body: { order: 'p', audiofiles: [1], message: 'ok' } };
    const last = { body: { order: 'q', audiofiles: [3], message: 'ok' } };
    service.on('POST /order_url', fine, held, last);
    const warned = await user.run(inParts(), { stdin: three });
    expect(warned.code).toBe(0);
    expect(warned.stderr).toMatch(/^warning: order h is on hold \(some new reason\)[^\n]*\nhint: /);
    service.on('POST /order_url', fine, held, last);
    const failed = await user.run(inParts('--again', '--fail-on-hold', '--quiet'), { stdin: three });
    expect([failed.code, failed.stdout]).toEqual([5, '1\n2\n3\n']);
  });
});

describe.concurrent('order --wait --quiet', () => {
  it.each([
    ['a hold', { hold: 'billing' }, 'never', 5],
    ['an end without transcript', {}, 'on', 8],
  ] as const)('tells the new ids also at %s', async (_, extra, asks, code) => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: 'o', audiofiles: [7], message: 'ok', ...extra } });
    service[asks]('GET /audiofile/7', fileAnswer(7, 'Error'));
    const line = ['order', 'https://e.com/7', '--sku', 'TRANS14', '--wait'];
    const quiet = await user.run([...line, '--quiet']);
    expect([quiet.code, quiet.stdout]).toEqual([code, '7\n']);
    const rows = await user.run([...line, '--again']);
    expect([rows.code, rows.stdout.split('\t')[0]]).toEqual([code, '7']);
  });
});
