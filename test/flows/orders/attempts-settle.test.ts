/** `attempts settle`: a user who knows the end of an order says it. */
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, FILES, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { expectNoSecretIn, signed } from '../../support/signed.ts';
import { notShared } from '../../support/store.ts';
import { listed, unclearAccount, url } from '../../support/unclear-orders.ts';
import { deadAddress } from '../../support/wire.ts';

describe('attempts settle', () => {
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
      expect(queryLedger(user, 'SELECT order_id, started_at, skus, names, notes FROM purchases')).toEqual([
        { order_id: '4nX', started_at: at, skus: 'TRANS14', names: 'Ada', notes: 'mind the gap' },
      ]);
      expect((await order(url)).stderr).toMatch(/was ordered as order 4nX (?:just now|\d+s ago)/);
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
    expect(queryLedger(user, `SELECT id, order_id, url, state, title FROM ${FILES} ORDER BY id`)).toEqual([
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
    expect(queryLedger(user, `SELECT url FROM ${FILES} ORDER BY id`)).toEqual(
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
      /^steno: audiofile 5 belongs to https:\/\/example\.com\/other\.mp3, which is not a URL of attempt 1\nhint: /,
    );
    service.on('GET /audiofile/7', { status: 404 });
    expect((await user.run(['attempts', 'settle', '1', '--placed', 'o9', '--file', '7'])).code).toBe(4);
    expect(statuses(user)).toEqual(['uncertain']);
    expect(queryLedger(user, 'SELECT id FROM files')).toEqual([]);
    expect(queryLedger(user, 'SELECT order_id FROM purchases')).toEqual([{ order_id: '' }]);
  });

  it('--file never takes the file of another audio of the ledger', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    await order(url);
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered' } } });
    const { code, stderr } = await user.run(['attempts', 'settle', '2', '--placed', 'o9', '--file', '1']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`the ledger has audiofile 1 as the file of ${audio('b')}`),
    ]);
    expect(queryLedger(user, `SELECT url, order_id FROM ${FILES}`)).toEqual([
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
      said: `audiofiles 54 and 55 both belong to ${audio('a')}`,
    },
    {
      what: 'a file of another order',
      files: [linked(54, audio('a'), ['REAL'])],
      said: 'audiofile 54 belongs to order REAL, not to o9',
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

  it('--placed refuses the order of another attempt, but not that of a file that was tracked', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    service.on('POST /order_url', { status: 500 });
    await order(url);
    const settled = await user.run(['attempts', 'settle', '2', '--placed', 'o1']);
    expect([settled.code, settled.stderr]).toEqual([
      2,
      expect.stringMatching(/^steno: order o1 belongs to attempt 1, not to attempt 2\n$/),
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
    const missing = `the files of ${audio('a')}, ${audio('c')} are unknown\n`;
    expect(settled.stderr).toMatch(/^warning: order o9: /);
    expect(settled.stderr).toContain(missing);
    const wait = await user.run(['wait', '--order', 'o9', '--quiet']);
    expect([wait.code, wait.stdout]).toEqual([11, '54\n']);
    expect(wait.stderr).toContain(missing);
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

  it('--reopen takes out the files that only the mistake had named: no list and no sum has them', async () => {
    const { service, user } = await unclearAccount(audio('a'), audio('b'));
    const billed = { id: 77, statename: 'Delivered', total: '9.00', currency: 'USD' };
    service.on('GET /audiofile/77', { body: { audiofile: { ...billed, originallink: audio('a') } } });
    const settle = (...args: string[]) => user.run(['attempts', 'settle', '1', ...args]);
    for (const mistake of [['--placed', 'O5', '--file', '77'], ['--not-placed']]) {
      expect((await settle(...mistake)).code).toBe(0);
      const reopened = await settle('--reopen');
      expect([reopened.code, reopened.stdout], reopened.stderr).toEqual([0, '1\tunclear\t\t\n']);
      const files = await user.run(['files', '--json']);
      expect([files.code, JSON.parse(files.stdout)]).toEqual([0, []]);
      const { totals } = JSON.parse((await user.run(['report', '--json'])).stdout);
      expect(totals).toEqual([]);
      expect(await listed(user)).toMatchObject([{ order: null, audiofiles: [] }]);
    }
    expect((await settle('--placed', 'O6', '--file', '77')).code).toBe(0);
  });

  it('--reopen leaves what the service itself has named, and what was tracked', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'A3', audiofiles: [5], message: 'ok' } });
    expect((await order(audio('a'), audio('b'))).code).toBe(11);
    for (const id of [5, 55]) service.on(`GET /audiofile/${id}`, linked(id));
    const settled = await user.run(['attempts', 'settle', '1', '--placed', 'A3', '--file', '55,5']);
    expect(settled.code, settled.stderr).toBe(0);
    expect((await user.run(['attempts', 'settle', '1', '--reopen'])).code).toBe(0);
    const shown = async () => JSON.parse((await user.run(['files', '--json'])).stdout);
    expect(await shown()).toMatchObject([{ audiofile: '5', url: audio('b'), order: 'A3' }]);
    expect(await listed(user)).toMatchObject([{ order: 'A3', audiofiles: ['5'] }]);
    service.on('GET /audiofile/56', linked(56, audio('c')));
    expect((await user.run(['track', '56'])).code).toBe(0);
    service.on('POST /order_url', { status: 500 });
    expect((await order(audio('c'), '--again')).code).toBe(11);
    const number = (await listed(user))[0]?.attempt ?? 0;
    for (const how of [['--placed', 'O9', '--file', '56'], ['--reopen']])
      expect((await user.run(['attempts', 'settle', String(number), ...how])).code).toBe(0);
    expect(
      (await shown()).map((file: { audiofile: string; url: string }) => [file.audiofile, file.url]),
    ).toEqual(expect.arrayContaining([['56', audio('c')]]));
    expect(await listed(user)).toMatchObject([{ audiofiles: [] }, { audiofiles: ['5'] }]);
  });

  it.each([
    [['settle', '2', '--not-placed'], /there is no attempt 2/],
    [['settle', 'x', '--not-placed'], /there is no attempt x/],
    [['settle', '1'], /requires --placed <order>, --not-placed or --reopen/],
    [['settle', '1', '--placed', 'o1', '--not-placed'], /can't be used together/],
    [['settle', '1', '--not-placed', '--file', '5'], /--file requires --placed\nhint: .*add --placed/],
    [['settle', '1', '--placed', '..'], /'\.\.' is not an id/],
    [['settle', '1', '--placed', 'o1', '--file', 'a/../b'], /'a\/\.\.\/b' is not an id/],
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
      'attempt 1 is already settled: it was placed as order 4nX',
    ]);
    const refused = await user.run(['attempts', 'settle', '2', '--placed', 'x']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('it was not placed')]);
  });
});
