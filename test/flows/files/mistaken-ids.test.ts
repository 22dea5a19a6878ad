/** An order's id where a file's is wanted, and the reverse: the hint says which it is. */
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../../support/account.ts';

async function ordered(): Promise<Account> {
  const it = await account();
  it.service.on('POST /order_url', { body: { order: '4nX', audiofiles: ['77'], message: 'ok' } });
  await it.user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
  return it;
}

describe('an id', () => {
  it.each([[['file', '4nX']], [['track', '4nX']], [['transcript', '4nX']]])(
    'of an order in place of a file: %j',
    async (args) => {
      const { service, user } = await ordered();
      service.allow('*', { status: 404, body: { message: 'no' } });
      const { code, stderr } = await user.run(args);
      expect([code, stderr]).toEqual([
        4,
        expect.stringMatching(
          /hint: 4nX is an order, not a file: steno files --order 4nX or: steno wait --order 4nX\n$/,
        ),
      ]);
    },
  );

  it('of a file in place of its invoice', async () => {
    const { service, user } = await ordered();
    service.on('GET /audiofile/77', {
      body: { audiofile: { id: '77', statename: 'Delivered', invoices: ['900'] } },
    });
    await user.run(['file', '77']);
    service.allow('*', { status: 404, body: { message: 'no' } });
    const { code, stderr } = await user.run(['invoice', '77']);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/hint: 77 is a file, not an invoice; its invoice: steno invoice 900\n$/),
    ]);
  });

  it('that is neither is to be looked up', async () => {
    const { service, user } = await ordered();
    service.allow('*', { status: 404, body: { message: 'no' } });
    expect((await user.run(['file', '5'])).stderr).toBe(
      'steno: the service does not know audiofile 5 (HTTP 404: no)\nhint: list your files: steno files\n',
    );
  });

  it('of a file in place of an order', async () => {
    const { user } = await ordered();
    const { code, stderr } = await user.run(['wait', '--order', '77']);
    expect([code, stderr]).toEqual([
      2,
      'steno: the ledger has no order 77\nhint: 77 is a file, not an order: steno file 77 or: steno wait 77\n',
    ]);
    const list = await user.onTerminal('steno files --order 77');
    expect(list.stdout).toContain('77 is a file, not an order');
  });
});
