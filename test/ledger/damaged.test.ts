/** A damaged ledger: nothing is bought, and the error says how the last backup is put back. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isBackupDue } from '../../src/ledger/stores/backups.ts';
import { listing, modeOf } from '../support/files.ts';
import { audio, fill, ledgerOf, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { complete, eventsOf, Listener } from '../support/listener.ts';
import { isInUse } from '../support/locks.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { KEY, type User } from '../support/steno.ts';
import { until } from '../support/until.ts';

const PAGE = 4096;

/** A ledger of many pages, closed, so that all of it is in one file. */
async function largeLedger(): Promise<OrderingAccount> {
  const account = await orderingAccount();
  await account.order(audio('first'));
  fill(account.user, 1500);
  await account.order(audio('last'));
  spawnSync('python3', [
    '-c',
    'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)")',
    ledgerOf(account.user),
  ]);
  return account;
}

/** The pages of a table, as SQLite itself counts them. */
function pagesOf(user: User, table: string): number[] {
  const script = `import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno", (sys.argv[2],)): print(row[0])`;
  const { stdout } = spawnSync('python3', ['-c', script, ledgerOf(user), table], { encoding: 'utf8' });
  return stdout.trim().split('\n').filter(Boolean).map(Number);
}

function spoil(user: User, page: number): void {
  const file = openSync(ledgerOf(user), 'r+');
  writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, (page - 1) * PAGE);
  closeSync(file);
}

/** A backup of the ledger as it is, and the path that it has. */
function backUp(user: User): string {
  const folder = join(user.env.STENO_STATE_DIR ?? '', 'backups');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'ledger-20261114T000000Z.db');
  copyFileSync(ledgerOf(user), path);
  return path;
}

const hasDbstat =
  spawnSync('python3', ['-c', 'import sqlite3; sqlite3.connect(":memory:").execute("SELECT * FROM dbstat")'])
    .status === 0;

describe('a ledger with damaged pages', () => {
  it.skipIf(!hasDbstat).each(['item_names', 'purchases'])(
    'of %s names the newest backup, with which nothing is bought twice',
    async (table) => {
      const { user, service, order } = await largeLedger();
      const path = backUp(user);
      for (const page of pagesOf(user, table)) spoil(user, page);
      const calls = service.got.length;
      const { code, stderr } = await order(audio('first'));
      expect([code, stderr]).toEqual([1, expect.stringContaining('ledger.db is damaged')]);
      const copy = `cp ${path} ${ledgerOf(user)}`;
      expect(stderr).toContain(copy);
      for (const name of [ledgerOf(user), `${ledgerOf(user)}-wal`, `${ledgerOf(user)}-shm`]) {
        expect(stderr).toContain(name);
        if (existsSync(name)) renameSync(name, `${name}.damaged`);
      }
      spawnSync('sh', ['-c', copy]);
      for (const name of ['first', 'last']) expect((await order(audio(name))).code).toBe(9);
      expect(service.got).toHaveLength(calls);
    },
  );

  it('sends no order where it can not look whether it is one already', async () => {
    const { user, service, order } = await largeLedger();
    const calls = service.got.length;
    for (const page of pagesOf(user, 'item_names')) spoil(user, page);
    for (const url of [audio('new'), audio('first')]) {
      const { code, stderr } = await order(url);
      expect([code, stderr]).toEqual([1, expect.stringContaining('is damaged')]);
    }
    expect(service.got).toHaveLength(calls);
  });

  it.each([
    ['no database at all', (path: string) => writeFileSync(path, 'x'.repeat(9000))],
    ['empty', (path: string) => truncateSync(path, 0)],
  ])(
    'that is %s is said to be so, with the way to the last backup, and nothing is sent',
    async (_, damage) => {
      const { user, service, order } = await largeLedger();
      const path = backUp(user);
      rmSync(`${ledgerOf(user)}-wal`, { force: true });
      damage(ledgerOf(user));
      const calls = service.got.length;
      const copy = `cp ${path} ${ledgerOf(user)}`;
      for (const args of [['files'], ['order', audio('first'), '--sku', 'TRANS14'], ['ledger', 'export']]) {
        const { code, stderr } = await user.run(args);
        expect([code, stderr]).toEqual([1, expect.stringContaining(copy)]);
        expect(stderr).toMatch(/is damaged|is empty/);
      }
      expect(service.got).toHaveLength(calls);
      spawnSync('sh', ['-c', copy]);
      expect((await order(audio('first'))).code).toBe(9);
    },
  );
});

