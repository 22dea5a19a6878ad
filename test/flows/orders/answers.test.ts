/** An order is accepted, but the answer does not tell the file of each URL: that is said, kept, and can be settled. */
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, FILES, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { WITHOUT_LEDGER } from '../../support/store.ts';

const [a, b, c] = [audio('a'), audio('b'), audio('c')];

interface Case {
  readonly what: string;
  readonly urls: readonly string[];
  readonly audiofiles: readonly number[] | undefined;
  readonly said: RegExp;
  readonly kept: ReadonlyArray<{ readonly id: string; readonly url: string }>;
  /** What waiting for the order ends with, where files are missing. */
  readonly missing?: string;
}

const untold: readonly Case[] = [
  {
    what: 'no files',
    urls: [a],
    audiofiles: [],
    said: /names no audiofile for one URL/,
    kept: [],
    missing: 'its files are unknown',
  },
  {
    what: 'no list of files',
    urls: [a, b],
    audiofiles: undefined,
    said: /no audiofile for 2 URLs/,
    kept: [],
    missing: 'its files are unknown',
  },
  {
    what: 'fewer files than URLs',
    urls: [a, b, c],
    audiofiles: [5, 6],
    said: /2 audiofiles for 3 URLs \(5, 6\)/,
    kept: [
      { id: '5', url: '' },
      { id: '6', url: '' },
    ],
    missing: `1 of the files of ${a}, ${b}, ${c} is unknown`,
  },
  {
    what: 'more files than several URLs',
    urls: [a, b],
    audiofiles: [5, 6, 7],
    said: /3 audiofiles for 2 URLs/,
    kept: [
      { id: '5', url: '' },
      { id: '6', url: '' },
      { id: '7', url: '' },
    ],
  },
  {
    what: 'the same file twice',
    urls: [a, b],
    audiofiles: [5, 5],
    said: /2 audiofiles for 2 URLs, some of them twice \(5\)/,
    kept: [{ id: '5', url: '' }],
    missing: `1 of the files of ${a}, ${b} is unknown`,
  },
];

