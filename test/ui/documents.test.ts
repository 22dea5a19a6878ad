/** --json and --csv are documents: a terminal changes nothing in them. */
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { sliceOf } from '../support/slices.ts';

const file = (id: number, title: string, more: object = {}) => ({
  body: { audiofile: { id, title, statename: 'Delivered', ...more } },
});

describe('--json and --csv are the same on a terminal and off it', () => {
  const hourAgo = new Date(Date.now() - 3600e3).toISOString();
  const invoice = {
    id: 7,
    state: 'PAID',
    createtime: hourAgo,
    total: '3.00',
    items: [{ id: 1, total: '3.00' }],
  };
  const lines = [
    'file 1',
    'file 1 2',
    'files',
    'wait 1 2',
    'order https://h/a.mp3 --sku TRANS14 --again --no-ledger --wait',
    'invoice 7 7',
    'events',
    'states',
    'config list',
  ];

  it.concurrent.each(
    sliceOf(
      lines.flatMap((line) => ['--json', '--csv'].map((form) => `${line} ${form}`)),
      5,
    ),
  )('steno %s', async (line) => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: '4nX', audiofiles: [1, 2], message: 'ok' } });
    for (const id of [1, 2])
      service.allow(`GET /audiofile/${id}`, file(id, 'A talk', { notes: 'many notes' }));
    service.allow('POST /invoice/7', { body: invoice });
    await user.run(['order', 'https://h/b.mp3', '--sku', 'TRANS14']);
    const piped = await user.run(line.split(' '));
    expect([piped.code, piped.stdout.length > 2]).toEqual([0, true]);
    const { stdout } = await user.onTerminal(`sh -c 'stty -opost; steno ${line} 2>/dev/null'`, {
      columns: 60,
    });
    // Of wait and order --wait: the second run asks again.
    const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
    expect(withoutTimes(stdout)).toBe(withoutTimes(piped.stdout));
  });
});
