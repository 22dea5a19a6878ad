/** Orders without a known end are listed, and whoever knows the end settles them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { parseCsv } from '../../support/csv.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { isGone } from '../../support/listener.ts';
import { expectNoSecretIn, signed } from '../../support/signed.ts';
import { longOnly } from '../../support/slices.ts';
import { BIN, finished, type User } from '../../support/steno.ts';
import { notShared } from '../../support/store.ts';
import { until } from '../../support/until.ts';
import { deadAddress } from '../../support/wire.ts';

const url = audio('a');

interface Listed {
  readonly attempt: number;
  readonly status: string;
  readonly attempted_at: string;
  readonly urls: string[];
  readonly skus: string[];
  readonly by: { readonly user: string; readonly host: string; readonly pid: number };
  readonly order: string | null;
  readonly detail: string;
}

const listed = async (user: User): Promise<Listed[]> =>
  JSON.parse((await user.run(['attempts', '--json'])).stdout) as Listed[];

/** An account whose first order had no clear answer. */
async function unclearAccount(...args: string[]): Promise<OrderingAccount> {
  const account = await orderingAccount();
  account.service.on('POST /order_url', { status: 500, body: { message: 'oops' } });
  expect((await account.order(...(args.length ? args : [url]))).code).toBe(11);
  return account;
}

describe.concurrent('attempts', () => {
  it('lists what had no clear answer, in every form', async () => {
    const { user } = await unclearAccount(audio('a'), audio('b'), '--sku', 'TSTMP1');
    const [only, ...more] = await listed(user);
    expect(more).toEqual([]);
    expect(only).toEqual({
      attempt: 1,
      status: 'unclear',
      attempted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      urls: [audio('a'), audio('b')],
      skus: ['TRANS14', 'TSTMP1'],
      by: { user: userInfo().username, host: hostname(), pid: expect.any(Number), job: null },
      order: null,
      detail: expect.stringContaining('HTTP 500: oops'),
    });
    const rows = (await user.run(['attempts'])).stdout.split('\n');
    expect(rows[0]?.split('\t')).toEqual([
      '1',
      'unclear',
      only?.attempted_at,
      `${audio('a')} ${audio('b')}`,
      'TRANS14,TSTMP1',
      `${userInfo().username}@${hostname()}, pid ${only?.by.pid}`,
      '',
      only?.detail,
    ]);
    const [header, first] = parseCsv((await user.run(['attempts', '--csv'])).stdout);
    expect(header).toEqual(['attempt', 'status', 'attempted_at', 'urls', 'skus', 'by', 'order', 'detail']);
    expect(first?.slice(0, 2)).toEqual(['1', 'unclear']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('1\n');
    expect((await user.run(['__complete', 'attempt'])).stdout).toMatch(
      /^1\t\S+ https:\/\/example\.com\/a\.mp3\n$/,
    );
    const screen = await user.onTerminal('steno attempts --no-color');
    expect(screen.stdout).toMatch(/ATTEMPT +STATUS +AT +URLS[\s\S]*\n1 +unclear/);
  });

  it('lists neither what was placed or refused, nor tests', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { status: 500 }, { status: 400 }, { status: 500 }, { status: 500 });
    await order(audio('a'), '--test');
    await order(audio('b'));
    await order(audio('c'));
    await order(audio('d'));
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('4\n3\n');
    expect((await user.run(['files', '--quiet'])).stderr).toMatch(/^warning: 2 orders have no known end/);
  });

  it('lists what was ordered again later, and says so', async () => {
    const { service, user, order } = await unclearAccount();
    service.on('POST /order_url', { status: 500 }, { body: { order: 'x', audiofiles: [7], message: 'ok' } });
    expect((await order(url, '--again')).code).toBe(11);
    expect((await listed(user)).map(({ attempt }) => attempt)).toEqual([2, 1]);
    expect((await order(url, '--again')).code).toBe(0);
    const later = expect.stringMatching(/HTTP 500.*; it was ordered again later as order x$/);
    expect(await listed(user)).toMatchObject([
      { attempt: 2, status: 'unclear', order: null, detail: later },
      { attempt: 1, status: 'unclear', order: null, detail: later },
    ]);
    expect((await user.run(['attempts'])).stdout).toMatch(/; it was ordered again later as order x\n/);
  });

  it('counts, completes and settles each of several for one URL', async () => {
    const { service, user, order } = await unclearAccount();
    service.on('POST /order_url', { status: 500 }, { body: { order: 'x', audiofiles: [7], message: 'ok' } });
    for (const exit of [11, 0]) expect((await order(url, '--again')).code).toBe(exit);
    expect((await user.run(['__complete', 'attempt'])).stdout).toMatch(/^2\t[^\n]*\n1\t[^\n]*\n$/);
    expect((await user.run(['files', '--quiet'])).stderr).toMatch(/^warning: 2 orders have no known end/);
    for (const n of ['1', '2']) await user.run(['attempts', 'settle', n, '--not-placed']);
    expect(await listed(user)).toEqual([]);
    expect((await order(url)).stderr).toContain('was ordered as order x');
  });

  it('lists it also after its file, or that of an earlier order, was tracked', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    await order(audio('b'), '--again');
    await order(url);
    const file = (link: string, order: string) => ({
      body: { audiofile: { statename: 'Transcribing', originallink: link, orders: [order] } },
    });
    service.on('GET /audiofile/1', file(audio('b'), 'o1'));
    service.on('GET /audiofile/77', file(url, 'zz'));
    expect((await user.run(['track', '1', '77'])).code).toBe(0);
    expect(await listed(user)).toMatchObject([
      { attempt: 3, detail: expect.stringMatching(/; order zz of it was taken in with track later$/) },
      { attempt: 2, detail: expect.not.stringContaining('later') },
    ]);
  });

  it('is empty where every order has its end', async () => {
    const { user, order } = await orderingAccount();
    await order(url);
    const { code, stdout, stderr } = await user.run(['attempts', '--json']);
    expect([code, JSON.parse(stdout), stderr]).toEqual([0, [], '']);
    expect((await user.run(['attempts'])).stdout).toBe('');
    expect((await user.run(['attempts', '--no-ledger'])).code).toBe(2);
  });

  it('is named by the error of the next order, with both ways to settle it and --again', async () => {
    const { order } = await unclearAccount();
    const { code, stderr } = await order(url);
    expect(code).toBe(9);
    expect(stderr).toMatch(/attempt 1\) had no clear answer: it may have gone through\nhint: /);
    for (const part of ['steno attempts settle 1 --placed <order>', 'settle 1 --not-placed', '--again'])
      expect(stderr).toContain(part);
    expect(stderr).toMatch(/steno attempts\n$/);
  });

  it('is counted by files in one line on stderr', async () => {
    const { user, order } = await unclearAccount();
    await order(audio('b'));
    const { code, stdout, stderr } = await user.run(['files']);
    expect([code, stdout, stderr]).toEqual([
      0,
      '',
      'warning: 2 orders have no known end; see: steno attempts\n',
    ]);
    const json = await user.run(['files', '--json']);
    expect(JSON.parse(json.stderr)).toEqual({
      warning: { message: '2 orders have no known end; see: steno attempts' },
    });
  });
});

