/** Files that were ordered elsewhere: taken into the ledger, and known to every command from then on. */
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../support/ledger.ts';

const link = `${audio('talk')}?Expires=1&Signature=secret77&Key-Pair-Id=K`;
const file = (id: number, more: object = {}) => ({
  body: {
    audiofile: { id, statename: 'Transcribing', title: 'Talk', originallink: link, orders: ['T1'], ...more },
  },
});

describe.concurrent('track', () => {
  it('takes a file into the ledger: files, sync and the duplicate guard know it', async () => {
    const it = await orderingAccount();
    it.service.allow('GET /audiofile/90', file(90), file(90), file(90, { statename: 'Delivered' }));
    const tracked = await it.user.run(['track', '90', '--quiet']);
    expect(tracked.code, tracked.stderr).toBe(0);
    expect(tracked.stdout).toBe('90\n');
    const listed = await it.user.run(['files', '--order', 'T1', '--json']);
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    expect(listed.stdout).not.toContain('secret77');
    const order = await it.order(audio('talk'));
    expect(order.code).toBe(9);
    expect(it.service.calls('POST /order_url')).toHaveLength(0);
    expect((await it.user.run(['sync'])).code).toBe(0);
    expect((await it.user.run(['sync'])).code).toBe(0);
    expect(it.fetched()).toEqual(['90.txt']);
  });

  it('takes several files of one link, and refreshes what it knows', async () => {
    const it = await orderingAccount();
    it.service.allow('GET /audiofile/91', file(91)).allow('GET /audiofile/92', file(92));
    expect((await it.user.run(['track', '91', '92'])).code).toBe(0);
    expect((await it.user.run(['track', '92'])).code).toBe(0);
    const listed = await it.user.run(['files', '--quiet']);
    expect(listed.stdout.trim().split('\n').sort()).toEqual(['91', '92']);
  });

  it('lists what the service does not know, and takes the others', async () => {
    const it = await orderingAccount();
    it.service.allow('GET /audiofile/93', file(93)).allow('GET /audiofile/94', { status: 404, body: 'no' });
    const result = await it.user.run(['track', '--from', '-'], { stdin: '93\n94\n' });
    expect(result.code).toBe(10);
    expect(result.stderr).toContain('94');
    expect((await it.user.run(['files', '--quiet'])).stdout).toBe('93\n');
    expect((await it.user.run(['track', '94'])).code).toBe(4);
    expect((await it.user.run(['track'])).code).toBe(2);
  });
});
