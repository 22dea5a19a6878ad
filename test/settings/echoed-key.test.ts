/** A service may repeat the key in whatever it answers: it is masked before an id or a title is kept or names a file. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { audio, queryLedger } from '../support/ledger.ts';
import { filesBelow, foundInState } from '../support/secrets.ts';
import { KEY } from '../support/steno.ts';

const base64 = Buffer.from(KEY).toString('base64url');
const title = `T ${KEY} end`;
const file = (id: string, more: object = {}): { body: object } => ({
  body: { audiofile: { id, statename: 'Delivered', title, orders: [`o${KEY}`], ...more } },
});

describe('a key that the service repeats', () => {
  it.each([
    ['as it is', KEY, ''],
    // The last character of base64 holds half a byte.
    ['in base64', base64, base64.slice(-1)],
    ['in percent escapes', encodeURIComponent(KEY), ''],
  ])('in the ids of an order, %s, is not in the ledger', async (_, form, rest) => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: form, audiofiles: [`a${form}`, `b${form}`] } });
    const placed = await user.run(['order', audio('1'), audio('2'), '--sku', 'TRANS14', '--json']);
    expect(placed.code).toBe(0);
    expect(JSON.parse(placed.stdout)).toMatchObject([
      { audiofile: `a****${rest}`, order: `****${rest}`, answer: { order: `****${rest}` } },
      { audiofile: `b****${rest}` },
    ]);
    expect(queryLedger(user, 'SELECT id, order_id FROM files ORDER BY seq')).toEqual([
      { id: `a****${rest}`, order_id: `****${rest}` },
      { id: `b****${rest}`, order_id: `****${rest}` },
    ]);
    expect(foundInState(user, KEY)).toEqual([]);
  });

  it('in what it says of a file and its invoices is not in the ledger', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', file('1', { invoices: [KEY, `i${KEY}`, '7'], [KEY]: KEY }));
    service.on('*', { body: { id: KEY, state: 'PAID', total: '1.00', items: [{ id: KEY, sku: KEY }] } });
    expect((await user.run(['track', '1'])).code).toBe(0);
    expect((await user.run(['files', '--refresh'])).code).toBe(0);
    expect((await user.run(['report'])).code).toBe(0);
    expect(queryLedger(user, 'SELECT order_id, invoices FROM files')).toEqual([
      { order_id: 'o****', invoices: '****,i****,7' },
    ]);
    expect(queryLedger(user, 'SELECT id FROM kept_invoices ORDER BY id')).toEqual([
      { id: '****' },
      { id: '7' },
      { id: 'i****' },
    ]);
    expect(foundInState(user, KEY)).toEqual([]);
  });

  it.each([
    ['transcript', ['transcript', '1', '-o', 'd/'], '{title}-{order}.{ext}'],
    ['wait --download', ['wait', '1', '--download', 'd'], '{title}-{order}.{ext}'],
    ['a folder of', ['transcript', '1', '-o', 'd/'], '{order}/{title}.{ext}'],
  ])('names no file: %s prints a path that is there', async (_, line, template) => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', file('1'));
    service.on('POST /audiofile/1/transcript.txt', { body: 'words' });
    expect((await user.run(['track', '1'])).code).toBe(0);
    const saved = await user.run([...line, '--name-as', template, '--json']);
    expect(saved.code).toBe(0);
    const names = filesBelow(join(user.home, 'd')).filter((path) => !path.includes('/.'));
    expect(names).toHaveLength(1);
    expect(names.join()).not.toContain('secret=key');
    const path = /"path": "([^"]*)"/.exec(saved.stdout)?.[1] ?? '';
    expect(path).toMatch(/\.txt$/);
    expect(existsSync(join(user.home, path)) || existsSync(path)).toBe(true);
    expect(foundInState(user, KEY)).toEqual([]);
    expect(readdirSync(user.home)).toContain('d');
  });
});
