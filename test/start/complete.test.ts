/** What a shell is offered: ids that the ledger knows, with a word on each, and never a complaint. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';

describe.concurrent('__complete', () => {
  it('offers audiofiles, orders and invoices by their beginning', async () => {
    const { user, service, order } = await orderingAccount();
    service.on(
      'POST /order_url',
      { body: { order: 'aB1', audiofiles: [120, 121], message: 'ok' } },
      { body: { order: 'aC2', audiofiles: [99], message: 'ok' } },
    );
    service.on('GET /audiofile/120', {
      body: {
        audiofile: {
          id: 120,
          statename: 'Transcribing',
          title: 'A\ttab and\na line',
          invoices: [7001, 'x9'],
        },
      },
    });
    await order(audio('a'), audio('b'));
    await order(audio('c'));
    await user.run(['file', '120']);
    const words = async (...args: string[]) => {
      const { code, stdout, stderr } = await user.run(['__complete', ...args]);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    expect(await words('audiofile')).toBe(
      `99\t${audio('c')}\n121\t${audio('b')}\n120\tTranscribing A tab and a line\n`,
    );
    expect(await words('audiofile', '12')).toBe(`120\tTranscribing A tab and a line\n121\t${audio('b')}\n`);
    expect(await words('audiofile', '2')).toBe('');
    expect(await words('audiofile', "1' OR '1'='1")).toBe('');
    expect(await words('audiofile', '%')).toBe('');
    expect(await words('order')).toMatch(/^aC2\tTRANS14 \d{4}-[^\n]*\naB1\tTRANS14 [^\n]*\n$/);
    expect(await words('order', 'aB')).toMatch(/^aB1\t[^\n]*\n$/);
    expect(await words('order', 'ab')).toBe('');
    expect(await words('invoice')).toBe('7001\tA tab and a line\nx9\tA tab and a line\n');
    expect(await words('invoice', 'x')).toBe('x9\tA tab and a line\n');
  });

  it('is quiet where there is no ledger, and makes none', async () => {
    const { user } = await account();
    for (const line of [
      ['audiofile'],
      ['order', 'x'],
      ['audiofile', '--no-ledger'],
      ['audiofile', '--profile', 'nope'],
    ]) {
      const { code, stdout, stderr } = await user.run(['__complete', ...line]);
      expect([line, code, stdout, stderr]).toEqual([line, 0, '', '']);
    }
    expect(existsSync(ledgerOf(user))).toBe(false);
  });

  it('is quiet at a newer ledger', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    queryLedger(user, "INSERT INTO migrations (name, at) VALUES ('999-later', 'now')");
    const { code, stdout, stderr } = await user.run(['__complete', 'audiofile']);
    expect([code, stdout, stderr]).toEqual([0, '', '']);
  });

  it('offers ids of the selected profile only', async () => {
    const { user, order } = await orderingAccount();
    await user.run(['config', 'set', 'timeout', '30', '--profile', 'other']);
    await order(audio('a'), '--profile', 'other');
    expect((await user.run(['__complete', 'audiofile'])).stdout).toBe('');
    expect(
      (await user.run(['__complete', 'audiofile'], { env: { STENO_PROFILE: 'other' } })).stdout,
    ).toContain('1\t');
  });
});
