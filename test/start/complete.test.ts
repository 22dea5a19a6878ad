/** What a shell is offered: ids that the ledger knows, with a word on each, and never a complaint. */
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { KEY, User } from '../support/steno.ts';

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

  it('marks orders on hold, and says what an order is about', async () => {
    const { user, service, order } = await orderingAccount();
    service.on(
      'POST /order_url',
      { body: { order: 'held', audiofiles: [5], message: 'ok', hold: 'low balance' } },
      { body: { order: 'free', audiofiles: [6], message: 'ok' } },
    );
    await order(audio('a'));
    await order(audio('b'));
    const { stdout } = await user.run(['__complete', 'order']);
    expect(stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(new RegExp(`^free\tTRANS14 \\S+ ${audio('b')}$`)),
      expect.stringMatching(new RegExp(`^held\tOn Hold TRANS14 \\S+ ${audio('a')}$`)),
    ]);
    queryLedger(user, "UPDATE files SET state = 'Delivered' WHERE order_id = 'held'");
    expect((await user.run(['__complete', 'order', 'he'])).stdout).toMatch(/^held\tTRANS14 /);
  });

  it('offers held orders of the sandbox to release, whatever the profile', async () => {
    const user = new User({ STENO_PROFILE: 'work', STENO_LEDGER: 'postgres://nobody@127.0.0.1:1/none' });
    const order = async (url: string) =>
      (await user.run(['--sandbox', 'order', url, '--sku', 'TRANS14', '--json'])).stdout;
    const [{ order: held }] = JSON.parse(await order('https://example.com/hold.mp3'));
    await order('https://example.com/talk.mp3');
    const { stdout } = await user.run(['__complete', 'sandbox-held-order']);
    expect(stdout).toMatch(new RegExp(`^${held}\tOn Hold [^\n]*hold\\.mp3\n$`));
    expect((await user.run(['__complete', 'sandbox-audiofile'])).stdout.split('\n')).toHaveLength(3);
  });

  it('offers invoices that were fetched, beside those that files name', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    queryLedger(user, "UPDATE files SET invoices = '71,72', title = 'A talk'");
    queryLedger(
      user,
      `INSERT INTO kept_invoices (profile, id, own_id, state, fetched_at, paid, final, answer)
       VALUES ('default', '72', '72', 'PAID', '2026-01-02', 1, 1, '{}'), ('default', '73', '73', 'OPEN', '2026-01-03', 0, 0, '{}'),
         ('other', '74', '74', 'PAID', '2026-01-04', 1, 1, '{}')`,
    );
    expect((await user.run(['__complete', 'invoice', '7'])).stdout).toBe(
      '71\tA talk\n72\tA talk\n73\tnot paid yet, fetched 2026-01-03\n',
    );
  });

  it('offers events by their numbers, newest first', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const rows = Array.from(
      { length: 130 },
      (_, at) =>
        `('${at === 14 ? 'other' : 'default'}', 'received', '2026-01-02', '', '', '', 'ORDER_ON_HOLD', '', '', 'aB')`,
    );
    queryLedger(
      user,
      `INSERT INTO events (profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
       VALUES ${rows.join(', ')}`,
    );
    const numbers = async (prefix: string) => {
      const { stdout } = await user.run(['__complete', 'event', prefix]);
      return stdout.split('\n').flatMap((line) => line.split('\t').slice(0, 1).filter(Boolean));
    };
    expect((await user.run(['__complete', 'event', '130'])).stdout).toBe(
      '130\tORDER_ON_HOLD aB 2026-01-02\n',
    );
    expect(await numbers('')).toEqual(Array.from({ length: 50 }, (_, at) => String(130 - at)));
    // Not 15, which is of another profile.
    expect((await numbers('1')).slice(0, 10)).toEqual('1 19 18 17 16 14 13 12 11 10'.split(' '));
    expect(await numbers('12')).toEqual('12 129 128 127 126 125 124 123 122 121 120'.split(' '));
    for (const prefix of ['0', '-', 'x', '1x', '1'.repeat(40)]) expect(await numbers(prefix)).toEqual([]);
  });

  it('offers nothing that could move a cursor', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const title = `char(27) || '[31mred' || char(7) || char(155) || char(8238) || 'x' || char(10) || 'y'`;
    queryLedger(user, `UPDATE files SET title = ${title}, invoices = '7' || char(27) || '[2J'`);
    for (const kind of ['audiofile', 'order', 'invoice']) {
      const { stdout } = await user.run(['__complete', kind]);
      expect(stdout).toContain('red');
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stdout.split('\n')).toHaveLength(2);
    }
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

