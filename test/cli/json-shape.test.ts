/** Whether --json prints one document or an array follows from the command line, never from the data. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Account, account, fileAnswer } from '../support/account.ts';

const placed = (n: number): { body: object } => ({
  body: { order: `o${n}`, audiofiles: [n], message: 'ok' },
});
const refused = { status: 400, body: { message: 'no audio' } };

async function withLists(): Promise<Account & { json: (...args: string[]) => Promise<unknown> }> {
  const { service, user } = await account();
  writeFileSync(join(user.home, 'one'), 'https://e.org/a.mp3\n');
  writeFileSync(join(user.home, 'two'), 'https://e.org/a.mp3\nhttps://e.org/b.mp3\n');
  writeFileSync(join(user.home, 'id'), '1\n');
  writeFileSync(join(user.home, 'none'), '\n');
  const json = async (...args: string[]): Promise<unknown> => {
    const sku = args[0] === 'order' ? ['--sku', 'TRANS14'] : [];
    const { stdout } = await user.run([...args, ...sku, '--json']);
    return stdout === '' ? undefined : JSON.parse(stdout);
  };
  return { service, user, json };
}

describe('the JSON of an order', () => {
  it('is an array for plain URLs', async () => {
    const { service, json } = await withLists();
    service.on('POST /order_url', placed(1));
    expect(await json('order', 'https://e.org/a.mp3', '--dry-run')).toMatchObject({
      orders: [{ skus: ['TRANS14'], request: { sku: ['TRANS14'] } }],
      estimate: { low: null, high: null },
    });
    expect(await json('order', 'https://e.org/a.mp3')).toMatchObject([{ order: 'o1', audiofile: '1' }]);
    expect(await json('order', 'https://e.org/a.mp3', '--dry-run')).toBeUndefined();
    expect(await json('order', 'https://e.org/a.mp3')).toBeUndefined();
  });

  it('is an array for a manifest, whatever it holds and whatever becomes of it', async () => {
    const { service, json } = await withLists();
    service.on('POST /order_url', refused, placed(1), placed(2));
    expect(await json('order', '--from', 'one', '--dry-run')).toMatchObject({
      orders: [{ skus: ['TRANS14'] }],
    });
    expect(await json('order', '--from', 'one')).toMatchObject([
      { audiofile: null, url: 'https://e.org/a.mp3', error: { code: 'failed', status: 400 } },
    ]);
    expect(await json('order', '--from', 'one')).toMatchObject([{ order: 'o1' }]);
    const left = { order: 'o1', audiofile: '1', left_out: 'ordered' };
    expect(await json('order', '--from', 'one', '--skip-ordered')).toMatchObject([left]);
    expect(await json('order', '--from', 'one', '--skip-ordered', '--dry-run')).toMatchObject({ orders: [] });
    expect(await json('order', '--from', 'two', '--skip-ordered')).toMatchObject([{ order: 'o2' }, left]);
  });

  it('of one that was waited for is an array of files, with their downloads', async () => {
    const { service, json } = await withLists();
    service.on('POST /order_url', placed(1), placed(2), placed(3), refused);
    for (const id of [1, 2, 3]) service.on(`GET /audiofile/${id}`, fileAnswer(id));
    service.on('POST /audiofile/1/transcript.txt', { body: 'A talk.' });
    const soon = ['--wait', '--interval', '100ms'];
    const each = (n: number): object => ({
      audiofile: `${n}`,
      order: `o${n}`,
      state: 'Delivered',
      answer: { audiofile: { id: n } },
    });
    expect(await json('order', 'https://e.org/z.mp3', ...soon, '--download', 'd')).toMatchObject([
      { ...each(1), downloads: [{ audiofile: '1', format: 'txt' }] },
    ]);
    expect(await json('order', '--from', 'two', '--per-order', '1', ...soon)).toMatchObject([
      each(2),
      each(3),
    ]);
    expect(await json('order', '--from', 'one', '--again', ...soon)).toMatchObject([
      { audiofile: null, error: { status: 400 } },
    ]);
  });

  it('has the same shape where the waiting broke off', async () => {
    const { service, json } = await withLists();
    service.on('POST /order_url', placed(1)).on('GET /audiofile/1', { status: 401 });
    expect(await json('order', '--from', 'one', '--wait', '--interval', '100ms')).toMatchObject([
      { audiofile: '1', order: 'o1', state: 'ordered', error: { status: 401 } },
    ]);
  });
});

describe('the JSON of', () => {
  it('transcript is an array for one id too, for a list, for several ids and formats', async () => {
    const { service, user, json } = await withLists();
    for (const ext of ['txt', 'rtf'])
      service.on(`POST /audiofile/1/transcript.${ext}`, { body: ext === 'rtf' ? '{\\rtf1 A}' : 'A talk.' });
    expect(await json('transcript', '1', '--force')).toMatchObject([{ audiofile: '1' }]);
    expect(await json('transcript', '--from', 'id', '--force')).toMatchObject([{ audiofile: '1' }]);
    expect(await json('transcript', '1', '1', '--force')).toMatchObject([{ audiofile: '1' }]);
    expect(await json('transcript', '1', '--format', 'txt,rtf', '--force')).toHaveLength(2);
    expect(await json('transcript', '--from', 'id')).toMatchObject([{ audiofile: '1', error: {} }]);
    expect(await json('transcript', '1', '--format', 'txt,rtf')).toMatchObject([
      { audiofile: '1', format: 'txt', error: {} },
      { audiofile: '1', format: 'rtf', error: {} },
    ]);
    for (const args of [
      ['transcript', '--from', 'none'],
      ['track', '--from', 'none'],
    ]) {
      expect(await json(...args)).toEqual([]);
      const { code, stdout, stderr } = await user.run(args);
      expect([code, stdout, stderr]).toEqual([0, '', '']);
    }
  });

  it('wait --download is the same where no files are in progress', async () => {
    const { json } = await withLists();
    expect(await json('wait')).toEqual([]);
    expect(await json('wait', '--download', 'd')).toEqual([]);
  });
});

it('an empty name after --output is a usage error', async () => {
  const { user } = await account();
  const { code, stderr } = await user.run(['transcript', '1', '-o', '']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('the name after --output is empty')]);
});