describe('an answer with', () => {
  it.each(untold)('$what: exit 11, the order is shown and kept, and stays open', async (each) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: each.audiofiles, message: 'ok' } });
    const { code, stdout, stderr } = await order(...each.urls);
    expect(code, stderr).toBe(11);
    expect(stdout).toContain('\tX1\tordered\t');
    expect(stderr).toMatch(/^steno: order X1 was accepted, but the answer names/);
    expect(stderr).toMatch(each.said);
    expect(stderr).toMatch(
      /\nhint: [^\n]*settle 1 --placed X1 --file <id>[^\n]*steno track <id>[^\n]*steno attempts\n/,
    );
    expect(queryLedger(user, `SELECT id, url FROM ${FILES} ORDER BY id`)).toEqual(each.kept);
    expect(queryLedger(user, 'SELECT order_id FROM purchases')).toEqual([{ order_id: 'X1' }]);
    const [open] = JSON.parse((await user.run(['attempts', '--json'])).stdout);
    expect(open).toMatchObject({ attempt: 1, status: 'unclear', order: 'X1', urls: each.urls });
    const second = await order(each.urls[0] as string);
    expect([second.code, second.stderr]).toEqual([
      9,
      expect.stringMatching(/order X1, accepted (?:just now|\d+s ago), but its files are unknown/),
    ]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    const wait = await user.run(['wait', '--order', 'X1']);
    expect(wait.stdout.split('\n').filter(Boolean)).toHaveLength(each.kept.length);
    if (each.missing === undefined) expect([wait.code, wait.stderr]).toEqual([0, '']);
    else
      expect([wait.code, wait.stderr]).toEqual([
        11,
        expect.stringContaining(`steno: order X1 was accepted, but ${each.missing}\nhint: `),
      ]);
  });

  it.each([
    ['two files for one URL', [5, 6], ['5', '6'], /2 audiofiles for one URL \(5, 6\)/],
    ['the one file twice', [5, 5], ['5'], /2 audiofiles for one URL, some of them twice \(5\)/],
  ])('%s: it can be told, with a warning', async (_, audiofiles, ids, said) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles, message: 'ok' } });
    const { code, stdout, stderr } = await order(a, '--quiet');
    expect([code, stdout]).toEqual([0, ids.map((id) => `${id}\n`).join('')]);
    expect(stderr).toMatch(/^warning: order X1: /);
    expect(stderr).toMatch(said);
    expect(queryLedger(user, `SELECT id, url FROM ${FILES} ORDER BY id`)).toEqual(
      ids.map((id) => ({ id, url: a })),
    );
    expect(statuses(user)).toEqual(['placed']);
  });

  it('the file of another audio: exit 11, and that file stays what it is', async () => {
    const { service, user, order } = await orderingAccount();
    await order(a);
    await user.run(['files', '--refresh', '--quiet']);
    const before = queryLedger(user, 'SELECT * FROM files');
    service.on('POST /order_url', { body: { order: 'X2', audiofiles: [1, 9], message: 'ok' } });
    const { code, stdout, stderr } = await order(b, c);
    expect(code).toBe(11);
    expect(stdout).toBe(`1\tX2\tordered\t\t\n9\tX2\tordered\t${c}\t\n`);
    expect(stderr).toContain(`order X2 was accepted, but the ledger has audiofile 1 as the file of ${a}`);
    expect(queryLedger(user, "SELECT * FROM files WHERE id = '1'")).toEqual(before);
    expect(queryLedger(user, `SELECT order_id, url FROM ${FILES} WHERE id = '9'`)).toEqual([
      { order_id: 'X2', url: c },
    ]);
    expect((await order(b)).code).toBe(9);
    const wait = await user.run(['wait', '--order', 'X2', '--quiet']);
    expect([wait.code, wait.stdout]).toEqual([11, '9\n']);
    expect(wait.stderr).toContain(`order X2 was accepted, but the files of ${b} are unknown\n`);
  });

  it('fewer files, of which one ends without a transcript: exit 8, with a warning of what is missing', async () => {
    const { service, user, order, states } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [5], message: 'ok' } });
    states.set('5', ['Order Cancelled']);
    await order(a, b);
    const { code, stderr } = await user.run(['wait', '--order', 'X1']);
    expect([code, stderr]).toEqual([
      8,
      expect.stringMatching(/^warning: order X1 was accepted, but 1 of the files/),
    ]);
  });

  it('the file that the audio has already is the same file again', async () => {
    const { service, user, order } = await orderingAccount();
    await order(a);
    service.on('POST /order_url', { body: { order: 'X2', audiofiles: [1], message: 'ok' } });
    expect((await order(`${a}?utm_source=x`, '--again')).code).toBe(0);
    expect(queryLedger(user, 'SELECT id, order_id FROM files')).toEqual([{ id: '1', order_id: 'X2' }]);
  });

  it('no files is said also of a manifest, without a ledger, and with --json', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [], message: 'ok' } });
    const bare = await order(a, ...WITHOUT_LEDGER, '--json');
    expect([bare.code, JSON.parse(bare.stdout)[0].order]).toEqual([11, 'X1']);
    expect(jsonError(bare.stderr)).toMatchObject({ code: 'uncertain' });
    const ok = { order: 'X2', audiofiles: [4], message: 'ok' };
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [], message: 'ok' } }, { body: ok });
    const line = ['order', '--from', '-', '--sku', 'TRANS14', '--per-order', '1'];
    const many = await user.run(line, { stdin: `${a}\n${b}\n` });
    expect([many.code, many.stdout]).toEqual([11, `\tX1\tordered\t\t\n4\tX2\tordered\t${b}\t\n`]);
    expect(many.stderr).toMatch(/a\.mp3: order X1 was accepted, but[^\n]*\nsteno: 1 of 2 orders failed\n/);
  });

  it('no files to a test order is only a warning: nothing was bought', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'T1', audiofiles: [], message: 'ok' } });
    const { code, stderr } = await order(a, '--test');
    expect([code, stderr]).toEqual([0, 'warning: order T1: the answer names no audiofile for one URL\n']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('');
  });
});