describe.concurrent('__complete of settings', () => {
  const words = async (user: User, ...args: string[]) => {
    const { code, stdout, stderr } = await user.run(['__complete', ...args]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain(KEY);
    return stdout.split('\n').slice(0, -1);
  };

  async function withProfiles(): Promise<User> {
    const user = new User({ STENO_LEDGER: undefined });
    const set = (...args: string[]) => user.run(['config', 'set', ...args]);
    await set('base-url', 'https://api.example.com/API4', '--profile', 'work');
    await user.run(['config', 'set', 'api-key', '-', '--profile', 'work'], { stdin: KEY });
    await set('base-url', 'https://test.example.com/API4', '--profile', 'test');
    await set('ledger', 'postgres://steno@db.example.com/steno', '--profile', 'test');
    await set('account', 'acme', '--profile', 'test');
    return user;
  }

  it('offers profiles with their host, and those that are always there', async () => {
    const user = await withProfiles();
    expect(await words(user, 'profile')).toEqual([
      'work\tapi.example.com',
      'test\ttest.example.com',
      'default\tused where none is named',
      'sandbox\tthe service inside steno: no account, no cost',
    ]);
    expect(await words(user, 'profile', 'w')).toEqual(['work\tapi.example.com']);
    expect(await words(new User(), 'profile', 'd')).toHaveLength(1);
  });

  it('offers addresses, ledgers and accounts that another profile uses', async () => {
    const user = await withProfiles();
    expect(await words(user, 'base-url', 'https://t')).toEqual([
      'https://test.example.com/API4\tof the profile test',
    ]);
    expect(await words(user, 'ledger')).toEqual([
      'postgres://steno@db.example.com/steno\tof the profile test',
    ]);
    expect(await words(user, 'copy-target')).toEqual([
      'local\tthe ledger of this machine',
      'postgres://steno@db.example.com/steno\tof the profile test',
    ]);
    expect(await words(user, 'account', 'a')).toEqual(['acme\tof the profile test']);
  });

  it('offers no password and nothing odd of a file that was edited by hand', async () => {
    const user = await withProfiles();
    const { stdout: path } = await user.run(['config', 'path', '--quiet']);
    const profiles = {
      a: {
        'base-url': `https://me:${encodeURIComponent(KEY)}@example.com`,
        'api-key': KEY,
        ledger: 'no URL',
      },
      b: { 'base-url': `https://example.com/?k=hush`, ledger: 'postgres://u:hush@db/x?password=hush' },
      c: { ledger: 'postgres://u@db/x?PASSWORD=hush', 'base-url': 7 },
      d: null,
    };
    writeFileSync(path.trim(), JSON.stringify({ profiles }));
    for (const kind of ['profile', 'base-url', 'ledger', 'copy-target', 'account']) {
      const lines = await words(user, kind);
      expect(lines.join()).not.toMatch(/hush|me:|no URL/);
      if (kind === 'ledger') expect(lines).toEqual(['postgres://u@db/x\tof the profile b']);
    }
    writeFileSync(path.trim(), 'not JSON');
    expect(await words(user, 'profile', 'de')).toHaveLength(1);
    expect(await words(user, 'no-such-kind')).toEqual([]);
  });
});
