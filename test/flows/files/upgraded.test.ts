/** What an upgrade and a refund change about a file: at once in the ledger, and until it is delivered again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listing } from '../../support/files.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';

const fine = { body: { message: 'done' } };
const transcript = 'POST /audiofile/1/transcript.txt';

interface Upgraded extends OrderingAccount {
  /** The document of the file, as `files` lists it. */
  file(): Promise<Record<string, unknown>>;
  read(name?: string): string;
  sync(): Promise<string>;
}

/** File 1 is on order, in this state. */
async function ordered(state = 'Delivered'): Promise<Upgraded> {
  const account = await orderingAccount();
  const { user, order, states } = account;
  states.set('1', [state]);
  expect((await order(audio('a'))).code).toBe(0);
  return {
    ...account,
    file: async () => JSON.parse((await user.run(['files', '--json'])).stdout)[0],
    read: (name = '1.txt') => readFileSync(join(user.home, 'd', name), 'utf8'),
    sync: async () => (await user.run(['sync', '--download', 'd', '--quiet'])).stdout,
  };
}

/** The same, downloaded to the folder d, and upgraded after its delivery. */
async function upgraded(): Promise<Upgraded> {
  const account = await ordered();
  account.service.on(transcript, { body: 'the first text' });
  expect(await account.sync()).toBe('d/1.txt\n');
  account.service.on('POST /audiofile/1/upgrade', fine);
  expect((await account.user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(0);
  return account;
}

describe('a refunded file', () => {
  it('is Refunded at once, is not open, and is asked about for its bill alone', async () => {
    const { user, service, states, file, sync, askedFiles } = await ordered('Transcribing');
    await sync();
    service.on('POST /audiofile/1/refund', fine);
    expect((await user.run(['refund', '1', '--yes'])).code).toBe(0);
    expect(await file()).toMatchObject({ state: 'Refunded', ended: 'unfinished' });
    states.set('1', ['Refunded']);
    await sync();
    expect(askedFiles()).toEqual(['1', '1']);
    expect((await user.run(['wait'])).code).toBe(0);
    expect(askedFiles()).toEqual(['1', '1']);
    const { late, waiting } = JSON.parse((await user.run(['report', '--json'])).stdout);
    expect([late ?? [], waiting ?? []]).toEqual([[], []]);
  });
});

describe('an upgraded file', { timeout: 90_000 }, () => {
  it('has its new SKUs at once', async () => {
    const { user, service, file } = await ordered('Transcribing');
    service.on('POST /audiofile/1/upgrade', fine, fine);
    await user.run(['upgrade', '1', '--sku', 'UPGRD2,TSTMP1']);
    await user.run(['upgrade', '1', '--sku', 'CAPTION1']);
    const skus = ['TRANS14', 'UPGRD2', 'TSTMP1', 'CAPTION1'];
    expect(await file()).toMatchObject({ skus });
    expect((await user.run(['files', '--csv'])).stdout).toContain(`"${skus.join(',')}"`);
  });

  it('is searched and quoted as it was delivered last, though an older copy has times', async () => {
    const { user, service, states } = await ordered();
    const says = (text: string): string => `WEBVTT\n\n00:01.000 --> 00:02.000\nAda: ${text}\n`;
    service.on('POST /audiofile/1/transcript.vtt', { body: says('We kept it in a blue suitcase.') });
    await user.run(['transcript', '1', '--format', 'vtt', '-o', 'd/']);
    service.on('POST /audiofile/1/upgrade', fine);
    await user.run(['upgrade', '1', '--sku', 'UPGRD1']);
    states.set('1', ['In Review', 'Delivered']);
    for (const _ of ['In Review', 'Delivered']) await user.run(['file', '1']);
    service.on(transcript, { body: 'Ada: We kept it in a biscuit tin.\n' });
    expect((await user.run(['transcript', '1', '-o', 'd/'])).code).toBe(0);
    const quote = async (text: string): Promise<number | null> => (await user.run(['quote', text])).code;
    expect(await quote('we kept it in a biscuit tin')).toBe(0);
    expect(await quote('we kept it in a blue suitcase')).toBe(1);
    expect((await user.run(['search', 'suitcase', '--json'])).stdout).toBe('[]\n');
    expect((await user.run(['diff', '1', 'd/1.txt'])).code).toBe(0);
  });

  it('is due by the target of its upgrade', async () => {
    const { user, service } = await ordered('Transcribing');
    queryLedger(user, "UPDATE files SET ordered_at = '2026-01-01T00:00:00.000Z'");
    service.on('POST /audiofile/1/upgrade', fine);
    await user.run(['upgrade', '1', '--sku', 'UPGRD2']);
    const listener = await Listener.start(user, ['--quiet']);
    const due = (): string =>
      queryLedger<{ due_since: string }>(user, 'SELECT due_since FROM files')[0]?.due_since ?? '';
    await listener.until(() => due() !== '');
    const days = (Date.parse(due()) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(0.9);
    expect(days).toBeLessThan(1.1);
    await listener.stop();
  });

  it('that was not delivered yet ends with its delivery', async () => {
    const { user, service, states, file, sync } = await ordered('Transcribing');
    await sync();
    service.on('POST /audiofile/1/upgrade', fine);
    await user.run(['upgrade', '1', '--sku', 'UPGRD2']);
    states.set('1', ['Delivered']);
    expect(await sync()).toBe('d/1.txt\n');
    expect(await file()).toMatchObject({ state: 'Delivered', ended: 'delivered' });
  });

  it('that was delivered is open until it was seen in another state, and delivered again', async () => {
    const { file, sync, states, read, service, fetched } = await upgraded();
    expect(await file()).toMatchObject({ state: 'Delivered', ended: null });
    expect(await sync()).toBe('');
    expect(await file()).toMatchObject({ state: 'Delivered', ended: null });
    states.set('1', ['Transcribing']);
    expect(await sync()).toBe('');
    states.set('1', ['Delivered']);
    service.on(transcript, { body: 'with timestamps' });
    expect(await sync()).toBe('d/1.txt\n');
    expect(read()).toBe('with timestamps');
    expect(await file()).toMatchObject({ state: 'Delivered', ended: 'delivered' });
    expect(await sync()).toBe('');
    expect(fetched()).toHaveLength(2);
  });

  it('that never leaves the state is closed after 30 days', async () => {
    const { user, file, sync, askedFiles } = await upgraded();
    const ago = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
    queryLedger(user, `UPDATE files SET upgraded_at = '${ago(29)}'`);
    await sync();
    expect(await file()).toMatchObject({ ended: null });
    queryLedger(user, `UPDATE files SET upgraded_at = '${ago(31)}'`);
    await sync();
    expect(await file()).toMatchObject({ ended: 'delivered' });
    const asked = askedFiles().length;
    await sync();
    expect(askedFiles()).toHaveLength(asked);
  });

  it('whose copy was changed keeps that, and the new text gets a name of its own', async () => {
    const { user, sync, states, read, service } = await upgraded();
    writeFileSync(join(user.home, 'd', '1.txt'), 'my own words');
    writeFileSync(join(user.home, 'd', '1-2.txt'), 'of someone else');
    states.set('1', ['Transcribing', 'Delivered']);
    await sync();
    service.on(transcript, { body: 'with timestamps' });
    expect(await sync()).toBe('d/1-3.txt\n');
    expect([read(), read('1-2.txt'), read('1-3.txt')]).toEqual([
      ...['my own words', 'of someone else', 'with timestamps'],
    ]);
    expect(await sync()).toBe('');
    expect(listing(join(user.home, 'd'))).toEqual(['1-2.txt', '1-3.txt', '1.txt']);
  });

  it('is waited for until it is delivered again, and its copy is replaced', async () => {
    const { user, states, read, service } = await upgraded();
    states.set('1', ['Delivered', 'Delivered', 'Transcribing', 'Transcribing', 'Delivered']);
    service.on(transcript, { body: 'with timestamps' });
    const { code, stdout, stderr } = await user.run([
      ...['wait', '1', '--download', 'd', '--interval', '200ms', '--quiet'],
    ]);
    expect([code, stdout], stderr).toEqual([0, 'd/1.txt\n']);
    expect(read()).toBe('with timestamps');
  });

  it('that is not delivered again in time is said to be so', async () => {
    const { user } = await upgraded();
    const { code, stderr } = await user.run(['wait', '1', '--interval', '100ms', '--timeout', '4s']);
    expect([code, stderr]).toEqual([6, expect.stringContaining('not delivered again since its upgrade')]);
  });

  it('is said to be open again wherever it is shown as Delivered', async () => {
    const { user, file } = await upgraded();
    for (const line of [
      ['file', '1'],
      ['files'],
      ['wait', '1', '--timeout', '1s'],
      ['file', '1', '--watch', '--timeout', '1s'],
    ]) {
      const { stdout, stderr } = await user.run(line);
      expect([line, stdout.includes('Delivered') || stderr]).not.toEqual([line, false]);
      expect(stderr).toMatch(/^1 file \(audiofile 1\) was upgraded and is open again/m);
    }
    expect(await file()).toMatchObject({ remark: 'open again since its upgrade' });
    expect((await user.run(['files', '--state', 'Processing'])).stderr).toBe('');
    const { stderr } = await user.run(['wait', '1', '--timeout', '1s', '--no-progress']);
    expect(stderr).not.toMatch(/1 delivered|1 of 1/);
  });

  it('keeps a copy that was fetched meanwhile only until it is delivered again', async () => {
    const { user, states, read, service, sync } = await upgraded();
    service.on(transcript, { body: 'half of it' }, { body: 'with timestamps' });
    const fetch = ['transcript', '1', '--name-as', '{title}.{ext}', '-o', 'e', '--force'];
    expect((await user.run(fetch)).code).toBe(0);
    expect(queryLedger(user, "SELECT draft FROM downloads WHERE folder LIKE '%/e'")).toEqual([{ draft: 1 }]);
    states.set('1', ['Transcribing', 'Delivered']);
    await sync();
    expect(await sync()).toBe('d/1.txt\n');
    expect(read()).toBe('with timestamps');
  });

  it('is expected anew by listen, which replaces its copy when it is delivered again', async () => {
    const { user, states, read, service, askedFiles } = await upgraded();
    const listener = await Listener.start(user, ['--download', 'd', '--quiet']);
    const before = askedFiles().length;
    await listener.post(complete('1'));
    await listener.until(() => askedFiles().length > before);
    expect(read()).toBe('the first text');
    states.set('1', ['Transcribing', 'Delivered']);
    service.on(transcript, { body: 'with timestamps' });
    await listener.until(() => listener.lines.includes('d/1.txt'));
    expect(read()).toBe('with timestamps');
    await listener.stop();
  });
});