describe('the id of an order', () => {
  it.each([
    ['in an object', { order: { id: 'N1' }, audiofiles: [{ id: 5 }], message: 'ok' }],
    ['in a list', { order: ['N1'], audiofiles: [5], message: 'ok' }],
    ['in a list of objects', { order: [{ id: 'N1' }], audiofiles: ['5'], message: 'ok' }],
    ['with all the rest', { order: { id: 'N1', audiofiles: [{ id: '5' }] }, message: 'ok' }],
    ['in a list of answers', [{ order: 'N1', audiofiles: [5], message: 'ok' }]],
  ])('is read %s', async (_, body) => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body });
    const { code, stdout, stderr } = await order(a);
    expect([code, stdout], stderr).toEqual([0, `5\tN1\tordered\t${a}\t\n`]);
    expect(queryLedger(user, 'SELECT id, order_id FROM files')).toEqual([{ id: '5', order_id: 'N1' }]);
  });

  it('with a hold beside it is of a held order', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: { id: 'N1', hold: 'billing' }, audiofiles: [5] } });
    expect((await order(a)).code).toBe(0);
    expect(queryLedger(user, 'SELECT hold FROM purchases')).toEqual([{ hold: 'billing' }]);
  });

  it.each([
    ['missing', undefined],
    ['one of several', ['N1', 'N2']],
  ])('that is %s makes no two orders one', async (_, id) => {
    const { service, user, order } = await orderingAccount();
    service.on(
      'POST /order_url',
      { body: { order: id, audiofiles: [1], message: 'ok', hold: 'billing' } },
      { body: { order: id, audiofiles: [2], message: 'ok' } },
    );
    expect((await order(a, '--notes', 'one')).code).toBe(0);
    const line = ['order', b, '--sku', 'TRANS2,TSTMP1', '--notes', 'two'];
    expect((await user.run(line)).code).toBe(0);
    expect(queryLedger(user, 'SELECT skus, notes, hold FROM purchases ORDER BY number')).toEqual([
      { skus: 'TRANS14', notes: 'one', hold: 'billing' },
      { skus: 'TRANS2,TSTMP1', notes: 'two', hold: null },
    ]);
    const { stdout } = await user.run(['files', '--json']);
    expect(stdout).not.toContain('no id');
    expect((await user.run(['files'])).stdout).not.toContain('no id');
  });
});

describe('such an order', () => {
  it('is settled with its files', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [5], message: 'ok' } });
    service.on('GET /audiofile/5', {
      body: { audiofile: { id: 5, statename: 'Delivered', originallink: b } },
    });
    service.on('GET /audiofile/6', {
      body: { audiofile: { id: 6, statename: 'Delivered', originallink: a } },
    });
    await order(a, b);
    const other = await user.run(['attempts', 'settle', '1', '--placed', 'Y', '--file', '5']);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('accepted as order X1, not Y')]);
    const settled = await user.run(['attempts', 'settle', '1', '--placed', 'X1', '--file', '5,6']);
    expect(settled.code, settled.stderr).toBe(0);
    expect(queryLedger(user, `SELECT id, url, state FROM ${FILES} ORDER BY id`)).toEqual([
      { id: '5', url: b, state: 'Delivered' },
      { id: '6', url: a, state: 'Delivered' },
    ]);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('');
  });

  it('is settled too by tracking the files of all its URLs', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles: [], message: 'ok' } });
    service.on('GET /audiofile/5', {
      body: { audiofile: { id: 5, statename: 'Delivered', originallink: a, orders: ['X1'] } },
    });
    await order(a);
    expect((await user.run(['track', '5'])).code).toBe(0);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('');
    expect((await user.run(['wait', '--order', 'X1', '--quiet'])).stdout).toBe('5\n');
    expect((await order(a)).code).toBe(9);
  });
});

