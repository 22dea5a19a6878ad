/** Corners that outsiders ran into. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import { User } from '../support/steno.ts';

const file = (id: number, statename = 'Delivered', title = '') => ({
  body: { audiofile: { id, statename, title } },
});

describe.concurrent('one refused file among several', () => {
  it.each([401, 403])('with %i is listed, and the others are shown', async (status) => {
    const { service, user } = await account();
    service
      .on('GET /audiofile/1', file(1))
      .on('GET /audiofile/2', { status })
      .on('GET /audiofile/3', file(3));
    const { code, stdout, stderr } = await user.run(['file', '1', '2', '3', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject([{ audiofile: { id: 1 } }, { id: '2', error: { status } }, {}]);
    expect(jsonError(stderr)).toMatchObject({ code: 'partial', failures: [{ what: '2', code: 'auth' }] });
  });

  it('does not keep the transcripts of the others from being listed', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' }).on('POST /audiofile/2/transcript.txt', { status: 403 });
    const { code, stdout } = await user.run(['transcript', '1', '2', '3', '--quiet']);
    expect([code, stdout]).toEqual([10, '1.txt\n3.txt\n']);
  });

  it('does not block sync', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: 'o', audiofiles: [1, 2], message: 'ok' } });
    service.on('GET /audiofile/1', { status: 403 }).on('GET /audiofile/2', file(2));
    service.on('POST /audiofile/2/transcript.txt', { body: 'words' });
    await user.run(['order', 'https://e.com/1', 'https://e.com/2', '--sku', 'TRANS14']);
    expect((await user.run(['sync', '--quiet'])).stdout).toBe('2.txt\n');
  });
});

describe.concurrent('a download', () => {
  it('to what can never be a folder is refused before anything is ordered', async () => {
    const { service, user } = await account();
    writeFileSync(join(user.home, 'file'), '');
    for (const folder of ['file', 'file/below']) {
      const line = ['order', 'https://e.com/1', '--sku', 'TRANS14', '--download', folder];
      expect((await user.run(line)).code).toBe(2);
      expect((await user.run(['wait', '1', '--download', folder])).code).toBe(2);
      expect((await user.run(['sync', '--download', folder])).code).toBe(2);
    }
    expect(service.got).toEqual([]);
  });

  it('does not claim a file that was there before', async () => {
    const { service, user } = await account();
    mkdirSync(join(user.home, 'd'));
    writeFileSync(join(user.home, 'd', '5.txt'), 'MINE');
    service.on('GET /audiofile/5', file(5)).never('POST /audiofile/5/transcript.txt', { body: 'words' });
    const { code, stdout, stderr } = await user.run(['wait', '5', '--download', 'd', '--quiet']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('d/5.txt');
    expect(readFileSync(join(user.home, 'd', '5.txt'), 'utf8')).toBe('MINE');
  });

  it('of a file without a title goes by its id, and several formats need {ext}', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' }).on('GET /audiofile/5', file(5, 'Delivered', '  '));
    const { stdout } = await user.run(['transcript', '5', '--name-as', '{title}.{ext}', '--quiet']);
    expect(stdout).toBe('5.txt\n');
    const clash = await user.run(['transcript', '5', '--name-as', '{id}', '--format', 'txt,srt']);
    expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining('{ext}')]);
  });

  it('that is announced as JSON and is none is a transcript all the same', async () => {
    const { service, user } = await account();
    service.on('*', { headers: { 'content-type': 'application/json' }, body: 'Good morning.' });
    expect((await user.run(['transcript', '5', '-o', '-'])).stdout).toBe('Good morning.');
  });
});

describe.concurrent('order --wait --quiet', () => {
  it.each([
    ['a hold', { hold: 'billing' }, 'never', 5],
    ['an end without transcript', {}, 'on', 8],
  ] as const)('tells the new ids also at %s', async (_, extra, asks, code) => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: 'o', audiofiles: [7], message: 'ok', ...extra } });
    service[asks]('GET /audiofile/7', file(7, 'Error'));
    const line = ['order', 'https://e.com/7', '--sku', 'TRANS14', '--wait'];
    const quiet = await user.run([...line, '--quiet']);
    expect([quiet.code, quiet.stdout]).toEqual([code, '7\n']);
    const rows = await user.run([...line, '--again']);
    expect([rows.code, rows.stdout.split('\t')[0]]).toEqual([code, '7']);
  });
});

describe.concurrent('small things', () => {
  it('a refund that is only tried is hinted at as such', async () => {
    const { user } = await account();
    expect((await user.run(['refund', '101', '--test'])).stderr).toContain('steno refund 101 --yes --test');
  });

  it('an order that is answered with a message alone says that message', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { message: 'Insufficient funds' } });
    const { code, stderr } = await user.run(['order', 'https://e.com/1', '--sku', 'TRANS14']);
    expect([code, stderr]).toEqual([11, expect.stringContaining('Insufficient funds')]);
  });

  it('global flags alone show every command', async () => {
    const user = new User();
    const whole = (await user.run([])).stdout;
    for (const flag of ['--json', '--quiet', '--timeout=5s'])
      expect((await user.run([flag])).stdout).toBe(whole);
  });

  it('help on what is not there is a mistake', async () => {
    const { code, stderr } = await new User().run(['help', 'ordr']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean order?')]);
  });

  it('settings answer with a document where one is asked for', async () => {
    const user = new User();
    const path = JSON.parse((await user.run(['config', 'path', '--json'])).stdout).path;
    expect(path).toBe(join(user.home, 'config', 'config.json'));
    const set = await user.run(['config', 'set', 'api-key', '-', '--json'], {
      stdin: 'key-from-stdin-0123\n',
    });
    expect(JSON.parse(set.stdout)).toEqual({ profile: 'default', 'api-key': '****0123' });
    expect(readFileSync(path, 'utf8')).toContain('key-from-stdin-0123');
  });

  it('watching ends when its time is over', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', file(5, 'On Hold'));
    const { code, stderr } = await user.run([
      'file',
      '5',
      '--watch',
      '--timeout',
      '700ms',
      '--interval',
      '100ms',
    ]);
    expect([code, stderr]).toEqual([6, expect.stringMatching(/still 'On Hold'|in time/)]);
  });

  it('several ids of wait give an array, one gives an object', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', file(5));
    expect(Array.isArray(JSON.parse((await user.run(['wait', '5', '5', '--json'])).stdout))).toBe(true);
    expect(JSON.parse((await user.run(['wait', '5', '--json'])).stdout)).toHaveProperty('audiofile');
  });

  it('a webhook that comes as bare text is read', async () => {
    const { service, user } = await account();
    service.on('GET /webhook', { body: 'https://e.com/hook\n' });
    expect((await user.run(['webhook', 'get'])).stdout).toBe('https://e.com/hook\n');
  });

  it('the sandbox starts afresh with its ledger', async () => {
    const user = new User({ STENO_PROFILE: 'sandbox' });
    const line = ['order', 'https://e.com/one.mp3', '--sku', 'TRANS14', '--quiet'];
    expect((await user.run(line)).stdout).toBe('1001\n');
    expect((await user.run(line)).code).toBe(9);
    expect((await user.run(['sandbox', 'reset'])).code).toBe(0);
    expect((await user.run(['files'])).stdout).toBe('');
    expect((await user.run(line)).stdout).toBe('1001\n');
  });
});
