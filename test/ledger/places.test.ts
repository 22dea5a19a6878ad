/** Where the ledger lies, who may read it, and what happens if it can't be used. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { freshFolder, listing, modeOf } from '../support/files.ts';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { BIN, finished } from '../support/steno.ts';

const url = audio('a');

/** Puts a database of these statements in place of the ledger. */
function replaceWith(path: string, sql: string): void {
  rmSync(path);
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

describe('the ledger', () => {
  it('is a file in the state folder that only its owner can read', async () => {
    const { user, order } = await orderingAccount();
    await order(url);
    expect(modeOf(ledgerOf(user))).toBe('600');
    expect(modeOf(join(user.home, 'state'))).toBe('700');
  });

  it('goes where STENO_STATE_DIR says, and each place is a ledger of its own', async () => {
    const elsewhere = join(freshFolder(), 'deep', 'state');
    const { service, user, order } = await orderingAccount();
    await order(url);
    const there = await user.run(['order', url, '--sku', 'TRANS14'], { env: { STENO_STATE_DIR: elsewhere } });
    expect([there.code, service.got.length]).toEqual([0, 2]);
    expect([modeOf(elsewhere), modeOf(join(elsewhere, 'ledger.db'))]).toEqual(['700', '600']);
  });

  it('goes to the state folder of the platform where nothing else is said', async () => {
    const { user } = await orderingAccount({ STENO_STATE_DIR: undefined });
    await user.run(['order', url, '--sku', 'TRANS14']);
    expect(existsSync(join(user.home, '.local', 'state', 'steno', 'ledger.db'))).toBe(true);
  });

  it('is closed to others again if its mode was opened', async () => {
    const { user, order } = await orderingAccount();
    await order(url);
    chmodSync(ledgerOf(user), 0o644);
    chmodSync(join(user.home, 'state'), 0o755);
    await user.run(['files']);
    expect([modeOf(ledgerOf(user)), modeOf(join(user.home, 'state'))]).toEqual(['600', '700']);
  });

  it('is not made by commands that only read', async () => {
    const { user } = await orderingAccount();
    for (const line of ['file 1', 'transcript 1', '__complete audiofile', 'wait 1', 'balance'])
      await user.run(line.split(' '));
    expect(existsSync(ledgerOf(user))).toBe(false);
  });

  it('of a newer steno is refused, with what to do, and nothing is sent', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    queryLedger(user, "INSERT INTO migrations (name, at) VALUES ('999-from-the-future', 'now')");
    for (const line of [['files'], ['order', url, '--sku', 'TRANS14'], ['sync']]) {
      const { code, stdout, stderr } = await user.run(line);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^steno: [^\n]*newer steno[^\n]*\nhint: update steno/);
    }
    expect(service.got).toHaveLength(1);
    expect((await order(url, '--no-ledger')).code).toBe(0);
  });

  const damages: ReadonlyArray<readonly [string, (path: string) => void]> = [
    [
      'overwritten with text',
      (path) => writeFileSync(path, 'not a database at all, but a text\n'.repeat(400)),
    ],
    ['cut in half', (path) => truncateSync(path, statSync(path).size / 2 - 100)],
    [
      'zeroed at its start',
      (path) => writeFileSync(path, Buffer.concat([Buffer.alloc(4096), readFileSync(path).subarray(4096)])),
    ],
    [
      'garbled in its pages',
      (path) => {
        const bytes = readFileSync(path);
        bytes.fill(0xa5, 4096);
        bytes.fill(0xa5, 200, 4096);
        writeFileSync(path, bytes);
      },
    ],
  ];

  it.each(damages)('%s is reported and not touched, and nothing is sent', async (_, damage) => {
    const { service, user, order } = await orderingAccount();
    await order(audio('b'));
    damage(ledgerOf(user));
    const before = readFileSync(ledgerOf(user));
    for (const line of [['files'], ['order', url, '--sku', 'TRANS14'], ['wait'], ['sync']]) {
      const { code, stdout, stderr } = await user.run(line);
      expect([code, stdout], stderr).toEqual([1, '']);
      expect(stderr).toMatch(/^steno: [^\n]*ledger\.db is damaged[^\n]*\nhint: move away [^\n]*restore/);
    }
    const quiet = await user.run(['__complete', 'audiofile']);
    expect([quiet.code, quiet.stdout, quiet.stderr]).toEqual([0, '', '']);
    expect(readFileSync(ledgerOf(user)).equals(before)).toBe(true);
    expect(service.got).toHaveLength(1);
    // What does not need the ledger goes on, with a word about it.
    const file = await user.run(['file', '1', '--quiet']);
    expect([file.code, file.stdout]).toEqual([0, 'Delivered\n']);
    expect(file.stderr).toContain('the ledger is not used');
    expect((await order(url, '--no-ledger')).code).toBe(0);
    expect(readFileSync(ledgerOf(user)).equals(before)).toBe(true);
  });

  const losses: ReadonlyArray<readonly [string, RegExp, (path: string) => void]> = [
    ['emptied', /ledger\.db is empty/, (path) => truncateSync(path, 0)],
    [
      'left with one byte',
      /ledger\.db is not a database: it has only 1 byte\n/,
      (path) => writeFileSync(path, '\n'),
    ],
    ['left with 15 bytes', /ledger\.db is not a database/, (path) => writeFileSync(path, 'SQLite format 3')],
    [
      'without its tables',
      /ledger\.db contains no tables of steno/,
      (path) => replaceWith(path, 'CREATE TABLE a (b); DROP TABLE a'),
    ],
    [
      'replaced by that of another program',
      /ledger\.db contains no tables of steno/,
      (path) => replaceWith(path, 'CREATE TABLE theirs (id TEXT)'),
    ],
    [
      'whose list of migrations is empty',
      /ledger\.db contains no tables of steno/,
      (path) => replaceWith(path, 'CREATE TABLE migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL)'),
    ],
    [
      'emptied, with its log beside it',
      /ledger\.db is empty/,
      (path) => {
        truncateSync(path, 0);
        writeFileSync(`${path}-wal`, 'x'.repeat(5000));
      },
    ],
    [
      'gone, with its log left behind',
      /ledger\.db is gone, but [^\n]*ledger\.db-wal exists/,
      (path) => {
        rmSync(path);
        writeFileSync(`${path}-wal`, 'x'.repeat(5000));
      },
    ],
  ];

  it.each(losses)('%s is not taken for a new one, and nothing is sent', async (_, message, lose) => {
    const { service, user, order } = await orderingAccount();
    await order(url);
    lose(ledgerOf(user));
    const before = listing(join(user.home, 'state'));
    for (const line of [['files'], ['order', url, '--sku', 'TRANS14'], ['sync']]) {
      const { code, stdout, stderr } = await user.run(line);
      expect([code, stdout], stderr).toEqual([1, '']);
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/\nhint: move away [^\n]*restore it from a backup[^\n]*your account/);
    }
    expect(service.got).toHaveLength(1);
    expect(listing(join(user.home, 'state'))).toEqual(before);
    const quiet = await user.run(['__complete', 'audiofile']);
    expect([quiet.code, quiet.stdout, quiet.stderr]).toEqual([0, '', '']);
  });

  it('is there as a whole or not at all, however many processes make it at the same moment', async () => {
    const { service, user, order } = await orderingAccount();
    const ends = await Promise.all(Array.from({ length: 8 }, (_, n) => order(audio(`n${n}`))));
    expect(ends.map(({ code }) => code)).toEqual(Array(8).fill(0));
    expect(service.got).toHaveLength(8);
    expect(queryLedger(user, 'SELECT count(*) AS n FROM files')).toEqual([{ n: 8 }]);
    expect(listing(join(user.home, 'state')).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('that can not be made stops an order before it is sent; --no-ledger goes on', async () => {
    const { service, user, order } = await orderingAccount();
    writeFileSync(join(user.home, 'state'), 'in the way');
    const { code, stderr } = await order(url);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^steno: [^\n]*state/);
    expect(service.got).toEqual([]);
    expect((await order(url, '--no-ledger')).code).toBe(0);
  });

  it('in a folder that can not be written stops an order before it is sent', async () => {
    const { service, user } = await orderingAccount();
    const state = join(user.home, 'state');
    mkdirSync(state);
    chmodSync(state, 0o555);
    chmodSync(user.home, 0o755);
    // For root no folder is read-only, so there somebody else does it.
    const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const run = (...args: string[]) => {
      const line = [BIN, 'order', url, '--sku', 'TRANS14', ...args];
      return finished(spawn(process.execPath, line, { cwd: '/', env: user.env, ...somebody }));
    };
    const { code, stderr } = await run();
    expect([code, service.got.length], stderr).toEqual([1, 0]);
    expect(stderr).toMatch(/^steno: [^\n]*(ledger|state)/);
    expect((await run('--no-ledger')).code).toBe(0);
    expect(service.got).toHaveLength(1);
    chmodSync(state, 0o755);
  });

  it('on a disk that is full stops an order before it is sent', async () => {
    const { service, user, order } = await orderingAccount();
    // A process that has ended leaves no log, which would have room for a while.
    await user.runAlone(['order', '--sku', 'TRANS14', audio('b')]);
    const line = `ulimit -f 1; exec "${process.execPath}" "${BIN}" order ${url} --sku TRANS14`;
    const full = await finished(spawn('sh', ['-c', line], { cwd: user.home, env: user.env }));
    expect(full.code, full.stderr).toBe(1);
    expect(full.stderr).toMatch(/^steno: [^\n]*ledger\.db/);
    expect(service.got).toHaveLength(1);
    expect((await order(url)).code).toBe(0);
  });

  it('is required by some commands', async () => {
    const { user } = await orderingAccount();
    for (const line of ['files', 'sync', 'wait', 'events', 'listen']) {
      const { code, stderr } = await user.run([line, '--no-ledger']);
      expect([line, code]).toEqual([line, 2]);
      expect(stderr).toContain('ledger');
    }
  });
});
