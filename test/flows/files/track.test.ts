/** Files that were ordered elsewhere are taken into the ledger, and from then on are like all others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, FILES, folderIn, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { expectNoSecretIn, SECRET, signed } from '../../support/signed.ts';

const file = (id: number, link?: string, more: object = {}) => ({
  body: {
    audiofile: {
      id,
      statename: 'Transcribing',
      title: `Talk ${id}`,
      ...(link === undefined ? {} : { originallink: link }),
      ...more,
    },
  },
});

describe('track', () => {
  it('takes in order, link, state, title and invoices, and shows the row of files', async () => {
    const { service, user } = await orderingAccount();
    service.on(
      'GET /audiofile/77',
      file(77, signed(audio('a')), { orders: ['zz'], invoices: [5], names: 'Ada|Bo' }),
    );
    const { code, stdout, stderr } = await user.run(['track', '77']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe((await user.run(['files'])).stdout);
    expect(stdout.split('\t').slice(0, 6)).toEqual(['77', 'Transcribing', 'Talk 77', '', '', 'zz']);
    const [row] = JSON.parse((await user.run(['files', '--json'])).stdout);
    expect(row).toMatchObject({
      audiofile: '77',
      state: 'Transcribing',
      title: 'Talk 77',
      order: 'zz',
      url: audio('a'),
      names: ['Ada', 'Bo'],
      invoices: ['5'],
      test: false,
    });
    expect(stdout).not.toContain(SECRET);
    expectNoSecretIn(user);
  });

  it('makes files, wait, sync, completions and the guard know them', async () => {
    const { service, user, order, fetched } = await orderingAccount();
    service.on(
      'GET /audiofile/77',
      file(77, audio('a'), { orders: ['zz'] }),
      file(77, audio('a'), { statename: 'Delivered' }),
    );
    expect((await user.run(['track', '77', '--quiet'])).stdout).toBe('77\n');
    const known = await order(`${audio('a')}?utm_source=x`);
    expect(known.code).toBe(9);
    expect(known.stderr).toMatch(
      /was ordered elsewhere as order zz and added with track (?:just now|\d+s ago) \(differs only in tracking/,
    );
    expect((await order(audio('a'), '--skip-ordered')).code).toBe(0);
    expect(service.calls('POST /order_url')).toHaveLength(0);
    expect((await user.run(['files', '--order', 'zz', '--quiet'])).stdout).toBe('77\n');
    expect((await user.run(['__complete', 'audiofile', '7'])).stdout).toMatch(/^77\t/);
    expect((await user.run(['__complete', 'order', 'z'])).stdout).toMatch(/^zz\t/);
    expect((await user.run(['wait', '--order', 'zz', '--quiet'])).stdout).toBe('77\n');
    const folder = folderIn(user, 'out');
    expect((await user.run(['sync', '--download', folder, '--quiet'])).code).toBe(0);
    expect(fetched()).toEqual(['77.txt']);
  });

  it('refreshes a file that is known, and does not double it', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('a'), '--key', 'k');
    service.on('GET /audiofile/1', file(1, audio('moved'), { orders: ['other'] }));
    for (const _ of [1, 2]) expect((await user.run(['track', '1'])).code).toBe(0);
    expect(queryLedger(user, `SELECT id, order_id, url, key, state FROM ${FILES}`)).toEqual([
      { id: '1', order_id: 'o1', url: audio('a'), key: 'k', state: 'Transcribing' },
    ]);
    expect(queryLedger(user, 'SELECT count(*) AS n FROM purchases')).toEqual([{ n: 1 }]);
    expect((await order(audio('moved'))).stderr).toContain('was ordered as order o1');
  });

  it('takes two files of one link, and files without a link or an order', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('GET /audiofile/1', file(1, audio('a')));
    service.on('GET /audiofile/2', file(2, signed(audio('a'))));
    service.on('GET /audiofile/3', file(3));
    service.on('GET /audiofile/4', file(4, 'not a link'));
    expect(await user.run(['track', '1', '2', '3', '4', '2', '--quiet'])).toMatchObject({
      code: 0,
      stdout: '1\n2\n3\n4\n',
    });
    expect(queryLedger(user, `SELECT id, url, order_id FROM ${FILES} ORDER BY id`)).toEqual([
      { id: '1', url: audio('a'), order_id: '' },
      { id: '2', url: audio('a'), order_id: '' },
      { id: '3', url: '', order_id: '' },
      { id: '4', url: 'not a link', order_id: '' },
    ]);
    expect((await order(audio('a'))).code).toBe(9);
  });

  it('takes ids from a list, and lists what failed: exit 10', async () => {
    const { service, user } = await orderingAccount();
    service.on('GET /audiofile/1', file(1, audio('a')));
    service.on('GET /audiofile/2', { status: 404 });
    writeFileSync(join(user.home, 'ids'), '# ids\n1\tTranscribing\n\n2\n');
    const { code, stdout, stderr } = await user.run(['track', '--from', 'ids', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: '1', url: audio('a') },
      { audiofile: '2', error: { code: 'missing' } },
    ]);
    expect(jsonError(stderr)).toMatchObject({ code: 'partial', failures: [{ what: '2', status: 404 }] });
    const piped = await user.run(['track', '--from', '-', '--quiet'], { stdin: '1\n' });
    expect(piped).toMatchObject({ code: 0, stdout: '1\n' });
    const one = await user.run(['track', '--from', '-', '--json'], { stdin: '1\n' });
    expect(JSON.parse(one.stdout)).toHaveLength(1);
    expect(JSON.parse((await user.run(['track', '1', '--json'])).stdout)).toMatchObject({ audiofile: '1' });
  });

  it.each([
    ['CSV', 'title;Audiofile;state\n"Talk; one";1;Delivered\n# a talk;2;\n'],
    ['CSV of one column', '"audiofile"\n1\n"2"\n'],
    ['JSON lines', '{"audiofile":"1","state":"Delivered"}\n{"audiofile":2}\n'],
  ])('takes ids from %s', async (_, text) => {
    const { service, user } = await orderingAccount();
    for (const id of [1, 2]) service.on(`GET /audiofile/${id}`, file(id, audio(`${id}`)));
    writeFileSync(join(user.home, 'list'), text);
    expect(await user.run(['track', '--from', 'list', '--quiet'])).toMatchObject({
      ...{ code: 0, stdout: '1\n2\n', stderr: '' },
    });
  });

  it.each([
    ['a row without an id', 'audiofile,title\n,Talk\n', "list, line 2: '' is not an id"],
    ['an object without an id', '{"audiofile":1}\n{"id":2}\n', "list, line 2: '' is not an id"],
    ['an array', '["1"]\n', 'list, line 1: not a JSON object'],
    ['another header', 'id,title\n1,Talk\n', "list, line 1: 'id,title' is not an id"],
  ])('refuses a list with %s, and sends nothing', async (_, text, message) => {
    const { user } = await orderingAccount();
    writeFileSync(join(user.home, 'list'), text);
    const { code, stderr } = await user.run(['track', '--from', 'list']);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('adds tags, to files that are known too', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('a'), '--tag', 'first');
    service.on('GET /audiofile/1', file(1, audio('a'), { orders: ['o1'] }));
    service.on('GET /audiofile/7', file(7, audio('b')));
    service.on('GET /audiofile/8', file(8));
    const { stdout } = await user.run(['track', '1', '7', '8', '--tag', 'x', '--tag', 'y, z', '--json']);
    const tags = JSON.parse(stdout).map((each: { tags: unknown }) => each.tags);
    expect(tags).toEqual([
      ['first', 'x', 'y, z'],
      ['x', 'y, z'],
      ['x', 'y, z'],
    ]);
    expect((await user.run(['files', '--tag', 'x', '--quiet'])).stdout.split('\n').sort()).toEqual([
      '',
      '1',
      '7',
      '8',
    ]);
    expect((await user.run(['track', '1', '--tag', ' '])).code).toBe(2);
    const guarded = await user.run(['track', '1', '--tag', 'w'], { env: { STENO_ALLOW: 'read' } });
    expect(guarded.code).toBe(2);
  });

  it('does not invent who ordered, when, or how long it took', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('a'));
    service.on('GET /audiofile/7', file(7, audio('b'), { statename: 'Delivered', total: 5 }));
    service.on('GET /audiofile/8', file(8, audio('c')));
    const tracked = await user.run(['track', '7', '8', '--json']);
    for (const each of JSON.parse(tracked.stdout)) expect(each).toMatchObject({ ordered_at: null, by: null });
    expect((await user.run(['track', '7'])).stdout.split('\t').slice(6, 7)).toEqual(['']);
    const listed = JSON.parse((await user.run(['files', '--since', '1h', '--json'])).stdout);
    expect(listed.map((each: { audiofile: string }) => each.audiofile)).toEqual(['8', '7', '1']);
    expect(listed.at(-1)).toMatchObject({ ordered_at: expect.any(String), by: { host: expect.any(String) } });
    const report = JSON.parse((await user.run(['report', '--json'])).stdout);
    expect(report.turnaround).toMatchObject([
      { delivered: 1, median_seconds: null, slowest_seconds: null, unmeasured: 1 },
    ]);
  });

  it('takes the SKUs that an invoice names, whichever is read first', async () => {
    const { service, user } = await orderingAccount();
    const line = (audiofile: number, sku: string) => ({ sku, quantity: 10, price: 1, total: 10, audiofile });
    for (const id of [7, 8]) service.on(`GET /audiofile/${id}`, file(id, audio(`n${id}`), { invoices: [5] }));
    const items = [line(7, 'TRANS2'), line(7, 'TSTMP1'), line(8, 'TRANS14')];
    service.on('POST /invoice/5', { body: { id: 5, state: 'PAID', total: 30, items } });
    const skus = async (id: string) => JSON.parse((await user.run(['file', id, '--json'])).stdout).skus;
    await user.run(['track', '7']);
    expect(await skus('7')).toEqual([]);
    await user.run(['report']);
    expect(await skus('7')).toEqual(['TRANS2', 'TSTMP1']);
    await user.run(['track', '8']);
    expect(await skus('8')).toEqual(['TRANS14']);
  });

  it.each([
    ['nothing to track', ['track'], 2],
    ['an id that is none', ['track', 'a/../b'], 2],
    ['no ledger', ['track', '1', '--no-ledger'], 2],
    ['a file that is not there', ['track', '2'], 4],
    ['a key that is wrong', ['track', '3'], 3],
  ])('with %s fails', async (_, line, exit) => {
    const { service, user } = await orderingAccount();
    service.allow('GET /audiofile/2', { status: 404 });
    service.allow('GET /audiofile/3', { status: 401 });
    const { code, stdout } = await user.run(line);
    expect([code, stdout]).toEqual([exit, '']);
  });

  it('of a file of an order without a known end settles that', async () => {
    const { service, user, order } = await orderingAccount();
    service.on('POST /order_url', { status: 500 });
    await order(audio('a'), audio('b'));
    service.on('GET /audiofile/1', file(1, audio('a'), { orders: ['q'] }));
    service.on('GET /audiofile/2', file(2, audio('b'), { orders: ['q'] }));
    await user.run(['track', '1']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('1\n');
    await user.run(['attempts', 'settle', '1', '--not-placed']);
    expect((await order(audio('a'))).stderr).toContain('order q');
    await user.run(['track', '2']);
    expect((await order(audio('b'))).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });
});