describe.concurrent('attempts settle', () => {
  it.skipIf(notShared('an account belongs to one base URL there'))(
    '--placed keeps the order with what is known, and needs no network',
    async () => {
      const { user, order } = await unclearAccount(url, '--notes', 'mind the gap', '--name', 'Ada');
      const [{ attempted_at: at } = { attempted_at: '' }] = await listed(user);
      const settled = await user.run([
        'attempts',
        'settle',
        '1',
        '--placed',
        '4nX',
        '--base-url',
        await deadAddress(),
      ]);
      expect([settled.code, settled.stdout], settled.stderr).toEqual([0, '1\tplaced\t4nX\t\n']);
      expect(await listed(user)).toEqual([]);
      expect(queryLedger(user, 'SELECT id, placed_at, skus, names, notes FROM orders')).toEqual([
        { id: '4nX', placed_at: at, skus: 'TRANS14', names: 'Ada', notes: 'mind the gap' },
      ]);
      expect((await order(url)).stderr).toContain(`was ordered as order 4nX at ${at}`);
      const wait = await user.run(['wait', '--order', '4nX']);
      expect([wait.code, wait.stderr]).toEqual([
        11,
        expect.stringContaining('order 4nX was accepted, but its files'),
      ]);
      expect((await user.run(['files'])).stderr).toBe('');
    },
  );

  it('--placed --file asks about each file and keeps it as if the answer had come', async () => {
    const { service, user, order } = await unclearAccount(signed(audio('a')), audio('b'));
    const file = (id: number, link: string) => ({
      body: { audiofile: { id, statename: 'Transcribing', title: `T${id}`, originallink: link } },
    });
    service.on('GET /audiofile/12', file(12, `${audio('b')}?utm_source=x`));
    service.on('GET /audiofile/11', file(11, signed(audio('a'), 5)));
    const line = ['attempts', 'settle', '1', '--placed', 'o9', '--file', '12,11', '--json'];
    const settled = await user.run(line);
    expect(settled.code, settled.stderr).toBe(0);
    expect(JSON.parse(settled.stdout)).toEqual({
      attempt: 1,
      status: 'placed',
      order: 'o9',
      audiofiles: ['12', '11'],
    });
    expect(queryLedger(user, 'SELECT id, order_id, url, state, title FROM files ORDER BY id')).toEqual([
      { id: '11', order_id: 'o9', url: audio('a'), state: 'Transcribing', title: 'T11' },
      { id: '12', order_id: 'o9', url: audio('b'), state: 'Transcribing', title: 'T12' },
    ]);
    expect(statuses(user)).toEqual(['placed']);
    expect((await order(audio('b'))).code).toBe(9);
    expectNoSecretIn(user);
  });

  it.each([
    ['in the order of the URLs', '--file', '5,6', [audio('a'), audio('b')]],
    ['as unknown where their number is another', '--file', '5', ['']],
  ])('takes files without a link %s', async (_, flag, ids, urls) => {
    const { service, user } = await unclearAccount(audio('a'), audio('b'));
    for (const id of ids.split(','))
      service.on(`GET /audiofile/${id}`, { body: { audiofile: { id, statename: 'Transcribing' } } });
    const { code, stderr } = await user.run(['attempts', 'settle', '1', '--placed', 'o9', flag, ids]);
    expect(code, stderr).toBe(0);
    expect(queryLedger(user, 'SELECT url FROM files ORDER BY id')).toEqual(
      urls.map((each) => ({ url: each })),
    );
  });

  it('--file refuses a file of another link, or that the service does not know, and writes nothing', async () => {
    const { service, user } = await unclearAccount();
    service.on('GET /audiofile/5', { body: { audiofile: { id: 5, originallink: signed(audio('other')) } } });
    service.on('GET /audiofile/6', { body: { audiofile: { id: 6, originallink: url } } });
    const wrong = await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', '6', '--file', '5']);
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toMatch(
      /^steno: audiofile 5 is of https:\/\/example\.com\/other\.mp3, which is no URL of attempt 1\nhint: /,
    );
    service.on('GET /audiofile/7', { status: 404 });
    expect((await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', '7'])).code).toBe(4);
    expect(statuses(user)).toEqual(['uncertain']);
    expect(queryLedger(user, 'SELECT id FROM files')).toEqual([]);
    expect(queryLedger(user, 'SELECT id FROM orders')).toEqual([]);
  });

  it('--file never takes the file of another audio of the ledger', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    await order(url);
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered' } } });
    const { code, stderr } = await user.run(['attempts', 'settle', '2', '--placed', 'o9', '--file', '1']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`audiofile 1 is the file of ${audio('b')}`)]);
    expect(queryLedger(user, 'SELECT url, order_id FROM files')).toEqual([
      { url: audio('b'), order_id: 'o1' },
    ]);
  });

  const linked = (id: number, link?: string, orders?: string[]) => ({
    body: { audiofile: { id, statename: 'Transcribing', originallink: link, orders } },
  });

  it.each([
    {
      what: 'two files of one URL',
      files: [linked(54, audio('a')), linked(55, audio('a'))],
      said: `audiofiles 54 and 55 are both of ${audio('a')}`,
    },
    {
      what: 'a file of another order',
      files: [linked(54, audio('a'), ['REAL'])],
      said: 'audiofile 54 is of order REAL, not of o9',
    },
  ])('--placed --file refuses $what, and writes nothing', async ({ files, said }) => {
    const { service, user } = await unclearAccount(audio('a'), audio('b'), audio('c'));
    const ids = files.map((file, at) => {
      service.on(`GET /audiofile/${54 + at}`, file);
      return String(54 + at);
    });
    const settled = await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', ids.join(',')]);
    expect([settled.code, settled.stdout]).toEqual([1, '']);
    expect(settled.stderr).toMatch(new RegExp(`^steno: ${said}\\n(hint: [^\\n]*\\n)?$`));
    expect(statuses(user)).toEqual(['uncertain']);
    expect(queryLedger(user, 'SELECT id FROM files')).toEqual([]);
  });

  it('--placed refuses two files of the one URL without a link', async () => {
    const { service, user } = await unclearAccount();
    for (const id of [5, 6]) service.on(`GET /audiofile/${id}`, linked(id));
    const settled = await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', '5,6']);
    expect([settled.code, settled.stderr]).toEqual([
      1,
      expect.stringContaining(`audiofiles 5 and 6 are both of ${url}`),
    ]);
    expect(statuses(user)).toEqual(['uncertain']);
  });

  it('--placed refuses the order of another attempt, but not that of a file that was tracked', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    await order(url);
    const settled = await user.run(['attempts', 'settle', '2', '--placed', 'o1']);
    expect([settled.code, settled.stderr]).toEqual([
      2,
      expect.stringMatching(/^steno: order o1 is that of attempt 1, not of attempt 2\n$/),
    ]);
    expect(statuses(user)).toEqual(['placed', 'uncertain']);
    service.on('GET /audiofile/77', linked(77, url, ['zz']));
    await user.run(['track', '77']);
    const tracked = await user.run(['attempts', 'settle', '2', '--placed', 'zz']);
    expect([tracked.code, tracked.stderr]).toEqual([0, '']);
  });

  it('--placed warns of the URLs without a file, and wait --order exits 11 for them', async () => {
    const { service, user } = await unclearAccount(audio('a'), audio('b'), audio('c'));
    service.on('GET /audiofile/54', linked(54, audio('b')), {
      body: { audiofile: { id: 54, statename: 'Delivered', originallink: audio('b') } },
    });
    const settled = await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', '54']);
    expect([settled.code, settled.stdout]).toEqual([0, '1\tplaced\to9\t54\n']);
    const missing = `no file is known of ${audio('a')}, ${audio('c')}\n`;
    expect(settled.stderr).toMatch(/^warning: order o9: /);
    expect(settled.stderr).toContain(missing);
    const wait = await user.run(['wait', '--order', 'o9', '--quiet']);
    expect([wait.code, wait.stdout]).toEqual([11, '54\n']);
    expect(wait.stderr).toContain(missing);
  });

  it('--placed without a file warns of every URL', async () => {
    const { user } = await unclearAccount(audio('a'), audio('b'));
    const { code, stderr } = await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      warning: { message: `order o9: no file is known of ${audio('a')}, ${audio('b')}` },
    });
  });

  it('--not-placed frees the names that nothing else holds', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    expect((await order(audio('a'), audio('b'), '--again')).code).toBe(11);
    const settled = await user.run(['attempts', 'settle', '2', '--not-placed', '--json']);
    expect([settled.code, JSON.parse(settled.stdout)]).toEqual([
      0,
      { attempt: 2, status: 'not placed', order: null, audiofiles: [] },
    ]);
    expect(await listed(user)).toEqual([]);
    service.on('POST /order_url', { body: { order: 'o2', audiofiles: [2], message: 'ok' } });
    expect((await order(audio('b'))).stderr).toContain('as order o1');
    expect((await order(audio('a'))).code).toBe(0);
  });

  it('--not-placed gives a name back to an earlier attempt without a known end', async () => {
    const { user, order } = await unclearAccount();
    expect((await order(url, '--again')).code).toBe(11);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('2\n1\n');
    await user.run(['attempts', 'settle', '2', '--not-placed']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('1\n');
    expect((await order(url)).code).toBe(9);
    await user.run(['attempts', 'settle', '1', '--not-placed']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('');
  });

  it.each([
    [['settle', '2', '--not-placed'], /there is no attempt 2/],
    [['settle', 'x', '--not-placed'], /there is no attempt x/],
    [['settle', '1'], /requires --placed <order> or --not-placed/],
    [['settle', '1', '--placed', 'o1', '--not-placed'], /can't be used together/],
    [['settle', '1', '--not-placed', '--file', '5'], /--file requires --placed\nhint: .*add --placed/],
    [['settle', '1', '--placed', 'a b'], /'a b' is not an id/],
    [['settle', '1', '--placed', 'o1', '--file', 'a/b'], /'a\/b' is not an id/],
  ])('%j is a mistake: exit 2', async (args, message) => {
    const { user } = await unclearAccount();
    const { code, stderr } = await user.run(['attempts', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(statuses(user)).toEqual(['uncertain']);
  });

  it('of one that is settled already is a mistake, and says how it ended', async () => {
    const { user, order } = await unclearAccount();
    await order(audio('b'));
    await user.run(['attempts', 'settle', '1', '--placed', '4nX']);
    await user.run(['attempts', 'settle', '2', '--not-placed']);
    const placed = await user.run(['attempts', 'settle', '1', '--not-placed', '--json']);
    expect([placed.code, jsonError(placed.stderr).message]).toEqual([
      2,
      'attempt 1 is settled already: it was placed as order 4nX',
    ]);
    const refused = await user.run(['attempts', 'settle', '2', '--placed', 'x']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('it was not placed')]);
  });
});

describe.concurrent('an order that another process is sending', () => {
  /** Starts an order whose answer the test gives when it likes. */
  async function inFlight() {
    const account = await orderingAccount();
    let answer = (): void => {};
    const sent = new Promise<void>((done) =>
      account.service.on('POST /order_url', (_, response) => {
        answer = () => void response.end(JSON.stringify({ order: 'o1', audiofiles: [1], message: 'ok' }));
        done();
      }),
    );
    const child = account.user.start(['order', url, '--sku', 'TRANS14', '--quiet']);
    const end = finished(child);
    await sent;
    return { ...account, child, end, answer: () => answer() };
  }

  it('is being sent: listed so, not counted by files, and not to be settled or ordered again', async () => {
    const { user, order, child, end, answer, service } = await inFlight();
    expect(await listed(user)).toMatchObject([{ attempt: 1, status: 'being sent', by: { pid: child.pid } }]);
    expect((await user.run(['files'])).stderr).toBe('');
    const settle = await user.run(['attempts', 'settle', '1', '--not-placed']);
    expect([settle.code, settle.stderr]).toEqual([
      2,
      expect.stringMatching(/being sent right now[^\n]*\nhint: wait for it, or end that process\n/),
    ]);
    const second = await order(url);
    expect(second.code).toBe(9);
    expect(second.stderr).toMatch(/is being ordered right now by \S+, pid \d+\nhint: wait/);
    expect(second.stderr).not.toContain('--again');
    expect(service.got).toHaveLength(1);
    answer();
    expect(await end).toMatchObject({ code: 0, stdout: '1\n' });
    expect(await listed(user)).toEqual([]);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear as soon as its process is gone',
    async () => {
      const { user, order, child, end } = await inFlight();
      child.kill('SIGKILL');
      await end;
      expect(await listed(user)).toMatchObject([
        { status: 'unclear', detail: 'begun, and no outcome written' },
      ]);
      expect((await user.run(['files'])).stderr).toContain('1 order has no known end');
      expect((await order(url)).stderr).toMatch(
        /was begun and has no outcome: it may have gone through\nhint: .*settle 1/,
      );
      expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    },
  );

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear where another process has the number of its process',
    async () => {
      const { user, child, end } = await inFlight();
      child.kill('SIGKILL');
      await end;
      queryLedger(user, 'UPDATE attempts SET pid = ?', process.pid);
      expect(await listed(user)).toMatchObject([{ status: 'unclear' }]);
    },
  );

  it.each([
    ['unclear', -46_000],
    ['being sent', -30_000],
  ])('on another machine is %s by its heartbeat alone', async (status, age) => {
    const { user, end, answer } = await inFlight();
    const seen = new Date(Date.now() + age).toISOString();
    queryLedger(user, "UPDATE attempts SET host = 'elsewhere', seen_at = ?", seen);
    expect(await listed(user)).toMatchObject([{ status, by: { host: 'elsewhere' } }]);
    answer();
    expect((await end).code).toBe(0);
    expect(statuses(user)).toEqual(['placed']);
  });

  longOnly('renews its heartbeat while it waits for the answer', async () => {
    const { user, end, answer } = await inFlight();
    const seen = (): unknown => queryLedger(user, 'SELECT seen_at FROM attempts')[0]?.seen_at;
    const before = seen();
    await until(() => seen() !== before, 'a heartbeat');
    answer();
    expect((await end).code).toBe(0);
  });

  it('that was settled on another machine while its process was stopped keeps what the service said in the end', async () => {
    const { user, order, child, end, answer, service } = await inFlight();
    child.kill('SIGSTOP');
    queryLedger(user, "UPDATE attempts SET host = 'elsewhere', seen_at = '2026-01-01T00:00:00.000Z'");
    expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    answer();
    child.kill('SIGCONT');
    expect(await end).toMatchObject({ code: 0, stdout: '1\n' });
    expect(statuses(user)).toEqual(['placed']);
    expect((await order(url)).stderr).toContain('was ordered as order o1');
    expect(service.got).toHaveLength(1);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear also where its process has ended and its parent does not care',
    async () => {
      const { service, user } = await orderingAccount();
      const sent = new Promise<void>((done) => service.on('POST /order_url', () => done()));
      const line = `"${process.execPath}" "${BIN}" order ${url} --sku TRANS14 & echo $!; exec sleep 60`;
      const parent = spawn('bash', ['-c', line], { cwd: user.home, env: user.env });
      const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(chunk.toString());
      await sent;
      process.kill(pid, 'SIGKILL');
      await until(() => isGone(pid), 'the end of the process');
      expect(await listed(user)).toMatchObject([{ status: 'unclear', by: { pid } }]);
      parent.kill('SIGKILL');
    },
  );
});
