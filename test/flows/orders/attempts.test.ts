/** Orders without a known end are listed, and the next order of their audio stops. */
import { hostname, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../support/csv.ts';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { listed, unclearAccount, url } from '../../support/unclear-orders.ts';

describe.concurrent('attempts', () => {
  it('lists what had no clear answer, in every form', async () => {
    const { user } = await unclearAccount(audio('a'), audio('b'), '--sku', 'TSTMP1');
    const [only, ...more] = await listed(user);
    expect(more).toEqual([]);
    expect(only).toEqual({
      attempt: 1,
      status: 'unclear',
      attempted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      kind: 'order',
      via: null,
      urls: [audio('a'), audio('b')],
      audiofiles: [],
      skus: ['TRANS14', 'TSTMP1'],
      by: { user: userInfo().username, host: hostname(), pid: expect.any(Number), job: null, actor: null },
      order: null,
      detail: expect.stringContaining('HTTP 500: oops'),
      keys: [],
      sources: [],
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
      'order',
      '',
      '',
      '',
      '',
    ]);
    const [, first] = parseCsv((await user.run(['attempts', '--csv'])).stdout);
    expect(first?.slice(0, 2)).toEqual(['1', 'unclear']);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('1\n');
    expect((await user.run(['__complete', 'attempt'])).stdout).toMatch(
      /^1\torder \S+ https:\/\/example\.com\/a\.mp3\n$/,
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
    expect((await user.run(['files', '--quiet'])).stderr).toMatch(/^warning: 2 orders have no known outcome/);
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
    expect((await user.run(['attempts'])).stdout).toMatch(/; it was ordered again later as order x\t/);
  });

  it('counts, completes and settles each of several for one URL', async () => {
    const { service, user, order } = await unclearAccount();
    service.on('POST /order_url', { status: 500 }, { body: { order: 'x', audiofiles: [7], message: 'ok' } });
    for (const exit of [11, 0]) expect((await order(url, '--again')).code).toBe(exit);
    expect((await user.run(['__complete', 'attempt'])).stdout).toMatch(/^2\t[^\n]*\n1\t[^\n]*\n$/);
    expect((await user.run(['files', '--quiet'])).stderr).toMatch(/^warning: 2 orders have no known outcome/);
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
      { attempt: 3, detail: expect.stringMatching(/; its order zz was added with track later$/) },
      { attempt: 2, detail: expect.not.stringContaining('later') },
    ]);
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
      'warning: 2 orders have no known outcome; see: steno attempts\n',
    ]);
    const json = await user.run(['files', '--json']);
    expect(JSON.parse(json.stderr)).toEqual({
      warning: { message: '2 orders have no known outcome; see: steno attempts' },
    });
  });
});