describe('an order whose answer is that to another one', () => {
  /** `a` is on order as o1, and the order of `b` got the same answer. */
  async function sameAnswer(...args: string[]) {
    const account = await orderingAccount();
    const same = { body: { order: 'o1', audiofiles: [1], message: 'ok' } };
    account.service.on('POST /order_url', same, same);
    expect((await account.order(a)).code).toBe(0);
    const second = await account.user.run(['order', '--sku', 'TRANS14', ...args], { stdin: `${b}\n` });
    expect(second.code, second.stderr).toBe(11);
    const settle = (...flags: string[]) => account.user.run(['attempts', 'settle', '2', ...flags]);
    return { ...account, second, settle };
  }

  it('is settled as its hint says, with its own file', async () => {
    const { service, user, order, second, settle } = await sameAnswer(b);
    service.on('GET /audiofile/2', {
      body: { audiofile: { id: 2, statename: 'Delivered', originallink: b } },
    });
    expect(second.stderr).toMatch(/\nhint: [^\n]*steno attempts settle 2 --placed o1 --file <id>/);
    const wrong = await settle('--placed', 'o1', '--file', '1');
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(
        /has audiofile 1 as the file of .*a\.mp3.*\nhint: .*: steno attempts settle 2 --placed o1\n/,
      ),
    ]);
    const settled = await settle('--placed', 'o1', '--file', '2');
    expect([settled.code, settled.stdout], settled.stderr).toEqual([0, '2\tplaced\to1\t2\n']);
    expect(queryLedger(user, `SELECT id, order_id, url FROM ${FILES} ORDER BY id`)).toEqual([
      { id: '1', order_id: 'o1', url: a },
      { id: '2', order_id: 'o1', url: b },
    ]);
    expect((await order(b)).code).toBe(9);
  });

  it.each([['o1'], ['its-own']])('is settled as order %s, and stays on order', async (id) => {
    const { service, order, user, settle } = await sameAnswer(b);
    const settled = await settle('--placed', id);
    expect([settled.code, settled.stdout], settled.stderr).toEqual([0, `2\tplaced\t${id}\t\n`]);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('');
    expect([(await order(a)).code, (await order(b)).code]).toEqual([9, 9]);
    expect(service.calls('POST /order_url')).toHaveLength(2);
  });

  it.each([[[]], [['--wait']]])('is shown with its own URL and an error in JSON %j', async (flags) => {
    const { second } = await sameAnswer('--from', '-', '--json', ...flags);
    expect(JSON.parse(second.stdout)).toEqual([
      expect.objectContaining({
        ...{ audiofile: null, order: 'o1', url: b },
        error: expect.objectContaining({ code: 'uncertain', message: expect.stringContaining(a) }),
      }),
    ]);
  });

  it('gives --quiet no file of the other one', async () => {
    const { second } = await sameAnswer(b, '--quiet');
    expect(second.stdout).toBe('');
  });
});

describe('JSON of an order whose files can not be told', () => {
  it.each(untold)('has each URL with an error: $what', async ({ urls, audiofiles, kept, said }) => {
    const { service, user } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'X1', audiofiles, message: 'ok' } });
    const line = ['order', '--from', '-', '--sku', 'TRANS14', '--json'];
    const { code, stdout } = await user.run(line, { stdin: urls.map((url) => `${url}\n`).join('') });
    expect(code).toBe(11);
    const error = expect.objectContaining({ code: 'uncertain', message: expect.stringMatching(said) });
    expect(JSON.parse(stdout)).toEqual([
      ...kept.map(({ id }) => expect.objectContaining({ audiofile: id, order: 'X1' })),
      ...urls.map((url) => expect.objectContaining({ audiofile: null, order: 'X1', url, error })),
    ]);
  });
});