/** Damage that a copy does not meet: a row that its index does not know. */
function loseIndexRow(user: User): void {
  const script = `
import sqlite3, sys
def run(*statements):
    db = sqlite3.connect(sys.argv[1])
    db.execute('PRAGMA writable_schema = ON')
    rows = [db.execute(sql, values).fetchone() for sql, values in statements]
    db.commit()
    db.close()
    return rows
where = " FROM sqlite_schema WHERE name = 'files_by_order'"
row, _ = run(('SELECT type, name, tbl_name, rootpage, sql' + where, ()), ('DELETE' + where, ()))
run(("UPDATE files SET order_id = 'lost' WHERE seq = 1", ()))
run(('INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)', row))`;
  const { status, stderr } = spawnSync('python3', ['-c', script, ledgerOf(user)], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}

/** As if the last backup, or the last try, were a day old. */
function makeDue(user: User): string {
  const folder = join(user.env.STENO_STATE_DIR ?? '', 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = Date.now() / 1000 - 90_000;
  utimesSync(folder, before, before);
  return folder;
}

const backups = (folder: string): string[] => listing(folder).filter((name) => /^ledger-.*\.db$/.test(name));

const settled = (folder: string): Promise<boolean> =>
  until(
    () => !listing(folder).includes('.lock') && Date.now() - statSync(folder).mtimeMs < 86_000_000,
    'the end of the backup',
  );

describe('a backup', () => {
  it('is due when the ledger is an hour old, and then a day after the last one', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const MINUTE = 60_000;
    const born = statSync(ledgerOf(user)).birthtimeMs;
    const isDue = (since: number, minutes: number) => isBackupDue(ledgerOf(user), since + minutes * MINUTE);
    expect([isDue(born, 59), isDue(born, 61)]).toEqual([false, true]);
    const tried = statSync(makeDue(user)).mtimeMs;
    expect([isDue(tried, 61), isDue(tried, 23 * 60), isDue(tried, 24 * 60 + 1)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('is made a day after the last one, by a process of its own, and only the last three stay', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const folder = join(user.env.STENO_STATE_DIR ?? '', 'backups');
    // A new ledger has none yet.
    await sleep(500);
    expect(existsSync(folder)).toBe(false);
    makeDue(user);
    for (const day of ['11', '12', '13']) writeFileSync(join(folder, `ledger-202611${day}T000000Z.db`), day);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    makeDue(user);
    await user.run(['files']);
    await until(() => backups(folder).some((name) => name > 'ledger-20261114'), 'a new backup');
    await settled(folder);
    const names = backups(folder);
    expect(names.slice(0, 2)).toEqual(['ledger-20261112T000000Z.db', 'ledger-20261113T000000Z.db']);
    expect(listing(folder)).toEqual([...names, 'notes.txt']);
    const made = join(folder, names[2] ?? '');
    expect([names.length, modeOf(made), modeOf(folder)]).toEqual([3, '600', '700']);
    expect(readFileSync(made).includes(KEY)).toBe(false);
    // Not another one on the same day.
    await user.run(['files']);
    await sleep(500);
    expect(backups(folder)).toEqual(names);
    // It is a ledger: put into the place of the other it knows the order.
    copyFileSync(made, ledgerOf(user));
    chmodSync(ledgerOf(user), 0o600);
    expect((await order(audio('a'))).code).toBe(9);
  });

  it('is never made of a damaged ledger, nor in the sandbox, nor with --no-ledger', async () => {
    const { user, service } = await largeLedger();
    service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
    const folder = makeDue(user);
    await user.run(['--sandbox', 'files']);
    await user.run(['balance']);
    await user.run(['file', '1', '--no-ledger']);
    await sleep(1_000);
    expect(listing(folder)).toEqual([]);
    loseIndexRow(user);
    await user.run(['files', '--quiet']);
    await settled(folder);
    expect(listing(folder)).toEqual([]);
    // It is tried again soon, not only tomorrow.
    expect(Date.now() - statSync(folder).mtimeMs).toBeGreaterThan(80_000_000);
  });

  it('is made once by many processes at a time, while a listener goes on and loses nothing', async () => {
    const { user } = await largeLedger();
    const listener = await Listener.start(user, ['--quiet']);
    const answered: string[] = [];
    let isOver = false;
    const posting = (async () => {
      for (let n = 0; !isOver; n += 1) {
        expect((await listener.post(complete(`e${n}`))).status).toBe(200);
        answered.push(`e${n}`);
      }
    })();
    const folder = makeDue(user);
    await Promise.all(Array.from({ length: 4 }, () => user.run(['events', '--limit', '1'])));
    await until(() => backups(folder).length > 0, 'a backup');
    await settled(folder);
    isOver = true;
    await posting;
    expect(backups(folder)).toHaveLength(1);
    expect(isInUse(ledgerOf(user))).toBe(true);
    await listener.stop('SIGKILL');
    const kept = new Set((await eventsOf(user)).map(({ audiofile }) => audiofile));
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
    for (const path of [ledgerOf(user), join(folder, backups(folder)[0] ?? '')]) {
      const check = spawnSync(
        'python3',
        [
          '-c',
          'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])',
          path,
        ],
        { encoding: 'utf8' },
      );
      expect(check.stdout.trim()).toBe('ok');
    }
  });

  it.each([
    ['was killed', '999999', 0],
    ['was killed before it could write its number', '', 0],
    ['had the number of one that runs now', String(process.pid), 7200],
  ])('is left to a process that makes one, and taken over from one that %s', async (_, left, age) => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const folder = makeDue(user);
    const lock = join(folder, '.lock');
    writeFileSync(lock, String(process.pid));
    makeDue(user);
    await user.run(['files']);
    await sleep(1_500);
    expect(backups(folder)).toEqual([]);
    writeFileSync(lock, left);
    utimesSync(lock, Date.now() / 1000 - age, Date.now() / 1000 - age);
    // What it was writing goes too.
    writeFileSync(join(folder, '.new-999999.db'), 'half a ledger');
    makeDue(user);
    await user.run(['files']);
    await until(() => backups(folder).length === 1, 'a backup');
    await settled(folder);
    expect(listing(folder)).toEqual(backups(folder));
  });

  it.skipIf(!canMount)('is left out where the disk has little room', async (context) => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    if (!SmallDisk.mount(user, 20)) return context.skip('no disk can be mounted here');
    const folder = makeDue(user);
    expect((await user.run(['files'])).code).toBe(0);
    await settled(folder);
    expect(readdirSync(folder)).toEqual([]);
  });
});
